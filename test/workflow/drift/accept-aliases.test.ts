// `drift accept` of values that an alias repeats, and of resources that for_each makes, through the real program and a service on loopback.

import { expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const SPEC = `x-user: &user { displayName: Same }
x-many: &many { displayName: Many, active: true }
users:
  ada@example.com: *user
  bo@example.com:
    <<: *many
  cy@example.com: { displayName: &name Cy }
  di@example.com: { displayName: *name }
  ed@example.com: { displayName: Ed } # alone
`;

test.each([
  ["ada", "displayName", "&user (workspace.yaml:1), which has an alias at workspace.yaml:4"],
  ["bo", "displayName", "&many (workspace.yaml:2), which has an alias at workspace.yaml:6"],
])(
  "a value of %s that an alias repeats is refused with the places of its anchor and its alias",
  async (name, field, places) => {
    const { run, rename, file } = await applied(SPEC);
    await rename(name, "New");
    for (const shared of [[], ["--shared"]]) {
      const { code, all } = await run("drift", "accept", `users.${name}@example.com`, ...shared);
      expect(all).toContain(`error DRIFT_NOT_ACCEPTED: users.${name}@example.com: `);
      expect(all).toContain(`${field} belongs to the anchor ${places}`);
      expect(all).toContain(
        "hint: change the value at the anchor by hand, or write it out in place of the alias",
      );
      expect(code).toBe(1);
    }
    expect(file()).toBe(SPEC);
  },
);

test("the text of an anchored scalar decides each place that has an alias of it", async () => {
  const { run, rename, file } = await applied(SPEC);
  await rename("di", "New");
  const alone = await run("drift", "accept", "users.di@example.com");
  expect(alone.all).toContain(
    "workspace.yaml:7 decides users.di@example.com, and also users.cy@example.com (workspace.yaml:7)",
  );
  expect(alone.code).toBe(1);
  expect(file()).toBe(SPEC);
  expect(await run("drift", "accept", "users.di@example.com", "--shared")).toMatchObject({ code: 0 });
  expect(file()).toContain(
    "cy@example.com: { displayName: &name New }\n  di@example.com: { displayName: *name }",
  );
});

test("with --keep-going, what no alias repeats is accepted", async () => {
  const { run, rename, file } = await applied(SPEC);
  for (const name of ["ada", "bo", "cy", "di", "ed"]) await rename(name, `New ${name}`);
  const { code, all } = await run("drift", "accept", "*", "--keep-going");
  expect(all.match(/users\.\w+@example\.com: \S+ belongs to the anchor/g)?.length).toBe(2);
  expect(all.match(/has another live value than \S+ for the same place \(workspace\.yaml:7\)/g)).toHaveLength(
    2,
  );
  expect(code).toBe(2);
  expect(file()).toBe(SPEC.replace("displayName: Ed }", "displayName: New ed }"));
});

test("the entry of a deleted object stays while an alias repeats it, and an alias itself is removed", async () => {
  const spec = `users:
  ada@example.com: &ada { displayName: Same }
  bo@example.com: *ada
  cy@example.com: {}
`;
  const { run, remove, file } = await applied(spec);
  await remove("ada");
  const { code, all } = await run("drift", "accept", "users.ada@example.com");
  expect(all).toContain(
    "belongs to the anchor &ada (workspace.yaml:2), which has an alias at workspace.yaml:3",
  );
  expect(code).toBe(1);
  expect(file()).toBe(spec);
  await remove("bo");
  expect(await run("drift", "accept", "users.bo@example.com")).toMatchObject({ code: 0 });
  expect(file()).toBe(spec.replace("  bo@example.com: *ada\n", ""));
  expect(await run("drift", "accept", "users.ada@example.com")).toMatchObject({ code: 0 });
  expect(file()).toBe("users:\n  cy@example.com: {}\n");
});

test("a resource of for_each is not written for one target alone, and no hint says that it can be", async () => {
  const spec = `users:
  "\${each.key}@example.com": { for_each: [ada, bo], displayName: Same }
  cy@example.com: { displayName: Cy }
targets: { dev: { default: true }, prod: {} }
`;
  const { run, rename, file } = await applied(spec);
  await rename("ada", "New");
  await rename("cy", "New");
  const shared = await run("drift", "accept", "users.ada@example.com");
  expect(shared.all).toContain("and the target prod");
  expect(shared.all).not.toContain("--in-target");
  const alone = await run("drift", "accept", "users.ada@example.com", "--in-target");
  expect(alone.all).toContain("users.ada@example.com cannot be written for one target alone");
  expect(alone.all).not.toContain("would not be valid");
  expect([shared.code, alone.code]).toEqual([1, 1]);
  expect(file()).toBe(spec);
  expect((await run("drift", "accept", "users.cy@example.com")).all).toContain("pass --in-target");
  expect(await run("drift", "accept", "users.cy@example.com", "--in-target")).toMatchObject({ code: 0 });
});
