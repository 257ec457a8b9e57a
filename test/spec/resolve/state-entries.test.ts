// The sections `moved`, `removed`, and `import`: what they give a plan, and which entries are refused.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

const BASE = `pools: { new: { node_type_id: n } }
users: { ada@example.com: {} }
scopes: { etl: {} }
`;

const at = (line: number, column: number) => ({ file: "workspace.yaml", line, column });
const MODULE = {
  "team/workspace.yaml": "pools: { shared: { node_type_id: n }, other: { node_type_id: n } }\n",
};

describe("entries", () => {
  it("are in the spec with their places", async () => {
    const { spec, told } = await load(`${BASE}moved: [{ from: pools.old, to: pools.new }]
removed: [{ address: pools.gone }, { address: pools.kept, destroy: false }, { address: pools.x, destroy: true }]
import: [{ to: users.ada@example.com, id: 17 }, { to: pools.new, id: p-1 }, { to: scopes.etl, id: etl }]
`);
    expect(told).toEqual([]);
    expect(spec?.stateEntries).toMatchObject({
      moved: [{ from: "pools.old", to: "pools.new", at: at(4, 17) }],
      removed: [
        { address: "pools.gone", destroy: true, at: at(5, 22) },
        { address: "pools.kept", destroy: false, at: at(5, 47) },
        { address: "pools.x", destroy: true, at: at(5, 88) },
      ],
      imports: [
        { to: "users.ada@example.com", id: "17", at: at(6, 16) },
        { to: "pools.new", id: "p-1", at: at(6, 55) },
        { to: "scopes.etl", id: "etl", at: at(6, 83) },
      ],
    });
  });

  it("are absent where the sections are absent, empty, or without a value", async () => {
    for (const sections of ["", "moved: []\nremoved: []\nimport: []\n", "moved:\nremoved:\nimport:\n"]) {
      const { spec, told } = await load(BASE + sections);
      expect(told).toEqual([]);
      expect(spec?.stateEntries).toBeUndefined();
    }
  });

  it.each([
    ["moved: [{ from: pools.old, to: pools.new }]", [1, 0, 0]],
    ["removed: [{ address: pools.old }]", [0, 1, 0]],
    ["import: [{ to: pools.new, id: x }]", [0, 0, 1]],
  ])("of one section leave the others empty: %s", async (text, counts) => {
    const entries = (await load(BASE + text)).spec?.stateEntries;
    expect([entries?.moved.length, entries?.removed.length, entries?.imports.length]).toEqual(counts);
  });

  it.each([
    ["moved: [{ from: pools.old, to: pools.new }]\nremoved: [{ address: pools.gone }]", [1, 1, 0]],
    ["moved: [{ from: pools.old, to: pools.new }]\nimport: [{ to: pools.new, id: x }]", [1, 0, 1]],
  ])("may be of two sections: %j", async (text, counts) => {
    const entries = (await load(BASE + text)).spec?.stateEntries;
    expect([entries?.moved.length, entries?.removed.length, entries?.imports.length]).toEqual(counts);
  });

  it("may have IDs of any length, and text with escapes", async () => {
    const { spec } = await load(
      `${BASE}import: [{ to: pools.new, id: 12345678901234567890 }, { to: users.ada@example.com, id: "a$\${b}" }]`,
    );
    expect(spec?.stateEntries?.imports.map(({ id }) => id)).toEqual(["12345678901234567890", "a${b}"]);
  });

  it("may name modules where resources can be meant, but not for an import", async () => {
    const { told } = await load({
      ...MODULE,
      "workspace.yaml": `modules: { crew: { source: team } }
moved: [{ from: modules.team, to: modules.crew }]
removed: [{ address: modules.gone }]
import: [{ to: modules.crew, id: x }]
`,
    });
    expect(told).toEqual(['SPEC_STATE_ENTRY 4:16 "modules.crew" is not the address of a resource']);
  });
});

describe("an entry is refused", () => {
  it.each<[string, string, string | undefined]>([
    ["moved: { from: pools.a }", "4:8 moved must be a list of entries, not a map", undefined],
    ["removed: pools.a", "4:10 removed must be a list of entries, not a string", undefined],
    ["import: [pools.a]", "4:10 an entry of import must be a map, not a string", undefined],
    [
      "moved: [{ from: pools.old, to: pools.new, force: true }]",
      '4:43 an entry of moved has no field "force"',
      "known fields: from and to",
    ],
    [
      "removed: [{ address: pools.old, to: pools.x }]",
      '4:33 an entry of removed has no field "to"',
      "known fields: address and destroy",
    ],
    [
      "import: [{ to: pools.new, id: x, from: y }]",
      '4:34 an entry of import has no field "from"',
      "known fields: to and id",
    ],
    ["moved: [{ to: pools.new }]", '4:9 this entry requires the field "from"', undefined],
    ["moved: [{ from: pools.old }]", '4:9 this entry requires the field "to"', undefined],
    ["removed: [{}]", '4:11 this entry requires the field "address"', undefined],
    ["import: [{ to: scopes.etl }]", '4:10 this entry requires the field "id"', undefined],
    [
      "removed: [{ address: modules.old, id: x }]",
      '4:35 an entry of removed has no field "id"',
      "known fields: address and destroy",
    ],
    ["import: [{ to: pools.new }]", '4:10 this entry requires the field "id"', undefined],
    [
      "import: [{ to: pools.new, id: true }]",
      '4:31 the field "id" of this entry must be a string, not true',
      undefined,
    ],
    ["import: [{ to: pools.new, id: '' }]", '4:31 the field "id" of this entry is empty', undefined],
    [
      "import: [{ to: pools.new, id: [x] }]",
      '4:31 the field "id" of this entry must be a string, not a list',
      undefined,
    ],
    [
      "moved: [{ from: pool.old, to: pools.new }]",
      '4:17 "pool.old" is not the address of a resource',
      'did you mean "pools"?',
    ],
    [
      "moved: [{ from: pools, to: pools.new }]",
      '4:17 "pools" is not the address of a resource',
      'did you mean "pools"?',
    ],
    [
      "moved: [{ from: zzzzzz.x, to: pools.new }]",
      '4:17 "zzzzzz.x" is not the address of a resource',
      "an address is KIND.NAME",
    ],
    [
      "moved: [{ from: pools.old, to: clusters.new }]",
      "4:17 pools.old and clusters.new are of different kinds",
      undefined,
    ],
    ["moved: [{ from: pools.old, to: pools.old }]", "4:17 pools.old is moved to itself", undefined],
    [
      "moved: [{ from: scopes.old, to: scopes.etl }]",
      "4:17 scopes.old cannot be moved, because its key is the name of the object",
      "declare both and apply, then delete the old one; docs/moves.md shows how",
    ],
    [
      "moved: [{ from: pools.new, to: pools.other }]",
      "4:17 pools.new is moved, but the spec still declares it",
      undefined,
    ],
    [
      "moved: [{ from: pools.old, to: pools.new }, { from: pools.old, to: pools.x }]",
      "4:53 pools.old is moved twice",
      undefined,
    ],
    [
      "moved: [{ from: pools.old, to: pools.new }, { from: pools.older, to: pools.new }]",
      "4:70 two entries move to pools.new",
      undefined,
    ],
    [
      "removed: [{ address: pools.old, destroy: no }]",
      "4:42 destroy must be true or false, not a string",
      undefined,
    ],
    [
      "removed: [{ address: pools.old, destroy: [] }]",
      "4:42 destroy must be true or false, not a list",
      undefined,
    ],
    [
      "removed: [{ address: pools.new }]",
      "4:22 pools.new is removed, but the spec still declares it",
      undefined,
    ],
    [
      "removed: [{ address: pools.old }, { address: pools.old }]",
      "4:46 pools.old is removed twice",
      undefined,
    ],
    [
      "import: [{ to: pools.nev, id: x }]",
      "4:16 pools.nev is imported, but the spec does not declare it",
      'did you mean "pools.new"?',
    ],
    [
      "import: [{ to: groups.qqqqqqqqq, id: x }]",
      "4:16 groups.qqqqqqqqq is imported, but the spec does not declare it",
      "declare the resource first",
    ],
    [
      "import: [{ to: pools.new, id: x }, { to: pools.new, id: y }]",
      "4:42 pools.new is imported twice",
      undefined,
    ],
    [
      "import: [{ to: scopes.etl, id: other }]",
      "4:32 scopes.etl can only be etl, not other",
      "the key is the name of the object",
    ],
  ])("%s", async (section, message, hint) => {
    const { told, diagnostics } = await load(`${BASE}${section}\n`);
    expect(told[0]).toBe(`SPEC_STATE_ENTRY ${message}`);
    if (hint === undefined) expect(diagnostics[0]?.hint).toBeUndefined();
    else expect(diagnostics[0]?.hint).toBe(hint);
    expect(told.filter((one) => !one.includes("does not declare"))).toHaveLength(
      message.includes("not declare") ? 0 : 1,
    );
  });

  it("if it imports an ID of the same kind again", async () => {
    const text = (second: string) => `pools: { a: { node_type_id: n }, b: { node_type_id: n } }
users: { ada@example.com: {} }
import: [{ to: pools.a, id: x }, { to: ${second}, id: x }]
`;
    expect((await load(text("pools.b"))).told).toEqual(["SPEC_STATE_ENTRY 3:53 two entries import x"]);
    expect((await load(text("users.ada@example.com"))).told).toEqual([]);
  });
});

describe("an entry of a module", () => {
  const spec = (entries: string, modules = "team: { source: team }") => ({
    ...MODULE,
    "workspace.yaml": `modules: { ${modules} }\n${entries}\n`,
  });

  it.each([
    [
      "moved: [{ from: modules.team, to: modules.crew }]",
      "2:17 modules.team is moved, but the spec still declares pools.team/shared",
    ],
    [
      "removed: [{ address: modules.team }]",
      "2:22 modules.team is removed, but the spec still declares pools.team/shared",
    ],
  ])("is refused while the spec declares its resources: %s", async (entries, message) => {
    expect((await load(spec(entries))).told).toEqual([`SPEC_STATE_ENTRY ${message}`]);
  });

  it.each([
    "moved: [{ from: modules.old, to: modules.team }]",
    "moved: [{ from: modules.team, to: modules.team/ads }]",
    "moved: [{ from: modules.team/ads, to: modules.team }]",
    "removed: [{ address: modules.old }]",
  ])("is accepted: %s", async (entries) => {
    expect((await load(spec(entries))).told).toEqual([]);
  });
});

describe("chains of moved entries", () => {
  const chain = (...moves: readonly string[]) =>
    `${BASE}moved:\n${moves.map((move) => `  - { from: pools.${move.split(">")[0]}, to: pools.${move.split(">")[1]} }\n`).join("")}`;

  it("end at a declared or a removed address", async () => {
    expect((await load(chain("a>b", "b>new"))).told).toEqual([]);
    expect((await load(`${chain("a>b", "b>c")}removed: [{ address: pools.c }]\n`)).told).toEqual([]);
  });

  it("that end elsewhere are a warning at their last entry", async () => {
    const { told, diagnostics } = await load(chain("b>c", "a>b"));
    expect(told).toEqual([
      "SPEC_STATE_ENTRY 5:13 pools.b is moved to pools.c, which the spec does not declare",
    ]);
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        address: "pools.c",
        hint: "without a declaration, a plan deletes the object",
      },
    ]);
  });

  it("may not form a cycle", async () => {
    expect((await load(chain("a>b", "b>c", "c>a"))).told).toEqual([
      "SPEC_STATE_ENTRY 5:13 moved entries form a cycle: pools.a -> pools.b -> pools.c -> pools.a",
    ]);
    expect((await load(chain("x>b", "b>c", "c>d", "d>y", "y>c"))).told.at(-1)).toMatch(/two entries move to/);
  });

  it("report each cycle once, in its own addresses", async () => {
    expect((await load(chain("a>b", "b>a", "c>d", "d>c"))).told).toEqual([
      "SPEC_STATE_ENTRY 5:13 moved entries form a cycle: pools.a -> pools.b -> pools.a",
      "SPEC_STATE_ENTRY 7:13 moved entries form a cycle: pools.c -> pools.d -> pools.c",
    ]);
  });

  it("show ten addresses of a cycle", async () => {
    const cycle = (length: number) =>
      chain(...Array.from({ length }, (_, index) => `n${index}>n${(index + 1) % length}`));
    const shown = Array.from({ length: 10 }, (_, index) => `pools.n${index}`).join(" -> ");
    expect((await load(cycle(10))).told).toEqual([
      `SPEC_STATE_ENTRY 5:13 moved entries form a cycle: ${shown} -> pools.n0`,
    ]);
    expect((await load(cycle(11))).told).toEqual([
      `SPEC_STATE_ENTRY 5:13 moved entries form a cycle: ${shown} -> … -> pools.n0`,
    ]);
  });
});
