// Assignments to the workspace in the Databricks dialect: which users, groups, and service principals of the account are in it, and as what.

import type { Reader } from "../../api/contract/reader.ts";
import { type RemoteId, remoteId } from "../../core/address.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import { ADMINISTRATION, ADMINISTRATORS } from "../../resource/access.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldCase, isApplicationId } from "../../resource/names.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import type { PlannedChange, PlannedWorkspace, Problem } from "../../resource/planning.ts";
import { choiceField, defineProvider, listField, required } from "../kit/field-builders.ts";
import { lockout } from "../kit/lockout.ts";
import { notCompared, problem, removesObject } from "../kit/problems.ts";
import { ignoreMissing, keyIn, objectsIn, responseText } from "../kit/responses.ts";
import { scimValues } from "../kit/scim.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";
import {
  MEMBER,
  managedPrincipal,
  principalIn,
  principalInRights,
  principalNamed,
  principalText,
} from "./principals.ts";

const ADMIN = "ADMIN";

const fields = {
  permissions: required(
    listField(choiceField(["USER", ADMIN], { description: "USER, or ADMIN for an administrator." }), {
      list: "set",
      minItems: 1,
      description: "Role of the principal in the workspace. An administrator has every right.",
    }),
  ),
};

const READ_ONLY = new Set(["principal", "error"]);

const isGroup = (name: string): boolean => principalNamed(name).kind === "group";

function toLive(answer: JsonObject): LiveObject | undefined {
  const assigned = objectIn(answer.principal);
  const principal = principalIn(assigned);
  if (principal === undefined) return undefined;
  const name = principalText(principal);
  const id = remoteId(keyIn(assigned, "principal_id"));
  const facts: JsonObject = isGroup(name) ? {} : { implied: true };
  return withUnknownFields(
    { id, name, values: normalizeLive(fields, answer), facts },
    fields,
    answer,
    READ_ONLY,
  );
}

const all = async (api: Reader): Promise<readonly LiveObject[]> =>
  objectsIn(await api.read("permissionassignments/list"), "permission_assignments").flatMap(
    (answer) => toLive(answer) ?? [],
  );

/** As `all`; none in a workspace that refuses the call because its account has no identity federation. */
async function allIfFederated(api: Reader): Promise<readonly LiveObject[]> {
  try {
    return await all(api);
  } catch (refusal) {
    if (refusal instanceof Refused && refusal.code !== "PERMISSION_DENIED") return [];
    throw refusal;
  }
}

/** An answer with status 200 may say that the principal could not be assigned. */
function idIn(answer: JsonObject, name: string): RemoteId {
  const cause = responseText(answer, "error");
  if (cause === undefined || cause === "") return remoteId(keyIn(objectIn(answer.principal), "principal_id"));
  throw new Failure(
    error("API_REFUSED", `"${name}" could not be assigned to the workspace`, {
      cause,
      hint: "check that the account has this user, group, or service principal",
    }),
  );
}

async function set(api: OperationWriter, id: RemoteId, name: string, values: Values): Promise<void> {
  const permissions = [...scimValues(values.permissions)];
  idIn(await api.write("permissionassignments/set", { id, permissions }), name);
}

function check(name: string): readonly Problem[] {
  const { kind, name: own } = principalNamed(name);
  if (kind !== "sp" || isApplicationId(own) || own.includes("${")) return [];
  const hint = "write the application ID: sp:00000000-0000-0000-0000-000000000000";
  return [problem("SPEC_VALUE", [], `"${own}" is not the application ID of a service principal`, hint)];
}

const isAdmin = (values: Values | undefined): boolean => scimValues(values?.permissions).includes(ADMIN);

/** Whether the change takes administration from the principal. */
const losesAdministration = (change: PlannedChange): boolean =>
  isAdmin(change.live?.values) && (removesObject(change) || !isAdmin(change.after));

/** Whether the change may take administration from the principal: the present role is hidden. */
const isRoleHidden = (change: PlannedChange): boolean =>
  hasDigest(change.live?.values.permissions) && (removesObject(change) || !isAdmin(change.after));

function isCaller({ name }: PlannedChange, { caller }: PlannedWorkspace): boolean {
  return caller !== undefined && foldCase(principalNamed(name).name) === foldCase(caller);
}

export const assignments = defineProvider({
  kind: "workspace_assignments",
  dialect: "databricks",
  singular: "workspace assignment",
  description:
    "Users, groups, and service principals of the account that are in the workspace, by name (sp: before an application ID). Users and service principals that the spec declares themselves need none.",
  fields,
  severity: "security",
  nameField: undefined,
  numbered: true,
  unique: true,
  ignoreCase: "principals",
  idAttribute: "principal_id",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",

  planning: {
    validate: (_values, name) => check(name),
    dependencies: (name) => [managedPrincipal(name)],
    impliedMembership: (name) => ({
      field: "permissions",
      group: { kind: "groups", name: ADMINISTRATORS },
      member: managedPrincipal(name),
    }),
    access: {
      dialect: "databricks",
      levels: [],
      contribution({ name, values }) {
        if (!isAdmin(values)) return {};
        return { grants: [{ on: ADMINISTRATION, to: principalInRights(name), level: "administrator" }] };
      },
    },
    neededFacts: (change) => (losesAdministration(change) || isRoleHidden(change) ? ["caller"] : []),
    consequences({ action, name }) {
      if (action !== "delete") return [];
      return [
        isGroup(name)
          ? `members of ${name} that have no other assignment can no longer sign in to the workspace`
          : `${name} stays in the workspace as a user`,
      ];
    },
    objections(change, workspace) {
      if (!isCaller(change, workspace)) return [];
      if (isRoleHidden(change))
        return [notCompared(change.address, ["permissions"], "with the role of the caller")];
      if (!losesAdministration(change)) return [];
      const message = `the caller, ${workspace.caller}, would no longer be an administrator`;
      return [lockout(message, "ask another administrator to apply this")];
    },
  },

  operations: {
    /** Users and service principals are objects of other kinds, so only those that the spec or the state names count here. */
    async list(api, { names, ids = new Set() }) {
      const folded = new Set([...names].map(foldCase));
      const isNeeded = names.size + ids.size > 0;
      return (await (isNeeded ? all(api) : allIfFederated(api))).filter(
        ({ id, name }) => isGroup(name) || ids.has(id) || folded.has(foldCase(name)),
      );
    },
    read: async (api, id) => (await all(api)).find((live) => live.id === id),
    /** By name, the service makes no administrators. */
    async create(api, { name, values }) {
      const { kind, name: own } = principalNamed(name);
      const permission_assignments = [{ [MEMBER[kind]]: own, permissions: ["USER"] }];
      const answer = await api.write("permissionassignments/create", { permission_assignments });
      const id = idIn(objectsIn(answer, "permission_assignments")[0] ?? {}, name);
      if (isAdmin(values)) await set(api, id, name, values);
      return id;
    },
    update: (api, { id, name, values }) => set(api, id, name, values),
    /** A user or service principal stays, without the rights of an administrator: it is an object of another kind. */
    async delete(api, { id, name, live }) {
      if (isGroup(name)) await ignoreMissing(() => api.write("permissionassignments/delete", { id }));
      else if (isAdmin(live?.values)) await set(api, id, name, { permissions: ["USER"] });
    },
  },
});
