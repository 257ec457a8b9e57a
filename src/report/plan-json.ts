// A plan as JSON (schemas/plan.schema.json): shaped like Terraform's, so that policies written for its plans read ours.

import type { Json } from "../core/json.ts";
import type { Change } from "../planner/change.ts";
import type { Drift, Guard, Plan, Unmanaged } from "../planner/plan.ts";
import type { FieldTable, Values } from "../resource/fields.ts";
import type { FieldDiff } from "../resource/provider.ts";
import type { Registry } from "../resource/registry.ts";
import { diagnosticJson } from "./diagnostic-text.ts";
import { isSensitive, maskedValue, schemaAt, sensitiveShape } from "./masked.ts";
import { resultValues } from "./result-values.ts";
import { summaryOf } from "./summary.ts";

export const PLAN_FORMAT_VERSION = "1.0";

export function planJson(plan: Plan, registry: Registry, toolVersion: string): Record<string, unknown> {
  const { report: _reported, ...summary } = summaryOf(plan.changes);
  return {
    format_version: PLAN_FORMAT_VERSION,
    tool_version: toolVersion,
    host: plan.host,
    ...(plan.modes === undefined ? {} : { modes: plan.modes }),
    summary,
    resource_changes: plan.changes.map((change) => changeJson(change, registry)),
    drift: plan.drift.map((one) => driftJson(one, registry)),
    unmanaged: plan.unmanaged.map(unmanagedJson),
    guards: plan.guards.map(guardJson),
    diagnostics: plan.diagnostics.map(diagnosticJson),
  };
}

const ACTIONS: Readonly<Record<Change["action"], readonly string[]>> = {
  create: ["create"],
  update: ["update"],
  replace: ["create", "delete"],
  delete: ["delete"],
  adopt: ["no-op"],
  forget: ["no-op"],
  noop: ["no-op"],
  report: ["read"],
};

export function changeJson(change: Change, registry: Registry): Record<string, unknown> {
  return {
    address: change.address,
    kind: change.kind,
    name: change.name,
    ...("id" in change ? { id: change.id } : {}),
    action: change.action,
    cause: change.cause,
    change: valuesJson(change, registry.of(change.address).fields),
    ...(change.action === "update" && change.content !== undefined ? { text_diff: change.content } : {}),
    reasons: change.reasons,
    consequences: change.consequences,
    depends_on: change.dependsOn,
  };
}

function valuesJson(change: Change, fields: FieldTable): Record<string, unknown> {
  const { before, after, unknown, patch } = resultValues(change, fields);
  return {
    actions: actionsOf(change),
    before: before ?? null,
    after: after ?? null,
    after_unknown: unknown,
    before_sensitive: shapeOf(fields, before),
    after_sensitive: shapeOf(fields, after),
    patch,
    replace_paths: change.action === "replace" ? change.because.map((diff) => diff.path) : [],
  };
}

function actionsOf(change: Change): readonly string[] {
  if (change.action !== "replace") return ACTIONS[change.action];
  if (change.keepsOld === true) return ["create"];
  return change.replacing === "delete-first" ? ["delete", "create"] : ACTIONS.replace;
}

function shapeOf(fields: FieldTable, values: Values | undefined): Json {
  return values === undefined ? false : (sensitiveShape({ properties: fields }, values) ?? {});
}

export function driftJson(one: Drift, registry: Registry): Record<string, unknown> {
  const { fields } = registry.of(one.address);
  const side = (value: Json | undefined, diff: FieldDiff) =>
    value === undefined
      ? null
      : isSensitive(fields, diff.path)
        ? "(sensitive)"
        : maskedValue(schemaAt(fields, diff.path), value);
  return {
    address: one.address,
    kind: one.kind,
    name: one.name,
    what: one.what,
    changes: one.diffs.map((diff) => ({
      path: diff.path,
      recorded: side(diff.after, diff),
      live: side(diff.before, diff),
    })),
    ...(one.content === undefined ? {} : { text_diff: one.content }),
  };
}

function unmanagedJson(one: Unmanaged): Record<string, unknown> {
  return { kind: one.kind, name: one.name, id: one.id };
}

function guardJson(guard: Guard): Record<string, unknown> {
  return { ...diagnosticJson(guard.diagnostic), addresses: guard.addresses };
}
