// What blocks the apply of a plan: its guards (share of deletions, prevent_destroy, the checks of the kinds, limits of the service;
// design 5), and kinds that could not be read. And the warnings of kinds about live objects.

import { type Address, kindOf, nameOf, parentOf } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { count as countOf, listed, shellWord } from "../../core/sentences.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { LiveKind } from "../../resource/live.ts";
import { isBuiltIn } from "../../resource/names.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";
import { type Change, deletesCurrent, isDeletedWithParent, removes } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanFacts, PlanInput } from "../model/input.ts";
import type { Guard } from "../model/plan.ts";
import { askKind } from "../model/planned-workspace.ts";

/** Below this number of managed resources, a share is not checked. */
const SHARE_COUNTS_ABOVE = 10;

/** `warnings`: of kinds, about what they could not check. */
export function checkGuards(
  context: PlanContext,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): { readonly guards: readonly Guard[]; readonly warnings: readonly Diagnostic[] } {
  const ofKinds = objections(context, changes, workspace);
  const isGuard = ({ diagnostic }: Guard): boolean => diagnostic.severity === "error";
  return {
    guards: [
      ...managedDeletes(context, changes),
      ...maxUnmanaged(context, changes),
      ...preventDestroy(context, changes),
      ...ofKinds.filter(isGuard),
      ...limits(context, changes),
    ],
    warnings: ofKinds.filter((found) => !isGuard(found)).map(({ diagnostic }) => diagnostic),
  };
}

function managedDeletes(context: PlanContext, changes: readonly Change[]): Guard[] {
  if (context.input.destroy === true) return [];
  const everything = deletesEverything(context, changes);
  return everything.length > 0 ? everything : maxDeletes(context, changes);
}

function maxDeletes(context: PlanContext, changes: readonly Change[]): Guard[] {
  const deletes = changes.filter(deletesCurrent);
  const policy = context.input.spec.policy.max_deletes;
  const managed = context.input.state.records.size;
  const refused =
    "count" in policy
      ? deletes.length > policy.count
      : managed > SHARE_COUNTS_ABOVE && deletes.length / managed > policy.share;
  if (!refused) return [];
  const allowed =
    "count" in policy
      ? `${policy.count}`
      : `${Math.round(policy.share * 100)}% of ${managed} managed resources`;
  const message = `the plan deletes ${countOf(deletes.length, "resource")}; policy.max_deletes allows ${allowed}`;
  const hint =
    "check for a missing file or target, or raise policy.max_deletes if you intend these deletions";
  return tooMany(deletes, message, hint);
}

function tooMany(deletes: readonly Change[], message: string, hint: string): Guard[] {
  const addresses = deletes.map(({ address }) => address);
  return [{ diagnostic: error("GUARD_MAX_DELETES", message, { hint }), addresses }];
}

/** An emptied spec, or one of another team, deletes all resources, however few; only the policy says that it may. */
function deletesEverything(context: PlanContext, changes: readonly Change[]): Guard[] {
  const { spec, state } = context.input;
  const policy = spec.policy.max_deletes;
  const deletes = changes.filter(deletesCurrent);
  const isAllowed = "count" in policy || policy.share >= 1;
  if (isAllowed || deletes.length === 0) return [];
  const isEmpty = spec.resources.size === 0;
  const leaving = new Set(changes.flatMap((change) => (leaves(context, change) ? [change.address] : [])));
  const isManaged = deletes.some(({ address }) => state.records.has(address));
  const isEverything = isManaged && [...state.records.keys()].every((address) => leaving.has(address));
  if (!isEmpty && !isEverything) return [];
  const message = isEmpty
    ? `the spec declares no resources, and the plan deletes ${countOf(deletes.length, "resource")}`
    : `the plan deletes every managed resource, ${deletes.length} in all`;
  const hint =
    "check for a missing file or target; to delete them, run `workspace destroy`, or set policy.max_deletes to 100% or a number";
  return tooMany(deletes, message, hint);
}

/** Whether the object of a record is deleted, by the plan or before it, and not only removed from the state. */
function leaves({ input, liveIndex }: PlanContext, change: Change): boolean {
  if (deletesCurrent(change) || isDeletedWithParent(change)) return true;
  if (change.action !== "forget") return false;
  const record = input.state.records.get(change.address);
  return record?.id === undefined || liveIndex.byId(change.kind, record.id) === undefined;
}

/** Deletions of unmanaged objects count against the live objects of their kind, so small specs are protected too. */
function maxUnmanaged(context: PlanContext, changes: readonly Change[]): Guard[] {
  const policy = context.input.spec.policy.max_deletes;
  if ("count" in policy || context.input.destroy === true) return [];
  const parts: string[] = [];
  const unmanaged: Change[] = [];
  for (const provider of context.input.registry.kinds) {
    if (provider.nested !== undefined) continue;
    const foreign = changes.filter(
      ({ action, kind, address }) =>
        action === "delete" && kind === provider.kind && !context.input.state.records.has(address),
    );
    const there = context.liveIndex
      .all(provider.kind)
      .filter(({ name }) => !isBuiltIn(provider, name)).length;
    if (foreign.length <= policy.share * there) continue;
    parts.push(`${foreign.length} of ${there} ${provider.kind}`);
    unmanaged.push(...foreign);
  }
  if (unmanaged.length === 0) return [];
  const message = `the plan deletes unmanaged objects: ${parts.join(", ")}; policy.max_deletes allows ${Math.round(policy.share * 100)}% of each kind`;
  const hint =
    "declare the objects to keep, or set policy.max_deletes to a higher value or a number if you intend these deletions";
  return tooMany(unmanaged, message, hint);
}

function preventDestroy(context: PlanContext, changes: readonly Change[]): Guard[] {
  return changes.flatMap((change) => {
    const diagnostic = deletesOrReplaces(change) ? protection(context, change) : undefined;
    return diagnostic === undefined ? [] : [{ diagnostic, addresses: [change.address] }];
  });
}

/** Also if the replacement keeps the old object, because a later plan deletes that one. */
function deletesOrReplaces(change: Change): boolean {
  return change.action === "replace" || deletesCurrent(change) || isDeletedWithParent(change);
}

/** The spec decides; without a block in the spec, the last applied value decides. */
function protection({ input }: PlanContext, { address, action }: Change): Diagnostic | undefined {
  const resource = input.spec.resources.get(address);
  const would = `${address} would be ${action === "replace" ? "replaced" : "deleted"}`;
  if (resource?.lifecycle.prevent_destroy === true)
    return error("GUARD_PREVENT_DESTROY", `${would}, but prevent_destroy is set`, {
      address,
      at: resource.locate(["lifecycle", "prevent_destroy"]),
      hint: "remove lifecycle.prevent_destroy to allow this change",
    });
  if (resource !== undefined || input.state.records.get(address)?.prevent_destroy !== true) return undefined;
  const message = `${would}, but prevent_destroy was set when it was last in the spec`;
  return error("GUARD_PREVENT_DESTROY", message, {
    address,
    hint: `to delete it, first apply it without prevent_destroy; to keep it, run \`workspace state rm ${shellWord(address)}\` (or \`workspace state mv ${shellWord(address)} NEW\` if it was renamed)`,
  });
}

function objections(context: PlanContext, changes: readonly Change[], workspace: PlannedWorkspace): Guard[] {
  const guards: Guard[] = [];
  for (const change of changes) {
    const objections = askKind(context, change, (planning, planned) =>
      planning.objections?.(planned, workspace),
    );
    if (objections.length === 0) continue;
    const { address } = change;
    const at = context.input.spec.resources.get(address)?.at;
    for (const { code, message, hint } of objections) {
      const report = code === "PLAN_UNCHECKED" ? warning : error;
      guards.push({ diagnostic: report(code, message, { address, at, hint }), addresses: [address] });
    }
  }
  return guards;
}

/** Counts after the plan, for kinds of which a workspace (or a parent) holds only so many. */
function limits(context: PlanContext, changes: readonly Change[]): Guard[] {
  return context.input.registry.kinds.flatMap((provider) => {
    const { kind, nested, limit } = provider;
    if (limit === undefined) return [];
    return [...countsAfter(context, provider, changes)].flatMap(([parent, { count, creates }]) => {
      if (creates.length === 0 || count <= limit.max) return [];
      const where = limit.per === "parent" ? `${nested?.kind ?? "parent"} ${parent}` : "the workspace";
      const message = `after this plan, ${where} would contain ${count} ${kind}; the service allows ${limit.max}`;
      const diagnostic = error("GUARD_LIMIT", message, { hint: "remove unused ones first" });
      return [{ diagnostic, addresses: creates }];
    });
  });
}

interface CountAfter {
  count: number;
  readonly creates: Address[];
}

/** By parent, or for the workspace. */
function countsAfter(
  { liveIndex }: PlanContext,
  { kind, limit }: PlannedKind,
  changes: readonly Change[],
): ReadonlyMap<string, CountAfter> {
  const counts = new Map<string, CountAfter>();
  const countFor = (name: string): CountAfter => {
    const key = limit?.per === "parent" ? parentOf(name) : "";
    const after = counts.get(key) ?? { count: 0, creates: [] };
    counts.set(key, after);
    return after;
  };
  for (const { name } of liveIndex.all(kind)) countFor(name).count += 1;
  for (const change of changes) {
    if (change.kind !== kind) continue;
    if (change.action === "delete") countFor(change.name).count -= 1;
    if (change.action !== "create") continue;
    const after = countFor(change.name);
    after.count += 1;
    after.creates.push(change.address);
  }
  return counts;
}

/** Warnings about live objects that the plan keeps: parts that failed or are not ready, as their kinds see it. */
export function problemsOfLiveObjects(
  { input, liveIndex }: PlanContext,
  changes: readonly Change[],
): Diagnostic[] {
  const kinds = new Set(
    input.registry.kinds.flatMap(({ kind, planning }) => (planning.liveProblems === undefined ? [] : [kind])),
  );
  return changes.flatMap((change) => {
    if (!kinds.has(change.kind) || !("id" in change)) return [];
    if (change.action === "delete" || change.action === "forget") return [];
    const live = liveIndex.byId(change.kind, change.id);
    const resource = input.spec.resources.get(change.address);
    if (live === undefined || resource === undefined) return [];
    const problems = input.registry.get(change.kind).planning.liveProblems?.(live) ?? [];
    return problems.map(({ code, message, path, hint }) =>
      warning(code, `${change.address}: ${message}`, {
        address: change.address,
        at: resource.locate(path),
        hint,
      }),
    );
  });
}

interface Unread {
  /** `pools`, or `acls of etl`. */
  readonly what: string;
  readonly reason: Diagnostic;
}

/** Deletes of such a kind are not even planned: unreadable is never empty. */
export function unreadableKinds({ input: { live, spec, state } }: PlanContext): Diagnostic[] {
  const managed = new Set([...spec.resources.values()].map((resource) => resource.kind));
  for (const kind of spec.policy.authoritative) managed.add(kind);
  for (const address of state.records.keys()) managed.add(kindOf(address));
  const unread: Unread[] = [];
  for (const [kind, liveKind] of live) {
    if (!managed.has(kind)) continue;
    if (!liveKind.readable) unread.push({ what: kind, reason: liveKind.diagnostic });
    else
      for (const [parent, reason] of liveKind.unreadableParents)
        unread.push({ what: `${kind} of ${parent}`, reason });
  }
  return [...Map.groupBy(unread, ({ reason }) => causeOf(reason)).values()].map(unreadFinding);
}

/** The reason without what differs from one request to the next: its operation, its attempts and their time. */
function causeOf({ code, message, hint = "" }: Diagnostic): string {
  const rest = message
    .replace(/^.* could not be read: /, "")
    .replace(/^[\w-]+(\/[\w-]+)+ /, "")
    .replace(/, \d+ attempts in \d+ s$/, "");
  return `${code}\n${rest}\n${hint}`;
}

/** One finding for what failed with the same cause. A longer reason can name one of the kinds. */
function unreadFinding(group: readonly Unread[]): Diagnostic {
  const reasons = group.map(({ reason }) => reason);
  const reason = reasons.reduce((best, diagnostic) =>
    diagnostic.message.length < best.message.length ? diagnostic : best,
  );
  const message = `${listed(group.map(({ what }) => what))} could not be read, so their differences are unknown`;
  return error("PLAN_UNREADABLE", message, {
    hint: reason.hint ?? "fix the cause, then plan again",
    cause: `${reason.code}: ${reason.message}`,
  });
}

/** Kinds that may use deleted objects and that the input contains only in part, or lacks. */
export function dependentKinds(input: PlanInput, changes: readonly Change[]): ReadonlyMap<string, Address> {
  const kinds = new Map<string, Address>();
  for (const change of changes) {
    if (!removes(change)) continue;
    for (const kind of input.registry.get(change.kind).usedBy ?? [])
      if (!kinds.has(kind) && !isSeen(input, input.registry.get(kind), change))
        kinds.set(kind, change.address);
  }
  return kinds;
}

function isSeen({ live, spec, state }: PlanInput, { kind, nested }: PlannedKind, change: Change): boolean {
  if (nested === undefined) return live.has(kind);
  const isManaged = (address: Address) => spec.resources.has(address) || state.records.has(address);
  if (nested.kind === change.kind) return isManaged(change.address);
  const parents = live.get(nested.kind);
  if (parents?.readable !== true) return false;
  // Members are read where the spec or the state has the parent.
  const parentNames = new Set<string>();
  for (const resource of spec.resources.values())
    if (resource.kind === nested.kind) parentNames.add(resource.name);
  for (const stateRecord of state.records.values())
    if (kindOf(stateRecord.address) === nested.kind) parentNames.add(stateRecord.name);
  return parents.objects.every(({ name }) => parentNames.has(name));
}

/** Reported if a plan deletes an object and its side effects cannot be determined. */
export function unreadDependents(
  input: PlanInput,
  { dependentsOfDeleted }: PlanFacts,
  changes: readonly Change[],
): Diagnostic[] {
  if (dependentsOfDeleted === undefined) return [];
  return [...dependentKinds(input, changes)].flatMap(([kind, address]) => {
    const liveKind = dependentsOfDeleted.get(kind);
    return liveKind === undefined ? [] : unreportedKind(kind, address, liveKind);
  });
}

function unreportedKind(kind: string, address: Address, liveKind: LiveKind): Diagnostic[] {
  const reason = liveKind.readable ? [...liveKind.unreadableParents.values()][0] : liveKind.diagnostic;
  if (reason === undefined) return [];
  const what = liveKind.readable
    ? `the ${kind} of ${[...liveKind.unreadableParents.keys()].join(", ")}`
    : kind;
  const message = `${what} could not be read, so the users of ${kindOf(address)} such as ${nameOf(address)} are unknown`;
  const hint = "check for side effects that the plan does not show, or plan again";
  return [warning("PLAN_UNSEEN", message, { address, cause: `${reason.code}: ${reason.message}`, hint })];
}
