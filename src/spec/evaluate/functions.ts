// The functions of expressions: pure, total for valid operands, and with bounded results.

import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { grouped } from "../../core/sentences.ts";
import { asSensitive, listAt, mapAt, type SpecNode } from "../model/tree.ts";

/** Thrown for invalid operands; the message begins with the function. */
export class FunctionProblem extends Error {}

export interface PureFunction {
  readonly form: string;
  readonly summary: string;
  readonly least: number;
  readonly most: number;
  call(operands: readonly Json[]): Json;
  /** For a function that only arranges entries of its operands: the result as a list or map of those entries. */
  readonly arrange?: (operands: readonly SpecNode[], result: SpecNode) => SpecNode;
}

/** Characters of the result of one call. */
const LARGEST = 1 << 20;

const text = (value: Json | undefined, name: string): string => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return String(value);
  throw new FunctionProblem(`${name} takes a string here, not ${whatItIs(value)}`);
};

const list = (value: Json | undefined, name: string): readonly Json[] => {
  if (Array.isArray(value)) return value;
  throw new FunctionProblem(`${name} takes a list here, not ${whatItIs(value)}`);
};

const map = (value: Json | undefined, name: string): { readonly [key: string]: Json } => {
  if (isObject(value)) return value;
  throw new FunctionProblem(`${name} takes a map here, not ${whatItIs(value)}`);
};

function whatItIs(value: Json | undefined): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "bigint") return "a number";
  return typeof value === "object" ? "a map" : `a ${typeof value}`;
}

const bounded = (length: number, name: string): void => {
  if (length > LARGEST)
    throw new FunctionProblem(`${name} would make more than ${grouped(LARGEST)} characters`);
};

function define(
  form: string,
  summary: string,
  call: PureFunction["call"],
  arrange?: PureFunction["arrange"],
): PureFunction {
  const operands = form.slice(form.indexOf("(") + 1, -1).split(", ");
  const isOpen = operands.at(-1)?.endsWith("…") === true;
  return {
    form,
    summary,
    least: isOpen ? operands.length - 1 : operands.length,
    most: isOpen ? 32 : operands.length,
    call,
    arrange,
  };
}

const ALL: readonly PureFunction[] = [
  define("lower(text)", "the string in lower case", ([one]) => text(one, "lower").toLowerCase()),
  define("upper(text)", "the string in upper case", ([one]) => text(one, "upper").toUpperCase()),
  define("trim(text)", "the string without spaces at both ends", ([one]) => text(one, "trim").trim()),
  define(
    "replace(text, search, substitute)",
    "the string with every occurrence of `search` replaced",
    replaced,
  ),
  define(
    "format(pattern, value…)",
    "the pattern with each `%s` replaced by a value; `%%` is a percent sign",
    formatted,
  ),
  define("join(separator, list)", "the entries of a list as one string", joined),
  define("split(separator, text)", "the parts of a string as a list", parted),
  define(
    "default(value, fallback)",
    "the fallback if the value is null or not set, or a member that does not exist",
    ([one = null, other = null]) => one ?? other,
  ),
  define(
    "length(value)",
    "the number of entries of a list or map, or of characters of a string",
    ([one]) => lengthOf(one),
    ofShape,
  ),
  define(
    "contains(value, member)",
    "whether a list has an entry, a map a key, or a string a part",
    contained,
  ),
  define("keys(map)", "the keys of a map, sorted", ([one]) => Object.keys(map(one, "keys")).sort(), ofShape),
  define(
    "values(map)",
    "the values of a map, sorted by key",
    ([one]) => {
      const from = map(one, "values");
      return Object.keys(from)
        .sort()
        .map((key) => from[key] ?? null);
    },
    ([from], result) => {
      const members = from?.kind === "map" ? [...from.members].sort(([a], [b]) => (a < b ? -1 : 1)) : [];
      const list = listAt(
        result,
        members.map(([, { value }]) => value),
      );
      return from?.sensitive === true ? { ...list, sensitive: true } : list;
    },
  ),
  define(
    "merge(map…)",
    "one map of all; later maps win",
    (maps) => Object.assign({}, ...maps.map((one) => map(one, "merge"))) as Json,
    (maps, result) => {
      const merged = mapAt(
        result,
        new Map(maps.flatMap((one) => (one.kind === "map" ? [...one.members] : []))),
      );
      return maps.some(({ sensitive }) => sensitive === true) ? { ...merged, sensitive: true } : merged;
    },
  ),
  define(
    "concat(list…)",
    "one list of all",
    (lists) => lists.flatMap((one) => list(one, "concat")),
    (lists, result) => {
      const all = listAt(
        result,
        lists.flatMap((one) => (one.kind === "list" ? one.items : [])),
      );
      return lists.some(({ sensitive }) => sensitive === true) ? { ...all, sensitive: true } : all;
    },
  ),
  define("json(value)", "the value as JSON text, with sorted keys", ([one = null]) => jsonOf(one)),
];

export const FUNCTIONS: ReadonlyMap<string, PureFunction> = new Map(
  ALL.map((one) => [one.form.slice(0, one.form.indexOf("(")), one]),
);

/** Of what only the keys or the number of entries of a list or map decide. */
function ofShape([from]: readonly SpecNode[], result: SpecNode): SpecNode {
  return from?.kind === "scalar" || from?.sensitive === true ? asSensitive(result) : result;
}

function replaced([one, two, three]: readonly Json[]): Json {
  const [whole, search, substitute] = [text(one, "replace"), text(two, "replace"), text(three, "replace")];
  if (search === "") throw new FunctionProblem("replace cannot search for an empty string");
  const pieces = whole.split(search);
  bounded(whole.length + pieces.length * substitute.length, "replace");
  return pieces.join(substitute);
}

function formatted([pattern, ...values]: readonly Json[]): Json {
  const left = [...values];
  const made = text(pattern, "format").replace(/%(.?)/g, (_, verb: string) => {
    if (verb === "%") return "%";
    if (verb !== "s") throw new FunctionProblem(`format has only %s and %%, not %${verb}`);
    if (left.length === 0) throw new FunctionProblem("format has more %s than values");
    return text(left.shift(), "format");
  });
  if (left.length > 0) throw new FunctionProblem("format has more values than %s");
  bounded(made.length, "format");
  return made;
}

function joined([separator, entries]: readonly Json[]): Json {
  const between = text(separator, "join");
  const texts = list(entries, "join").map((one) => text(one, "join"));
  bounded(
    texts.reduce((sum, one) => sum + one.length + between.length, 0),
    "join",
  );
  return texts.join(between);
}

function parted([separator, whole]: readonly Json[]): Json {
  const between = text(separator, "split");
  if (between === "") throw new FunctionProblem("split needs a separator");
  const from = text(whole, "split");
  return from === "" ? [] : from.split(between);
}

function lengthOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  return [...text(value, "length")].length;
}

function contained([value, member = null]: readonly Json[]): Json {
  if (Array.isArray(value)) return value.some((one) => one === member);
  if (isObject(value)) return Object.hasOwn(value, text(member, "contains"));
  return text(value, "contains").includes(text(member, "contains"));
}

function jsonOf(value: Json): string {
  const made = canonicalJson(value);
  bounded(made.length, "json");
  return made;
}
