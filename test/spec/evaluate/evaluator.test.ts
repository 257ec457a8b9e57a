// Values that CEL expressions give, what they read, and where their problems are.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

const SPEC = `
variables: { env: { default: prod }, n: { default: 3 } }
locals:
  map: { b: 2, a: 1 }
  list: [x, y]
  text: " Ada "
  none: null
  sizes: { prod: 10, dev: 5 }
  teams: [{ name: web, size: 2 }, { name: ads, size: 1 }]
  literal: "$\${x}"
  pool: \${pools.other.instance_pool_id}
`;

const quoted = (expression: string): string => `'\${${expression.replaceAll("'", "''")}}'`;

/** The value of an expression, placed as a value of a map that takes any type. */
async function evaluated(expression: string): Promise<unknown> {
  const { told, spec } = await load(
    `${SPEC}\npools: { other: { node_type_id: n, custom_tags: { v: ${quoted(`json(${expression})`)} } } }`,
  );
  const { custom_tags: tags } = (spec?.resources.get("pools.other" as never)?.values ?? {}) as never as {
    readonly custom_tags?: { readonly v: string };
  };
  return tags === undefined ? told : JSON.parse(tags.v);
}

describe("an expression", () => {
  it.each([
    // Conditions, arithmetic, membership, and indexes.
    ['var.env == "prod" ? 10 : 5', 10],
    ["local.sizes[var.env]", 10],
    ["local.sizes.prod + var.n * 2 - 1", 15],
    ["7 / 2", 3],
    ["7.0 / 2.0", 3.5],
    ["7 % 2 == 1 && !(2 > 3)", true],
    ['"x" in local.list', true],
    ['"c" in local.map', false],
    ["local.list[1]", "y"],
    ['local.map["a"]', 1],
    ["9007199254740993 - 1", 9007199254740992],
    ["local.literal", "${x}"],
    ['"$" + "{a}"', "${a}"],
    ["local.none == null", true],
    // Strings.
    ["local.text.lowerAscii()", " ada "],
    ["local.text.upperAscii()", " ADA "],
    ["local.text.trim()", "Ada"],
    ['"a.b.c".replace(".", "-")', "a-b-c"],
    ['"a.b.c".replace(".", "-", 1)', "a-b.c"],
    ['"%s-%d-%.2f-%x-%%".format(["a", 7, 1.5, 255])', "a-7-1.50-ff-%"],
    ['"%s".format([local.map])', '{"a":1,"b":2}'],
    ['"a;b".split(";")', ["a", "b"]],
    ['local.list.join("-")', "x-y"],
    ['"abc".substring(1)', "bc"],
    ['"abc".charAt(1)', "b"],
    ['"abc".reverse()', "cba"],
    ['"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("c")', true],
    ['"ads-1".matches("^[a-z]+-[0-9]$")', true],
    ['size("a😀")', 2],
    ["string(var.n)", "3"],
    ['int("5") + 1', 6],
    // Lists.
    ["local.list.map(x, x + x)", ["xx", "yy"]],
    ["[1, 2, 3].filter(x, x > 1)", [2, 3]],
    ["local.teams.exists(t, t.size > 1) && !local.teams.all(t, t.size > 1)", true],
    ["local.list + local.list", ["x", "y", "x", "y"]],
    ["[3, 1, 2].sort()", [1, 2, 3]],
    ["local.teams.sortBy(t, t.name).map(t, t.size)", [1, 2]],
    ["[1, 1, 2].distinct()", [1, 2]],
    ["[[1], [2, [3]]].flatten()", [1, 2, [3]]],
    ["[[1], [2, [3]]].flatten(2)", [1, 2, 3]],
    ["[1, 2, 3].slice(1, 3)", [2, 3]],
    ["[1, 2].reverse()", [2, 1]],
    ["lists.range(3)", [0, 1, 2]],
    // Maps.
    ["local.map.map(k, k).sort()", ["a", "b"]],
    ["local.map.map(k, local.map[k]).sort()", [1, 2]],
    ['local.map.merge({"a": 5, "c": 3})', { a: 5, b: 2, c: 3 }],
    ["local.sizes.transformMap(k, v, v * 2)", { prod: 20, dev: 10 }],
    ["local.sizes.transformMap(k, v, v > 5, v)", { prod: 10 }],
    ["local.teams.transformMapEntry(i, t, {t.name: t.size})", { web: 2, ads: 1 }],
    ["local.list.transformList(i, x, x + string(i))", ["x0", "y1"]],
    ["size(local.map)", 2],
    // Values that may be absent.
    ['local.map.?c.orValue("d")', "d"],
    ["local.map.?a.orValue(9)", 1],
    ["has(local.map.c) ? 1 : 2", 2],
    ['target.?name.orValue("none")', "none"],
    ["cel.bind(a, var.n + 1, a * a)", 16],
  ])("%s is %j", async (expression, value) => {
    expect(await evaluated(expression)).toEqual(value);
  });

  it("keeps the type of its result where it is the whole value, and is text inside a string", async () => {
    const { resource } = await load(
      `${SPEC}\npools: { other: { node_type_id: n }, p: { node_type_id: "n-\${1 + 1}", max_capacity: '\${var.env == "prod" ? 10 : 5}', custom_tags: '\${{"a": var.env}}', preloaded_spark_versions: '\${local.list.map(x, x)}' } }`,
    );
    expect(resource("pools.p").values).toMatchObject({
      node_type_id: "n-2",
      max_capacity: 10,
      custom_tags: { a: "prod" },
      preloaded_spark_versions: ["x", "y"],
    });
  });

  it("can choose a reference and pass it on, and keeps its dependency", async () => {
    const { resource } = await load(
      `${SPEC}\npools: { other: { node_type_id: n } }\nclusters: { c: { num_workers: 1, instance_pool_id: '\${var.env == "prod" ? local.pool : "x"}' } }`,
    );
    expect(resource("clusters.c")).toMatchObject({
      references: [{ path: ["instance_pool_id"], parts: [{ address: "pools.other" }] }],
      dependsOn: ["pools.other"],
    });
  });

  it("reads only what its condition needs", async () => {
    expect(await evaluated('var.env == "prod" ? 1 : local.list[7]')).toBe(1);
  });

  it("evaluates a shared expression for each instance, also if a value needs the same expression elsewhere", async () => {
    const { resource } = await load({
      "workspace.yaml":
        "modules: { a: { source: m, with: { list: '${[1, 2].map(i, i + 1)}' } } }\npools: { p: { node_type_id: n, max_capacity: '${modules.a.sum[0] + modules.a.sum[1]}' } }\n",
      "m/workspace.yaml":
        "inputs: { list: { type: array } }\nlocals: { more: '${input.list.map(i, i + 1)}' }\noutputs: { sum: { value: '${input.list.map(i, i + local.more[0])}' } }\n",
    });
    expect(resource("pools.p").values.max_capacity).toBe(2 + 3 + 3 + 3);
  });
});

describe("an expression that is wrong", () => {
  it.each([
    ["local.map.z", 'local.map has no "z"'],
    ["local.map.z + 1", 'local.map has no "z"'],
    ['local.sizes["x" + "y"]', 'local.sizes has no "xy"'],
    ["local.text.z", "local.text is a string, which has no members"],
    ["local.nothing", 'unknown local "nothing"'],
    ["var.env == 'x' ? local.nothing : 1", 'unknown local "nothing"'],
    ["uper(local.text)", 'unknown function "uper"'],
    ["lower(local.text)", 'unknown function "lower"'],
    ["local.list.lowerAscii()", "the operands of lowerAscii cannot be (list)"],
    ["local.text + 1", "no such overload: string + int"],
    ['"a".replace("", "b")', "replace cannot search for an empty string"],
    ['"%q".format([1])', "not %q"],
    ['"%d".format(["a"])', "format: %d takes an integer, not a string"],
    ['"%.101f".format([1.5])', "a precision is at most 100, not 101"],
    ["local.text.trim(", "the expression is incomplete"],
    ["local.", "the expression is incomplete"],
    ["pool", 'unknown value "pool"'],
    ["each.key + 'x'", "each exists only where for_each is"],
    ["input.x + 1", "only a module has inputs"],
    ["var.n-1", 'var has no "n-1"'],
    ["local.pool + 'x'", "a reference is unknown until apply"],
    ["local.pool in [local.pool]", "a reference is unknown until apply"],
    ["pools.other.instance_pool_id == 'x'", "only a path can refer to a resource"],
    ["1 > 0 ? 1 : 'a'", "ternary branches must have the same type"],
    ["9223372036854775807 + 1", "integer overflow"],
    ["1 / 0", "division by zero"],
    ["timestamp('2024-01-01T00:00:00Z')", "the value is a time, which a spec cannot contain"],
    ["local.map.?a", "the value is an optional value"],
    ["'('.matches('(')", "the regular expression is invalid"],
  ])("%s says so", async (expression, message) => {
    const { told, spec } = await load(
      `${SPEC}  bad: ${quoted(expression)}\npools: { other: { node_type_id: n } }`,
    );
    expect(spec).toBeUndefined();
    expect(told.join("\n")).toContain(message);
  });

  it.each([
    ['a: "x-${local.nope}"', 'x-${§local.nope}"'],
    ["a: ${local.map.a + local.nope}", "+ §local.nope"],
    ["a: '${\"it''s\" + nope}'", "+ §nope"],
    ['a: "${\\"a\\" + nope}"', "+ §nope"],
    ["a: >-\n    ${var.n +\n      local.nope}", "§local.nope"],
    ["a: |-\n    ${var.n +\n      local.nope}", "§local.nope"],
    ["\"${local.nope + 'x'}\": 1", "${§local.nope + "],
  ])("%s has its problem at the place inside the expression", async (yaml, place) => {
    const text = `${SPEC.trimStart()}  ${yaml.startsWith("a") ? yaml : `b: { ${yaml} }`}\npools: { other: { node_type_id: n } }\n`;
    const { diagnostics } = await load(text);
    const [before = ""] = text.split(place.replace("§", ""));
    const offset = before.length + place.indexOf("§");
    const line = text.slice(0, offset).split("\n").length;
    const column = offset - text.lastIndexOf("\n", offset - 1);
    expect(diagnostics[0]?.at).toMatchObject({ line, column });
  });

  it.each([
    ["env", 'did you mean "var.env"?'],
    ["local.sizs.prod + 1", 'did you mean "sizes"?'],
    ["local.sizes.prd + 1", 'did you mean "prod"?'],
    ["local.text.lowerAsci()", 'did you mean "lowerAscii"?'],
    ["length(local.list)", "write size(value)"],
    ["keys(local.map)", "write map.map(key, key)"],
    ["HOME", "for a literal ${, write $${"],
    ["1.5 * var.n", "convert one of the numbers"],
  ])("%s has the hint %s", async (expression, hint) => {
    const { diagnostics } = await load(
      `${SPEC}  bad: ${quoted(expression)}\npools: { other: { node_type_id: n } }`,
    );
    expect(diagnostics[0]?.hint).toContain(hint);
  });

  it("is refused where locals form a cycle", async () => {
    const { told } = await load("locals: { a: '${local.b + 1}', b: '${local.a}' }\nusers: { ada: {} }");
    expect(told).toEqual([expect.stringContaining("locals form a cycle: local.a -> local.b -> local.a")]);
  });

  it("is refused if locals depend on each other too deeply", async () => {
    const chain = Array.from({ length: 5_000 }, (_, at) => `l${at}: "\${local.l${at + 1}}"`);
    const { told } = await load(`locals: { ${chain.join(", ")}, l5000: x }\nusers: { ada: {} }`);
    expect(told[0]).toContain("SPEC_TOO_LARGE");
  });
});
