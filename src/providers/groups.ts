// Groups (contract A 2.2 and contract A 4.1). Members change as deltas, so that concurrent changes survive.

import type { Reader } from "../api/contract/reader.ts";
import { remoteId } from "../core/address.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { count } from "../core/sentences.ts";
import { ADMINISTRATORS, entitlementGrants, type PrincipalName } from "../resource/access.ts";
import type { LiveObject } from "../resource/live.ts";
import type { PlannedChange, PlannedWorkspace, Step } from "../resource/planning.ts";
import { defineProvider, groupField, listField, textField } from "./kit/field-builders.ts";
import {
  aclsNaming,
  lockouts,
  losesAdministrators,
  membershipOf,
  membersOf,
  nameAfter,
  stayingMembers,
  uncheckedAdministrators,
} from "./kit/lockout.ts";
import { unsetFieldsLost } from "./kit/preserved-fields.ts";
import { effectOn, removesObject } from "./kit/problems.ts";
import {
  createdId,
  ignoreMissing,
  keyIn,
  objectsIn,
  readIfPresent,
  responseText,
  valuesIn,
} from "./kit/responses.ts";
import {
  asValues,
  CORE_GROUP,
  type Delta,
  deltaOf,
  joinedDeltas,
  memberKind,
  nameOperations,
  operationsFor,
  patchScim,
  scimValues,
} from "./kit/scim.ts";
import { unknownFieldsLost, withUnknownFields } from "./kit/unknown-fields.ts";

const names = (kind: "users" | "groups") =>
  listField(
    textField({
      names: kind,
      // As the named kind compares its names.
      ...(kind === "users" ? { ignoreCase: true } : {}),
      minLength: 1,
      description: `Name of one of the ${kind}.`,
    }),
    {
      list: "set",
      whenAbsent: "unmanaged",
      description: `All ${kind} that are members. If absent, they are not managed.`,
    },
  );

const fields = {
  displayName: textField({
    minLength: 1,
    onChange: "replace",
    inPlaceIn: "databricks",
    description: "Unique name of the group.",
  }),
  members: groupField(
    { users: names("users"), groups: names("groups") },
    { whenAbsent: "unmanaged", description: "Members of the group: users and other groups." },
  ),
  entitlements: listField(
    textField({ minLength: 1, description: "One entitlement, such as allow-cluster-create." }),
    {
      list: "set",
      whenAbsent: "unmanaged",
      description: "Entitlements of every member. If absent, they are not managed.",
    },
  ),
};

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["id", "groups", "meta", "schemas", "unmanageable"]);

type GroupIds = ReadonlySet<string>;

function toLive(answer: JsonObject, groupIds: GroupIds): LiveObject {
  const id = keyIn(answer, "id");
  const displayName = keyIn(answer, "displayName");
  const members: { users: string[]; groups: string[] } = { users: [], groups: [] };
  for (const member of objectsIn(answer, "members")) {
    const value = responseText(member, "value");
    if (value !== undefined) members[memberKind(member, groupIds) ?? "users"].push(value);
  }
  const entitlements = [...valuesIn(answer, "entitlements")];
  const reason = responseText(answer, "unmanageable");
  const live = {
    id: remoteId(id),
    name: displayName,
    values: { displayName, members, entitlements },
    facts: {},
    unmanageable: reason,
  };
  return withUnknownFields(live, fields, answer, READ_ONLY);
}

async function everyGroup(api: Reader): Promise<readonly LiveObject[]> {
  const answers = objectsIn(await api.read("scim/groups/list"), "Resources");
  const ids = new Set(answers.map((answer) => keyIn(answer, "id")));
  return answers.map((answer) => toLive(answer, ids));
}

/** Whether the response contains the type of every member; otherwise, the list of all groups is needed. */
const isPlain = (answer: JsonObject): boolean =>
  objectsIn(answer, "members").every((member) => memberKind(member, new Set()) !== undefined);

function memberDelta(before: JsonObject, after: JsonObject): Delta {
  const had: JsonObject = isObject(before.members) ? before.members : {};
  const wanted: JsonObject = isObject(after.members) ? after.members : {};
  return joinedDeltas(deltaOf(had.users, wanted.users), deltaOf(had.groups, wanted.groups));
}

function steps(live: LiveObject, after: JsonObject): readonly Step[] {
  const delta = memberDelta(live.values, after);
  const rights = deltaOf(live.values.entitlements, after.entitlements);
  const renames = nameChange(live.values, after) !== undefined;
  const changes = [
    ["add-members", delta.added],
    ["remove-members", delta.removed],
    ["grant", rights.added],
    ["revoke", rights.removed],
  ] as const;
  return [
    ...(renames ? [{ operation: "rename" }] : []),
    ...changes
      .filter(([, which]) => which.length > 0)
      .map(([operation, which]) => ({ operation, detail: { names: which } })),
  ];
}

/** The new name of a group, if an update changes it. Only some dialects update names. */
function nameChange(before: JsonObject, { displayName: name }: JsonObject): string | undefined {
  return typeof name === "string" && name !== before.displayName ? name : undefined;
}

/** Access lists contain names, and may keep the old one. */
function renamed(live: LiveObject, after: JsonObject, workspace: PlannedWorkspace): readonly string[] {
  if (nameChange(live.values, after) === undefined) return [];
  const acls = aclsNaming(workspace, (name) => name, live.name);
  return effectOn("access lists may still contain its old name", acls);
}

function memberships(change: PlannedChange, workspace: PlannedWorkspace) {
  const before = membershipOf(workspace);
  const after = new Map(before);
  const name = change.live === undefined ? change.name : nameAfter(workspace, change.live);
  if (removesObject(change)) {
    after.delete(name);
    for (const [other, members] of before)
      if (other !== name)
        after.set(other, { ...members, groups: members.groups.filter((group) => group !== name) });
  } else if (isObject(change.after?.members)) {
    const wanted = change.after.members;
    const to = membersOf(change.after);
    const had = before.get(name) ?? { users: [], groups: [] };
    after.set(name, {
      users: wanted.users === undefined ? had.users : to.users,
      groups: wanted.groups === undefined ? had.groups : to.groups,
    });
  }
  return { before, after };
}

export const groups = defineProvider({
  kind: "groups",
  singular: "group",
  description: "Groups of users, which may contain other groups. Deleting a group keeps its users.",
  fields,
  severity: "security",
  nameField: "displayName",
  unique: true,
  idAttribute: "id",
  creationRecovery: "client-named",
  replaceStrategy: "create-first",
  usedBy: ["acls"],
  builtIn: ["admins", "users"],

  planning: {
    access: {
      levels: [],
      contribution({ id, name, values }) {
        const group = {
          kind: "group",
          name: typeof values.displayName === "string" ? values.displayName : name,
        } as const;
        const members = isObject(values.members) ? values.members : {};
        const named = (kind: "user" | "group", list: Json | undefined): readonly PrincipalName[] =>
          scimValues(list).map((member) => ({ kind, name: member }));
        return {
          principal: { ...group, aliases: id === undefined ? [] : [id], isActive: true },
          members: [...named("user", members.users), ...named("group", members.groups)],
          lacksMembers: id !== undefined && (members.users === undefined || members.groups === undefined),
          grants: entitlementGrants(group, values),
        };
      },
    },
    steps: (_diffs, live, after) => steps(live, after),
    neededFacts(change, workspace) {
      if (change.action === "create") return [];
      const { before, after } = memberships(change, workspace);
      return losesAdministrators(before, after) ? ["caller"] : [];
    },
    consequences(change, workspace) {
      if (change.live === undefined) return [];
      if (change.action === "update") return renamed(change.live, change.after ?? {}, workspace);
      if (!removesObject(change)) return [];
      const members = stayingMembers(workspace, change.live).length;
      const acls = aclsNaming(workspace, (name) => name, change.live.name);
      return [
        ...(members > 0 ? [`${count(members, "member loses", "members lose")} the rights of the group`] : []),
        ...effectOn("access lists still contain it", acls),
        ...unsetFieldsLost(change, fields, "group", { elsewhere: ["members"] }),
        ...unknownFieldsLost(change, "group"),
      ];
    },
    harms: (change, workspace) =>
      change.live === undefined || !removesObject(change)
        ? []
        : stayingMembers(workspace, change.live).map((name) => `${name} loses the rights of the group`),
    objections(change, workspace) {
      const { before, after } = memberships(change, workspace);
      const { members } = change.after ?? {};
      const isListed =
        change.live?.name === ADMINISTRATORS && isObject(members) && members.users !== undefined;
      const listed = new Set(membersOf(change.after ?? {}).users);
      return [
        ...lockouts(workspace, before, after),
        ...uncheckedAdministrators(change, workspace, (user) => isListed && !listed.has(user)),
      ];
    },
  },

  operations: {
    list: everyGroup,
    async read(api, id) {
      const answer = await readIfPresent(() => api.read("scim/groups/get", { id }));
      if (answer === undefined) return undefined;
      return isPlain(answer)
        ? toLive(answer, new Set())
        : (await everyGroup(api)).find((live) => String(live.id) === String(id));
    },
    async create(api, task) {
      const members: JsonObject = isObject(task.values.members) ? task.values.members : {};
      const ids = [...scimValues(members.users), ...scimValues(members.groups)];
      const entitlements = scimValues(task.values.entitlements);
      const body: { [field: string]: Json } = {
        schemas: [CORE_GROUP],
        displayName: task.values.displayName ?? task.name,
      };
      if (ids.length > 0) body.members = asValues(ids);
      if (entitlements.length > 0) body.entitlements = asValues(entitlements);
      return createdId(await api.write("scim/groups/create", body), "id");
    },
    update: (api, task) =>
      patchScim(api, "groups", task.id, [
        ...nameOperations(nameChange(task.before, task.values)),
        ...operationsFor("members", memberDelta(task.before, task.values)),
        ...operationsFor("entitlements", deltaOf(task.before.entitlements, task.values.entitlements)),
      ]),
    delete: (api, task) => ignoreMissing(() => api.write("scim/groups/delete", { id: task.id })),
  },
});
