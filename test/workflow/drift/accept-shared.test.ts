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

  test("names what changes in other targets, and what they no longer declare, or newly", async () => {
    const { run, rename, remove, call } = await applied(`users:
  ada@example.com: { displayName: Same }
  bo@example.com: { displayName: Same }
  cy@example.com: { displayName: Cy }
scopes: { s: { acls: { users: READ } } }
targets: { dev: { default: true }, prod: {} }
`);
    await rename("ada", "New");
    await remove("bo");
    await call("secrets/acls/put", { scope: "s", principal: "cy@example.com", permission: "READ" });
    const { code, all } = await run("drift", "accept", "*", "--shared");
    expect(all).toContain(
      "warning DRIFT_ACCEPTED_SHARED: the target prod also changes: its next plan deletes users.bo@example.com, which it no longer declares; it also declares acls.s/cy@example.com; users.ada@example.com changed",
    );
    expect(code).toBe(0);
  });

  test("says in JSON what changes in other targets, and what their next plan would replace", async () => {
    const spec = `locals: { name: Same }
users: { ada@example.com: { displayName: "\${local.name}" } }
targets:
  dev: { default: true }
  prod: { pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { n: "\${local.name}" } } } }
`;
    const { run, rename } = await applied(spec);
    await rename("ada", "New");
    const { out } = await run("drift", "accept", "*", "--shared", "-o", "json");
    const message =
      "the target prod also changes: its next plan would replace pools.p; users.ada@example.com changed";
    expect(JSON.parse(out)).toMatchObject({ notes: [{ code: "DRIFT_ACCEPTED_SHARED", message }] });
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

describe("the hint of a refusal", () => {
  const TARGETS = "targets: { dev: { default: true }, prod: {} }\n";
  const INPUT = {
    "m/workspace.yaml": `inputs: { name: { type: string }, title: { type: string, default: Same } }
users:
  u: { userName: "\${input.name}@example.com", displayName: "\${input.title}" }
`,
  };

  test("offers no line of a module that decides each instance", async () => {
    const { run, rename } = await applied(INSTANCES, INPUT);
    await rename("ada", "New");
    const { all } = await run("drift", "accept", "users.core/a/u");
    expect(all).toContain("m/workspace.yaml:1 decides users.core/a/u, and also users.core/b/u");
    expect(all).toContain("hint: to change all of them, pass --shared");
  });

  test("offers no line that other targets use, too", async () => {
    const { run, rename } = await applied(
      `modules: { core: { source: ./m, with: { name: ada, title: Same } } }\n${TARGETS}`,
      INPUT,
    );
    await rename("ada", "New");
    const { all } = await run("drift", "accept", "users.core/u");
    expect(all).toContain("workspace.yaml:1 decides users.core/u, and also the target prod");
    expect(all).toContain("hint: to change all of them, pass --shared");
  });

  test("offers --in-target only for values of a resource, and not twice", async () => {
    const spec = `notebooks: { /Shared/n: { source: n.py } }\n${TARGETS}`;
    const { run, call } = await applied(spec, { "n.py": "print(1)\n" });
    const content = Buffer.from("print(9)\n").toString("base64");
    await call("workspace/import", {
      ...{ path: "/Shared/n", language: "PYTHON", format: "SOURCE", content, overwrite: true },
    });
    const plain = await run("drift", "accept", "notebooks./Shared/n");
    expect(plain.all).toContain("n.py decides notebooks./Shared/n, and also the target prod");
    expect(plain.all).toContain("hint: to change all of them, pass --shared");
    const inTarget = await run("drift", "accept", "notebooks./Shared/n", "--in-target");
    expect(inTarget.all).toContain("hint: to change all of them, pass --shared in place of --in-target");
    expect([plain.code, inTarget.code]).toEqual([1, 1]);
  });

  test("names the resource that cannot be accepted alone, and not those that can", async () => {
    const spec = `locals: { name: Same }
users:
  ada@example.com: { displayName: "\${local.name}" }
  bo@example.com: { displayName: "\${local.name}" }
  cy@example.com: { displayName: Cy }
  di@example.com: { displayName: Di }
`;
    const { run, rename, remove, file } = await applied(spec);
    await rename("ada", "New");
    await rename("cy", "New");
    await remove("di");
    const { code, all } = await run("drift", "accept", "*");
    expect(all).toContain(
      "workspace.yaml:1 decides users.ada@example.com, and also users.bo@example.com (workspace.yaml:4)",
    );
    expect(all).toContain(
      "hint: for it alone, write the value at workspace.yaml:3; to change all of them, pass --shared",
    );
    expect(all.match(/DRIFT_NOT_ACCEPTED/g)).toHaveLength(1);
    expect(code).toBe(1);
    expect(file()).toBe(spec);
  });

  test("is that of all of them, when each can be accepted alone", async () => {
    const spec = `locals: { name: Same }
users:
  ada@example.com: { displayName: "\${local.name}" }
  bo@example.com: { displayName: "\${local.name}" }
  cy@example.com: { displayName: Cy }
`;
    const { run, rename, file } = await applied(spec);
    for (const name of ["ada", "bo", "cy"]) await rename(name, `New ${name}`);
    const { code, all } = await run("drift", "accept", "*", "--shared");
    const rivals = (all: string) =>
      all.match(/users\.\S+ has another live value than \S+ for the same place/g);
    const expected = [
      ["ada", "bo"],
      ["bo", "ada"],
    ].map(
      ([one, other]) =>
        `users.${one}@example.com has another live value than users.${other}@example.com for the same place`,
    );
    expect(rivals(all)).toEqual(expected);
    expect(code).toBe(1);
    expect(file()).toBe(spec);
    const rest = await run("drift", "accept", "*", "--shared", "--keep-going");
    expect(rivals(rest.all)).toEqual(expected);
    expect(rest.code).toBe(2);
    expect(file()).toBe(spec.replace("displayName: Cy", "displayName: New cy"));
  });
});

describe("an edit is refused, with and without --shared, if the next plan of another resource", () => {
  const withPool = (policy: string): string => `${policy}locals: { name: Same }
users:
  ada@example.com: { displayName: "\${local.name}" }
pools:
  p: { node_type_id: Standard_DS3_v2, custom_tags: { n: "\${local.name}" } }
`;
  test.each([
    ["would replace it", "policy: { on_immutable_change: replace }\n", "which the next plan would replace"],
    ["is refused", "", "whose change the next plan refuses"],
  ])("%s", async (_what, policy, expected) => {
    const { run, rename, file } = await applied(withPool(policy));
    await rename("ada", "New");
    for (const shared of [[], ["--shared"]]) {
      const { code, all } = await run("drift", "accept", "users.ada@example.com", ...shared);
      expect([code, all]).toEqual([1, expect.stringContaining("and also pools.p (workspace.yaml:")]);
      expect(all).toContain(expected);
    }
    expect(file()).toBe(withPool(policy));
  });
});

describe("with --keep-going, what cannot be accepted", () => {
  const SHARED_PAIR = `locals: { name: Same }
users:
  ada@example.com: { displayName: Ada }
  bo@example.com: { displayName: Bo }
  cy@example.com: { displayName: "\${local.name}" }
  di@example.com: { displayName: Di }
  ed@example.com: { displayName: Ed }
  fe@example.com: { displayName: "\${local.name}" }
`;

  test("leaves out a pair that wants two values for one place, names both, and accepts the others", async () => {
    const { run, rename, file } = await applied(SHARED_PAIR);
    for (const name of ["ada", "bo", "cy", "di", "ed", "fe"]) await rename(name, `New ${name}`);
    const { code, all } = await run("drift", "accept", "*", "--shared", "--keep-going");
    expect(code).toBe(2);
    expect(all).toContain(
      "users.cy@example.com has another live value than users.fe@example.com for the same place",
    );
    expect(all).toContain(
      "users.fe@example.com has another live value than users.cy@example.com for the same place",
    );
    const others = SHARED_PAIR.replace(
      /displayName: (Ada|Bo|Di|Ed)/g,
      (_, name: string) => `displayName: New ${name.toLowerCase()}`,
    );
    expect(file()).toBe(others);
  });

  test("does not refuse a pair that agrees on one place with it", async () => {
    const spec = `variables: { secret: { type: string, sensitive: true, default: Qwer7890Zed } }
locals: { name: Same }
users:
  ada@example.com: { displayName: "\${var.secret}" }
  bo@example.com: { displayName: "\${local.name}" }
  cy@example.com: { displayName: "\${local.name}" }
`;
    const { run, rename, file } = await applied(spec);
    await rename("ada", "by hand");
    for (const name of ["bo", "cy"]) await rename(name, "Agreed");
    const { code, all } = await run("drift", "accept", "*", "--keep-going");
    expect([code, all.match(/DRIFT_NOT_ACCEPTED/g)?.length]).toEqual([2, 1]);
    expect(file()).toBe(spec.replace("name: Same", "name: Agreed"));
  });

  test.each([[[]], [["--shared"]]])(
    "does not refuse a pair that agrees on one place with a pair that does not agree on another %j",
    async (shared) => {
      const spec = `locals: { name: Same, other: Other }
users:
  ada@example.com: { displayName: "\${local.name}" }
  bo@example.com: { displayName: "\${local.name}" }
  cy@example.com: { displayName: "\${local.other}" }
  di@example.com: { displayName: "\${local.other}" }
`;
      const { run, rename, file } = await applied(spec);
      for (const name of ["ada", "bo"]) await rename(name, `New ${name}`);
      for (const name of ["cy", "di"]) await rename(name, "Agreed");
      const { code, all } = await run("drift", "accept", "*", "--keep-going", ...shared);
      expect(code).toBe(2);
      for (const [name, other] of [
        ["ada", "bo"],
        ["bo", "ada"],
      ]) {
        const [address, rival] = [`users.${name}@example.com`, `users.${other}@example.com`];
        expect(all).toContain(
          `${address} has another live value than ${rival} for the same place (workspace.yaml:1)\n  hint: accept one of them with --shared`,
        );
      }
      expect(all.match(/DRIFT_NOT_ACCEPTED/g)).toHaveLength(2);
      expect(file()).toBe(spec.replace("other: Other", "other: Agreed"));
    },
  );

  test("does not refuse a pair that agrees on one place with one that also decides another resource", async () => {
    const spec = `locals: { name: Same, other: Other }
users:
  ada@example.com: { displayName: "\${local.name}" }
  bo@example.com: { displayName: "\${local.name}" }
  cy@example.com: { displayName: "\${local.other}" }
  di@example.com: { displayName: Di }
  ed@example.com: { displayName: "\${local.other}" }
`;
    const { run, rename, file } = await applied(spec);
    await rename("ada", "New");
    for (const name of ["cy", "di", "ed"]) await rename(name, "Agreed");
    const { code, all } = await run("drift", "accept", "*", "--keep-going");
    expect([code, all.match(/DRIFT_NOT_ACCEPTED/g)?.length]).toEqual([2, 1]);
    expect(file()).toBe(
      spec.replace("other: Other", "other: Agreed").replace("displayName: Di", "displayName: Agreed"),
    );
  });

  test("names the resource whose value is not valid, and accepts one before it", async () => {
    const spec = `variables:
  name: { type: string, default: Same, maxLength: 8 }
users:
  ada@example.com: { displayName: Ada }
  bo@example.com: { displayName: "\${var.name}" }
`;
    const { run, rename, file } = await applied(spec);
    await rename("ada", "New");
    await rename("bo", "Much too long");
    const { code, all } = await run("drift", "accept", "*", "--keep-going");
    expect([code, all]).toEqual([
      2,
      expect.stringContaining("the spec would not be valid with the live values"),
    ]);
    expect(all).not.toContain("another live value");
    expect(file()).toBe(spec.replace("displayName: Ada", "displayName: New"));
  });
});

test.each(["users.*.displayName", "zz*"])(
  "a pattern that matches no address is refused: %s",
  async (pattern) => {
    const { run, rename } = await applied("users: { ada@example.com: { displayName: Ada } }\n");
    await rename("ada", "New");
    const { code, all } = await run("drift", "accept", pattern);
    expect([code, all]).toEqual([
      1,
      expect.stringContaining(`CLI_UNKNOWN_ADDRESS: ${pattern} matches no resource`),
    ]);
  },
);

test("instances to which one expression gives different values are not refused for each other", async () => {
  const spec = `locals: { name: { ada: A, bo: B } }
users:
  "\${each.key}@example.com": { for_each: [ada, bo], displayName: "\${local.name[each.key]}" }
`;
  const { run, rename } = await applied(spec);
  await rename("ada", "Countess");
  await rename("bo", "Baron");
  const { code, all } = await run("drift", "accept", "*");
  expect([code, all]).toEqual([1, expect.stringContaining("displayName comes from an expression")]);
  expect(all).not.toContain("another live value");
});

test("--keep-going leaves out a field that cannot be accepted, and accepts the others of its resource", async () => {
  const spec = `locals: { size: 4 }
pools:
  p: { node_type_id: Standard_DS3_v2, max_capacity: "\${local.size + 1}", idle_instance_autotermination_minutes: 30 }
`;
  const { run, call, file } = await applied(spec);
  const { out } = await run("state", "show", "pools.p");
  await call("instance-pools/edit", {
    instance_pool_id: /"id": "(.*?)"/.exec(out)?.[1],
    instance_pool_name: "p",
    node_type_id: "Standard_DS3_v2",
    max_capacity: 9,
    idle_instance_autotermination_minutes: 45,
  });
  const { code, all } = await run("drift", "accept", "*", "--keep-going");
  expect([code, all]).toEqual([2, expect.stringContaining("max_capacity comes from an expression")]);
  expect(file()).toBe(spec.replace("minutes: 30", "minutes: 45"));
});
