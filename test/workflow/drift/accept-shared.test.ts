// `drift accept` of what also decides other resources or targets, through the real program and a service on loopback.

import { describe, expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const MODULE = {
  "m/workspace.yaml": `inputs: { name: { type: string } }
users:
  u: { userName: "\${input.name}@example.com", displayName: Same }
`,
};
const INSTANCES = `modules:
  core: { source: ./m, for_each: { a: { n: ada }, b: { n: bo } }, with: { name: "\${each.value.n}" } }
`;

describe("a declaration that makes several objects", () => {
  test("stays when one of them was deleted, because the next plan would delete the others", async () => {
    const { run, remove, file } = await applied(INSTANCES, MODULE);
    await remove("ada");
    for (const shared of [[], ["--shared"]]) {
      const { code, all } = await run("drift", "accept", "*", ...shared);
      expect(all).toContain(
        "the declaration decides users.core/a/u, and also users.core/b/u (m/workspace.yaml:3), which the next plan would delete",
      );
      expect(all).toContain(
        "hint: to keep it, declare it separately; to delete it as well, edit the spec by hand",
      );
      expect(code).toBe(1);
    }
    expect(file("m/workspace.yaml")).toBe(MODULE["m/workspace.yaml"]);
  });

  test("is removed when all of them were deleted", async () => {
    const { run, remove, file } = await applied(INSTANCES, MODULE);
    await remove("ada");
    await remove("bo");
    expect(await run("drift", "accept", "*")).toMatchObject({ code: 0 });
    expect(file("m/workspace.yaml")).not.toContain("displayName");
  });

  test("is named with the others that it no longer declares, when they were deleted, too", async () => {
    const { run, remove } = await applied(INSTANCES, MODULE);
    await remove("ada");
    await remove("bo");
    const { code, all } = await run("drift", "accept", "users.core/a/u", "--shared");
    expect(all).toContain(
      "warning DRIFT_ACCEPTED_SHARED: users.core/b/u (m/workspace.yaml:3) also changes: the next plan forgets it",
    );
    expect(code).toBe(0);
  });
});

describe("--shared", () => {
  const SHARED = `locals: { name: Same }
users:
  ada@example.com: { displayName: "\${local.name}" }
  bo@example.com: { displayName: "\${local.name}" }
  cy@example.com: { displayName: Cy }
`;

  test("names each other address that changes, with its fields", async () => {
    const { run, rename, file } = await applied(SHARED);
    await rename("ada", "New");
    const warned =
      "warning DRIFT_ACCEPTED_SHARED: users.bo@example.com (workspace.yaml:4) also changes: the next plan updates it (displayName)";
    const preview = await run("drift", "accept", "users.ada@example.com", "--shared", "--dry-run");
    expect(preview.all).toContain(warned);
    expect(file()).toBe(SHARED);
    const { code, all } = await run("drift", "accept", "users.ada@example.com", "--shared");
    expect(all).toContain(warned);
    expect(all).not.toContain("cy@example.com");
    expect(code).toBe(0);
    expect(file()).toBe(SHARED.replace("Same", "New"));
  });

  test("refuses a list that decides which objects exist, if the next plan would delete one", async () => {
    const spec = `locals: { people: [ada@example.com, bo@example.com] }
users:
  "\${each.key}": { for_each: "\${local.people}", displayName: Same }
groups:
  data: { members: { users: "\${local.people}" } }
`;
    const { run, file, leave } = await applied(spec);
    await leave("data", "bo");
    const { code, all } = await run("drift", "accept", "groups.data", "--shared");
    expect(all).toContain(
      "workspace.yaml:1 decides groups.data, and also users.bo@example.com (workspace.yaml:3), which the next plan would delete",
    );
    expect(code).toBe(1);
    expect(file()).toBe(spec);
  });

  test("names what changes in other targets, and what they no longer declare", async () => {
    const { run, rename, remove } = await applied(`users:
  ada@example.com: { displayName: Same }
  bo@example.com: { displayName: Same }
  cy@example.com: { displayName: Cy }
targets: { dev: { default: true }, prod: {} }
`);
    await rename("ada", "New");
    await remove("bo");
    const { code, all } = await run("drift", "accept", "*", "--shared");
    expect(all).toContain(
      "warning DRIFT_ACCEPTED_SHARED: the target prod also changes: its next plan deletes users.bo@example.com, which it no longer declares; users.ada@example.com changed",
    );
    expect(code).toBe(0);
  });

  test("refuses an edit with which another target is not valid", async () => {
    const spec = `users:
  ada@example.com: {}
  bo@example.com: {}
targets:
  dev: { default: true }
  prod: { users: { cy@example.com: { displayName: "\${users.bo@example.com.id}" } } }
`;
    const { run, remove, file } = await applied(spec);
    await remove("bo");
    const { code, all } = await run("drift", "accept", "*", "--shared");
    expect(all).toContain("the target prod would not be valid with the live values, so nothing is written");
    expect(code).toBe(1);
    expect(file()).toBe(spec);
  });
});
