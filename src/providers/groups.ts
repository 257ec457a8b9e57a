// Groups of users and of groups (contract: part A, 2.2 and 4.1). Members change as deltas, so that others' changes stay.

import type { Reader } from "../api/contract/reader.ts";
import { remoteId } from "../core/address.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { count, listed } from "../core/sentences.ts";
import type { LiveObject, Look, PlannedChange, Step } from "../resource/provider.ts";
import {
  aclsNaming,
  lockouts,
  losesAdministrators,
  membershipOf,
  membersOf,
  stayingMembers,
} from "./kit/admin-membership.ts";
import { defineProvider, group, list, optional, text } from "./kit/field-builders.ts";
import { goes } from "./kit/preserved-fields.ts";
import { found, keyIn, objectsIn, textIn, unlessGone, valuesIn } from "./kit/responses.ts";
import {
  asValues,
  type Delta,
  deltaOf,
  GROUP_SCHEMA,
  joined,
  memberKind,
  operationsFor,
  patch,
  textsIn,
} from "./kit/scim.ts";

const names = (kind: "users" | "groups") =>
  optional(
    list(
      text({
        names: kind,
        // As the named kind compares its names.
        ...(kind === "users" ? { ignoreCase: true } : {}),
        minLength: 1,
        description: `Name of one of the ${kind}.`,
      }),
      {
        list: "set",
        whenAbsent: "unmanaged",
        description: `Every one of the ${kind} that is a member; absent means that nobody manages them.`,
      },
    ),
  );

const fields = {
  displayName: optional(
    text({
      minLength: 1,
      onChange: "replace",
      description: "Unique name of the group. Cannot be changed.",
    }),
  ),
  members: optional(
    group(
      { users: names("users"), groups: names("groups") },
      { whenAbsent: "unmanaged", description: "Who belongs to the group: users, and groups within it." },
    ),
  ),
  entitlements: optional(
    list(text({ minLength: 1, description: "One entitlement, such as allow-cluster-create." }), {
      list: "set",
      whenAbsent: "unmanaged",
      description: "Rights of every member; absent means that nobody manages them.",
    }),
  ),
};

type GroupIds = ReadonlySet<string>;

function toSpec(answer: JsonObject, groupIds: GroupIds): LiveObject {
  const id = keyIn(answer, "id");
  const displayName = keyIn(answer, "displayName");
  const members: { users: string[]; groups: string[] } = { users: [], groups: [] };
  for (const member of objectsIn(answer, "members")) {
    const value = textIn(member, "value");
    if (value !== undefined) members[memberKind(member, groupIds) ?? "users"].push(value);
  }
  const entitlements = [...valuesIn(answer, "entitlements")];
  return { id: remoteId(id), name: displayName, values: { displayName, members, entitlements }, facts: {} };
}

async function everyGroup(api: Reader): Promise<readonly LiveObject[]> {
  const answers = objectsIn(await api.read("scim/groups/list"), "Resources");
  const ids = new Set(answers.map((answer) => keyIn(answer, "id")));
  return answers.map((answer) => toSpec(answer, ids));
}

/** Whether the answer itself says of every member what it is; where it does not, the list of all groups tells. */
const isPlain = (answer: JsonObject): boolean =>
  objectsIn(answer, "members").every((member) => memberKind(member, new Set()) !== undefined);

function memberDelta(before: JsonObject, after: JsonObject): Delta {
  const had: JsonObject = isObject(before.members) ? before.members : {};
  const wanted: JsonObject = isObject(after.members) ? after.members : {};
  return joined(deltaOf(had.users, wanted.users), deltaOf(had.groups, wanted.groups));
}

function steps(live: LiveObject, after: JsonObject): readonly Step[] {
  const delta = memberDelta(live.values, after);
  const rights = deltaOf(live.values.entitlements, after.entitlements);
  const made = [
    ["add-members", delta.added],
    ["remove-members", delta.removed],
    ["grant", rights.added],
    ["revoke", rights.removed],
  ] as const;
  return made
    .filter(([, which]) => which.length > 0)
    .map(([operation, which]) => ({ operation, detail: { names: which } }));
}

function memberships(change: PlannedChange, look: Look) {
  const before = membershipOf(look);
  const after = new Map(before);
  const name = change.live?.name ?? change.name;
  if (goes(change)) {
    after.delete(name);
    for (const [other, members] of before)
      if (other !== name)
        after.set(other, { ...members, groups: members.groups.filter((one) => one !== name) });
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
  one: "group",
  description: "Groups of users, which may hold other groups. Deleting a group keeps its users.",
  fields,
  severity: "security",
  nameField: "displayName",
  unique: true,
  idAttribute: "id",
  crash: "client-named",
  replacing: "create-first",
  usedBy: ["acls"],
  builtIn: ["admins", "users"],

  steps: (_diffs, live, after) => steps(live, after),
  wants(change, look) {
    if (look.caller !== undefined || change.action === "create") return [];
    const { before, after } = memberships(change, look);
    return losesAdministrators(before, after) ? ["caller"] : [];
  },
  consequences(change, look) {
    if (!goes(change) || change.live === undefined) return [];
    const members = stayingMembers(look, change.live);
    const acls = aclsNaming(look, (name) => name, change.live.name);
    return [
      ...(members > 0 ? [`${count(members, "member loses", "members lose")} what the group gives`] : []),
      ...(acls.length > 0 ? [`access lists still name it: ${listed(acls.map((acl) => acl.name))}`] : []),
    ];
  },
  objections(change, look) {
    const { before, after } = memberships(change, look);
    return lockouts(look, before, after);
  },

  list: everyGroup,
  async read(api, id) {
    const answer = await found(() => api.read("scim/groups/get", { id }));
    if (answer === undefined) return undefined;
    return isPlain(answer)
      ? toSpec(answer, new Set())
      : (await everyGroup(api)).find((live) => String(live.id) === String(id));
  },
  async create(api, task) {
    const members: JsonObject = isObject(task.values.members) ? task.values.members : {};
    const ids = [...textsIn(members.users), ...textsIn(members.groups)];
    const entitlements = textsIn(task.values.entitlements);
    const body: { [field: string]: Json } = {
      schemas: [GROUP_SCHEMA],
      displayName: task.values.displayName ?? task.name,
    };
    if (ids.length > 0) body.members = asValues(ids);
    if (entitlements.length > 0) body.entitlements = asValues(entitlements);
    return remoteId(textIn(await api.write("scim/groups/create", body), "id") ?? "");
  },
  update: (api, task) =>
    patch(api, "groups", task.id, [
      ...operationsFor("members", memberDelta(task.before, task.values)),
      ...operationsFor("entitlements", deltaOf(task.before.entitlements, task.values.entitlements)),
    ]),
  delete: (api, task) => unlessGone(() => api.write("scim/groups/delete", { id: task.id })),
});
