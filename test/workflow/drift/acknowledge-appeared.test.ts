// Acknowledged and reported drift of objects that appeared, and then get members and rights.

import { expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const HEAD = "policy: { authoritative: [users, groups] }\n";
const ADA = "ada@example.com: {}";
const BO = "users.bo@example.com";

/** A user and a group that others created. */
async function appeared() {
  const { run, call, write, enter } = await applied(`users: { ${ADA}, bo@example.com: {} }\n`);
  // Without its record, the user is one that others created.
  write(`${HEAD}users: { ${ADA} }\n`);
  expect((await run("state", "rm", BO)).code).toBe(0);
  await call("groups/create", { group_name: "project-x" });
  const sinceLast = async () => (await run("drift", "--since", "last", "--fail-on", "security")).code;
  const acknowledge = async (address: string) =>
    expect((await run("drift", "acknowledge", address, "--until", "5d", "--reason", "test")).code).toBe(0);
  return { run, sinceLast, acknowledge, enter };
}

test.each(["acknowledged", "reported"])(
  "drift of a user or a group that was %s is new once the user is an administrator, or the group has another member",
  async (how) => {
    const { run, sinceLast, acknowledge, enter } = await appeared();
    if (how === "acknowledged") for (const address of [BO, "groups.project-x"]) await acknowledge(address);
    // The signed-in user is not declared either, and new once.
    expect([await sinceLast(), await sinceLast()]).toEqual([2, 0]);
    await enter("admins", "bo");
    expect([await sinceLast(), await sinceLast()]).toEqual([2, 0]);
    await enter("project-x", "ada");
    expect([await sinceLast(), await sinceLast()]).toEqual([2, 0]);
    expect((await run("drift", "acknowledge", "--list")).out).toBe("Nothing is acknowledged.\n");
  },
);
