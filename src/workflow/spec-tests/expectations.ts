// Compares a step's expectations with its results. A result keeps the order and spelling of the expectation, so that a
// diff shows only differences.

import { type Diagnostic, failureOf } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { defined, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, setMember, valueAt } from "../../core/pointer.ts";
import { type Action, type Change, touches } from "../../planner/model/change.ts";
import type { Drift, Guard, Plan } from "../../planner/model/plan.ts";
import { documentData, isSharedAt, patchYaml } from "../../spec/edit/patch-yaml.ts";
import { documentPatch } from "../../spec/edit/spec-edits.ts";
import type { SpecTestFile } from "../../spec/testing/read-tests.ts";

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
  return Object.entries({ summary: summaryOf, actions: actionsOf }).flatMap(([what, actualOf]) => {
    const wanted = expected[what];
    return wanted === undefined ? [] : [{ what, expected: wanted, actual: actualOf(wanted, changes) }];
  });
}

function summaryOf(expected: Json, changes: Changes): Json {
  const listed = new Set(keysOf(expected));
  const shown = changes.filter((change) => touches(change) || listed.has(change.action));
  const counts = Map.groupBy(shown, ({ action }) => action as string);
  return inOrderOf(
    expected,
    new Map([
      ...[...listed].map((key) => [key, 0] as const),
      ...[...counts].map(([key, counted]) => [key, counted.length] as const),
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
  const isCounted = ({ severity, rule }: Diagnostic): boolean =>
    rule === undefined && (expected.diagnostics !== undefined || severity === "error");
  const findings = all.filter(isCounted).map((diagnostic) => {
    const { code, address } = diagnostic;
    return { diagnostic, item: { code, ...defined({ address }) } };
  });
  return compareFindings("diagnostics", expected, findings, "code");
}

export function compareGuards(expected: JsonObject, all: readonly Guard[]): StepComparison {
  const guards = all.filter(({ diagnostic }) => diagnostic.rule === undefined);
  const findings = guards.map(({ diagnostic, addresses }) => {
    const { code } = diagnostic;
    return { diagnostic, item: { code, ...(addresses.length === 0 ? {} : { addresses: [...addresses] }) } };
  });
  return compareFindings("guards", expected, findings, "code");
}

/** Violations of rules: those that block the plan are guards, the others are warnings. */
export function compareRules(
  expected: JsonObject,
  { guards, diagnostics }: Pick<Plan, "guards" | "diagnostics">,
): StepComparison {
  const ofGuards = guards.map(({ diagnostic }) => ({ diagnostic, enforcement: "error" }));
  const warnings = diagnostics.map((diagnostic) => ({ diagnostic, enforcement: "warn" }));
  const findings = [...ofGuards, ...warnings].flatMap(({ diagnostic, enforcement }) => {
    const { rule, address } = diagnostic;
    if (rule === undefined) return [];
    return [{ diagnostic, item: { rule: rule.name, ...defined({ address }), enforcement } }];
  });
  return compareFindings("rules", expected, findings, "rule");
}

interface Finding {
  readonly diagnostic: Diagnostic;
  readonly item: Item;
}

/** `main`: what an expectation names that is only a string. */
function compareFindings(
  what: "diagnostics" | "guards" | "rules",
  { [what]: expected }: JsonObject,
  findings: readonly Finding[],
  main: string,
): StepComparison {
  const items = findings.map(({ item }) => item);
  const { actual, extra } = matched(expected, items, main);
  return { what, expected, actual, because: extra.flatMap((at) => findings[at]?.diagnostic ?? []) };
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

/** Throws Failure if an expectation has an anchor or an alias, because the change would reach other places. */
export function updatedText({ file, text }: SpecTestFile, edits: readonly ExpectationEdit[]): string {
  const before = documentData(text);
  let updated = text;
  for (const { path, value } of edits) {
    if (isSharedAt(text, path))
      throw failureOf(
        "CLI_FILE",
        `${file}: the expectation at ${path.join(".")} has an anchor or an alias, so it is not updated`,
        { hint: "write the expectation out" },
      );
    updated = patchYaml(updated, documentPatch(valueAt(before, path) ?? null, value, path));
  }
  return updated;
}
