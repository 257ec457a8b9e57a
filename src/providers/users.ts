// Users of the workspace (contract: part A, 2.1 and 4.1). Deleting one makes it inactive.
// What a user is: its name, its rights, its groups, and what the service fills in by itself (contract: part A, 2.1; facts 4.3).

import { remoteId } from "../core/address.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { count, listed } from "../core/sentences.ts";
import { foldCase } from "../resource/names.ts";
import type { FieldDiff, LiveObject, Look, PlannedChange, Step, UpdateTask } from "../resource/provider.ts";
import {
  aclsNaming,
  lockout,
  lockouts,
  losesAdministrators,
  membershipOf,
  withUserIn,
} from "./kit/admin-membership.ts";
import { defineProvider, flag, group, list, optional, text } from "./kit/field-builders.ts";
import { goes, keptIn, keptPaths, withKept } from "./kit/preserved-fields.ts";
import { factsOf, found, keyIn, objectsIn, textIn, unlessGone, valuesIn } from "./kit/responses.ts";
import { asValues, deltaOf, operationsFor, patch, textsIn, USER_SCHEMA } from "./kit/scim.ts";
import { liveForm } from "./kit/spec-form.ts";

const userFields = {
  userName: optional(
    text({
      minLength: 1,
      ignoreCase: true,
      onChange: "replace",
      description: "Name that the user signs in with, usually an e-mail address. Cannot be changed.",
    }),
  ),
  entitlements: optional(
    list(text({ minLength: 1, description: "One entitlement, such as allow-cluster-create." }), {
      list: "set",
      default: [],
      description:
        "Rights of the user beside those of its groups; allow-cluster-create lets it create clusters.",
    }),
  ),
  groups: optional(
    list(text({ names: "groups", minLength: 1, description: "Name of a group." }), {
      list: "set",
      whenAbsent: "unmanaged",
      description:
        "Groups that the user itself is a member of. Use either this or the members of the groups, not both.",
    }),
  ),
  displayName: optional(
    text({ severity: "other", serverDefault: true, description: "Name shown to people." }),
  ),
  name: optional(
    group(
      {
        givenName: optional(text({ serverDefault: true, description: "First name." })),
        familyName: optional(text({ serverDefault: true, description: "Last name." })),
      },
      { severity: "other", serverDefault: true, description: "The parts of the person's name." },
    ),
  ),
  emails: optional(
    list(
      group(
        {
          value: text({ minLength: 1, description: "The address." }),
          type: optional(text({ default: "work", description: "What the address is for." })),
          primary: optional(flag({ default: false, description: "Whether it is the main address." })),
        },
        { description: "One e-mail address." },
      ),
      {
        severity: "other",
        list: { key: "value" },
        serverDefault: true,
        description: "E-mail addresses; the service takes one from userName where none is given.",
      },
    ),
  ),
  externalId: optional(
    text({ whenAbsent: "unmanaged", description: "Id of the user in the identity provider." }),
  ),
  active: optional(flag({ default: true, description: "Whether the user may sign in." })),
};

const EVERYBODY = "users";

const SCALARS = ["displayName", "name", "emails", "externalId", "active"] as const;

function toSpec(answer: JsonObject): LiveObject {
  const id = keyIn(answer, "id");
  const userName = keyIn(answer, "userName");
  const groups = objectsIn(answer, "groups").filter((one) => textIn(one, "display") !== EVERYBODY);
  const values = liveForm(userFields, {
    ...answer,
    entitlements: [...valuesIn(answer, "entitlements")],
    groups: groups.flatMap((one) => textIn(one, "value") ?? []),
  });
  return {
    id: remoteId(id),
    name: userName,
    values: { entitlements: [], groups: [], ...values },
    facts: factsOf({ active: answer.active }),
  };
}

/** Inactive users are what a delete leaves behind (part A, 3): they count only where the spec or the state knows them. */
function isThere(live: LiveObject, names: ReadonlySet<string>): boolean {
  if (live.values.active !== false) return true;
  const name = foldCase(live.name);
  return [...names].some((one) => foldCase(one) === name);
}

function body(values: JsonObject): { [field: string]: Json } {
  const sent: { [field: string]: Json } = { schemas: [USER_SCHEMA], userName: values.userName ?? "" };
  for (const field of SCALARS) if (values[field] !== undefined) sent[field] = values[field];
  for (const field of ["entitlements", "groups"] as const) {
    const texts = textsIn(values[field]);
    if (texts.length > 0) sent[field] = asValues(texts);
  }
  return sent;
}

/** What the plan found to differ, and nothing else: the service fills in addresses and names by itself. */
function scalarOperations(task: UpdateTask): readonly Json[] {
  const detail = task.steps.find((step) => step.operation === "patch")?.detail;
  const after = withKept(task.values, task.before, keptIn(detail));
  const moved = new Set(textsIn(detail?.fields));
  return SCALARS.filter((field) => moved.has(field)).map((path) => {
    const value = after[path];
    return value === undefined ? { op: "remove", path } : { op: "replace", path, value };
  });
}

function steps(diffs: readonly FieldDiff[], live: LiveObject, after: JsonObject): readonly Step[] {
  const groups = deltaOf(live.values.groups, after.groups);
  const fields = [...new Set(diffs.map((diff) => String(diff.path[0])))].filter(
    (field) => field !== "groups",
  );
  const keep = keptPaths(userFields, live.values, after, diffs).filter((path) => path.length > 1);
  return [
    ...(fields.length > 0 ? [{ operation: "patch", detail: { fields, keep } }] : []),
    ...(groups.added.length > 0 ? [{ operation: "join", detail: { groups: groups.added } }] : []),
    ...(groups.removed.length > 0 ? [{ operation: "leave", detail: { groups: groups.removed } }] : []),
  ];
}

const isCaller = (change: PlannedChange, look: Look): boolean =>
  look.caller !== undefined && foldCase(look.caller) === foldCase(change.live?.name ?? change.name);

const isShutOut = (change: PlannedChange): boolean =>
  goes(change) || change.diffs.some((diff) => diff.path[0] === "active" && diff.after === false);

function memberships(change: PlannedChange, look: Look) {
  const before = membershipOf(look);
  const groups = goes(change) ? [] : change.after?.groups;
  const after =
    groups === undefined || change.live === undefined
      ? before
      : withUserIn(before, change.live.name, textsIn(groups));
  return { before, after };
}

export const users = defineProvider({
  kind: "users",
  one: "user",
  description: "People and services who may use the workspace. Deleting a user makes it inactive.",
  fields: userFields,
  severity: "security",
  nameField: "userName",
  unique: true,
  ignoreCase: true,
  idAttribute: "id",
  crash: "client-named",
  replacing: "create-first",
  usedBy: ["acls"],

  check: (values) =>
    textsIn(values.groups).includes(EVERYBODY)
      ? [
          {
            path: ["groups"],
            code: "SPEC_VALUE",
            message: `every user is a member of the group "${EVERYBODY}"; it cannot be joined or left`,
          },
        ]
      : [],
  fills: ({ userName = "" }) => ({
    displayName: userName,
    emails: [{ value: userName, type: "work", primary: true }],
  }),
  steps,
  wants(change, look) {
    if (look.caller !== undefined || change.action === "create") return [];
    const { before, after } = memberships(change, look);
    return isShutOut(change) || losesAdministrators(before, after) ? ["caller"] : [];
  },
  consequences(change, look) {
    if (!goes(change) || change.live === undefined) return [];
    const groups = textsIn(change.live.values.groups).filter((name) => !look.goes("groups", name));
    const acls = aclsNaming(look, foldCase, change.live.name);
    return [
      `${change.live.name} can no longer sign in; the service purges inactive users after 30 days`,
      ...(groups.length > 0 ? [`it leaves ${count(groups.length, "group")}: ${listed(groups)}`] : []),
      ...(acls.length > 0 ? [`access lists still name it: ${listed(acls.map((acl) => acl.name))}`] : []),
    ];
  },
  objections(change, look) {
    if (isCaller(change, look) && isShutOut(change))
      return [
        lockout(
          `${look.caller}, who runs this, would be made inactive`,
          "let another administrator apply this, or keep the user in the spec",
        ),
      ];
    const { before, after } = memberships(change, look);
    return lockouts(look, before, after);
  },

  async list(api, scope) {
    const answer = await api.read("scim/users/list");
    return objectsIn(answer, "Resources")
      .map(toSpec)
      .filter((live) => isThere(live, scope.names));
  },
  read: async (api, id) => {
    const answer = await found(() => api.read("scim/users/get", { id }));
    return answer === undefined ? undefined : toSpec(answer);
  },
  async create(api, task) {
    const answer = await api.write("scim/users/create", body(task.values));
    return remoteId(textIn(answer, "id") ?? "");
  },
  async update(api, task) {
    await patch(api, "users", task.id, [
      ...scalarOperations(task),
      ...operationsFor("entitlements", deltaOf(task.before.entitlements, task.values.entitlements ?? [])),
    ]);
    const groups = deltaOf(task.before.groups, task.values.groups);
    for (const id of groups.added)
      await patch(api, "groups", id, operationsFor("members", { added: [task.id], removed: [] }));
    for (const id of groups.removed)
      await unlessGone(() =>
        patch(api, "groups", id, operationsFor("members", { added: [], removed: [task.id] })),
      );
  },
  delete: (api, task) => unlessGone(() => api.write("scim/users/delete", { id: task.id })),
});
