// Users: reads, requests, and users who must not be locked out.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { groups } from "../../src/providers/groups.ts";
import { users } from "../../src/providers/users.ts";
import {
  create,
  diffs,
  diffsAfter,
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

const ada = "ada@example.com";

test("a created user reads back as requested", async () => {
  const { api, sent } = await startWorkspace();
  const group = await create(groups, api, "data-eng", {});
  const values = {
    entitlements: ["allow-cluster-create"],
    groups: [group],
    displayName: "Ada",
    name: { givenName: "Ada", familyName: "Lovelace" },
    emails: [{ value: ada }],
    externalId: "x-1",
  };
  const id = await create(users, api, ada, values);
  expect(sent.filter((one) => one.operation === "scim/users/create")).toHaveLength(1);
  const live = await only(users, api, id);
  expect(live.name).toBe(ada);
  expect(diffs(users, live, ada, values)).toEqual([]);
  expect(diffs(users, (await users.operations.read(api, id)) ?? live, ada, values)).toEqual([]);
});

test("a user that sets nothing but its name shows no difference after it was created", async () => {
  const { api } = await startWorkspace();
  const live = await only(users, api, await create(users, api, "Bo@Example.com", {}));
  expect(diffs(users, live, "bo@example.com", {})).toEqual([]);
});

test("entitlements, groups and names change as deltas, in place", async () => {
  const { api, sent } = await startWorkspace();
  const [one, two] = [await create(groups, api, "one", {}), await create(groups, api, "two", {})];
  const before = { entitlements: ["allow-cluster-create"], groups: [one], displayName: "A", active: true };
  const id = await create(users, api, ada, before);
  const after = {
    entitlements: ["allow-instance-pool-create"],
    groups: [two],
    displayName: "Ada",
    active: false,
  };
  sent.length = 0;
  const steps = await update(users, api, await only(users, api, id), ada, after);
  expect(steps).toEqual(["patch", "join", "leave"]);
  expect(sent.map((write) => write.operation)).toEqual([
    "scim/users/patch",
    "scim/groups/patch",
    "scim/groups/patch",
  ]);
  const live = await users.operations.read(api, id);
  expect(live === undefined ? undefined : diffs(users, live, ada, after)).toEqual([]);
});

test("a field that left the spec returns to the service, and fields that the service sets are not sent", async () => {
  const { api, sent } = await startWorkspace();
  const full = { displayName: "Ada", name: { givenName: "Ada", familyName: "Lovelace" }, externalId: "x" };
  const id = await create(users, api, ada, full);
  const live = await only(users, api, id);
  const less = { name: { givenName: "Augusta" } };
  const found = diffsAfter(users, live, ada, less, { applied: full, seen: live.values });
  expect(found.map((diff) => diff.path.join("."))).toEqual([
    "displayName",
    "name.givenName",
    "name.familyName",
  ]);
  sent.length = 0;
  await update(users, api, live, ada, less, found);
  expect(sent[0]?.input.Operations).toEqual([
    { op: "remove", path: "displayName" },
    { op: "replace", path: "name", value: { givenName: "Augusta" } },
  ]);
  const { values } = await only(users, api, id);
  expect(values.displayName).toBe(ada);
  expect(values.externalId).toBe("x");
});

test("neither the built-in group of everybody nor an indirect membership is read as a membership", async () => {
  const answer: JsonObject = {
    totalResults: 1,
    Resources: [
      {
        id: "7",
        userName: ada,
        groups: [
          { value: "1", display: "users" },
          { value: "2", display: "ops", type: "direct" },
          { value: "3", display: "all-ops", type: "indirect" },
        ],
      },
    ],
  };
  const [live] = await listed(users, scripted({ "scim/users/list": answer }).api);
  expect(live?.values.groups).toEqual(["2"]);
  expect(users.planning.validate?.({ groups: ["users"] }, ada)).toHaveLength(1);
  expect(users.planning.validate?.({ groups: ["ops"] }, ada)).toEqual([]);
});

test("a user made inactive counts only where its name or its ID is known", async () => {
  const answer = { totalResults: 1, Resources: [{ id: "7", userName: ada, active: false }] };
  const { api } = scripted({ "scim/users/list": answer });
  expect(await users.operations.list(api, { parents: [], names: new Set() })).toEqual([]);
  const known = await users.operations.list(api, { parents: [], names: new Set(["ADA@example.com"]) });
  expect(known.map((live) => live.values.active)).toEqual([false]);
  const byId = await users.operations.list(api, { parents: [], names: new Set(), ids: new Set(["7"]) });
  expect(byId.map((live) => live.name)).toEqual([ada]);
});

test("deleting a user twice is fine", async () => {
  const { api } = await startWorkspace();
  const live = await only(users, api, await create(users, api, ada, {}));
  await remove(users, api, live);
  await remove(users, api, live);
  expect(await users.operations.read(api, live.id)).toBeUndefined();
});

const live = liveObject(ada, { userName: ada, groups: ["admins"], entitlements: [], active: true });
const admins = liveObject("admins", { displayName: "admins", members: { users: [ada, "bo@x"], groups: [] } });

test("deleting a user asks for the caller, and objects when it is the caller", () => {
  const change = planned(users, "delete", live);
  expect(users.planning.neededFacts?.(change, lookAt({}))).toEqual(["caller"]);
  expect(users.planning.objections?.(change, lookAt({ caller: "bo@x" }))).toEqual([]);
  expect(users.planning.objections?.(change, lookAt({ caller: "ADA@example.com" }))?.[0]?.code).toBe(
    "GUARD_LOCKOUT",
  );
});

test("deactivating the caller is objected to", () => {
  const change = planned(users, "update", live, { active: false });
  expect(users.planning.objections?.(change, lookAt({ caller: ada }))?.[0]?.message).toContain(
    "made inactive",
  );
});

test("taking the caller out of admins is objected to, another one is not", () => {
  const change = planned(users, "update", live, { groups: [] });
  const world = { live: { groups: [admins] } };
  expect(users.planning.neededFacts?.(change, lookAt(world))).toEqual(["caller"]);
  expect(users.planning.objections?.(change, lookAt({ ...world, caller: ada }))).toHaveLength(1);
  expect(users.planning.objections?.(change, lookAt({ ...world, caller: "bo@x" }))).toEqual([]);
});

test("an administrator through a group that cannot be managed stays one when its own groups change", () => {
  const company = {
    ...liveObject("company", { displayName: "company", members: { users: [ada], groups: [] } }),
    unmanageable: "it belongs to the account",
  };
  const outer = liveObject("admins", {
    displayName: "admins",
    members: { users: ["bo@x"], groups: ["company"] },
  });
  const member = liveObject(ada, { userName: ada, groups: ["ops"], entitlements: [], active: true });
  const change = planned(users, "update", member, { groups: [] });
  const world = lookAt({ live: { groups: [outer, company] }, caller: ada });
  expect(users.planning.objections?.(change, world)).toEqual([]);
});

test("the last administrator cannot be removed by any caller", () => {
  const alone = liveObject("admins", { displayName: "admins", members: { users: [ada], groups: [] } });
  const change = planned(users, "update", live, { groups: [] });
  const found = users.planning.objections?.(change, lookAt({ live: { groups: [alone] }, caller: "bo@x" }));
  expect(found?.[0]?.message).toContain("would have no members");
});

test("deleting a user reports its groups and the access lists that name it", () => {
  const acl = liveObject(`etl/${ada}`, { permission: "READ" });
  const told = users.planning.consequences?.(
    planned(users, "delete", live),
    lookAt({ live: { acls: [acl] } }),
  );
  expect(told).toEqual([
    `${ada} can no longer sign in; the service purges inactive users after 30 days`,
    "it leaves 1 group: admins",
    `access lists still contain it: etl/${ada}`,
  ]);
  const workspace = lookAt({
    live: { acls: [acl] },
    goes: ["groups.admins", "acls.etl/ada@example.com", "scopes.etl"],
  });
  expect(users.planning.consequences?.(planned(users, "delete", live), workspace)).toEqual([
    `${ada} can no longer sign in; the service purges inactive users after 30 days`,
  ]);
});
