// Drift, acknowledged or reported, of a resource whose new address is not applied yet, through the real program and a service on loopback.

import { expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const SPEC = `users:
  a: { userName: ada@example.com, displayName: Ada }
`;
const MOVED = `users:
  b: { userName: ada@example.com, displayName: Ada }
moved: [{ from: users.a, to: users.b }]
`;
const UNTIL = ["--until", "2999-12-31", "--reason", "a test"];

/** The spec has a new address that is not applied, and the object drifted. */
async function movedAndDrifted() {
  const site = await applied(SPEC);
  await site.rename("ada", "New");
  site.write(MOVED);
  const acknowledged = async () =>
    JSON.parse((await site.run("drift", "acknowledge", "--list", "-o", "json")).out);
  return { ...site, acknowledged };
}

test.each([
  ["users.a", "users.a"],
  ["users.a", "users.b"],
  ["users.b", "users.a"],
  ["users.b.displayName", "users.a.displayName"],
  ["users.a.displayName", "users.b.displayName"],
])("drift acknowledged as %s can be opened again as %s", async (place, removedPlace) => {
  const { run, acknowledged } = await movedAndDrifted();
  expect(await run("drift", "acknowledge", place, ...UNTIL)).toMatchObject({ code: 0 });
  expect(await acknowledged()).toMatchObject({ acknowledged: [{ address: "users.a" }] });
  expect(await run("drift", "acknowledge", "--remove", removedPlace)).toMatchObject({
    code: 0,
    out: `Removed the acknowledgement of ${removedPlace}.\n`,
  });
  expect(await acknowledged()).toMatchObject({ acknowledged: [] });
});

test("a mark of an address that a spec with errors would move is removed by the address of the state", async () => {
  const { run, write, acknowledged } = await movedAndDrifted();
  await run("drift", "acknowledge", "users.a", ...UNTIL);
  write("users: [");
  const moved = await run("drift", "acknowledge", "--remove", "users.b");
  expect([moved.code, moved.all]).toEqual([1, expect.stringContaining("users.b is not acknowledged")]);
  expect(await run("drift", "acknowledge", "--remove", "users.a")).toMatchObject({ code: 0 });
  expect(await acknowledged()).toMatchObject({ acknowledged: [] });
});

test("drift that was reported before a move stays reported when a run leaves out the new address", async () => {
  const site = await applied(SPEC);
  await site.rename("ada", "New");
  const codeOf = async (...args: readonly string[]) =>
    (await site.run("drift", "--since", "last", ...args)).code;
  expect(await codeOf()).toBe(2);
  site.write(MOVED);
  expect(await codeOf("--exclude", "users.b")).toBe(0);
  expect(await codeOf()).toBe(0);
});
