// Fields of a resource: schema and checks of its kind, each with a place and a hint, and content of files.

import { describe, expect, it } from "vitest";
import type { Path } from "../../../src/core/pointer.ts";
import type { PlanningRules, Problem } from "../../../src/resource/planning.ts";
import { load } from "../folder.ts";
import { registry, withKind, withPoolFields } from "../kinds.ts";

describe("a field that its schema refuses", () => {
  it("is reported at its value or its key", async () => {
    const { told, diagnostics } = await load(
      "pools:\n  p:\n    node_type_id: n\n    min_idle_instances: -1\n    max_capacty: 3\n    custom_tags: { toolong: x }\n",
    );
    expect(told).toEqual([
      "SPEC_VALUE 4:25 pools.p: min_idle_instances must be at least 0, not -1",
      'SPEC_UNKNOWN_FIELD 5:5 pools.p has no field "max_capacty"',
      expect.stringMatching(/^SPEC_VALUE 6:20 /),
    ]);
    expect(diagnostics.map(({ hint }) => hint).slice(0, 2)).toEqual([
      undefined,
      'did you mean "max_capacity"?',
    ]);
    expect(diagnostics.every(({ address }) => address === "pools.p")).toBe(true);
  });

  it("is reported where a local has its value, with the place that uses the local", async () => {
    const { told, diagnostics } = await load(
      "locals: { size: ten, idle: 9 }\npools:\n  p: { node_type_id: n, max_capacity: '${local.size}' }\n  q: { node_type_id: n, max_capacity: 3, min_idle_instances: '${local.idle}' }\n",
    );
    expect(told).toEqual([
      'SPEC_TYPE 1:17 pools.p: max_capacity must be an integer, not the string "ten"',
      "SPEC_COMBINATION 1:28 pools.q: min_idle_instances is more than max_capacity",
    ]);
    expect(diagnostics.map(({ usedAt }) => usedAt)).toEqual([
      [{ file: "workspace.yaml", line: 3, column: 39 }],
      [{ file: "workspace.yaml", line: 4, column: 62 }],
    ]);
  });

  it("is reported at the resource where it is missing", async () => {
    const { told, diagnostics } = await load(
      "pools:\n  p: { max_capacity: 3 }\nclusters:\n  c: { autoscale: {} }\n",
    );
    expect(told).toContain('SPEC_MISSING_FIELD 2:3 pools.p requires the field "node_type_id"');
    expect(diagnostics.map(({ hint }) => hint)).toContain("run `workspace explain pools.node_type_id`");
    expect(diagnostics.map(({ hint }) => hint)).toContain(
      "run `workspace explain clusters.autoscale.max_workers`",
    );
  });

  it("has no hint if it has another type than its schema", async () => {
    const { diagnostics } = await load("pools: { p: { node_type_id: n, min_idle_instances: x } }\n");
    expect(diagnostics).toMatchObject([{ code: "SPEC_TYPE", address: "pools.p" }]);
    expect(diagnostics[0]?.hint).toBeUndefined();
  });

  it("is a secret only in kinds that have one", async () => {
    const { told } = await load("pools: { p: { node_type_id: n, value: x } }\n");
    expect(told).toEqual(['SPEC_UNKNOWN_FIELD 1:32 pools.p has no field "value"']);
  });

  it("is not among the values from which dependencies are found", async () => {
    const pools: string[][] = [];
    const dependencies: PlanningRules["dependencies"] = (name, values) => {
      pools.push([name, ...Object.keys(values)]);
      return [];
    };
    await load("pools: { p: { node_type_id: 1 }, q: { node_type_id: n } }\n", {
      registry: withKind("pools", { planning: { ...registry.get("pools").planning, dependencies } }),
    });
    expect(pools).toEqual([["p"], ["q", "instance_pool_name", "node_type_id"]]);
  });

  it("does not hide what the kind finds in other fields", async () => {
    const { told } = await load("pools:\n  p: { min_idle_instances: 9, max_capacity: 3 }\n");
    expect(told).toEqual([
      'SPEC_MISSING_FIELD 2:3 pools.p requires the field "node_type_id"',
      "SPEC_COMBINATION 2:28 pools.p: min_idle_instances is more than max_capacity",
    ]);
  });

  it("may be the list of a nested kind that is written in the wrong place", async () => {
    const { diagnostics } = await load("scopes: { s: { secret: {} } }\n");
    expect(diagnostics).toMatchObject([{ code: "SPEC_UNKNOWN_FIELD", hint: 'did you mean "secrets"?' }]);
  });
});

describe("content", () => {
  it("of a notebook is in the payload, and its source is not a value", async () => {
    const { resource } = await load({
      "workspace.yaml": "notebooks: { /n: { source: n.py } }\n",
      "n.py": "print(1)\n",
    });
    const notebook = resource("notebooks./n");
    expect(notebook.values).toEqual({ language: "PYTHON", format: "SOURCE", content: "print(1)|SOURCE" });
    expect(new TextDecoder().decode(notebook.payload?.bytes())).toBe("print(1)\n");
    expect(resource("notebooks./n").owns).toEqual([]);
  });

  it("that cannot be read is reported once", async () => {
    const { told } = await load("notebooks: { /n: { source: absent.py } }\n");
    expect(told).toEqual(["SPEC_NOT_FOUND 1:28 notebooks./n: absent.py does not exist"]);
  });
});

it("resources have the order in which they are written, and members follow their parents", async () => {
  const { spec } = await load(
    "pools: { b: { node_type_id: n }, a: { node_type_id: n } }\nscopes: { s: { acls: { x: READ } } }\nusers: { u@x.com: {} }\n",
  );
  expect([...(spec?.resources.keys() ?? [])]).toEqual([
    "pools.b",
    "pools.a",
    "scopes.s",
    "acls.s/x",
    "users.u@x.com",
  ]);
});

it("a resource without content, secrets, and sensitive values has none of them", async () => {
  const { resource } = await load("pools: { a: { node_type_id: n } }\n");
  const { payload, unread, sensitive } = resource("pools.a");
  expect({ payload, unread, sensitive }).toEqual({});
});

it("a resource locates each value, or the nearest value around it, with the use of a local", async () => {
  const { resource } = await load(
    `locals: { size: 3 }
pools:
  p: { instance_pool_name: x, node_type_id: n, max_capacity: "\${local.size}", preloaded_spark_versions: [a, b], custom_tags: { t: y } }
`,
  );
  const places: readonly (readonly [Path, number, number])[] = [
    [[], 3, 3],
    [["absent"], 3, 3],
    [["instance_pool_name"], 3, 28],
    [["instance_pool_name", "deeper"], 3, 28],
    [["preloaded_spark_versions", 1], 3, 109],
    [["preloaded_spark_versions", 7], 3, 105],
    [["custom_tags", "t"], 3, 131],
    [["custom_tags", "other"], 3, 126],
  ];
  for (const [path, line, column] of places)
    expect([path, resource("pools.p").locate(path)]).toMatchObject([path, { line, column }]);
  expect(resource("pools.p").locate(["max_capacity"])).toMatchObject({
    line: 3,
    column: 62,
    traced: { at: { line: 1, column: 17 }, usedAt: [{ line: 3, column: 62 }] },
  });
});

it("a field whose pattern a value does not match has the description of the field as its hint", async () => {
  const { diagnostics } = await load("pools: { p: { node_type_id: n, code: [a] } }\n", {
    registry: withPoolFields({
      code: { type: "array", items: { type: "string", pattern: "^[0-9]+$", description: "Digits only." } },
    }),
  });
  expect(diagnostics).toMatchObject([{ code: "SPEC_VALUE", hint: "Digits only." }]);
});

it("a field that is missing in an entry of a list has the command that describes it, without the position", async () => {
  const { diagnostics } = await load("pools: { p: { node_type_id: n, disks: [{}] } }\n", {
    registry: withPoolFields({
      disks: { type: "array", items: { type: "object", properties: { size: {} }, required: ["size"] } },
    }),
  });
  expect(diagnostics).toMatchObject([{ hint: "run `workspace explain pools.disks.size`" }]);
});

describe("the check of a kind", () => {
  const checking = (kind: string, validate: PlanningRules["validate"]) =>
    withKind(kind, { planning: { ...registry.get(kind).planning, validate } });
  const problem = (path: Path, over: Partial<Problem> = {}): Problem => ({
    path,
    code: "SPEC_COMBINATION",
    message: "odd",
    ...over,
  });

  it("may find the resource itself, a field, or a value in it, with a hint and a severity", async () => {
    const { told, diagnostics } = await load(
      "pools:\n  p:\n    node_type_id: n\n    custom_tags: { a: x }\n",
      {
        registry: checking("pools", () => [
          problem([]),
          problem(["node_type_id"], { message: "pools.p is odd", severity: "warning" }),
          problem(["custom_tags", "a"], { hint: "make it even" }),
        ]),
      },
    );
    expect(told).toEqual([
      "SPEC_COMBINATION 2:3 pools.p: odd",
      "SPEC_COMBINATION 3:19 pools.p is odd",
      "SPEC_COMBINATION 4:23 pools.p: odd",
    ]);
    expect(diagnostics.map(({ severity, hint }) => [severity, hint])).toEqual([
      ["error", undefined],
      ["warning", undefined],
      ["error", "make it even"],
    ]);
    expect(diagnostics[0]?.hint).toBeUndefined();
  });

  it("counts for sound fields of a resource that its schema refuses, and not for the resource itself", async () => {
    const registryWith = checking("pools", () => [
      problem([]),
      problem(["node_type_id"]),
      problem(["max_capacity"], { message: "even" }),
    ]);
    const { told } = await load("pools: { p: { node_type_id: 1, max_capacity: 3 } }\n", {
      registry: registryWith,
    });
    expect(told).toEqual([
      "SPEC_TYPE 1:29 pools.p: node_type_id must be a string, not 1",
      "SPEC_COMBINATION 1:46 pools.p: even",
    ]);
  });

  it("does not count where it fails on values that the schema refuses", async () => {
    const { told } = await load("pools: { p: { node_type_id: 1 } }\n", {
      registry: checking("pools", () => {
        throw new Error("not a string");
      }),
    });
    expect(told).toEqual(["SPEC_TYPE 1:29 pools.p: node_type_id must be a string, not 1"]);
  });

  it("does not report fields as missing that come from a content that was not read", async () => {
    const found = () => [
      problem([], { code: "SPEC_MISSING_FIELD", message: "needs a language" }),
      problem(["format"], { message: "odd format" }),
    ];
    const missing = await load("notebooks: { /n: { source: absent.py, format: SOURCE } }\n", {
      registry: checking("notebooks", found),
    });
    expect(missing.told).toEqual([
      "SPEC_NOT_FOUND 1:28 notebooks./n: absent.py does not exist",
      "SPEC_COMBINATION 1:47 notebooks./n: odd format",
    ]);
    const read = await load(
      { "workspace.yaml": "notebooks: { /n: { source: n.py, format: SOURCE } }\n", "n.py": "x" },
      { registry: checking("notebooks", found) },
    );
    expect(read.told).toEqual([
      "SPEC_MISSING_FIELD 1:14 notebooks./n: needs a language",
      "SPEC_COMBINATION 1:42 notebooks./n: odd format",
    ]);
  });

  it("names a misspelt field whose value is sensitive, with the close one", async () => {
    const { diagnostics } = await load(
      'variables: { key: { sensitive: true, default: q9 } }\npools: { p: { node_type_id: n, max_capacityy: "${var.key}" } }\n',
    );
    expect(diagnostics).toMatchObject([
      { message: 'pools.p has no field "max_capacityy"', hint: 'did you mean "max_capacity"?' },
    ]);
  });

  it("does not name an unknown field whose key comes from a sensitive value", async () => {
    const { diagnostics } = await load(
      'variables: { key: { sensitive: true, type: object, default: { canary: 5 } } }\njobs: { j: { new_cluster: "${var.key}" } }\n',
    );
    expect(diagnostics.map(({ code }) => code)).toContain("SPEC_SENSITIVE");
    expect(diagnostics.map(({ message, hint }) => `${message} ${hint}`).join()).not.toContain(
      'field "new_cluster.canary',
    );
  });

  const HIDDEN = "is not valid, and a sensitive value is involved";
  const SHORT = "variables: { key: { sensitive: true }, other: { sensitive: true, default: q9 } }\n";

  it.each<[string, string, Path, Partial<Problem>, string]>([
    ["is at its path", "x7", ["custom_tags", "a"], {}, `pools.p: custom_tags.a ${HIDDEN}`],
    [
      "is at a path inside it",
      "x7",
      ["custom_tags", "a"],
      { message: "even" },
      `pools.p: custom_tags.a ${HIDDEN}`,
    ],
    [
      "contains it as a word",
      "x7",
      ["node_type_id"],
      { message: "not x7!" },
      `pools.p: node_type_id ${HIDDEN}`,
    ],
    ["contains it, and is at the resource", "x7", [], { message: "x7" }, `pools.p ${HIDDEN}`],
    ["contains it in its hint", "x7", [], { hint: "not x7" }, `pools.p ${HIDDEN}`],
    ["contains the other one", "x7", [], { message: "not q9" }, `pools.p ${HIDDEN}`],
    ["contains a number", "42", [], { message: "42 is odd" }, `pools.p ${HIDDEN}`],
    ["contains it with signs", "a.b", [], { message: "a.b is odd" }, `pools.p ${HIDDEN}`],
    ["contains a similar word", "a.b", [], { message: "axb is odd" }, "pools.p: axb is odd"],
    [
      "contains it in a longer word",
      "x7",
      [],
      { message: "x71 0x7 éx7 is odd" },
      "pools.p: x71 0x7 éx7 is odd",
    ],
    ["does not contain it", "x7", ["node_type_id"], {}, "pools.p: odd"],
  ])("shows no sensitive value where its message %s (%s)", async (_what, value, path, over, message) => {
    const { diagnostics } = await load(
      `${SHORT}pools: { p: { node_type_id: n, custom_tags: { a: "\${var.key}", b: "\${var.other}" } } }\n`,
      { vars: [`key=${value}`], registry: checking("pools", () => [problem(path, over)]) },
    );
    const hint = message.endsWith(HIDDEN)
      ? "check the value of the variable; no message shows it"
      : undefined;
    expect(diagnostics.map((found) => [found.message, found.hint])).toEqual([[message, hint]]);
  });

  it("shows its message where the only sensitive value is an empty string", async () => {
    const { told } = await load(
      "variables: { key: { sensitive: true, default: '' } }\npools: { p: { node_type_id: n, custom_tags: { a: '${var.key}' } } }\n",
      { registry: checking("pools", () => [problem([], { message: "is odd, all in all" })]) },
    );
    expect(told).toEqual(["SPEC_COMBINATION 2:10 pools.p: is odd, all in all"]);
  });

  it("does not count for secrets and contents that their schema refuses", async () => {
    for (const [kind, spec] of [
      ["notebooks", "notebooks: { /n: { source: 3, format: SOURCE } }\n"],
      ["secrets", "scopes: { s: { secrets: { k: { env: 3, file: f } } } }\n"],
    ] as const) {
      const { told } = await load(spec, {
        registry: checking(kind, () => [problem(["format"]), problem(["file"])]),
      });
      expect(told.filter((one) => one.includes("odd"))).toEqual([]);
      expect(told).toHaveLength(1);
    }
  });
});
