import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith, load } from "../folder.ts";

const SPEC = `
variables:
  size: { default: 1, description: instances }
targets:
  dev: { default: true }
  prod: { variables: { size: 2 } }
pools:
  p: { node_type_id: n, max_capacity: "\${var.size}" }
`;

async function size(options: Parameters<typeof load>[1] = {}): Promise<unknown> {
  return (await load(SPEC, options)).resource("pools.p").values.max_capacity;
}

describe("where a value comes from", () => {
  const folder = folderWith({ "a.yaml": "size: 4", "b.json": '{ "size": 5 }' });
  const env = { WORKSPACE_VAR_size: "3" };
  const varFiles = [join(folder, "a.yaml")];

  it("is the default, the target, the environment, a file, the command line, the later the stronger", async () => {
    expect(await size()).toBe(1);
    expect(await size({ target: "prod" })).toBe(2);
    expect(await size({ target: "prod", env })).toBe(3);
    expect(await size({ target: "prod", env, varFiles })).toBe(4);
    expect(await size({ target: "prod", env, varFiles: [...varFiles, join(folder, "b.json")] })).toBe(5);
    expect(await size({ target: "prod", env, varFiles, vars: ["size=6"] })).toBe(6);
    expect(await size({ vars: ["size=6", "size=7"] })).toBe(7);
  });

  it("is not the environment if the spec is untrusted, and the hint says so", async () => {
    const { diagnostics } = await load(
      "variables: { zone: }\npools: { p: { node_type_id: '${var.zone}' } }",
      {
        untrusted: true,
      },
    );
    expect(diagnostics.map(({ hint }) => hint)).toEqual([
      "set it with --var zone=… (WORKSPACE_VAR_zone is not read for an untrusted spec), or set a default under variables.zone",
    ]);
  });

  it("is not an empty environment variable, which a platform sets for a secret that does not exist", async () => {
    const empty = { WORKSPACE_VAR_size: "", WORKSPACE_VAR_key: "" };
    expect(await size({ env: empty })).toBe(1);
    expect(await size({ target: "prod", env: empty })).toBe(2);
    for (const declared of ["{ sensitive: true }", "", "{ type: string }"]) {
      const spec = `variables: { key: ${declared} }\npools: { p: { node_type_id: n, custom_tags: { k: "\${var.key}" } } }`;
      const { diagnostics } = await load(spec, { env: empty });
      expect(diagnostics.map(({ code, message, hint }) => [code, message, hint])).toEqual([
        [
          "SPEC_VARIABLE",
          "the variable key has no value",
          "set it with --var key=… (WORKSPACE_VAR_key is empty), or set a default under variables.key",
        ],
      ]);
    }
  });

  it("can be an empty text from the command line or a file", async () => {
    const spec = 'variables: { key: x }\npools: { p: { node_type_id: n, custom_tags: { k: "${var.key}" } } }';
    const files = folderWith({ "a.yaml": 'key: ""' });
    for (const options of [{ vars: ["key="] }, { varFiles: [join(files, "a.yaml")] }])
      expect((await load(spec, options)).resource("pools.p").values.custom_tags).toEqual({ k: "" });
  });

  it("is not another environment variable", async () => {
    const { told } = await load("variables: { HOME: }\npools: { p: { node_type_id: '${var.HOME}' } }", {
      env: { HOME: "/root" },
    });
    expect(told).toEqual(["SPEC_VARIABLE 2:29 the variable HOME has no value"]);
  });
});

describe("the values of enum", () => {
  it("are of their type: the text of a number is not the number", async () => {
    const spec = (type: string) =>
      `variables: { n: { ${type}enum: [1, 2] } }\npools: { p: { node_type_id: n, max_capacity: "\${var.n}" } }`;
    expect((await load(spec("type: number, "), { vars: ["n=1"] })).told).toEqual([]);
    expect((await load(spec(""), { vars: ["n=1"] })).told[0]).toContain(
      'the variable n must be one of 1 or 2, not "1"',
    );
  });
});

describe("the type of a value", () => {
  it("is kept if a string is only the variable, at any depth", async () => {
    const { resource } = await load(`
variables:
  number: { default: 3 }
  truth: { default: false }
  list: { default: [a, b] }
  map: { default: { k: v } }
pools:
  p: { node_type_id: "n\${var.number}\${var.truth}", max_capacity: "\${var.number}", enable_elastic_disk: "\${ var.truth }",
       preloaded_spark_versions: "\${var.list}", custom_tags: "\${var.map}" }
`);
    expect(resource("pools.p").values).toEqual({
      instance_pool_name: "p",
      node_type_id: "n3false",
      max_capacity: 3,
      enable_elastic_disk: false,
      preloaded_spark_versions: ["a", "b"],
      custom_tags: { k: "v" },
    });
  });

  it("is parsed from a command line string by the declared type", async () => {
    const spec = `
variables:
  capacity: { type: number }
  versions: { type: array }
  tags: { default: {} }
  node: { default: "1" }
pools: { p: { node_type_id: "\${var.node}", max_capacity: "\${var.capacity}", preloaded_spark_versions: "\${var.versions}", custom_tags: "\${var.tags}" } }
`;
    const { resource } = await load(spec, {
      vars: ["capacity=9", 'versions=["x", y]', 'tags={"a": "b"}', "node=007"],
    });
    expect(resource("pools.p").values).toMatchObject({
      node_type_id: "007",
      max_capacity: 9,
      preloaded_spark_versions: ["x", "y"],
      custom_tags: { a: "b" },
    });
  });

  it("is refused where it is not the declared one", async () => {
    const { told } = await load(
      "variables: { n: { default: 1 } }\npools: { p: { node_type_id: x, max_capacity: '${var.n}' } }",
      { vars: ["n=many"] },
    );
    expect(told).toContain("SPEC_VARIABLE --var n:1:1 the variable n must be a number, not a string");
  });

  it("cannot be a list inside a string", async () => {
    const { told } = await load("variables: { l: { default: [a] } }\nusers: { 'x${var.l}': {} }");
    expect(told).toEqual(["SPEC_VARIABLE 2:10 the variable l is a list and cannot be part of a string"]);
  });
});

describe("a declaration", () => {
  const told = async (declaration: string, value: string) =>
    (await load(`variables: { v: ${declaration} }\nusers: { ada: {} }`, { vars: [`v=${value}`] })).told;

  it.each([
    ["{ type: integer, minimum: 1, maximum: 9 }", "5", "12", "must be at most 9, not 12"],
    ["{ type: [integer, boolean] }", "true", "x", "must be an integer or true or false, not a string"],
    ["{ type: string, minLength: 2 }", "ab", "a", "must have at least 2 characters"],
    ["{ type: array, items: { type: integer } }", "[1, 2]", "[x]", "must be an integer, not a string"],
    [
      "{ type: object, properties: { a: {} }, additionalProperties: false }",
      "{ a: 1 }",
      "{ b: 1 }",
      'has no field "b"',
    ],
    ["{ enum: [a, b] }", "a", "c", 'must be one of a or b, not "c"'],
    ["[a]", "[b]", "5", "must be a list, not 5"],
  ])("%s allows %s, and not %s", async (declaration, valid, invalid, message) => {
    expect(await told(declaration, valid)).toEqual([]);
    expect(await told(declaration, invalid)).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ["list", "array"],
    ["map", "object"],
    ["int", "integer"],
  ])("of the type %s is refused, and the hint says %s", async (type, better) => {
    const { diagnostics } = await load(`variables: { v: { type: ${type}, default: 1 } }\nusers: { ada: {} }`);
    expect(diagnostics).toMatchObject([{ code: "SPEC_VALUE", hint: `write ${better}` }]);
  });

  it("of an input is the same, a bare default included", async () => {
    const { resource } = await load({
      "workspace.yaml": "modules: { m: { source: m } }\n",
      "m/workspace.yaml":
        "inputs: { size: 7 }\npools: { p: { node_type_id: n, max_capacity: '${input.size}' } }\n",
    });
    expect(resource("pools.m/p").values.max_capacity).toBe(7);
  });
});

describe("where variables stand", () => {
  it("in keys of resources and of maps; a resulting duplicate key is refused", async () => {
    const { spec, told } = await load(
      "variables: { e: dev }\nusers: { 'a-${var.e}': {} }\nclusters: { c: { spark_conf: { 'k.${var.e}': v } } }",
    );
    expect(told).toEqual([]);
    expect([...(spec?.resources.keys() ?? [])]).toEqual(["users.a-dev", "clusters.c"]);
    expect((await load("variables: { e: dev }\nusers: { 'a-${var.e}': {}, a-dev: {} }")).told).toEqual([
      'SPEC_DUPLICATE_KEY 2:28 duplicate key "a-dev" after variables are resolved',
    ]);
  });

  it("$${ is a literal, in values and in keys", async () => {
    const { resource } = await load(
      "clusters: { c: { spark_conf: { '$${k}': 'a $${b} $c ${var.x}' } } }\nvariables: { x: '1' }",
    );
    expect(resource("clusters.c").values.spark_conf).toEqual({ "${k}": "a ${b} $c 1" });
    expect(resource("clusters.c").references).toEqual([]);
  });

  it("the text of a value is data: what looks like a reference in it is none", async () => {
    const { resource, told } = await load(
      "variables: { x: }\nclusters: { c: { spark_conf: { a: '${var.x}', b: 'b${var.x}' } } }",
      {
        vars: ["x=${pools.p.instance_pool_id}"],
      },
    );
    expect(told).toEqual([]);
    expect(resource("clusters.c").values.spark_conf).toEqual({
      a: "${pools.p.instance_pool_id}",
      b: "b${pools.p.instance_pool_id}",
    });
    expect(resource("clusters.c").references).toEqual([]);
  });

  it("not in a key as a reference, and not unclosed", async () => {
    const { told } = await load("users: { 'a-${pools.p.instance_pool_id}': {}, 'b-${var.x': {} }");
    expect(told).toEqual([
      'SPEC_REFERENCE 1:10 a key cannot contain a reference: "a-${pools.p.instance_pool_id}"',
      "SPEC_REFERENCE 1:47 a ${ is never closed",
    ]);
  });
});

describe("problems", () => {
  it("names an unknown variable wherever it comes from, with what may be meant", async () => {
    const { diagnostics } = await load(
      "variables: { region: eu }\ntargets: { prod: { variables: { regoin: us } } }\nusers: { '${var.regio}': {} }",
      { target: "prod", vars: ["reg=1"], env: { WORKSPACE_VAR_other: "ignored" } },
    );
    expect(diagnostics.map(({ code, at, hint }) => [code, at?.line, hint])).toEqual([
      ["SPEC_VARIABLE", undefined, 'did you mean "region"?'],
      ["SPEC_VARIABLE", 2, 'did you mean "region"?'],
      ["SPEC_VARIABLE", 3, 'did you mean "region"?'],
    ]);
  });

  it("a default with a variable, an invalid name, an invalid type, and an unknown field are reported", async () => {
    const { told } = await load(
      "variables: { a: '${var.b}', 'b c': 1, d: { type: int }, e: { defualt: 1 }, f: { enum: ['${var.b}', x] } }",
    );
    expect(told).toEqual([
      "SPEC_VARIABLE 1:17 the default of variables.a cannot contain ${…}",
      'SPEC_VARIABLE 1:29 "b c" is not a valid name of a variable',
      "SPEC_VALUE 1:50 variables.d.type must be string, integer, number, boolean, array, object or null",
      'SPEC_UNKNOWN_FIELD 1:62 variables.e has no keyword "defualt"',
      "SPEC_VARIABLE 1:88 variables.f.enum cannot contain ${…}",
    ]);
  });

  it("--var without a value, and a variable file that is missing or not a map, are reported", async () => {
    const folder = folderWith({ "list.yaml": "[1]", "extra.yaml": "unknown: 1" });
    const { diagnostics } = await load("users: {}", {
      vars: ["x"],
      varFiles: [join(folder, "none.yaml"), join(folder, "list.yaml"), join(folder, "extra.yaml")],
    });
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ["error", "CLI_USAGE"],
      ["error", "CLI_FILE"],
      ["error", "SPEC_TYPE"],
      ["warning", "SPEC_VARIABLE"],
    ]);
  });
});
