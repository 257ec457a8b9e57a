// Compares a step's expectations with its results. A result keeps the order and spelling of the expectation, so that a
// diff shows only differences.

import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { type Diagnostic, failureOf } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { defined, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, setMember } from "../../core/pointer.ts";
import { type Action, type Change, touches } from "../../planner/model/change.ts";
import type { Drift, Guard, Plan } from "../../planner/model/plan.ts";
import type { SpecTestFile } from "../../spec/testing/spec-test.ts";

export interface StepComparison {
  /** The name of the expectation, such as `actions`. */
  readonly what: string;
  /** Undefined if the test does not have it. */
  readonly expected: Json | undefined;
  readonly actual: Json;
  readonly because?: readonly Diagnostic[];
}

/** Whether the test is to fail: an expectation that is left out expects nothing. */
export function differs({ expected, actual }: StepComparison): boolean {
  const nothing: Json = Array.isArray(actual) ? [] : {};
  return canonicalJson(expected ?? nothing) !== canonicalJson(actual);
}

type Changes = readonly Pick<Change, "action" | "address">[];

export function comparePlan(expected: JsonObject, changes: Changes): readonly StepComparison[] {
  const stepComparisons: StepComparison[] = [];
  if (expected.summary !== undefined)
    stepComparisons.push({
      what: "summary",
      expected: expected.summary,
      actual: summaryOf(expected.summary, changes),
    });
  if (expected.actions !== undefined)
    stepComparisons.push({
      what: "actions",
      expected: expected.actions,
      actual: actionsOf(expected.actions, changes),
    });
  return stepComparisons;
}

function summaryOf(expected: Json, changes: Changes): Json {
  const counts = Map.groupBy(changes.filter(touches), ({ action }) => action as string);
  const listed = new Set(keysOf(expected));
  const silent = changes.filter((change) => !touches(change) && listed.has(change.action));
  for (const [action, ones] of Map.groupBy(silent, ({ action }) => action as string))
    counts.set(action, ones);
  return inOrderOf(
    expected,
    new Map([
      ...[...listed].map((key) => [key, 0] as const),
      ...[...counts].map(([key, ones]) => [key, ones.length] as const),
    ]),
  );
}

function actionsOf(expected: Json, changes: Changes): Json {
  const listed = new Set(keysOf(expected));
  const shown = changes.filter((change) => touches(change) || listed.has(change.address));
  return inOrderOf(expected, new Map(shown.map(({ address, action }) => [address, action as Action])));
}

export function compareDrift(expected: JsonObject, drift: readonly Drift[]): StepComparison {
  const driftByAddress = new Map(drift.map(({ address, what }) => [address as string, what]));
  return { what: "drift", expected: expected.drift, actual: inOrderOf(expected.drift, driftByAddress) };
}

/** A member of a list: its code, or a map with details that it must have. */
type Item = Readonly<Record<string, Json>>;

/** Without an expectation, warnings are not compared. */
export function compareDiagnostics(expected: JsonObject, all: readonly Diagnostic[]): StepComparison {
  const diagnostics = all.filter(({ rule }) => rule === undefined);
  const wanted = expected.diagnostics;
  const counted =
    wanted === undefined ? diagnostics.filter(({ severity }) => severity === "error") : diagnostics;
  const items = counted.map(({ code, address }): Item => ({ code, ...defined({ address }) }));
  const { actual, extra } = matched(wanted, items, "code");
  return { what: "diagnostics", expected: wanted, actual, because: extra.flatMap((at) => counted[at] ?? []) };
}

export function compareGuards(expected: JsonObject, all: readonly Guard[]): StepComparison {
  const guards = all.filter(({ diagnostic }) => diagnostic.rule === undefined);
  const items = guards.map(
    ({ diagnostic, addresses }): Item => ({
      code: diagnostic.code,
      ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
    }),
  );
  const { actual, extra } = matched(expected.guards, items, "code");
  const because = extra.flatMap((at) => guards[at]?.diagnostic ?? []);
  return { what: "guards", expected: expected.guards, actual, because };
}

/** Violations of rules: those that block the plan are guards, the others are warnings. */
export function compareRules(
  expected: JsonObject,
  { guards, diagnostics }: Pick<Plan, "guards" | "diagnostics">,
): StepComparison {
  const violations = [
    ...guards.map(({ diagnostic }) => ({ diagnostic, enforcement: "error" })),
    ...diagnostics.map((diagnostic) => ({ diagnostic, enforcement: "warn" })),
  ].filter(({ diagnostic }) => diagnostic.rule !== undefined);
  const items = violations.map(({ diagnostic: { rule, address }, enforcement }): Item => {
    return { rule: rule?.name ?? "", ...defined({ address }), enforcement };
  });
  const { actual, extra } = matched(expected.rules, items, "rule");
  const because = extra.flatMap((at) => violations[at]?.diagnostic ?? []);
  return { what: "rules", expected: expected.rules, actual, because };
}

/** Returns the expected items that match a result, as written, followed by all other results. */
function matched(
  expected: Json | undefined,
  items: readonly Item[],
  main: string,
): { readonly actual: Json; readonly extra: readonly number[] } {
  const left = new Set(items.keys());
  const values = (Array.isArray(expected) ? (expected as readonly Json[]) : []).filter((wanted) => {
    const item = isObject(wanted) ? wanted : { [main]: wanted };
    const at = [...left].find((number) => fits(item, items[number] ?? {}));
    return at !== undefined && left.delete(at);
  });
  const extra = [...left];
  const shown = extra.map((at): Json => {
    const item = items[at] ?? {};
    return Object.keys(item).length === 1 ? (item[main] ?? "") : item;
  });
  return { actual: [...values, ...shown], extra };
}

function fits(wanted: Item, item: Item): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => item[key] !== undefined && canonicalJson(item[key]) === canonicalJson(value),
  );
}

/** Maps compare by the fields that are expected, lists by their entries; null expects nothing. */
export function partOf(expected: Json, actual: Json | undefined): Json {
  if (isObject(expected) && isObject(actual)) {
    const out: { [key: string]: Json } = {};
    for (const [key, wanted] of Object.entries(expected)) {
      const value = actual[key];
      if (value !== undefined) setMember(out, key, partOf(wanted, value));
      else if (wanted === null) setMember(out, key, null);
    }
    return out;
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
    return actual.map((value: Json, at) => partOf((expected as readonly Json[])[at] ?? null, value));
  return actual ?? null;
}

/** The expected keys first, in their order, then the others. */
export function inOrderOf(expected: Json | undefined, valueByKey: ReadonlyMap<string, Json>): JsonObject {
  const out: { [key: string]: Json } = {};
  for (const key of [...keysOf(expected), ...valueByKey.keys()]) {
    const value = valueByKey.get(key);
    if (value !== undefined) setMember(out, key, value);
  }
  return out;
}

const keysOf = (value: Json | undefined): readonly string[] => (isObject(value) ? Object.keys(value) : []);

export interface ExpectationEdit {
  readonly path: Path;
  readonly value: Json;
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Throws Failure if an expectation has an anchor or an alias, because the change would reach other places. */
export function updatedText({ file, text }: SpecTestFile, edits: readonly ExpectationEdit[]): string {
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false });
  visit(document, { Pair: (_, { key }) => nameOfKey(key) });
  const replacements = edits.flatMap(({ path, value }) => {
    if (usesAlias(document, path))
      throw failureOf(
        "CLI_FILE",
        `${file}: the expectation at ${path.join(".")} has an anchor or an alias, so it is not updated`,
        { hint: "write the expectation out" },
      );
    return differences(document, path, value).map((expectationEdit) =>
      replaced(document, text, expectationEdit),
    );
  });
  let updated = text;
  for (const { start, end, text: replacement } of replacements.toSorted((a, b) => b.start - a.start))
    updated = `${updated.slice(0, start)}${replacement}${updated.slice(end)}`;
  return updated;
}

function usesAlias(document: Document, path: Path): boolean {
  return path.some((_, at) => {
    const node: unknown = document.getIn(path.slice(0, at + 1), true);
    return isAlias(node) || (isNode(node) && "anchor" in node && node.anchor !== undefined);
  });
}

/** The members that differ, if a map keeps its keys, or else the whole value. */
function differences(document: Document, path: Path, value: Json): readonly ExpectationEdit[] {
  const node: unknown = document.getIn(path, true);
  if (isNode(node) && canonicalJson(node.toJS(document) as Json) === canonicalJson(value)) return [];
  if (!isMap(node) || !isObject(value) || node.items.length === 0) return [{ path, value }];
  const keys = node.items.map(({ key }) => keyText(key));
  const hasSameKeys =
    keys.length === Object.keys(value).length && keys.every((key) => Object.hasOwn(value, key));
  return hasSameKeys
    ? keys.flatMap((key) => differences(document, [...path, key], value[key] ?? null))
    : [{ path, value }];
}

/** Paths have strings for keys such as `1` and `true`. */
function nameOfKey(key: unknown): void {
  if (isScalar(key)) key.value = keyText(key);
}

const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key));

function replaced(document: Document, text: string, { path, value }: ExpectationEdit): Replacement {
  const parent = document.getIn(path.slice(0, -1), true) as YAMLMap<Node, Node | null>;
  const name = String(path.at(-1));
  const pair = parent.items.find(({ key }) => keyText(key) === name) as Pair<Node, Node | null>;
  const { key, value: before } = pair;
  const [keyStart = 0, keyEnd = 0] = key.range ?? [];
  const line = text.slice(text.lastIndexOf("\n", keyStart - 1) + 1, keyStart);
  // A key may be written as `? key`.
  const start = keyStart - (/\?[ \t]+$/.exec(line)?.[0].length ?? 0);
  const end = Math.max(keyEnd, before?.range?.[1] ?? 0);
  const written = text.slice(start, end).trimEnd();
  const column = start - (text.lastIndexOf("\n", start - 1) + 1);
  const inner = before?.range?.[0] ?? 0;
  const step = inner - (text.lastIndexOf("\n", inner - 1) + 1) - column;
  const isFlow = isCollection(before) && before.flow === true;
  // Comments before the key and after the value are not a part of what is replaced.
  key.commentBefore = null;
  key.spaceBefore = false;
  if (before !== null) before.comment = null;
  setValue(document, path, value);
  if ((isFlow || parent.flow === true) && isCollection(pair.value)) pair.value.flow = true;
  return {
    start,
    end: start + written.length,
    text: printed(pair, {
      indent: isCollection(before) && !isFlow && step > 0 ? step : 2,
      indentSeq: indentsLists(text),
      flow: parent.flow === true,
    }).replaceAll("\n", `${/\r?\n/.exec(text)?.[0] ?? "\n"}${" ".repeat(column)}`),
  };
}

const isCollection = (node: unknown): node is YAMLMap | YAMLSeq => isMap(node) || isSeq(node);

interface PairStyle {
  readonly indent: number;
  readonly indentSeq: boolean;
  /** Inside `{ }`, more strings need quotes. */
  readonly flow: boolean;
}

function printed(pair: Pair, { flow, ...style }: PairStyle): string {
  const alone = new Document(undefined, { intAsBigInt: true });
  const map = new YAMLMap();
  map.items.push(pair);
  map.flow = flow;
  alone.contents = map as unknown as typeof alone.contents;
  keepStyle(alone);
  const text = alone.toString({ lineWidth: 0, flowCollectionPadding: true, ...style }).replace(/\n$/, "");
  return flow ? text.slice(1, -1).trim() : text;
}

/** Changes only members that differ, so that comments on other members are kept. */
function setValue(document: Document, path: Path, value: Json): void {
  const node: unknown = document.getIn(path, true);
  if (isObject(value) && isMap(node) && node.items.length > 0) {
    for (const { key } of [...node.items]) {
      const name = keyText(key);
      if (!(name in value)) node.delete(key);
    }
    for (const [key, member] of Object.entries(value)) setValue(document, [...path, key], member);
    if (node.items.length === 0) node.flow = true;
    return;
  }
  if (isScalar(node) && !Array.isArray(value) && !isObject(value)) {
    if (canonicalJson(node.value as Json) !== canonicalJson(value)) node.value = value;
    return;
  }
  if (isSeq(node) && canonicalJson(node.toJS(document) as Json) === canonicalJson(value)) return;
  const replacement = document.createNode(value);
  if (isCollection(replacement) && replacement.items.length === 0) replacement.flow = true;
  document.setIn(path, replacement);
}

/** Lists in one line stay `[a, b]`, and maps `{ a: 1 }`, also inside one another. */
function keepStyle(document: Document): void {
  visit(document, {
    Seq: (_, node) => padded(node, YAMLSeq.prototype.toString, ""),
    Map: (_, node) => padded(node, YAMLMap.prototype.toString, " "),
  });
}

function padded(node: YAMLSeq | YAMLMap, print: YAMLMap["toString"], padding: string): void {
  if (node.flow !== true) return;
  node.toString = (context, ...rest) =>
    print.call(
      node as YAMLMap,
      context === undefined ? context : { ...context, flowCollectionPadding: padding },
      ...rest,
    );
}

function indentsLists(text: string): boolean {
  return !/^( *)[^\s#-][^\n]*:[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*\1- /m.test(text);
}
