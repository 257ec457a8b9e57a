// Groups: members of both kinds, deltas, and the guard on administrators.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { groups } from "../../src/providers/groups.ts";
import { users } from "../../src/providers/users.ts";
import {
  create,
  diffs,
  listed,
  liveObject,
  lookAt,
  only,
  planned,
  remove,
  scripted,
  startWorkspace,
  update,
} from "./workspace.ts";

test("a group with users and groups reads back as requested", async () => {
  const { api } = await startWorkspace();
  const ada = await create(users, api, "ada@x", {});
  const inner = await create(groups, api, "inner", {});
  const values = { members: { users: [ada], groups: [inner] } };
  const id = await create(groups, api, "outer", values);
  expect(diffs(groups, await only(groups, api, id), "outer", values)).toEqual([]);
  const read = await groups.operations.read(api, id);
  expect(read?.values.members).toEqual({ users: [ada], groups: [inner] });
});

test("members change as one patch of what differs", async () => {
  const { api, sent } = await startWorkspace();
  const [ada, bo, cy] = [
    await create(users, api, "ada@x", {}),
    await create(users, api, "bo@x", {}),
    await create(users, api, "cy@x", {}),
  ];
  const id = await create(groups, api, "g", { members: { users: [ada, bo] } });
  sent.length = 0;
  const after = { members: { users: [bo, cy] } };
  const steps = await update(groups, api, await only(groups, api, id), "g", after);
  expect(steps).toEqual(["add-members", "remove-members"]);
  expect(sent).toHaveLength(1);
  expect(sent[0]?.input.Operations).toEqual([
    { op: "remove", path: `members[value eq "${ada}"]` },
    { op: "add", value: { members: [{ value: cy }] } },
  ]);
  expect(diffs(groups, await only(groups, api, id), "g", after)).toEqual([]);
});

test("members of a type that the spec does not name are not changed", async () => {
  const { api, sent } = await startWorkspace();
  const inner = await create(groups, api, "inner", {});
  const ada = await create(users, api, "ada@x", {});
  const id = await create(groups, api, "g", { members: { groups: [inner] } });
  sent.length = 0;
  await update(groups, api, await only(groups, api, id), "g", { members: { users: [ada] } });
  expect((await groups.operations.read(api, id))?.values.members).toEqual({ users: [ada], groups: [inner] });
});

test("an empty list of members empties the group, an absent one does not", async () => {
  const { api } = await startWorkspace();
  const ada = await create(users, api, "ada@x", {});
  const id = await create(groups, api, "g", { members: { users: [ada] } });
  const live = await only(groups, api, id);
  expect(diffs(groups, live, "g", {})).toEqual([]);
  expect(diffs(groups, live, "g", { members: {} })).toEqual([]);
  const empty = { members: { users: [] } };
  expect(diffs(groups, live, "g", empty)).toHaveLength(1);
  await update(groups, api, live, "g", empty);
  expect(diffs(groups, await only(groups, api, id), "g", empty)).toEqual([]);
});

test("the list of groups decides the type of members without one", async () => {
  const list: { readonly totalResults: number; readonly Resources: readonly JsonObject[] } = {
    totalResults: 2,
    Resources: [
      { id: "1", displayName: "outer", members: [{ value: "2" }, { value: "9" }] },
      { id: "2", displayName: "inner" },
    ],
  };
  const { api, reads } = scripted({ "scim/groups/list": list, "scim/groups/get": list.Resources[0] ?? {} });
  const [outer] = await listed(groups, api);
  expect(outer?.values.members).toEqual({ users: ["9"], groups: ["2"] });
  expect((await groups.operations.read(api, outer?.id ?? liveObject("", {}).id))?.values).toEqual(
    outer?.values,
  );
  expect(reads.map((one) => one.operation)).toEqual([
    "scim/groups/list",
    "scim/groups/get",
    "scim/groups/list",
  ]);
});

test("deleting a group twice is fine", async () => {
  const { api } = await startWorkspace();
  const live = await only(groups, api, await create(groups, api, "g", {}));
  await remove(groups, api, live);
  await remove(groups, api, live);
  expect(await groups.operations.read(api, live.id)).toBeUndefined();
});

const admins = liveObject("admins", {
  displayName: "admins",
  members: { users: ["root@x"], groups: ["ops"] },
});
const ops = liveObject("ops", { displayName: "ops", members: { users: ["ada@x"], groups: [] } });
const world = { live: { groups: [admins, ops] } };

test("an administrator through a group is guarded where that group loses them, leaves, or goes", () => {
  const mine = lookAt({ ...world, caller: "ada@x" });
  const others = lookAt({ ...world, caller: "root@x" });
  const changes = [
    planned(groups, "update", ops, { members: { users: [] } }),
    planned(groups, "update", admins, { members: { groups: [] } }),
    planned(groups, "delete", ops),
  ];
  for (const change of changes) {
    expect(groups.planning.neededFacts?.(change, lookAt(world))).toEqual(["caller"]);
    expect(groups.planning.objections?.(change, mine)?.[0]?.code).toBe("GUARD_LOCKOUT");
    expect(groups.planning.objections?.(change, others)).toEqual([]);
  }
});

test("emptying admins is objected to even when the caller is not known", () => {
  const change = planned(groups, "update", admins, { members: { users: [], groups: [] } });
  expect(groups.planning.objections?.(change, lookAt(world))?.[0]?.message).toContain(
    "would have no members",
  );
});

test("changes that take no administrator away ask for nothing", () => {
  const change = planned(groups, "update", ops, { members: { users: ["ada@x", "bo@x"] } });
  expect(groups.planning.neededFacts?.(change, lookAt(world))).toEqual([]);
});

test("deleting a group reports its members and the access lists that contain it", () => {
  const acl = liveObject("etl/ops", { permission: "MANAGE" });
  const told = groups.planning.consequences?.(
    planned(groups, "delete", ops),
    lookAt({ live: { ...world.live, acls: [acl] } }),
  );
  expect(told).toEqual(["1 member loses the rights of the group", "access lists still contain it: etl/ops"]);
  for (const goes of ["scopes.etl", "acls.etl/ops"]) {
    const workspace = lookAt({ live: { ...world.live, acls: [acl] }, goes: [goes] });
    expect(groups.planning.consequences?.(planned(groups, "delete", ops), workspace)).toEqual([
      "1 member loses the rights of the group",
    ]);
  }
});

test("members that the same plan deletes are not counted; those of groups that it deletes are", () => {
  const group = (name: string, users: readonly string[], inner: readonly string[]) =>
    liveObject(name, { displayName: name, members: { users: [...users], groups: [...inner] } });
  const outer = group("outer", ["ada@example.com"], ["middle"]);
  const live = {
    groups: [outer, group("middle", ["bob@example.com"], ["inner", "outer"]), group("inner", [], [])],
  };
  const told = (...goes: string[]) =>
    groups.planning.consequences?.(
      planned(groups, "delete", outer),
      lookAt({ live, goes: ["groups.outer", ...goes] }),
    );
  expect(told()).toEqual(["2 members lose the rights of the group"]);
  expect(told("groups.middle")).toEqual(["3 members lose the rights of the group"]);
  expect(told("groups.middle", "groups.inner")).toEqual(["2 members lose the rights of the group"]);
  expect(told("groups.middle", "groups.inner", "users.ada@example.com", "users.bob@example.com")).toEqual([]);
});
