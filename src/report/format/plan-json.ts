// A plan (schemas/plan.schema.json) and its drift as JSON, like a plan of Terraform, so that the same policies can read
// them: values before and after each change, which of them are known only after the apply, and an RFC 6902 patch.

import jsonPatch from "fast-json-patch";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { type Change, isDeletedWithParent } from "../../planner/model/change.ts";
import { accessJson, type Guard } from "../../planner/model/plan.ts";
import {
  isMarkedLater,
  mapMembers,
  markedDiffs,
  markedResult,
  withReferenceTexts,
} from "../../planner/model/planned-workspace.ts";
import { type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import { secretField } from "../../resource/kind.ts";
import { isSensitive, maskedValue, maskedValues, sensitiveShape } from "../../resource/masked.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import { mapValues } from "../../resource/walk.ts";
import { diagnosticJson } from "../text/diagnostic-text.ts";
import { JSON_FORMAT, PrintedList, printablePieces } from "../text/printable.ts";
import { type RunInfo, runJson } from "../text/run-info.ts";
import { timeText } from "../text/vocabulary.ts";
import type { ChangeView } from "../view/change-view.ts";
import { choiceJson } from "../view/choice.ts";
import { amountsJson, capacityAmounts, costAmounts } from "../view/cost-view.ts";
import { type DriftItem, type DriftView, driftOriginJson } from "../view/drift-view.ts";
import type { PlanView } from "../view/plan-view.ts";

type ListOf = <T>(items: readonly T[], json: (item: T) => unknown) => unknown;

export function planJson(view: PlanView, info: RunInfo): Record<string, unknown> {
  return planDocument(view, info, (items, json) => items.map(json));
}

/** The document of `planJson` as text, in pieces. */
export function* planJsonPieces(view: PlanView, info: RunInfo): Generator<string> {
  yield* printablePieces(planDocument(view, info, (items, json) => new PrintedList(items, json)));
  yield "\n";
}

function planDocument(view: PlanView, info: RunInfo, list: ListOf): Record<string, unknown> {
  const { report: _reported, ...summary } = view.summary;
  const { part } = view;
  const [costs, capacities] = [costAmounts(view), capacityAmounts(view)];
  const guards = view.guards.map(guardJson);
  const isError = ({ severity }: Record<string, unknown>) => severity === "error";
  const blockedBy = [...guards, ...view.diagnostics.map(diagnosticJson)].filter(isError);
  return {
    format_version: JSON_FORMAT,
    tool_version: info.toolVersion,
    host: view.host,
    ...runJson(info),
    ...(view.modes.length === 0 ? {} : { modes: view.modes }),
    ...(part && {
      partial: true,
      planned_resources: part.planned,
      total_resources: part.total,
      excluded_resources: part.excluded,
    }),
    chosen: choiceJson(view.choice, view.shown.numbers),
    blocked: blockedBy.length > 0,
    blocked_by: blockedBy,
    summary,
    cost: amountsJson(costs, { currency: view.cost?.currency ?? "" }),
    capacity: amountsJson(capacities),
    ...splitJson(view.split),
    access: view.access && accessJson(view.access.source),
    suggested_moves: view.renames?.pairs.map(({ from, to, name }) => ({ from, to, name })),
    ambiguous_moves: view.renames?.ties,
    resource_changes: list(view.allChanges, (change) => ({
      ...changeJson(change),
      cost: costs?.byAddress.get(change.address),
      capacity: capacities?.byAddress.get(change.address),
    })),
    drift: list(view.drift, driftJson),
    unmanaged: view.unmanaged.flatMap(({ source }) =>
      source === undefined ? [] : [{ kind: source.kind, name: source.name, id: source.id }],
    ),
    guards,
    diagnostics: [...view.diagnostics, ...view.notes].map(diagnosticJson),
  };
}

function guardJson({ diagnostic, addresses, origin }: Guard): Record<string, unknown> {
  return { ...diagnosticJson(diagnostic), addresses, origin };
}

function splitJson(split: PlanView["split"]): Record<string, unknown> {
  if (split === undefined) return {};
  const countsOf = ({ report: _reported, noop: _kept, ...summary }: PlanView["summary"]) => summary;
  return {
    split: {
      base: split.base,
      caused: countsOf(split.caused),
      pending: countsOf(split.pending),
      resolved: split.resolved.length,
    },
    resolved_changes: split.resolved.map(({ change, source }) => ({
      ...changeJson(change),
      resolved_paths: source.fields,
    })),
  };
}

const ACTIONS: Readonly<Record<Change["action"], readonly string[]>> = {
  create: ["create"],
  update: ["update"],
  replace: ["create", "delete"],
  delete: ["delete"],
  adopt: ["no-op"],
  import: ["no-op"],
  move: ["no-op"],
  forget: ["no-op"],
  compare: ["update"],
  noop: ["no-op"],
  report: ["read"],
};

function changeJson(view: ChangeView): Record<string, unknown> {
  const { source: change, table, severity, differences, at, setFields, origin, fieldOrigins } = view;
  return {
    address: change.address,
    kind: change.kind,
    name: change.name,
    id: "id" in change ? change.id : undefined,
    action: change.action,
    moved_from: change.movedFrom,
    deleted_with: isDeletedWithParent(change) ? change.dependsOn[0] : undefined,
    cause: change.cause,
    origin,
    field_origins: unlessEmpty(fieldOrigins),
    severity,
    at,
    fields: at && unlessEmpty(setFields),
    differences: unlessEmpty(differences)?.map(({ diff, severity, at }) => ({
      path: diff.path,
      before: diffValue(table, diff, diff.before),
      after: diffValue(table, diff, diff.after),
      after_unknown: diff.unknown,
      severity,
      at,
    })),
    change: valuesJson(change, table),
    text_diff: "content" in change ? change.content : undefined,
    reasons: change.reasons,
    reverts_acknowledged: unlessEmpty(
      view.reverts.map(({ path, until, by, reason }) => ({ path, until: timeText(until), by, reason })),
    ),
    consequences: change.consequences,
    depends_on: change.dependsOn,
    name_from: "nameFrom" in change ? change.nameFrom?.address : undefined,
  };
}

function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function valuesJson(change: Change, fields: FieldTable): Record<string, unknown> {
  const { before, after, unknown, patch } = resultValues(change, fields);
  return {
    actions: actionsOf(change),
    before: withoutDigests(before) ?? null,
    after: withoutDigests(after) ?? null,
    after_unknown: change.action === "compare" ? { [secretField({ fields }) ?? ""]: true } : unknown,
    before_sensitive: sensitiveMembers(fields, before),
    after_sensitive: sensitiveMembers(fields, after),
    patch,
    replace_paths: change.action === "replace" ? change.because.map((diff) => diff.path) : [],
  };
}

/** The actions in Terraform's terms: a replacement is a creation and a deletion. */
export function actionsOf(change: Change): readonly string[] {
  if (change.action !== "replace") return ACTIONS[change.action];
  if (change.keepsOld === true) return ["create"];
  return change.replacing === "delete-first" ? ["delete", "create"] : ACTIONS.replace;
}

function sensitiveMembers(fields: FieldTable, values: Values | undefined): Json {
  return values === undefined ? false : (sensitiveShape({ properties: fields }, values) ?? {});
}

export function driftReportJson(view: DriftView, info: RunInfo): Record<string, unknown> {
  return {
    tool_version: info.toolVersion,
    host: view.host,
    ...runJson(info),
    managed_resources: view.managed,
    ignored_fields: view.ignoredFields === 0 ? undefined : view.ignoredFields,
    chosen: choiceJson(view.choice, { hidden_drift: view.drift.length - view.shown.length }),
    drift: view.drift.map(driftJson),
    diagnostics: view.diagnostics.map(diagnosticJson),
  };
}

export function driftJson(item: DriftItem): Record<string, unknown> {
  const { source: drift, table, severity, differences, marks, at } = item;
  return {
    address: drift.address,
    kind: drift.kind,
    name: drift.name,
    what: drift.what,
    severity,
    at,
    origin: driftOriginJson(drift.origin),
    ...(differences.length === 0 ? marks[0] : {}),
    differences: [
      ...differences.map(({ diff, severity: own, at: place }, number) => ({
        path: diff.path,
        severity: own,
        ...marks[number],
        at: place,
        before: diffValue(table, diff, diff.after),
        after: diffValue(table, diff, diff.before),
      })),
      ...(drift.what === "changed" ? [] : [{ path: [], severity, ...marks[0], at, ...wholeObject(item) }]),
    ],
    text_diff: drift.content,
  };
}

/** The two sides of an object that was deleted or appeared. */
function wholeObject({ source: { what, values }, table }: DriftItem): JsonObject {
  const object = values === undefined ? null : withoutDigests(shown(table, values));
  return { before: null, after: null, [what === "deleted" ? "before" : "after"]: object };
}

/** One side of a difference for readers; null without a value. */
export function diffValue(table: FieldTable, { path }: FieldDiff, value: Json | undefined): Json {
  if (value === undefined) return null;
  if (isSensitive(table, path)) return SENSITIVE_TEXT;
  return withoutDigests(maskedValue(schemaAt(table, path), value));
}

/** Sensitive values are masked, and sets are sorted, so that `patch` applied to `before` gives `after` wherever `after` is known. */
interface ResultValues {
  readonly before: JsonObject | undefined;
  /** Live as it will be; what is not known is left out, and null as a member of a list. */
  readonly after: JsonObject | undefined;
  readonly unknown: JsonObject;
  readonly patch: readonly JsonObject[];
}

function resultValues(change: Change, fields: FieldTable): ResultValues {
  const reached = markedResult(change, fields);
  if (!("before" in change)) return { before: undefined, patch: [], ...afterOf(reached, fields) };
  const before = shown(fields, change.before);
  if (reached === change.before) return { before, after: before, unknown: {}, patch: [] };
  // Digests show that a sensitive value changes.
  const patch =
    "diffs" in change
      ? patchOf(before, withReferenceTexts(shown(fields, markedDiffs(change, fields))) as JsonObject)
      : [];
  return { before, patch: withoutDigests(patch), ...afterOf(reached, fields) };
}

function afterOf(reached: Values | undefined, fields: FieldTable): Pick<ResultValues, "after" | "unknown"> {
  if (reached === undefined) return { after: undefined, unknown: {} };
  const marked = shown(fields, reached);
  return {
    after: withoutUnknown(marked) as JsonObject,
    unknown: (unknownMembers(marked) ?? {}) as JsonObject,
  };
}

/** Sensitive values masked, and sets sorted, so that order alone makes no difference and positions match on both sides. */
function shown(fields: FieldTable, values: Values): JsonObject {
  return mapValues(fields, maskedValues(fields, values), ({ list }, _value, inside) => {
    const value = inside();
    return Array.isArray(value) && list !== undefined && list !== "ordered" ? value.toSorted(byText) : value;
  });
}

function byText(a: Json, b: Json): number {
  const [x, y] = [canonicalJson(a), canonicalJson(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function withoutUnknown(value: Json): Json | undefined {
  if (isMarkedLater(value)) return undefined;
  if (Array.isArray(value)) return value.map((item) => withoutUnknown(item) ?? null);
  return isObject(value) ? mapMembers(value, withoutUnknown) : value;
}

/** `true` at each mark; in a list, `false` at its other members. */
function unknownMembers(value: Json): Json | undefined {
  if (isMarkedLater(value)) return true;
  if (Array.isArray(value)) {
    const items = value.map(unknownMembers);
    return items.some((item) => item !== undefined) ? items.map((item) => item ?? false) : undefined;
  }
  if (!isObject(value)) return undefined;
  const shape = mapMembers(value, unknownMembers);
  return Object.keys(shape).length === 0 ? undefined : shape;
}

/** Operations that turn `before` into `after`. Integers beyond 2^53 stay exact. */
function patchOf(before: JsonObject, after: JsonObject): readonly JsonObject[] {
  const big = new Map<string, bigint>();
  const [from, to] = [plain(before, big), plain(after, big)] as [object, object];
  return jsonPatch.compare(from, to).map((step) => restored(step as unknown as Json, big) as JsonObject);
}

/** The library clones through JSON text, which has no bigint: they travel as marked text. */
function plain(value: Json, big: Map<string, bigint>): Json {
  if (typeof value === "bigint") {
    const mark = `\u0000bigint:${value}`;
    big.set(mark, value);
    return mark;
  }
  if (Array.isArray(value)) return value.map((item) => plain(item, big));
  return isObject(value) ? mapMembers(value, (member) => plain(member, big)) : value;
}

function restored(value: Json, big: ReadonlyMap<string, bigint>): Json {
  if (typeof value === "string") return big.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => restored(item, big));
  return isObject(value) ? mapMembers(value, (member) => restored(member, big)) : value;
}
