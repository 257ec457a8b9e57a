import { describe, expect, it } from "vitest";
import { FUNCTIONS } from "../../../src/spec/evaluate/functions.ts";
import { load } from "../folder.ts";

/** The value of an expression, placed as the tags of a pool. */
async function evaluated(expression: string, more = ""): Promise<unknown> {
  const { told, spec } = await load(
    `locals: { map: { b: 2, a: 1 }, list: [x, y], text: " Ada ", none: null }\n${more}\npools: { p: { node_type_id: n, custom_tags: { v: '\${${expression}}' } } }`,
  );
  if (spec === undefined) return told;
  const tags = spec.resources.get("pools.p" as never)?.values.custom_tags as Record<string, unknown>;
  return tags.v;
}

describe("a function", () => {
  it.each([
    ["lower(local.text)", " ada "],
    ["upper(local.text)", " ADA "],
    ["trim(local.text)", "Ada"],
    ['replace("a.b.c", ".", "-")', "a-b-c"],
    ['format("%s-%s%%", "a", 7)', "a-7%"],
    ['join("-", local.list)', "x-y"],
    ['join(",", split(";", "a;b"))', "a,b"],
    ['default(local.none, "d")', "d"],
    ['default(local.map.c, "d")', "d"],
    ['format("%s", length(local.map))', "2"],
    // Characters, and not UTF-16 units, of which these have 2 and 3.
    ['format("%s", length("😀"))', "1"],
    ['format("%s", length("a😀"))', "2"],
    ['format("%s", contains(local.list, "y"))', "true"],
    ['join("", keys(local.map))', "ab"],
    ['join("", values(local.map))', "12"],
    ["json(merge(local.map, local.map))", '{"a":1,"b":2}'],
    ['join("", concat(local.list, local.list))', "xyxy"],
    ['upper(join("-", local.list))', "X-Y"],
    ["local.list[1]", "y"],
    ['format("%s", local.map["a"])', "1"],
    ['format("%s", 9007199254740993)', "9007199254740993"],
    ['lower("${A}")', "${a}"],
  ])("%s is %j", async (expression, value) => {
    expect(await evaluated(expression)).toBe(value);
  });

  it("is documented, each with its form", () => {
    for (const [name, { form, summary }] of FUNCTIONS) {
      expect(form.startsWith(`${name}(`)).toBe(true);
      expect(summary).not.toBe("");
    }
  });
});

describe("an expression that is wrong", () => {
  it.each([
    ["local.map.z", 'local.map has no "z"'],
    ["local.text.z", "local.text is a string, which has no members"],
    ["local.nothing", 'unknown local "nothing"'],
    ["uper(local.text)", 'unknown function "uper"'],
    ["lower()", "lower does not take 0 arguments"],
    ["lower(local.list)", "lower takes a string here, not a list"],
    ["keys(9007199254740993)", "keys takes a map here, not a number"],
    ['replace("a", "", "b")', "replace cannot search for an empty string"],
    ['format("%d", 1)', "format has only %s and %%, not %d"],
    ["lower(local.text", "the expression is incomplete"],
    ["local.", "the expression is incomplete"],
    ["lower(pools.p.node_type_id)", '"pools" is not a value; paths begin with'],
    ["each.key", "each exists only in the `with` of a module that has for_each"],
    ["input.x", "only a module has inputs"],
  ])("%s says so", async (expression, message) => {
    expect(String(await evaluated(expression))).toContain(message);
  });

  it("is refused where locals form a cycle", async () => {
    const { told } = await load("locals: { a: '${local.b}', b: '${local.a}' }\nusers: { ada: {} }");
    expect(told).toEqual([expect.stringContaining("locals form a cycle: local.a -> local.b -> local.a")]);
  });

  it("is refused where functions make too much", async () => {
    const chain = Array.from(
      { length: 40 },
      (_, at) => `l${at + 1}: "\${format('%s%s', local.l${at}, local.l${at})}"`,
    );
    const { told } = await load(`locals: { l0: xxxxxxxxxxxxxxxx, ${chain.join(", ")} }\nusers: { ada: {} }`);
    expect(told[0]).toContain("format would make more than 1,048,576 characters");
  });

  it("is refused where locals double without end", async () => {
    const chain = Array.from(
      { length: 60 },
      (_, at) => `l${at + 1}: ["\${local.l${at}}", "\${local.l${at}}"]`,
    );
    const { told } = await load(`locals: { l0: x, ${chain.join(", ")} }\nusers: { ada: {} }`);
    expect(told[0]).toContain("SPEC_TOO_LARGE");
  });

  it("is refused if locals depend on each other too deeply", async () => {
    const chain = Array.from({ length: 5_000 }, (_, at) => `l${at}: "\${local.l${at + 1}}"`);
    const { told } = await load(`locals: { ${chain.join(", ")}, l5000: x }\nusers: { ada: {} }`);
    expect(told[0]).toContain("SPEC_TOO_LARGE");
  });
});
