// Checks across resources: names that must be unique, limits, duplicate entries, and memberships defined twice.

import { describe, expect, it } from "vitest";
import type { Provider } from "../../../src/resource/kind.ts";
import { load } from "../folder.ts";
import { registry, withKind, withPoolFields } from "../kinds.ts";

describe("names that must be unique", () => {
  it("are reported at the field that sets them, with the place of the first", async () => {
    const { diagnostics } = await load({
      "workspace.yaml": "include: more.yaml\npools:\n  a: { node_type_id: n }\n",
      "more.yaml":
        "pools:\n  b:\n    node_type_id: n\n    instance_pool_name: a\n  a2: { node_type_id: n }\n",
    });
    expect(diagnostics).toMatchObject([
      {
        code: "SPEC_DUPLICATE_NAME",
        message: 'pools.b has the same name as pools.a: "a"',
        address: "pools.b",
        at: { file: "more.yaml", line: 4, column: 25 },
        hint: "rename one of them; pools.a is at workspace.yaml:3, and names of pools must be unique",
      },
    ]);
  });

  it("are reported for each resource after the first", async () => {
    const { told } = await load(
      "groups: { a: { displayName: x }, b: { displayName: x }, c: { displayName: x }, x1: {} }\n",
    );
    expect(told.map((one) => one.replace(/^\S+ \S+ /, ""))).toEqual([
      'groups.b has the same name as groups.a: "x"',
      'groups.c has the same name as groups.a: "x"',
    ]);
  });

  it("are compared where the key is the name, and reported at the key", async () => {
    const { told } = await load("scopes:\n  A: { backend_type: VAULT }\n  a: { backend_type: VAULT }\n", {
      registry: withKind("scopes", { ignoreCase: true }),
    });
    expect(told).toEqual(['SPEC_DUPLICATE_NAME 3:3 scopes.a has the same name as scopes.A: "a"']);
  });

  it("are not compared where an expression in them has no value", async () => {
    const name = "instance_pool_name: '${clusters.c.cluster_id}'";
    const { diagnostics } = await load(
      `clusters: { c: {} }\npools: { a: { node_type_id: n, ${name} }, b: { node_type_id: n, ${name} } }\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(["SPEC_REFERENCE", "SPEC_REFERENCE"]);
  });

  it("with known expressions are compared, also if another name has an expression without a value", async () => {
    const { told } = await load(`locals: { x: same }
pools: { a: { node_type_id: n, instance_pool_name: "\${pools.b.node_type_id}" }, b: { node_type_id: n, instance_pool_name: "\${local.x}" }, c: { node_type_id: n, instance_pool_name: same } }
`);
    expect(told).toEqual([
      expect.stringContaining("instance_pool_name cannot contain a reference"),
      'SPEC_DUPLICATE_NAME 2:181 pools.c has the same name as pools.b: "same"',
    ]);
  });

  it("may be those of another kind", async () => {
    expect((await load("groups: { x: {} }\npools: { x: { node_type_id: n } }\n")).told).toEqual([]);
  });
});

describe("paths", () => {
  it("belong to one resource of a tree, and only folders contain others", async () => {
    const { told } = await load({
      "workspace.yaml": `directories: { /S: {}, /S/a: {}, /S/n/x: {} }
notebooks: { /S/a: { source: a.py }, /S/n: { source: a.py }, /S/n/b/c: { source: a.py } }
files: { /S/a: { source: a.py }, /S/a/b: { source: a.py } }
`,
      "a.py": "",
    });
    expect(told.map((one) => one.replace(/^(\S+) \S+ /, "$1 ")).sort()).toEqual([
      "SPEC_DUPLICATE_NAME directories./S/n/x is not in a folder, but below notebooks./S/n",
      "SPEC_DUPLICATE_NAME files./S/a/b is not in a folder, but below files./S/a",
      "SPEC_DUPLICATE_NAME notebooks./S/a has the same path as directories./S/a",
      "SPEC_DUPLICATE_NAME notebooks./S/n/b/c is not in a folder, but below notebooks./S/n",
    ]);
  });

  it("of two resources are reported at the second, with its address and a hint", async () => {
    const { diagnostics } = await load({
      "workspace.yaml": "directories: { /S: {} }\nnotebooks: { /S: { source: a.py } }\n",
      "a.py": "",
    });
    expect(diagnostics).toMatchObject([
      {
        address: "notebooks./S",
        at: { line: 2, column: 14 },
        hint: "move or remove one of them; a path has one object, and only folders contain others",
      },
    ]);
  });

  it("that two resources of one kind share are reported once, as their name", async () => {
    const { told } = await load("groups: { a: { displayName: /x }, b: { displayName: /x } }\n", {
      registry: withKind("groups", { tree: { root: "workspace", folders: false } }),
    });
    expect(told).toEqual([expect.stringContaining('groups.b has the same name as groups.a: "/x"')]);
  });

  it("may be below an object with an ID, such as a Git folder", async () => {
    const spec = "groups: { a: { displayName: /x } }\ndirectories: { /x/y: {} }\n";
    const tree = { root: "workspace", folders: false };
    const inGroup = (change: Partial<Provider>) =>
      load(spec, { registry: withKind("groups", { tree, ...change } as Partial<Provider>) });
    expect((await inGroup({ numbered: true })).told).toEqual([]);
    expect((await inGroup({})).told).toEqual([
      expect.stringContaining("directories./x/y is not in a folder, but below groups.a"),
    ]);
  });
});

describe("limits", () => {
  it("may be reached", async () => {
    const { told } = await load(
      "scopes: { a: { secrets: { x: { env: A }, y: { env: A } } }, b: { secrets: { z: { env: A } } }, c: {} }\n",
      { env: { A: "x" } },
    );
    expect(told).toEqual([]);
  });

  it("are reported with the address of the first resource above them", async () => {
    const { diagnostics } = await load("scopes: { a: {}, b: {}, c: {}, d: {} }\n");
    expect(diagnostics).toMatchObject([{ code: "SPEC_LIMIT", address: "scopes.d" }]);
  });
});

it("a limit of a workspace counts the members of all parents", async () => {
  const { diagnostics } = await load(
    "scopes: { a: { secrets: { x: { env: A }, y: { env: A } } }, b: { secrets: { z: { env: A } } } }\n",
    { env: { A: "x" }, registry: withKind("secrets", { limit: { max: 2, per: "workspace" } }) },
  );
  expect(diagnostics).toMatchObject([
    {
      code: "SPEC_LIMIT",
      message: "a workspace can contain at most 2 secrets; the spec has 3",
      address: "secrets.b/z",
    },
  ]);
});

it("a limit of a parent counts its members", async () => {
  const { diagnostics } = await load(
    "scopes: { a: { secrets: { x: { env: A }, y: { env: A }, z: { env: A }, w: { env: A } } } }\n",
    { env: { A: "x" } },
  );
  expect(diagnostics).toMatchObject([
    {
      code: "SPEC_LIMIT",
      message: "scopes.a can contain at most 2 secrets; the spec has 4",
      address: "secrets.a/z",
    },
  ]);
});

describe("duplicate entries of a list that is a set", () => {
  const warnings = async (
    list: string,
    kind = "pools: { p: { node_type_id: x, preloaded_spark_versions: ",
  ) => {
    const { diagnostics } = await load(`${kind}${list} } }\n`);
    expect(diagnostics.every(({ severity, code }) => severity === "warning" && code === "SPEC_VALUE")).toBe(
      true,
    );
    return diagnostics.map(({ message, at, address }) => `${address} ${at?.column} ${message}`);
  };

  it.each<[string, readonly number[]]>([
    ["[]", []],
    ["[a]", []],
    ["[a, b]", []],
    ["[a, A]", []],
    ["[a, a]", [62]],
    ["[a, b, a, b, a]", [65, 68, 71]],
  ])("%s", async (list, columns) => {
    expect(await warnings(list)).toEqual(
      columns.map(
        (column) => `pools.p ${column} pools.p: preloaded_spark_versions contains a duplicate entry`,
      ),
    );
  });

  it.each<[string, readonly number[]]>([
    ["[{ jar: a }, { jar: b }]", []],
    ["[{ jar: a }, {}]", []],
    ["[{ jar: a }, { jar: a }]", [38]],
    ["[{}, {}]", [30]],
  ])("of maps: %s", async (list, columns) => {
    expect(await warnings(list, "jobs: { j: { libraries: ")).toEqual(
      columns.map((column) => `jobs.j ${column} jobs.j: libraries contains a duplicate entry`),
    );
  });

  it("are found at every depth", async () => {
    const { diagnostics } = await load("groups: { g: { members: { users: [a, b, a] } } }\n");
    expect(diagnostics).toMatchObject([{ message: "groups.g: members.users contains a duplicate entry" }]);
  });
});

describe("memberships", () => {
  it("are an error at the entry, with a hint, where both ends define one", async () => {
    const { diagnostics } = await load(
      "users: { ada: { groups: [ops, dev] } }\ngroups: { ops: { members: { users: [ada] } }, dev: { members: { groups: [] } } }\n",
    );
    expect(diagnostics.filter(({ code }) => code === "SPEC_COMBINATION")).toMatchObject([
      {
        message: "groups.ops: members.users and users.ada: groups both define one membership",
        address: "groups.ops",
        at: { line: 2, column: 37 },
        hint: "define it in one place only, and omit the other list",
      },
    ]);
  });

  it("are an error where one end lists the other, and the other has a list without it", async () => {
    const { told } = await load(
      "users: { ada: { groups: [OPS] } }\ngroups: { x: { displayName: OPS, members: { users: [] } } }\n",
    );
    expect(told).toEqual([
      "SPEC_COMBINATION 1:26 users.ada: groups and groups.x: members.users both define one membership",
    ]);
  });

  it.each([",", ""])("are each an error where names contain addresses, joined by %j", async (mark) => {
    const [group, user] = [`a${mark}users.b`, `b${mark}users.c`];
    const { diagnostics } = await load(
      `users: { c: { groups: ["${group}"] }, "${user}": { groups: [a] } }\ngroups: { a: { members: { users: ["${user}"] } }, "${group}": { members: { users: [c] } } }\n`,
    );
    expect(
      diagnostics.filter(({ code }) => code === "SPEC_COMBINATION").map(({ address }) => address),
    ).toEqual(["groups.a", `groups.${group}`]);
  });

  it("are those of the kinds that name one another", async () => {
    const { told } = await load(
      "pools: { ada: { node_type_id: n, groups: [ops] } }\ngroups: { ops: { members: { users: [ada] } } }\n",
      { registry: withPoolFields({ groups: { type: "array", items: { type: "string" } } }) },
    );
    expect(told).toEqual([]);
  });

  it("are not in lists that name another kind", async () => {
    const fields = {
      ...registry.get("users").fields,
      pools: { type: "array", list: "set", items: { type: "string", names: "pools" } },
    };
    const { told } = await load(
      "users: { ada: { pools: [] } }\ngroups: { ops: { members: { users: [ada] } } }\n",
      { registry: withKind("users", { fields } as Partial<Provider>) },
    );
    expect(told).toEqual([]);
  });

  it("may be defined at either end, and for groups in groups", async () => {
    const { told } = await load(
      "users: { ada: { groups: [ops] }, bob: {} }\ngroups: { ops: {}, dev: { members: { users: [bob], groups: [ops] } } }\n",
    );
    expect(told).toEqual([]);
  });
});

it("entries of a list that is not a set may be equal, and a set that is not a list has no entries", async () => {
  const { told } = await load(
    "pools: { p: { node_type_id: n, ordered: [a, a] }, q: { node_type_id: n, ordered: [], preloaded_spark_versions: a } }\n",
    { registry: withPoolFields({ ordered: { type: "array", list: "ordered", items: { type: "string" } } }) },
  );
  expect(told).toEqual([
    'SPEC_TYPE 1:112 pools.q: preloaded_spark_versions must be a list, not the string "a"',
  ]);
});

it("entries of numbers, of lists, and of maps are compared by their values", async () => {
  const set = (items: object) => ({ type: "array", list: "set", items });
  const fields = {
    numbers: set({ type: "integer" }),
    lists: set({ type: "array", items: { type: "string" } }),
    words: set({ type: "string", ignoreCase: true }),
    unique: { type: "array", uniqueItems: true, items: { type: "string" } },
    mixed: set({}),
    bare: { type: "array", list: "set" },
  };
  const { told } = await load(
    "pools: { p: { node_type_id: n, numbers: [1, 2, 1], lists: [[a], [b], [a]], words: [a, B, b], unique: [c, c], mixed: [1, '1'], bare: [d, d] } }\n",
    { registry: withPoolFields(fields) },
  );
  expect(told).toEqual([
    "SPEC_VALUE 1:48 pools.p: numbers contains a duplicate entry",
    "SPEC_VALUE 1:70 pools.p: lists contains a duplicate entry",
    "SPEC_VALUE 1:90 pools.p: words contains a duplicate entry",
    "SPEC_VALUE 1:106 pools.p: unique contains a duplicate entry",
    "SPEC_VALUE 1:137 pools.p: bare contains a duplicate entry",
  ]);
});
