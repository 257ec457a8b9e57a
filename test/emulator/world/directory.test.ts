// Who belongs to what, and which entitlements that gives.

import { expect, test } from "vitest";
import { hasEntitlement, userByName } from "../../../src/emulator/world/directory.ts";
import type { Caller } from "../../../src/emulator/world/world.ts";
import { GROUP_SCHEMA, startWorld, type TestWorld, USER_SCHEMA } from "../harness.ts";

const CREATE = "allow-cluster-create";

function caller(w: TestWorld, userName: string, admin = false): Caller {
  return { userId: userByName(w.store.world, userName)?.id ?? "", userName, admin };
}

test("A2.1 entitlements: the user's own count, and those of groups around it", async () => {
  const w = await startWorld();
  await w.user("bo@example.com");
  const has = () => hasEntitlement(w.store.world, caller(w, "bo@example.com"), CREATE);
  expect(has()).toBe(false);
  const id = userByName(w.store.world, "bo@example.com")?.id;
  const post = (displayName: string, more: object) =>
    w.post("preview/scim/v2/Groups", { schemas: [GROUP_SCHEMA], displayName, ...more });
  const inner = (await post("inner", { members: [{ value: id }] })).body.id;
  await post("outer", { members: [{ value: inner }], entitlements: [{ value: CREATE }] });
  expect(has()).toBe(true);
  await w.post("groups/remove-member", { group_name: "inner", parent_name: "outer" });
  expect(has()).toBe(false);
  await w.put(`preview/scim/v2/Users/${id}`, { schemas: [USER_SCHEMA], entitlements: [{ value: CREATE }] });
  expect(has()).toBe(true);
});

test("A2.1 entitlements: administrators have them all", async () => {
  const w = await startWorld();
  expect(hasEntitlement(w.store.world, caller(w, "admin@example.com", true), CREATE)).toBe(true);
});
