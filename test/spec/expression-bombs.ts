// Specs that would exhaust time or memory if expressions had no limits. Each is small enough to be read.

import type { Files } from "./folder.ts";

const USERS = "users: { ada: {} }\n";
const cel = (expression: string): string => JSON.stringify(`\${${expression}}`);
const locals = (members: Readonly<Record<string, string>>): string =>
  `locals:\n${Object.entries(members)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join("")}${USERS}`;
const one = (expression: string): string => locals({ a: cel(expression) });

/** `l0`, then each local made from the one before it. */
function chain(first: string, count: number, next: (before: string) => string): string {
  const members: Record<string, string> = { l0: first };
  for (let at = 0; at < count; at++) members[`l${at + 1}`] = cel(next(`local.l${at}`));
  return locals(members);
}

const nested = (depth: number, list: string, inner: string): string =>
  depth === 0 ? inner : `${list}.map(x${depth}, ${nested(depth - 1, list, inner)})`;
const all = (depth: number, list: string): string =>
  depth === 0 ? "true" : `${list}.all(x${depth}, ${all(depth - 1, list)})`;
const times = (count: number, open: string, inner: string, close: string): string =>
  open.repeat(count) + inner + close.repeat(count);
const numbers = (count: number): string => `[${Array.from({ length: count }, (_, at) => at).join(",")}]`;

export const BOMBS: Readonly<Record<string, string | Files>> = {
  "nested comprehensions": one(nested(8, "lists.range(100)", "1")),
  "nested comprehensions with a value that is never true": one(
    `lists.range(1000).exists(a, lists.range(1000).exists(b, lists.range(1000).exists(c, a + b + c < 0)))`,
  ),
  "nested all over a literal": one(all(10, "[1,2,3,4,5,6,7,8,9]")),
  "errors inside nested quantifiers": one(
    `lists.range(1000).exists(a, lists.range(1000).exists(b, lists.range(1000).exists(c, 1 / 0 > a)))`,
  ),
  "nested two-variable comprehensions": one(
    "lists.range(3000).transformMap(a, b, lists.range(3000).transformList(c, d, a * c))",
  ),
  "nested sortBy": one("lists.range(3000).sortBy(a, lists.range(3000).sortBy(b, b * a)[0])"),
  "filters over filters": one("lists.range(5000).filter(a, lists.range(5000).filter(b, b == a).size() == 1)"),
  "string doubling through locals": chain("xxxxxxxxxxxxxxxx", 60, (before) => `${before} + ${before}`),
  "string doubling in one expression": one(times(90, "cel.bind(s, ", '"xxxxxxxx"', ", s + s)")),
  "string doubling through map": one(`["xxxxxxxx"]${".map(s, s + s)".repeat(60)}`),
  "string doubling that is searched": one(`["xxxxxxxx"]${".map(s, s + s)".repeat(40)}[0].contains("y")`),
  "list doubling through locals": chain("[x]", 60, (before) => `${before} + ${before}`),
  "nested lists through locals": chain("x", 60, (before) => `[${before}, ${before}]`),
  "nested maps through locals": chain("x", 60, (before) => `{"a": ${before}, "b": ${before}}`),
  "nested lists in one expression": one(`["x"]${".map(s, [s, s])".repeat(60)}`),
  "replacements that multiply": chain(
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    20,
    (before) => `${before}.replace("x", ${before})`,
  ),
  "a quadratic replacement": locals({
    a: `"${"ab".repeat(200_000)}"`,
    b: cel(`lists.range(1000).map(i, local.a.replace("ab", "ba").size())`),
  }),
  "format with a huge precision": one('"%.999999999f".format([1.5])'),
  "format with a huge width": one('"%999999999d".format([1])'),
  "format that repeats a long string": locals({
    a: `"${"x".repeat(100_000)}"`,
    b: cel(`"${"%s".repeat(400)}".format([${"local.a,".repeat(399)}local.a])`),
  }),
  "join with a long separator": locals({
    a: `"${"x".repeat(100_000)}"`,
    b: cel('lists.range(1000).map(i, "").join(local.a)'),
  }),
  "split into characters again and again": locals({
    a: `"${"x".repeat(200_000)}"`,
    b: cel('lists.range(1000).map(i, local.a.split("").size())'),
  }),
  "a huge list literal": one(numbers(100_000)),
  "a huge map literal": one(`{${Array.from({ length: 5_000 }, (_, at) => `"k${at}": 1`).join(",")}}`),
  "a huge range": one("lists.range(9223372036854775807)"),
  "many ranges": one(`[${"lists.range(100000),".repeat(400)}1]`),
  "deep parentheses": one(times(4_000, "(", "1", ")")),
  "deep lists": one(times(2_000, "[", "1", "]")),
  "deep conditions": one(`${"true ? ".repeat(1_000)}1${" : 2".repeat(1_000)}`),
  "a long chain of members": one(`local.a${".b".repeat(2_000)}`),
  "a long sum": one(`${"1+".repeat(2_400)}1`),
  "many minus signs": one(`${"-".repeat(4_000)}1`),
  "a huge number": one("9".repeat(4_500)),
  "a huge exponent": one("1e999999999"),
  "multiplied numbers": chain("3037000499", 60, (before) => `${before} * ${before}`),
  "map merges that grow": chain(
    "{ a: 1 }",
    60,
    (before) => `${before}.transformMap(k, v, ${before}).merge({"b": ${before}})`,
  ),
  "merges in a comprehension": one(
    `lists.range(3000).map(i, lists.range(3000).transformMapEntry(a, b, {string(b): b}).merge({}))`,
  ),
  "a backtracking pattern": locals({
    a: `"${"a".repeat(90_000)}!"`,
    b: cel('local.a.matches("^(a+)+$") ? 1 : 1 / 0'),
  }),
  "a large pattern": one('"aaaa".matches("(((a{100}){100}){100})")'),
  "many matches": locals({
    a: `"${"a".repeat(90_000)}!"`,
    b: cel('lists.range(10000).exists(i, local.a.matches("(a|a|aa)*b"))'),
  }),
  "a membership test in a comprehension": locals({
    a: numbers(20_000),
    b: cel("local.a.filter(x, !(x in local.a))"),
  }),
  "comparisons of large lists": locals({
    a: numbers(20_000),
    b: cel("lists.range(20000).exists(i, local.a != local.a + [])"),
  }),
  "flattening again and again": locals({
    a: numbers(20_000),
    b: cel("lists.range(20000).map(i, [local.a, local.a].flatten().size())"),
  }),
  "JSON in JSON": chain('"x"', 60, (before) => `json(${before}) + json(${before})`),
  "times in time zones": one('lists.range(100000).exists(i, timestamp(i).getHours("Europe/Paris") > 99)'),
  "bytes that are read as JSON": locals({ a: `"${"[".repeat(200_000)}"`, b: cel("bytes(local.a).json()") }),
  "20,000 different expressions": `locals:\n  a: [${Array.from({ length: 20_000 }, (_, at) => cel(`lists.range(1000).map(x, x + ${at})[0]`)).join(", ")}]\n${USERS}`,
  "20,000 wrong expressions": `locals:\n  a: [${Array.from({ length: 20_000 }, (_, at) => cel(`nope${at}(1)`)).join(", ")}]\n${USERS}`,
  "modules for each entry of a range": {
    "workspace.yaml": `modules: { m: { source: m, for_each: ${cel("lists.range(100000).map(i, string(i))")} } }\n${USERS}`,
    "m/workspace.yaml": "groups: { g: {} }\n",
  },
  "modules for each entry in modules for each entry": {
    "workspace.yaml": `modules: { m: { source: m, for_each: ${cel("lists.range(900).map(i, string(i))")} } }\n${USERS}`,
    "m/workspace.yaml": `modules: { n: { source: ../n, for_each: ${cel("lists.range(900).map(i, string(i))")} } }\n`,
    "n/workspace.yaml": "groups: { g: {} }\n",
  },
  "resources for each entry of a range": `pools: { "p\${each.key}": { for_each: ${cel("lists.range(100000).map(i, string(i))")}, node_type_id: n } }\n`,
  "resources for each entry in modules for each entry": {
    "workspace.yaml": `modules: { m: { source: m, for_each: ${cel("lists.range(900).map(i, string(i))")} } }\n${USERS}`,
    "m/workspace.yaml": `pools: { "p\${each.key}": { for_each: ${cel("lists.range(900).map(i, string(i))")}, node_type_id: n } }\n`,
  },
  "expressions in every instance": {
    "workspace.yaml": `modules: { m: { source: m, for_each: ${cel("lists.range(900).map(i, string(i))")} } }\n${USERS}`,
    "m/workspace.yaml": `locals: { a: ${cel("lists.range(10000).map(i, i * i)")} }\ngroups: { g: {} }\n`,
  },
  "outputs that read outputs": {
    "workspace.yaml": `modules: { m: { source: m, for_each: ${cel("lists.range(900).map(i, string(i))")} } }\nlocals: { a: ${cel("modules.m.map(k, modules.m.map(l, modules.m[l].o + modules.m[k].o))")} }\n${USERS}`,
    "m/workspace.yaml": "outputs: { o: { value: 1 } }\ngroups: { g: {} }\n",
  },
};
