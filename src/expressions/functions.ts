// The functions that expressions have in addition to those of CEL's core, under the names of CEL's extension libraries.

import { createRequire } from "node:module";
import type * as Cel from "@marcbachmann/cel-js";
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import type * as Re2 from "re2js";
import { canonicalJson } from "../core/digest.ts";
import { grouped } from "../core/sentences.ts";
import { describeValue, entriesOf, jsonValue, LazyMap, textOf, UnknownValue, weightOf } from "./values.ts";

const load = createRequire(import.meta.url);

/** Loaded with the first expression. */
export const cel = (): typeof Cel => load("@marcbachmann/cel-js") as typeof Cel;

/** Regular expressions in linear time; loaded with the first pattern. */
export const re2js = (): typeof Re2 => load("re2js") as typeof Re2;

/** Takes steps of the evaluation that runs now. */
type Take = (steps: number) => void;

/** Characters of a string, and entries of a list, that one call makes. */
const LARGEST_TEXT = 1 << 20;
const LARGEST_LIST = 100_000;

const LONGEST_PATTERN = 500;
const LONGEST_MATCHED = 100_000;
const MOST_PATTERNS = 100;

const patterns = new Map<string, Re2.RE2JS>();

/** Throws an Error for a pattern that is invalid or too long. */
export function compilePattern(pattern: string): Re2.RE2JS {
  const before = patterns.get(pattern);
  if (before !== undefined) return before;
  if (pattern.length > LONGEST_PATTERN)
    throw new Error(`a regular expression has at most ${LONGEST_PATTERN} characters`);
  const compiled = re2js().RE2JS.compile(pattern);
  if (patterns.size >= MOST_PATTERNS) patterns.clear();
  patterns.set(pattern, compiled);
  return compiled;
}

/** `matches` of the library backtracks, so expressions call this function instead. */
export const LINEAR_MATCHES = "linearMatches";

/** One form of each function, for documentation and suggestions. Macros of the core and operators are not listed. */
export const FUNCTION_FORMS = [
  "text.lowerAscii()",
  "text.upperAscii()",
  "text.trim()",
  "text.replace(search, substitute)",
  "text.split(separator)",
  "text.substring(start, end)",
  "text.charAt(index)",
  "text.indexOf(part)",
  "text.lastIndexOf(part)",
  "text.contains(part)",
  "text.startsWith(part)",
  "text.endsWith(part)",
  "text.matches(pattern)",
  "text.reverse()",
  '"%s-%d".format([value, value])',
  'list.join("-")',
  "list.map(x, x + 1)",
  "list.filter(x, x > 1)",
  "list.exists(x, x > 1)",
  "list.exists_one(x, x > 1)",
  "list.all(x, x > 1)",
  "list.sort()",
  "list.sortBy(x, x.name)",
  "list.distinct()",
  "list.flatten()",
  "list.slice(start, end)",
  "list.sum()",
  "list.reverse()",
  "list.transformList(index, x, x + 1)",
  "list.transformMapEntry(index, x, {x: 1})",
  "map.merge(map)",
  "map.transformMap(key, value, value + 1)",
  "map.transformList(key, value, value + 1)",
  "lists.range(5)",
  "cel.bind(name, value, name + 1)",
  "has(map.key)",
  "value.orValue(fallback)",
  "optional.of(value)",
  "optional.none()",
  "size(value)",
  "string(value)",
  "int(value)",
  "double(value)",
  "bool(value)",
  "json(value)",
  "type(value)",
  "dyn(value)",
] as const;

export const FUNCTION_NAMES: ReadonlySet<string> = new Set([
  ...FUNCTION_FORMS.map((form) => /(\w+)\(/.exec(form)?.[1] ?? ""),
  ...["uint", "bytes", "timestamp", "duration", "matches", "value", "hasValue", "or"],
]);

/** What other languages call a function, and how CEL says it. */
export const OTHER_NAMES: Readonly<Record<string, string>> = {
  lower: "write text.lowerAscii()",
  upper: "write text.upperAscii()",
  length: "write size(value)",
  keys: "write map.map(key, key)",
  values: "write map.map(key, map[key])",
  concat: "write list + list",
  merge: "write map.merge(map)",
  contains: "write value in list, key in map, or text.contains(part)",
  default: "write map.?key.orValue(fallback)",
  coalesce: "write map.?key.orValue(fallback)",
  lookup: "write map.?key.orValue(fallback)",
  jsonencode: "write json(value)",
};

class ListsNamespace {}

export function registerFunctions(environment: Environment, take: Take): void {
  const define: Define = (signature, handler) => {
    environment.registerFunction(signature, handler as never, { async: false });
  };
  environment.registerType("reference", { ctor: UnknownValue, fields: {} } as never);
  defineForStrings(define, take);
  environment.registerType("ListsNamespace", ListsNamespace);
  environment.registerConstant("lists", "ListsNamespace", new ListsNamespace());
  defineForLists(define);
  define("map.merge(map): map", merged);
  define("json(dyn): string", (value: unknown) => canonicalJson(jsonValue(value)));
  environment.registerFunction("list.sortBy(ast, ast): list", sortBy as never);
  registerTransforms(environment, take);
}

type Define = (signature: string, handler: (...operands: never[]) => unknown) => void;

function defineForStrings(define: Define, take: Take): void {
  define(`string.${LINEAR_MATCHES}(string): bool`, (text: string, pattern: string) => {
    if (text.length > LONGEST_MATCHED) throw new Error(`matches takes at most ${LONGEST_MATCHED} characters`);
    const compiled = compilePattern(pattern);
    take((compiled.programSize() * text.length) >> 3);
    return compiled.matcher(text).find();
  });
  define("string.replace(string, string): string", (text: string, search: string, substitute: string) =>
    replaced(text, search, substitute, Infinity),
  );
  define(
    "string.replace(string, string, int): string",
    (text: string, search: string, substitute: string, limit: bigint) =>
      replaced(text, search, substitute, limit < 0 ? Infinity : Number(limit)),
  );
  define("string.charAt(int): string", (text: string, index: bigint) => {
    if (index < 0 || index > text.length) throw new Error(`charAt: the index ${index} is out of range`);
    return text.charAt(Number(index));
  });
  define("string.reverse(): string", (text: string) => [...text].reverse().join(""));
  define("string.format(list): string", formatted);
}

function defineForLists(define: Define): void {
  define("ListsNamespace.range(int): list<int>", (_: unknown, count: bigint) => {
    if (count < 0 || count > LARGEST_LIST)
      throw new Error(`range takes a number from 0 to ${grouped(LARGEST_LIST)}, not ${count}`);
    return Array.from({ length: Number(count) }, (_item, index) => BigInt(index));
  });
  define("list.flatten(): list", (list: readonly unknown[]) => list.flat(1));
  define("list.flatten(int): list", (list: readonly unknown[], depth: bigint) => {
    if (depth < 0 || depth > 16) throw new Error(`flatten takes a depth from 0 to 16, not ${depth}`);
    return list.flat(Number(depth));
  });
  define("list.distinct(): list", (list: readonly unknown[]) => {
    const values = new Map<string, unknown>();
    for (const item of list) {
      const key = typeof item === "string" ? `"${item}` : canonicalJson(jsonValue(item));
      if (!values.has(key)) values.set(key, item);
    }
    return [...values.values()];
  });
  define("list.reverse(): list", (list: readonly unknown[]) => list.toReversed());
  define("list.slice(int, int): list", (list: readonly unknown[], start: bigint, end: bigint) => {
    if (start < 0 || start > end || end > list.length)
      throw new Error(`slice: ${start} to ${end} is out of range for a list of size ${list.length}`);
    return list.slice(Number(start), Number(end));
  });
  define("list.sort(): list", (list: readonly unknown[]) => sortedBy(list, list));
  define("list.sum(): dyn", sumOf);
}

function registerTransforms(environment: Environment, take: Take): void {
  const transform = (name: string, build: Build): void => {
    for (const operands of ["ast, ast, ast", "ast, ast, ast, ast"])
      environment.registerFunction(`list.${name}(${operands}): dyn`, overEntries(build, take) as never);
  };
  transform("transformList", (entries) => entries.map(([, value]) => value));
  transform("transformMap", (entries) => new Map(entries));
  transform("transformMapEntry", (entries) => {
    const map = new Map<unknown, unknown>();
    for (const [, value] of entries)
      for (const [key, member] of entriesOf(value) ?? []) {
        if (map.has(key)) throw new Error(`transformMapEntry: duplicate key ${JSON.stringify(String(key))}`);
        map.set(key, member);
      }
    return map;
  });
}

function replaced(text: string, search: string, substitute: string, limit: number): string {
  if (search === "") throw new Error("replace cannot search for an empty string");
  const pieces = text.split(search);
  const count = Math.min(limit, pieces.length - 1);
  if (text.length + count * substitute.length > LARGEST_TEXT)
    throw new Error(`replace would make more than ${grouped(LARGEST_TEXT)} characters`);
  return (
    pieces.slice(0, count + 1).join(substitute) +
    pieces
      .slice(count + 1)
      .map((piece) => search + piece)
      .join("")
  );
}

const MOST_DIGITS = 100;

/** The verbs of CEL's string extension, without those of other locales. */
function formatted(pattern: string, values: readonly unknown[]): string {
  const left = [...values];
  let length = pattern.length;
  const text = pattern.replace(
    /%(?:\.(\d+))?([\s\S]?)/g,
    (whole, digits: string | undefined, verb: string) => {
      if (whole === "%%") return "%";
      if (left.length === 0) throw new Error(`format: ${whole} has no value`);
      const precision = digits === undefined ? 6 : Number(digits);
      if (precision > MOST_DIGITS)
        throw new Error(`format: a precision is at most ${MOST_DIGITS}, not ${precision}`);
      const part = formattedValue(verb, left.shift(), precision);
      length += part.length;
      if (length > LARGEST_TEXT)
        throw new Error(`format would make more than ${grouped(LARGEST_TEXT)} characters`);
      return part;
    },
  );
  if (left.length > 0) throw new Error("format: the list has more values than the text has verbs");
  return text;
}

function formattedValue(verb: string, value: unknown, precision: number): string {
  const isNumber = typeof value === "bigint" || typeof value === "number";
  switch (verb) {
    case "s":
      return textOf(value);
    case "d":
      if (typeof value === "bigint") return String(value);
      break;
    case "f":
      if (isNumber) return Number(value).toFixed(precision);
      break;
    case "e":
      if (isNumber) return Number(value).toExponential(precision);
      break;
    case "b":
    case "o":
    case "x":
    case "X":
      if (typeof value === "bigint") {
        const digits = value.toString(verb === "b" ? 2 : verb === "o" ? 8 : 16);
        return verb === "X" ? digits.toUpperCase() : digits;
      }
      break;
    default:
      throw new Error(`format has the verbs %s, %d, %f, %e, %b, %o, %x, and %%, not %${verb}`);
  }
  throw new Error(
    `format: %${verb} takes ${verb === "f" || verb === "e" ? "a number" : "an integer"}, not ${describeValue(value)}`,
  );
}

/** Of maps of a spec, the result keeps track of the map that each member is from. */
export class MergedMap extends LazyMap {
  readonly parts: readonly [ReadonlyMap<unknown, unknown>, ReadonlyMap<unknown, unknown>];

  constructor(first: ReadonlyMap<unknown, unknown>, second: ReadonlyMap<unknown, unknown>) {
    const names = new Set([...first.keys(), ...second.keys()].map(String));
    super(names, (name) => this.partWith(name).get(name));
    this.parts = [first, second];
  }

  partWith(name: string): ReadonlyMap<unknown, unknown> {
    return this.parts[this.parts[1].has(name) ? 1 : 0];
  }
}

Object.defineProperty(MergedMap.prototype, "constructor", { value: Map });

const merged = (first: object, second: object): MergedMap => new MergedMap(asMap(first), asMap(second));

const asMap = (value: object): ReadonlyMap<unknown, unknown> =>
  value instanceof Map ? value : new Map(Object.entries(value));

/** An integer if every number is one. */
function sumOf(list: readonly unknown[]): bigint | number {
  const other = list.find((item) => typeof item !== "bigint" && typeof item !== "number");
  if (other !== undefined) throw new Error(`sum takes a list of numbers, not ${describeValue(other)}`);
  return list.every((item) => typeof item === "bigint")
    ? list.reduce((sum, item) => sum + item, 0n)
    : list.reduce<number>((sum, item) => sum + Number(item), 0);
}

/** The items in the order of their keys, which are all numbers, all strings, or all booleans. */
function sortedBy(items: readonly unknown[], keys: readonly unknown[]): readonly unknown[] {
  const types = new Set(keys.map((key) => (typeof key === "bigint" ? "number" : typeof key)));
  const [type = "string"] = types;
  if (types.size > 1 || !["number", "string", "boolean"].includes(type))
    throw new Error("only numbers, strings, or booleans of one type can be sorted");
  const pairs = items.map((item, index) => ({ item, key: keys[index] as string }));
  return pairs.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item);
}

// Macros: their arguments are evaluated for each entry, in a context with the names of the entry.

interface Evaluation {
  run(node: ASTNode, context: Context): unknown;
  createError(code: string, message: string, node: ASTNode): Error;
}

interface Context {
  forkWithVariable(name: string, type: unknown): Context;
  reuse(parent: Context): Context;
  setIterValue(value: unknown, evaluation: Evaluation): Context;
}

interface Checker {
  check(node: ASTNode, context: Context): unknown;
  getType(name: string): unknown;
  createError(code: string, message: string, node: ASTNode): Error;
}

interface MacroCall {
  readonly args: readonly ASTNode[];
  readonly receiver: ASTNode;
}

interface Macro {
  readonly receiver: ASTNode;
  readonly args: readonly ASTNode[];
  readonly contexts: Context[];
  readonly async: false;
  typeCheck(checker: Checker, macro: Macro, context: Context): unknown;
  evaluate(evaluation: Evaluation, macro: Macro, context: Context): unknown;
}

/** The context of the arguments, with a name for each identifier before them. */
function nameContexts(count: number, { args, contexts }: Macro, checker: Checker, context: Context): Context {
  let inner = context;
  for (const name of args.slice(0, count)) {
    if (name.op !== "id") throw checker.createError("invalid_macro_argument", "expected a name", name);
    inner = inner.forkWithVariable(name.args, checker.getType("dyn"));
    contexts.push(inner);
  }
  return inner;
}

function inContext(
  macro: Macro,
  evaluation: Evaluation,
  context: Context,
  values: readonly unknown[],
): Context {
  return macro.contexts.reduce(
    (outer, inner, index) => inner.reuse(outer).setIterValue(values[index], evaluation),
    context,
  );
}

const sortBy = ({ args, receiver }: MacroCall): Macro => ({
  receiver,
  args,
  contexts: [],
  async: false,
  typeCheck(checker, macro, context) {
    checker.check(receiver, context);
    const [, key] = args as readonly [ASTNode, ASTNode];
    checker.check(key, nameContexts(1, macro, checker, context));
    return checker.getType("list");
  },
  evaluate(evaluation, macro, context) {
    const [, key] = args as readonly [ASTNode, ASTNode];
    const list = evaluation.run(receiver, context);
    if (!Array.isArray(list))
      throw evaluation.createError("not_a_list", `sortBy takes a list, not ${describeValue(list)}`, receiver);
    const keys = list.map((item) => evaluation.run(key, inContext(macro, evaluation, context, [item])));
    return sortedBy(list, keys);
  },
});

type Build = (entries: readonly (readonly [unknown, unknown])[]) => unknown;

/** `transformMap(key, value, transform)` and its relatives; with four arguments, the third is a filter. */
const overEntries =
  (build: Build, take: Take) =>
  ({ args, receiver }: MacroCall): Macro => ({
    receiver,
    args,
    contexts: [],
    async: false,
    typeCheck(checker, macro, context) {
      checker.check(receiver, context);
      const inner = nameContexts(2, macro, checker, context);
      for (const argument of args.slice(2)) checker.check(argument, inner);
      return checker.getType("dyn");
    },
    evaluate(evaluation, macro, context) {
      const collection = evaluation.run(receiver, context);
      const entries = Array.isArray(collection)
        ? collection.map((item, index) => [BigInt(index), item] as const)
        : entriesOf(collection);
      if (entries === undefined) {
        const message = `expected a list or a map, not ${describeValue(collection)}`;
        throw evaluation.createError("not_a_collection", message, receiver);
      }
      const transform = args.at(-1) as ASTNode;
      const [filter] = args.length === 4 ? args.slice(2) : [];
      const out: (readonly [unknown, unknown])[] = [];
      for (const [key, value] of entries) {
        take(8);
        const inner = inContext(macro, evaluation, context, [key, value]);
        if (filter !== undefined && evaluation.run(filter, inner) !== true) continue;
        const result = evaluation.run(transform, inner);
        take(weightOf(result));
        out.push([key, result]);
      }
      return build(out);
    },
  });
