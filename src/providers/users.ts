// Users of the workspace (contract A 2.1 and contract A 4.1; facts 4.3). Deleting one makes it inactive.

import { remoteId } from "../core/address.ts";
import { defined, type Json, type JsonObject } from "../core/json.ts";
import { count, listed } from "../core/sentences.ts";
import { ADMINISTRATORS, entitlementGrants } from "../resource/access.ts";
import type { Values } from "../resource/field-schema.ts";
import type { LiveObject } from "../resource/live.ts";
import { foldCase } from "../resource/names.ts";
import type { ListScope, UpdateTask } from "../resource/operations.ts";
import type { FieldDiff, PlannedChange, PlannedWorkspace, Step } from "../resource/planning.ts";
import {
  defineProvider,
  flagField,
  groupField,
  listField,
  required,
  textField,
} from "./kit/field-builders.ts";
import {
  aclsNaming,
  lockout,
  lockouts,
  losesAdministrators,
  membershipOf,
  membersOf,
  uncheckedAdministrators,
  withUserIn,
} from "./kit/lockout.ts";
import { preservedIn, preservedPaths, unsetFieldsLost, withPreserved } from "./kit/preserved-fields.ts";
import { effectOn, problem, removesObject } from "./kit/problems.ts";
import {
  createdId,
  ignoreMissing,
  keyIn,
  liveIfPresent,
  objectsIn,
  responseText,
  valuesIn,
} from "./kit/responses.ts";
import { asValues, CORE_USER, deltaOf, operationsFor, patchScim, scimValues } from "./kit/scim.ts";
import { normalizeLive } from "./kit/spec-form.ts";
import { unknownFieldsLost, withUnknownFields } from "./kit/unknown-fields.ts";

const userFields = {
  userName: textField({
    minLength: 1,
    ignoreCase: true,
    onChange: "replace",
    description: "Name for sign-in, usually an e-mail address.",
  }),
  entitlements: listField(
    textField({ minLength: 1, description: "One entitlement, such as allow-cluster-create." }),
    {
      list: "set",
      default: [],
      description:
        "Entitlements of the user in addition to those of its groups; allow-cluster-create permits it to create clusters.",
    },
  ),
  groups: listField(textField({ names: "groups", minLength: 1, description: "Name of a group." }), {
    list: "set",
    writtenToNamed: true,
    whenAbsent: "unmanaged",
    description:
      "Groups that the user is a direct member of. Use either this or the members of the groups, not both.",
  }),
  displayName: textField({ severity: "other", serverDefault: true, description: "Display name." }),
  name: groupField(
    {
      givenName: textField({ serverDefault: true, description: "First name." }),
      familyName: textField({ serverDefault: true, description: "Last name." }),
    },
    { severity: "other", serverDefault: true, description: "The parts of the user's name." },
  ),
  emails: listField(
    groupField(
      {
        value: required(textField({ minLength: 1, description: "The address." })),
        type: textField({ default: "work", description: "Purpose of the address." }),
        primary: flagField({ default: false, description: "Whether it is the main address." }),
      },
      { description: "One e-mail address." },
    ),
    {
      severity: "other",
      list: { key: "value" },
      serverDefault: true,
      description: "E-mail addresses; if none is set, the service uses userName.",
    },
  ),
  externalId: textField({ whenAbsent: "unmanaged", description: "ID of the user in the identity provider." }),
  active: flagField({ default: true, description: "Whether the user may sign in." }),
};

const EVERYBODY = "users";

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["id", "meta", "schemas"]);

const SCALARS = ["displayName", "name", "emails", "externalId", "active"] as const;

function toLive(answer: JsonObject): LiveObject {
  const id = keyIn(answer, "id");
  const userName = keyIn(answer, "userName");
  const groups = objectsIn(answer, "groups").filter(
    ({ display, type }) => display !== EVERYBODY && type !== "indirect",
  );
  const values = normalizeLive(userFields, {
    ...answer,
    entitlements: [...valuesIn(answer, "entitlements")],
    groups: groups.flatMap((entry) => responseText(entry, "value") ?? []),
  });
  const live = {
    id: remoteId(id),
    name: userName,
    values: { entitlements: [], groups: [], ...values },
    facts: defined({ active: answer.active }),
  };
  return withUnknownFields(live, userFields, answer, READ_ONLY);
}

/** A deleted user remains as an inactive user (contract A 3), which is listed only if the spec or the state names it. */
function isListed(live: LiveObject, { names, ids }: ListScope): boolean {
  if (live.values.active !== false || ids?.has(live.id) === true) return true;
  const name = foldCase(live.name);
  return [...names].some((candidate) => foldCase(candidate) === name);
}

function body(values: JsonObject): { [field: string]: Json } {
  const sent: { [field: string]: Json } = { schemas: [CORE_USER], userName: values.userName ?? "" };
  for (const field of SCALARS) if (values[field] !== undefined) sent[field] = values[field];
  for (const field of ["entitlements", "groups"] as const) {
    const texts = scimValues(values[field]);
    if (texts.length > 0) sent[field] = asValues(texts);
  }
  return sent;
}

/** Only the differences of the plan, because the service also sets addresses and names. */
function scalarOperations(task: UpdateTask): readonly Json[] {
  const detail = task.steps.find((step) => step.operation === "patch")?.detail;
  const after = withPreserved(task.values, task.before, preservedIn(detail));
  const moved = new Set(scimValues(detail?.fields));
  return SCALARS.filter((field) => moved.has(field)).map((path): JsonObject => {
    const value = after[path];
    return value === undefined ? { op: "remove", path } : { op: "replace", path, value };
  });
}

function steps(diffs: readonly FieldDiff[], live: LiveObject, after: JsonObject): readonly Step[] {
  const groups = deltaOf(live.values.groups, after.groups);
  const fields = [...new Set(diffs.map((diff) => String(diff.path[0])))].filter(
    (field) => field !== "groups",
  );
  const keep = preservedPaths(userFields, live.values, after, diffs).filter((path) => path.length > 1);
  return [
    ...(fields.length > 0 ? [{ operation: "patch", detail: { fields, keep } }] : []),
    ...(groups.added.length > 0 ? [{ operation: "join", detail: { groups: groups.added } }] : []),
    ...(groups.removed.length > 0 ? [{ operation: "leave", detail: { groups: groups.removed } }] : []),
  ];
}

/** What the service sets in a new user if the spec does not. */
const usualValues = ({ userName = "" }: Values): Values => ({
  displayName: userName,
  emails: [{ value: userName, type: "work", primary: true }],
});

const isCaller = (change: PlannedChange, workspace: PlannedWorkspace): boolean =>
  workspace.caller !== undefined && foldCase(workspace.caller) === foldCase(change.live?.name ?? change.name);

const isShutOut = (change: PlannedChange): boolean =>
  removesObject(change) || change.diffs.some((diff) => diff.path[0] === "active" && diff.after === false);

/** Groups that this program cannot change: they keep the user, whatever its own list contains. */
const unmanageableGroupsOf = (user: LiveObject, workspace: PlannedWorkspace): readonly string[] =>
  workspace
    .live("groups")
    .filter(({ unmanageable, values }) => {
      return unmanageable !== undefined && membersOf(values).users.includes(foldCase(user.name));
    })
    .map(({ name }) => name);

function memberships(change: PlannedChange, workspace: PlannedWorkspace) {
  const before = membershipOf(workspace);
  const groups = removesObject(change) ? [] : change.after?.groups;
  const after =
    groups === undefined || change.live === undefined
      ? before
      : withUserIn(before, change.live.name, [
          ...scimValues(groups),
          ...unmanageableGroupsOf(change.live, workspace),
        ]);
  return { before, after };
}

export const users = defineProvider({
  kind: "users",
  singular: "user",
  description: "Users and services that may use the workspace. Deleting a user makes it inactive.",
  fields: userFields,
  severity: "security",
  nameField: "userName",
  unique: true,
  ignoreCase: true,
  idAttribute: "id",
  creationRecovery: "client-named",
  replaceStrategy: "create-first",
  usedBy: ["acls"],

  planning: {
    validate(values) {
      if (!scimValues(values.groups).includes(EVERYBODY)) return [];
      const message = `every user is a member of the group "${EVERYBODY}"; users cannot join or leave it`;
      return [problem("SPEC_VALUE", ["groups"], message)];
    },
    omittedByExport: usualValues,
    access: {
      levels: [],
      activity: "active",
      contribution({ id, name, values }) {
        const user = {
          kind: "user",
          name: typeof values.userName === "string" ? values.userName : name,
        } as const;
        return {
          principal: { ...user, aliases: id === undefined ? [] : [id], isActive: values.active !== false },
          memberOf: values.groups === undefined ? undefined : scimValues(values.groups),
          grants: entitlementGrants(user, values),
        };
      },
    },
    steps,
    neededFacts(change, workspace) {
      if (change.action === "create") return [];
      const { before, after } = memberships(change, workspace);
      return isShutOut(change) || losesAdministrators(before, after) ? ["caller"] : [];
    },
    consequences(change, workspace) {
      if (!removesObject(change) || change.live === undefined) return [];
      const groups = scimValues(change.live.values.groups).filter(
        (name) => !workspace.isRemoved("groups", name),
      );
      const acls = aclsNaming(workspace, foldCase, change.live.name);
      return [
        `${change.live.name} can no longer sign in; the service purges inactive users after 30 days`,
        ...(groups.length > 0 ? [`it leaves ${count(groups.length, "group")}: ${listed(groups)}`] : []),
        ...effectOn("access lists still contain it", acls),
        ...unsetFieldsLost(change, userFields, "user", {
          ofNewObject: usualValues(change.live.values),
          elsewhere: ["groups"],
        }),
        ...unknownFieldsLost(change, "user"),
      ];
    },
    objections(change, workspace) {
      if (isCaller(change, workspace) && isShutOut(change))
        return [
          lockout(
            `the caller, ${workspace.caller}, would be made inactive`,
            "ask another administrator to apply this, or keep the user in the spec",
          ),
        ];
      const { before, after } = memberships(change, workspace);
      const groups = removesObject(change) ? [] : change.after?.groups;
      const leaves = groups !== undefined && !scimValues(groups).includes(ADMINISTRATORS);
      const leaving = leaves ? foldCase(change.live?.name ?? change.name) : undefined;
      return [
        ...lockouts(workspace, before, after),
        ...uncheckedAdministrators(change, workspace, (user) => user === leaving),
      ];
    },
  },

  operations: {
    async list(api, scope) {
      const answer = await api.read("scim/users/list");
      return objectsIn(answer, "Resources")
        .map(toLive)
        .filter((live) => isListed(live, scope));
    },
    read: (api, id) => liveIfPresent(() => api.read("scim/users/get", { id }), toLive),
    async create(api, task) {
      const answer = await api.write("scim/users/create", body(task.values));
      return createdId(answer, "id");
    },
    async update(api, task) {
      await patchScim(api, "users", task.id, [
        ...scalarOperations(task),
        ...operationsFor("entitlements", deltaOf(task.before.entitlements, task.values.entitlements ?? [])),
      ]);
      const groups = deltaOf(task.before.groups, task.values.groups);
      for (const id of groups.added)
        await patchScim(api, "groups", id, operationsFor("members", { added: [task.id], removed: [] }));
      for (const id of groups.removed)
        await ignoreMissing(() =>
          patchScim(api, "groups", id, operationsFor("members", { added: [], removed: [task.id] })),
        );
    },
    delete: (api, task) => ignoreMissing(() => api.write("scim/users/delete", { id: task.id })),
  },
});
