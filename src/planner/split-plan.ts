// Splits a plan: which changes and guards the change of a spec causes, which were pending, and which it resolves. Pure.

import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import { canonicalJson } from "../core/digest.ts";
import type { Json } from "../core/json.ts";
import { overlaps, type Path, toPointer } from "../core/pointer.ts";
import type { FieldDiff } from "../resource/planning.ts";
import { checkGuards } from "./check/guards.ts";
import { type Change, isUnresolved, nameSourceOf, touches } from "./model/change.ts";
import { createContext, dropInvalidRecords } from "./model/context.ts";
import type { PlanFacts, PlanInput } from "./model/input.ts";
import type {
  ChangeOrigin,
  FieldOrigin,
  Guard,
  Plan,
  PlanSplit,
  ResolvedChange,
  SplitChange,
} from "./model/plan.ts";
import { createPlannedWorkspace } from "./model/planned-workspace.ts";
import { changeKey } from "./model/work-graph.ts";

/** Compares the plan of a spec before a change with the plan after it. Both rest on the same state and live objects. */
export function splitPlan(base: Plan, head: Plan): Omit<PlanSplit, "base"> {
  const before = touching(base);
  const after = touching(head);
  const baseErrors = new Set(base.diagnostics.flatMap(errorKey));
  return {
    changes: Object.fromEntries(
      [...after].map(([key, change]) => [key, splitChange(before.get(key), change)]),
    ),
    resolved: [...before].flatMap(([key, change]) => resolvedBy(after.get(key), change)),
    pendingErrors: head.diagnostics.filter((diagnostic) =>
      errorKey(diagnostic).some((key) => baseErrors.has(key)),
    ),
  };
}

function touching({ changes }: Plan): ReadonlyMap<string, Change> {
  return new Map(changes.filter(touches).map((change) => [changeKey(change), change]));
}

/** An error without an address is about the whole plan and always counts. */
function errorKey({ severity, address, code, message }: Diagnostic): readonly string[] {
  return severity === "error" && address !== undefined ? [`${code}\n${address}\n${message}`] : [];
}

function splitChange(base: Change | undefined, head: Change): SplitChange {
  if (base === undefined || shapeOf(base) !== shapeOf(head)) return { origin: "caused", fields: [] };
  const old = partsOf(base);
  const fields = [...partsOf(head)].map(([key, { path, value }]): FieldOrigin => {
    return { path, origin: old.get(key)?.value === value ? "pending" : "caused" };
  });
  const has = (origin: ChangeOrigin): boolean => fields.some((field) => field.origin === origin);
  // A create with one field less differs too; an update with one field less leaves that field unchanged.
  const isLess = head.action === "create" && old.size > fields.length;
  if (!has("caused") && !isLess) return { origin: "pending", fields: [] };
  return { origin: "caused", fields: has("pending") ? fields : [] };
}

/** What must be equal in addition to the fields: the action and the object. */
function shapeOf(change: Change): string {
  return canonicalJson([
    change.action,
    change.name,
    "id" in change ? change.id : null,
    change.action === "replace" ? [change.replacing, change.keepsOld ?? false] : null,
    change.action === "compare" ? change.source : null,
    change.action === "adopt" || change.action === "import" || change.action === "move"
      ? [change.after, change.payload ?? null]
      : null,
    nameSourceOf(change)?.id ?? null,
  ]);
}

interface ChangePart {
  readonly path: Path;
  /** In a form that compares. */
  readonly value: string;
}

/** The fields of a change by pointer: what it sets, or what differs. */
function partsOf(change: Change): ReadonlyMap<string, ChangePart> {
  if (change.action === "create")
    return partsBy(
      Object.entries(change.after).map(([name, value]) => [[name], [value, isUnresolved(change, name)]]),
      change.payload,
    );
  const diffs = "diffs" in change ? change.diffs : [];
  return partsBy(
    diffs.map((diff) => [diff.path, [side(diff, "before"), side(diff, "after"), diff.unknown ?? false]]),
    undefined,
  );
}

function side(diff: FieldDiff, name: "before" | "after"): Json {
  const value = diff[name];
  return value === undefined ? [] : [value];
}

function partsBy(
  parts: readonly (readonly [Path, Json])[],
  payload: string | undefined,
): ReadonlyMap<string, ChangePart> {
  return new Map(
    parts.map(([path, value]) => {
      const compared = path[0] === "content" ? [value, payload ?? null] : value;
      return [toPointer(path), { path, value: canonicalJson(compared) }];
    }),
  );
}

/** A change that the head replaces by another one is not resolved, only changed. */
function resolvedBy(head: Change | undefined, base: Change): readonly ResolvedChange[] {
  if (head === undefined) return [{ change: base }];
  if (shapeOf(base) !== shapeOf(head) || base.action === "create") return [];
  const left = [...partsOf(head).values()].map(({ path }) => path);
  const gone = [...partsOf(base).values()]
    .map(({ path }) => path)
    .filter((path) => !left.some((other) => overlaps(path, other)));
  return gone.length === 0 ? [] : [{ change: base, fields: gone }];
}

/** The plan without pending changes; the whole plan without a comparison. */
export function causedPart<P extends Pick<Plan, "changes" | "guards" | "diagnostics" | "split">>(plan: P): P {
  const { split } = plan;
  if (split === undefined) return plan;
  const pending = new Set(split.pendingErrors.flatMap(errorKey));
  return {
    ...plan,
    changes: plan.changes.filter((change) => split.changes[changeKey(change)]?.origin === "caused"),
    guards: plan.guards.filter(({ origin }) => origin !== "pending"),
    diagnostics: plan.diagnostics.filter(
      (diagnostic) => !errorKey(diagnostic).some((key) => pending.has(key)),
    ),
  };
}

/** The guards with their origins. A plan with errors has none, so errors of the base cannot hide a guard of the change. */
export function splitGuards(
  from: PlanInput & PlanFacts,
  plan: Plan,
  { changes }: Pick<PlanSplit, "changes">,
): readonly Guard[] {
  const { input, invalidRecords } = dropInvalidRecords(from);
  const context = createContext(input, invalidRecords);
  const caused = plan.changes.filter((change) => changes[changeKey(change)]?.origin === "caused");
  const workspace = createPlannedWorkspace(context, from, plan.changes);
  const { guards } = checkGuards(context, caused, workspace);
  if (hasErrors(plan.diagnostics)) return guards.map((guard) => ({ ...guard, origin: "caused" }));
  const addresses = new Set(caused.map(({ address }) => address));
  return plan.guards.map((guard) => {
    const own = guard.addresses.filter((address) => addresses.has(address));
    const isCaused =
      guard.diagnostic.code === "GUARD_DUPLICATE_NAME"
        ? own.length > 0
        : guards.some((other) => isSameGuard(other, guard, own));
    return { ...guard, origin: isCaused ? "caused" : "pending" };
  });
}

function isSameGuard(guard: Guard, other: Guard, addresses: Guard["addresses"]): boolean {
  if (guard.diagnostic.code !== other.diagnostic.code) return false;
  return guard.addresses.some((address) => addresses.includes(address));
}
