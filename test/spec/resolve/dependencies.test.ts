// What a resource depends on without a reference, and cycles of dependencies.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

describe("a resource depends on", () => {
  it.each<[string, string, string, readonly string[]]>([
    ["nothing", "pools: { p: { node_type_id: n } }", "pools.p", []],
    [
      "its parent and what its own name names, in any case",
      "users: { Ada@example.com: {} }\ngroups: { g: { displayName: ops } }\nscopes: { s: { acls: { ADA@example.com: READ, ops: READ } } }",
      "acls.s/ADA@example.com",
      ["scopes.s", "users.Ada@example.com"],
    ],
    [
      "the group that its own name names",
      "groups: { g: { displayName: ops }, ops: { displayName: other } }\nscopes: { s: { acls: { ops: READ } } }",
      "acls.s/ops",
      ["groups.g", "scopes.s"],
    ],
    [
      "its parent alone, where its kind names nothing",
      "users: { k: {} }\nscopes: { s: { secrets: { k: { env: A } } } }",
      "secrets.s/k",
      ["scopes.s"],
    ],
    [
      "the names in its lists, and not in other fields",
      "users: { b: {}, a: {}, c: { groups: [g] } }\ngroups: { g: { displayName: x, members: { users: [b, a], groups: [h] } }, h: { displayName: h } }\nclusters: { a: { cluster_name: x }, x: {} }",
      "groups.g",
      ["groups.h", "users.a", "users.b"],
    ],
    [
      "the notebook that it mentions",
      "notebooks: { /n: { source: n.py } }\njobs: { j: { notebook_path: /n } }",
      "jobs.j",
      ["notebooks./n"],
    ],
    [
      "the file that a URI mentions",
      "files: { /init/a.jar: { source: n.py }, /b.jar: { source: n.py } }\njobs: { j: { libraries: [{ jar: 'fs:/init/a.jar' }, { jar: 'x+y-1.z:///b.jar' }, { jar: 'fs:init/a.jar' }, { jar: '1fs:/b.jar' }] } }",
      "jobs.j",
      ["files./b.jar", "files./init/a.jar"],
    ],
    [
      "no file whose name is only the end of the text",
      "files: { 1/b.jar: { source: n.py } }\njobs: { j: { libraries: [{ jar: '1fs:/b.jar' }] } }",
      "jobs.j",
      [],
    ],
    [
      "the first of two resources that it can mean",
      "files: { 'fs:/a': { source: n.py }, /a: { source: n.py } }\njobs: { j: { libraries: [{ jar: 'fs:/a' }] } }",
      "jobs.j",
      ["files.fs:/a"],
    ],
    [
      "the folder that it is in",
      "directories: { /a: {}, /a/b: {} }\nnotebooks: { /a/b/n: { source: n.py } }",
      "notebooks./a/b/n",
      ["directories./a/b"],
    ],
    [
      "what it refers to, whether or not its value is known",
      "pools: { p: { node_type_id: n }, q: { node_type_id: n } }\nclusters: { c: { instance_pool_id: '${pools.q.instance_pool_id}', spark_conf: { k: '${pools.p.node_type_id}' } } }",
      "clusters.c",
      ["pools.p", "pools.q"],
    ],
  ])("%s", async (_what, spec, address, expected) => {
    const { resource } = await load({ "workspace.yaml": `${spec}\n`, "n.py": "x" }, { env: { A: "x" } });
    expect(resource(address).dependsOn).toEqual(expected);
  });

  it("no entry that is a map, which the schema reports", async () => {
    const { told } = await load("groups: { g: { members: { users: [{}] } } }\nusers: { a: {} }\n");
    expect(told).toEqual([expect.stringMatching(/^SPEC_TYPE 1:35 groups.g: members.users\[0\] must be/)]);
  });

  it("the same list of its parent as the other members", async () => {
    const { resource } = await load(
      "scopes: { s: { secrets: { a: { env: A }, b: { env: A } } }, t: { secrets: { c: { env: A } } } }",
      {
        env: { A: "x" },
      },
    );
    expect(resource("secrets.s/a").dependsOn).toBe(resource("secrets.s/b").dependsOn);
    expect(resource("secrets.t/c").dependsOn).toEqual(["scopes.t"]);
  });
});

describe("cycles", () => {
  const chain = (edges: readonly (readonly [string, ...string[]])[]) =>
    `groups:\n${edges
      .map(([from, ...to]) => `  ${from}: { members: { groups: [${to.join(", ")}] } }\n`)
      .join("")}`;
  const ring = (length: number, prefix = "g") =>
    Array.from({ length }, (_, index) => [`${prefix}${index}`, `${prefix}${(index + 1) % length}`] as const);

  it("are reported with an address and a hint", async () => {
    const { diagnostics } = await load(
      chain([
        ["a", "b"],
        ["b", "a"],
      ]),
    );
    expect(diagnostics).toMatchObject([
      {
        code: "SPEC_CYCLE",
        address: "groups.a",
        hint: "remove one of these references or memberships",
        at: { line: 2, column: 3 },
      },
    ]);
  });

  it("are found behind resources that are not in them", async () => {
    const { told } = await load(
      chain([["a", "b", "x"], ["b", "c"], ["c", "b", "d"], ["d", "d"], ["x", "y"], ["y"]]),
    );
    expect(told).toEqual([
      "SPEC_CYCLE 3:3 dependency cycle: groups.b -> groups.c -> groups.b",
      "SPEC_CYCLE 5:3 groups.d depends on itself",
    ]);
  });

  it("that share resources are reported once each", async () => {
    const { told } = await load(
      chain([
        ["a", "b", "c"],
        ["b", "a"],
        ["c", "a"],
      ]),
    );
    expect(told).toEqual([
      "SPEC_CYCLE 2:3 dependency cycle: groups.a -> groups.b -> groups.a",
      "SPEC_CYCLE 2:3 dependency cycle: groups.a -> groups.c -> groups.a",
    ]);
  });

  it("behind a resource that several lead to are reported once", async () => {
    const { told } = await load(
      chain([["a", "b"], ["b", "x", "c"], ["c", "b"], ["d", "b"], ["x", "y"], ["y"]]),
    );
    expect(told).toEqual(["SPEC_CYCLE 3:3 dependency cycle: groups.b -> groups.c -> groups.b"]);
  });

  it("that end at a resource above one with other dependencies have each address once", async () => {
    const { told } = await load(chain([["m", "n"], ["n", "a", "m"], ["a", "c"], ["c"]]));
    expect(told).toEqual(["SPEC_CYCLE 2:3 dependency cycle: groups.m -> groups.n -> groups.m"]);
  });

  it("are not reported for a resource that was passed on another way", async () => {
    const { told } = await load(
      chain([["a", "b"], ["b", "e"], ["c", "d"], ["d", "f", "b"], ["e", "g"], ["f", "g"], ["g", "h"], ["h"]]),
    );
    expect(told).toEqual([]);
  });

  it("show twelve addresses", async () => {
    const shown = Array.from({ length: 12 }, (_, index) => `groups.g${index}`).join(" -> ");
    expect((await load(chain(ring(12)))).told).toEqual([
      `SPEC_CYCLE 2:3 dependency cycle: ${shown} -> groups.g0`,
    ]);
    expect((await load(chain(ring(13)))).told).toEqual([
      `SPEC_CYCLE 2:3 dependency cycle: ${shown} -> … -> groups.g0`,
    ]);
  });

  it("are reported twenty times at most", async () => {
    const rings = (count: number) =>
      chain(Array.from({ length: count }, (_, index) => ring(2, `r${index}x`)).flat());
    expect((await load(rings(20))).told).toHaveLength(20);
    expect((await load(rings(21))).told).toHaveLength(20);
  });
});

it("a cycle is found where each resource in it also depends on one outside", async () => {
  const conf = (other: string) =>
    `{ spark_conf: { a: '\${pools.p.instance_pool_id}', b: '\${clusters.${other}.cluster_id}' } }`;
  const { told } = await load(
    `pools: { p: { node_type_id: n } }\nclusters: { x: ${conf("y")}, y: ${conf("x")} }\n`,
  );
  expect(told).toEqual(["SPEC_CYCLE 2:13 dependency cycle: clusters.x -> clusters.y -> clusters.x"]);
});
