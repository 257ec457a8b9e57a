// A plan (schemas/plan.schema.json) and its drift as JSON. The form is Terraform's, so that policies for Terraform plans can read it.

import type { Json } from "../../core/json.ts";
import { withoutDigests } from "../../core/sensitive-values.ts";
import type { Change } from "../../planner/model/change.ts";
import { secretField } from "../../resource/content.ts";
import { type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import { isSensitive, maskedValue, sensitiveShape } from "../../resource/masked.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import { diagnosticJson } from "../text/diagnostic-text.ts";
import { type RunInfo, runJson } from "../text/run-info.ts";
import { timeText } from "../text/vocabulary.ts";
import type { ChangeView } from "./change-view.ts";
import { type DriftItem, type DriftView, originJson } from "./drift-view.ts";
import { resultValues } from "./known-after-apply.ts";
import type { PlanView } from "./plan-view.ts";

const PLAN_FORMAT_VERSION = "1.0";

export function planJson(view: PlanView, info: RunInfo): Record<string, unknown> {
  const { report: _reported, ...summary } = view.summary;
  const { part } = view;
  return {
    format_version: PLAN_FORMAT_VERSION,
    tool_version: info.toolVersion,
    host: view.host,
    ...runJson(info),
    ...(view.modes.length === 0 ? {} : { modes: view.modes }),
    ...(part === undefined
      ? {}
      : { partial: true, planned_resources: part.planned, total_resources: part.total }),
    summary,
    ...splitJson(view.split),
    resource_changes: view.changes.map(changeJson),
    drift: view.drift.map(driftJson),
    unmanaged: view.unmanaged.flatMap(({ source }) =>
      source === undefined ? [] : [{ kind: source.kind, name: source.name, id: source.id }],
    ),
    guards: view.guards.map(({ diagnostic, addresses, origin }) => ({
      ...diagnosticJson(diagnostic),
      addresses,
      origin,
    })),
    diagnostics: [...view.diagnostics, ...view.notes].map(diagnosticJson),
  };
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
    cause: change.cause,
    origin,
    field_origins: unlessEmpty(fieldOrigins),
    severity,
    at,
    fields: at && unlessEmpty(setFields),
    differences: unlessEmpty(differences)?.map(({ diff, severity, at }) => ({
      path: diff.path,
      severity,
      at,
    })),
    change: valuesJson(change, table),
    text_diff: change.action === "update" ? change.content : undefined,
    reasons: change.reasons,
    reverts_acknowledged: unlessEmpty(
      view.reverts.map(({ path, until, by, reason }) => ({ path, until: timeText(until), by, reason })),
    ),
    consequences: change.consequences,
    depends_on: change.dependsOn,
    name_from: "nameFrom" in change ? change.nameFrom?.address : undefined,
    temporary_name: "temporaryName" in change ? change.temporaryName : undefined,
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
    before_sensitive: shapeOf(fields, before),
    after_sensitive: shapeOf(fields, after),
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

function shapeOf(fields: FieldTable, values: Values | undefined): Json {
  return values === undefined ? false : (sensitiveShape({ properties: fields }, values) ?? {});
}

const DRIFT_FORMAT_VERSION = "1.0";

export function driftReportJson(view: DriftView, info: RunInfo): Record<string, unknown> {
  return {
    format_version: DRIFT_FORMAT_VERSION,
    tool_version: info.toolVersion,
    host: view.host,
    ...runJson(info),
    managed_resources: view.managed,
    drift: view.drift.map(driftJson),
    diagnostics: view.diagnostics.map(diagnosticJson),
  };
}

export function driftJson(item: DriftItem): Record<string, unknown> {
  const { source: one, table, severity, differences, marks, at } = item;
  const side = (value: Json | undefined, diff: FieldDiff) =>
    value === undefined
      ? null
      : isSensitive(table, diff.path)
        ? "(sensitive)"
        : withoutDigests(maskedValue(schemaAt(table, diff.path), value));
  return {
    address: one.address,
    kind: one.kind,
    name: one.name,
    what: one.what,
    severity,
    at,
    origin: originJson(one.origin),
    ...(differences.length === 0 ? marks[0] : {}),
    changes: differences.map(({ diff, severity: own, at: place }, number) => ({
      path: diff.path,
      severity: own,
      ...marks[number],
      at: place,
      recorded: side(diff.after, diff),
      live: side(diff.before, diff),
    })),
    text_diff: one.content,
  };
}
