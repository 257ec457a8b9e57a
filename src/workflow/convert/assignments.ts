// Assignments to a workspace of a Terraform state: by the provider of the workspace, and by that of the account.

import type { JsonObject } from "../../core/json.ts";
import { MEMBER, principalIn, principalText } from "../../providers/access/principals.ts";
import { isUnset, type ResourceType, text, textAttribute } from "./attributes.ts";
import type { TerraformInstance } from "./terraform-state.ts";

const OF_WORKSPACE = "databricks_permission_assignment";
const OF_ACCOUNT = "databricks_mws_permission_assignment";

/** The kinds of principals by their name in a state. */
const MEMBER_OF_KIND: Readonly<Record<string, string>> = {
  users: MEMBER.user,
  groups: MEMBER.group,
  "service principals": MEMBER.sp,
};

const workspaceOf = ({ values }: TerraformInstance): string | undefined =>
  textAttribute(values, "workspace_id");

/** Assignments with the names of their principals, by the IDs that other resources and data sources of the state have. */
export function namedAssignments(
  instances: readonly TerraformInstance[],
  names: ReadonlyMap<string, { readonly kind: string; readonly name: string }>,
): readonly TerraformInstance[] {
  const workspaces = new Set(instances.filter(({ type }) => type === OF_ACCOUNT).map(workspaceOf));
  return instances.map((instance) => {
    const { type, values } = instance;
    if (type !== OF_WORKSPACE && type !== OF_ACCOUNT) return instance;
    const { kind = "", name } = names.get(textAttribute(values, "principal_id") ?? "") ?? {};
    const member = MEMBER_OF_KIND[kind];
    const own = Object.fromEntries(Object.entries(values).filter(([, value]) => !isUnset(value)));
    const named = member === undefined || name === undefined ? own : { [member]: name, ...own };
    return { ...instance, values: type === OF_ACCOUNT ? { ...named, workspaces: workspaces.size } : named };
  });
}

function assignedName(attributes: JsonObject): string | undefined {
  const principal = principalIn(attributes);
  return principal && principalText(principal);
}

const assignment: ResourceType = {
  kind: "workspace_assignments",
  id: text("principal_id"),
  name: assignedName,
  fields: ({ workspaces = 1, ...attributes }) => ({
    attributes,
    unmanageable:
      workspaces === 1
        ? undefined
        : "the state assigns principals to several workspaces, and a spec is of one",
  }),
  computed: ["id", "principal_id", "workspace_id", "display_name", ...Object.values(MEMBER)],
};

export const ASSIGNMENT_TYPES = { [OF_WORKSPACE]: assignment, [OF_ACCOUNT]: assignment };
