// Splits a plan: which changes and guards the change of a spec causes, which were pending, and which it resolves. Pure.

import type { Address } from "../core/address.ts";
import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import { canonicalJson } from "../core/digest.ts";
import type { Json } from "../core/json.ts";
import { overlaps, type Path, toPointer, withValueAt } from "../core/pointer.ts";
import { checkGuards } from "./check/guards.ts";
import { type Change, changeKey, type Desiring, nameSourceOf, touches } from "./model/change.ts";
import { createContext, dropMisplacedRecords } from "./model/context.ts";
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

/** The address that the head gives to what an address of the base is about. */
export type AddressInHead = (address: Address) => Address;

const unmoved: AddressInHead = (address) => address;

/** Compares the plan of a spec before a change with the plan after it. Both rest on the same state and live objects. */
export function splitPlan(base: Plan, head: Plan, inHead: AddressInHead = unmoved): Omit<PlanSplit, "base"> {
  const former = base.changes
    .filter(touches)
    .map((change) => ({ change, key: changeKey({ ...change, address: inHead(change.address) }) }));
  // Of two, the one that moves there wins: it has a record.
  const before = new Map(
    former
      .toSorted((a, b) => Number(a.key !== changeKey(a.change)) - Number(b.key !== changeKey(b.change)))
      .map(({ key, change }) => [key, change]),
  );
  const after = new Map(head.changes.filter(touches).map((change) => [changeKey(change), change]));
  const baseErrors = new Set(base.diagnostics.flatMap((diagnostic) => errorKey(diagnostic, inHead)));
  return {
    changes: Object.fromEntries(
      [...after].map(([key, change]) => [key, splitChange(before.get(key), change, inHead)]),
    ),
    resolved: former.flatMap(({ key, change }) =>
      resolvedBy(before.get(key) === change ? after.get(key) : undefined, change),
    ),
    pendingErrors: head.diagnostics.filter((diagnostic) =>
      errorKey(diagnostic).some((key) => baseErrors.has(key)),
    ),
  };
}

/** An error without an address is about the whole plan and always counts. */
function errorKey({ severity, address, code, message }: Diagnostic, inHead = unmoved): readonly string[] {
  if (severity !== "error" || address === undefined) return [];
  const moved = inHead(address);
  return [`${code}\n${moved}\n${moved === address ? message : message.replaceAll(address, moved)}`];
}

function splitChange(base: Change | undefined, head: Change, inHead: AddressInHead): SplitChange {
  if (base === undefined || shapeOf(base) !== shapeOf(head)) return { origin: "caused", fields: [] };
  const old = partsOf(base, inHead);
  const fields = [...partsOf(head)].map(([key, { path, value }]): FieldOrigin => {
    return { path, origin: old.get(key)?.value === value ? "pending" : "caused" };
  });
  const has = (origin: ChangeOrigin): boolean => fields.some((field) => field.origin === origin);
  // A create with one field less differs too; an update with one field less leaves that field unchanged.
  const isLess = head.action === "create" && old.size > fields.length;
  if (has("caused") || isLess || base.name !== head.name)
    return { origin: "caused", fields: has("pending") ? fields : [] };
  const isMoved = base.address !== head.address && head.movedFrom !== undefined;
  return isMoved ? { origin: "caused", fields, movesOnly: true } : { origin: "pending", fields: [] };
}

/** What must be equal in addition to the fields: the action and the object. Updates and replacements have a changed name as a field. */
function shapeOf(change: Change): string {
  return canonicalJson([
    change.action,
    "diffs" in change ? null : change.name,
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
function partsOf(change: Change, inHead = unmoved): ReadonlyMap<string, ChangePart> {
  if (change.action === "create")
    return partsBy(
      Object.entries(change.after).map(([name, value]) => {
        const later = laterParts(change, [name], inHead);
        return [[name], [withoutReferences(value, [name], later), later]];
      }),
      change.payload,
    );
  if (!("diffs" in change)) return new Map();
  return partsBy(
    change.diffs.map((diff) => {
      const later = diff.unknown === true ? laterParts(change, diff.path, inHead) : [];
      const after = diff.after && withoutReferences(diff.after, diff.path, later);
      return [diff.path, [sideOf(diff.before), sideOf(after), diff.unknown ?? false, later]];
    }),
    undefined,
  );
}

/** The references of a field that are known only after the apply, by their addresses in the head: the values have the addresses of their spec. */
function laterParts({ unresolved }: Desiring, path: Path, inHead: AddressInHead) {
  const within = unresolved.filter((reference) =>
    path.every((key, at) => String(key) === String(reference.path[at])),
  );
  return within.map((reference) => ({
    path: [...reference.path],
    parts: reference.parts.map((part) =>
      typeof part === "string" ? part : { address: inHead(part.address), attribute: part.attribute },
    ),
  }));
}

function withoutReferences(value: Json, path: Path, later: ReturnType<typeof laterParts>): Json {
  let rest: Json = value;
  for (const reference of later) rest = withValueAt(rest, reference.path.slice(path.length), null) ?? null;
  return rest;
}

function sideOf(value: Json | undefined): Json {
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
  const isMovedAlone = head?.action === "move" && base.action !== "move" && base.action !== "compare";
  if (head === undefined || isMovedAlone) return [{ change: base }];
  if (shapeOf(base) !== shapeOf(head) || base.action === "create") return [];
  const left = [...partsOf(head).values()].map(({ path }) => path);
  const gone = [...partsOf(base).values()]
    .map(({ path }) => path)
    .filter((path) => !left.some((other) => overlaps(path, other)));
  return gone.length === 0 ? [] : [{ change: base, fields: gone }];
}

/** Whether a change of the spec causes what a change of the plan does, and not only gives its resource another address. */
export function causesEffect({ changes }: Pick<PlanSplit, "changes">, change: Change): boolean {
  const split = changes[changeKey(change)];
  return split?.origin === "caused" && split.movesOnly !== true;
}

/** The plan without pending changes and drift; the whole plan without a comparison. */
export function causedPart<P extends Pick<Plan, "changes" | "drift" | "guards" | "diagnostics" | "split">>(
  plan: P,
): P {
  const { split } = plan;
  if (split === undefined) return plan;
  const pending = new Set(split.pendingErrors.flatMap((diagnostic) => errorKey(diagnostic)));
  return {
    ...plan,
    changes: plan.changes.filter((change) => split.changes[changeKey(change)]?.origin === "caused"),
    drift: [],
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
  split: Pick<PlanSplit, "changes">,
): readonly Guard[] {
  const { input, misplacedRecords } = dropMisplacedRecords(from);
  const context = createContext(input, misplacedRecords);
  const caused = plan.changes.filter((change) => causesEffect(split, change));
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
