// `drift accept` of a resource whose new address is not applied yet, through the real program and a service on loopback.

import { expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const SPEC = `users:
  a: { userName: ada@example.com, displayName: Ada }
  bo@example.com: {}
`;
const MOVED = `users:
  b: { userName: ada@example.com, displayName: Ada }
  bo@example.com: {}
moved: [{ from: users.a, to: users.b }]
`;

test.each(["*", "users.b", "users.b.displayName"])(
  "drift of a resource that the next plan also moves is accepted: %s",
  async (place) => {
    const { run, rename, file, write } = await applied(SPEC);
    await rename("ada", "New");
    write(MOVED);
    const { code, all } = await run("drift", "accept", place);
    expect([code, all]).toEqual([0, expect.stringContaining("users.b: displayName Ada → New")]);
    expect(file()).toBe(MOVED.replace("displayName: Ada", "displayName: New"));
    expect((await run("plan", "-o", "json")).all).toContain('"move": 1');
  },
);

test("the entry of a deleted object that the next plan would also move is removed", async () => {
  const { run, remove, file, write } = await applied(SPEC);
  await remove("ada");
  write(MOVED);
  const { code, all } = await run("drift", "accept", "*");
  expect([code, all]).toEqual([
    0,
    expect.stringContaining("users.b: removed, because the object was deleted"),
  ]);
  expect(file()).not.toContain("ada@example.com");
});
