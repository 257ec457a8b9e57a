// Decides one desired resource: create, update, replace, adopt, compare, or no change; a change of an immutable field may be an error.

import type { Address, RemoteId } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { toDottedPath, valueAt, withValueAt } from "../../core/pointer.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { schemaAt, type Values } from "../../resource/field-schema.ts";
import { type PlannedKind, secretField } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Cause, FieldDiff, Step } from "../../resource/planning.ts";
import type { Resource } from "../../spec/model/spec.ts";
import { combinedCause, diffResource } from "../diff/diff.ts";
import {
  changedByService,
  comparable,
  declaredForm,
  isIgnored,
  liveFingerprint,
  recordedWithIgnored,
  withIgnored,
} from "../diff/normalize.ts";
import {
  type ResolvedReferences,
  resolveReferences,
  withLiveSpelling,
  withReferenceCauses,
} from "../diff/references.ts";
import {
  type Change,
  type NonEmpty,
  type Noop,
  type Replace,
  replacementReason,
  type Update,
} from "../model/change.ts";
import { isRead, type PlanContext, plannedAttribute, recordedOf } from "../model/context.ts";
import { changedDependencies } from "../order/dependencies.ts";
import { topologicalOrder } from "../order/graph.ts";
import { immutableError, immutablePolicy } from "./immutable.ts";
import { type LiveMatch, matchLive } from "./match-live.ts";

type ResourceDecision = { readonly change: Change } | { readonly refused: Diagnostic };

/** Decides each desired resource of the kinds that were read; returns why the others could not be decided. */
export function decideResources(context: PlanContext): ReadonlyMap<Address, Diagnostic> {
  const { spec, registry, destroy } = context.input;
  const refusals = new Map<Address, Diagnostic>();
  // In dependency order, so that references find decided targets.
  for (const resource of destroy === true ? [] : inDependencyOrder(spec.resources)) {
    if (!isRead(context, resource.kind, resource.name)) continue;
    const provider = registry.get(resource.kind);
    const decision = decideResource(context, resource, provider);
    if ("refused" in decision) refusals.set(resource.address, decision.refused);
    else context.decided.set(resource.address, decision.change);
  }
  return refusals;
}

/** By address, so that the order of the YAML does not matter. */
function inDependencyOrder(resources: ReadonlyMap<Address, Resource>): Resource[] {
  const sorted = [...resources.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  return topologicalOrder(sorted, (resource) =>
    resource.dependsOn.flatMap((address) => resources.get(address) ?? []),
  );
}

/** Finds the live object, compares it with the desired values, and chooses an action. */
function decideResource(context: PlanContext, resource: Resource, provider: PlannedKind): ResourceDecision {
  const liveMatch = matchLive(context, resource, provider);
  if (liveMatch.is === "refused") return { refused: liveMatch.diagnostic };
  const resolved = desiredOf(context, resource, provider);
  if (liveMatch.is === "absent") return { change: creation(context, resource, resolved, liveMatch) };
  const comparison = compareWithLive(context, resource, provider, resolved, liveMatch);
  return actionFor(context, resource, provider, comparison);
}

/** The desired values with resolved references and the natural name, without fields that the kind omits. */
function desiredOf(context: PlanContext, resource: Resource, provider: PlannedKind): ResolvedReferences {
  const resolved = resolveReferences(resource, (address, attribute) =>
    plannedAttribute(context, address, attribute),
  );
  const spelled = withLiveSpelling(context, provider, resolved.values);
  return { ...resolved, values: declaredForm(provider, resource.name, spelled) };
}

function desiredPart(resource: Resource, after: Values, { unresolved }: ResolvedReferences) {
  const ignored = resource.lifecycle.ignore_changes;
  return {
    after,
    unresolved: unresolved.filter(({ path }) => !isIgnored(path, ignored)),
    payload: resource.payload?.digest,
  };
}

const NONE: readonly string[] = [];
type ExistingMatch = Extract<LiveMatch, { readonly live: LiveObject }>;
type Absent = Extract<LiveMatch, { readonly is: "absent" }>;

function creation(
  context: PlanContext,
  resource: Resource,
  resolved: ResolvedReferences,
  { newParent, namesakes }: Absent,
): Change {
  const why = whyCreated(context, resource, newParent);
  // Written out, because an object that is made of others takes twice the memory, and plans are large.
  const change: Change = {
    action: "create",
    address: resource.address,
    kind: resource.kind,
    name: resource.name,
    cause: why.cause,
    reasons: why.reasons,
    consequences: NONE,
    dependsOn: resource.dependsOn,
    after: resolved.values,
    unresolved: resolved.unresolved,
    payload: resource.payload?.digest,
  };
  return namesakes === undefined ? change : { ...change, namesakes };
}

/** An object that was deleted together with its replaced parent is not drift. */
function whyCreated(
  context: PlanContext,
  resource: Resource,
  newParent: Address | undefined,
): { readonly cause: Cause; readonly reasons: readonly string[] } {
  const misplacedRecord = context.misplacedRecords.get(resource.address);
  if (misplacedRecord !== undefined)
    return { cause: "spec", reasons: [`the state records ${misplacedRecord.name} under this address`] };
  if (!context.input.state.records.has(resource.address)) return { cause: "spec", reasons: NONE };
  const parent = newParent === undefined ? undefined : context.decided.get(newParent);
  if (parent?.action === "replace")
    return { cause: parent.cause, reasons: [`it is deleted together with the old ${parent.address}`] };
  return { cause: "drift", reasons: ["it no longer exists in the workspace"] };
}

interface Comparison {
  readonly live: LiveObject;
  readonly match: ExistingMatch["is"];
  readonly unfinished: boolean;
  readonly diffs: readonly FieldDiff[];
  readonly desiredPart: ReturnType<typeof desiredPart>;
  readonly livePart: { readonly id: RemoteId; readonly before: Values };
  /** Fingerprint of the compared values, only for changes that are based on it. */
  fingerprint(): string;
}

function compareWithLive(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  resolved: ResolvedReferences,
  { is: match, live: object }: ExistingMatch,
): Comparison {
  const record = context.input.state.records.get(resource.address);
  const live = comparable(provider, object, resolved.values);
  const ignored = resource.lifecycle.ignore_changes;
  const wanted = withIgnored(provider, resolved.values, live.values, ignored);
  const before = match === "managed" ? recordedOf(provider, record, resolved.values) : undefined;
  const recorded = before && recordedWithIgnored(provider, before, live.values, ignored);
  const fieldDiffs = diffResource(provider.fields, wanted, live, recorded, resolved.unknown);
  const all = withReferenceCauses(context, resource, recorded, fieldDiffs);
  const diffs = all.filter((diff) => !isIgnored(diff.path, ignored));
  const after = withTargets(wanted, diffs);
  return {
    live,
    match,
    unfinished: record?.status === "creating",
    diffs,
    desiredPart: desiredPart(resource, after, resolved),
    livePart: { id: live.id, before: live.values },
    fingerprint: () => liveFingerprint(provider.fields, live, after),
  };
}

function actionFor(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  comparison: Comparison,
): ResourceDecision {
  const [first, ...rest] = comparison.diffs;
  if (first === undefined) return { change: unchanged(context, resource, provider, comparison) };
  const diffs: NonEmpty<FieldDiff> = [first, ...rest];
  const [forced, ...more] = diffs.filter((diff) => diff.replaces);
  const { address, kind, name, dependsOn } = resource;
  const shared = {
    address,
    kind,
    name,
    cause: combinedCause(diffs),
    reasons: reasonsOf(context, resource, provider, comparison),
    consequences: NONE,
    dependsOn,
    ...defined({ movedFrom: movedFromOf(context, resource) }),
    ...comparison.desiredPart,
    ...comparison.livePart,
    fingerprint: comparison.fingerprint(),
    diffs,
  };
  if (forced === undefined) {
    const change: Update = { action: "update", ...shared, steps: stepsFor(provider, diffs, comparison) };
    return { change };
  }
  const because: NonEmpty<FieldDiff> = [forced, ...more];
  if (immutablePolicy(context, resource) === "error")
    return { refused: immutableError(resource, provider, because, context.input.isSensitive) };
  const replacing = provider.replaceStrategy;
  const change: Replace = { action: "replace", ...shared, because, replacing, removeAfter: [] };
  return { change };
}

function unchanged(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  comparison: Comparison,
): Change {
  const { match, unfinished } = comparison;
  const movedFrom = movedFromOf(context, resource);
  const backReasons = moveBackReasons(context, resource);
  const reasons =
    match === "managed" || backReasons.length > 0 ? backReasons : ["the existing object matches the spec"];
  const { after, unresolved } = comparison.desiredPart;
  const same: Noop = {
    action: "noop",
    address: resource.address,
    kind: resource.kind,
    name: resource.name,
    cause: "spec",
    reasons,
    consequences: NONE,
    dependsOn: changedDependencies(context, resource.dependsOn),
    after,
    unresolved,
    payload: resource.payload?.digest,
    id: comparison.livePart.id,
    before: comparison.livePart.before,
  };
  if (match !== "managed" || unfinished)
    return { ...same, action: RECORDING[match], fingerprint: comparison.fingerprint() };
  if (movedFrom !== undefined)
    return { ...same, action: "move", movedFrom, fingerprint: comparison.fingerprint() };
  const secret = missingValue(resource, provider);
  if (secret === undefined) return same;
  const written: FieldDiff = {
    path: [secret],
    before: undefined,
    after: undefined,
    cause: "spec",
    replaces: false,
  };
  return {
    ...same,
    action: "compare",
    fingerprint: comparison.fingerprint(),
    steps: stepsFor(provider, [written], comparison),
    source: resource.unread ?? "",
  };
}

/** The field of a secret whose value was not read, and that is written if it differs. */
function missingValue({ payload, lifecycle }: Resource, provider: PlannedKind): string | undefined {
  const field = payload === undefined ? secretField(provider) : undefined;
  return field === undefined || isIgnored([field], lifecycle.ignore_changes) ? undefined : field;
}

function stepsFor(
  provider: PlannedKind,
  diffs: readonly FieldDiff[],
  { live, desiredPart: { after } }: Comparison,
): readonly Step[] {
  return provider.planning.steps?.(diffs, live, after) ?? [{ operation: "update" }];
}

/** The former address of a resource whose record the spec moved. */
const movedFromOf = ({ input }: PlanContext, { address }: Resource): Address | undefined =>
  input.moved?.origins.get(address);

const RECORDING = { managed: "adopt", adoptable: "adopt", imported: "import" } as const;

/** Defaults and recorded values that drifted are written out, so that a write brings them back. */
function withTargets(values: Values, diffs: readonly FieldDiff[]): Values {
  let after = values;
  for (const diff of diffs)
    if (valueAt(after, diff.path) === undefined) after = withValueAt(after, diff.path, diff.after) as Values;
  return after;
}

/** A move by an entry of the spec needs no reason: the change names the former address. */
function moveBackReasons({ input }: PlanContext, { address }: Resource): readonly string[] {
  const movedFrom = input.moved?.origins.get(address);
  return movedFrom !== undefined && input.moved?.back?.has(address) === true
    ? [`the spec declares ${address} again, which moved to ${movedFrom} before`]
    : NONE;
}

/** Whether the value that it replaces is unknown: that of an adopted or imported object, or after a write without an answer. */
const isWrittenUnseen = ({ fields }: PlannedKind, { path, before, cause }: FieldDiff): boolean =>
  schemaAt(fields, path).writeOnly === true && before === undefined && cause === "spec";

function reasonsOf(
  context: PlanContext,
  resource: Resource,
  provider: PlannedKind,
  comparison: Comparison,
): readonly string[] {
  const reasons = [...moveBackReasons(context, resource)];
  if (comparison.match === "adoptable") reasons.push("it exists and is adopted");
  if (comparison.match === "imported") reasons.push("it exists and is imported");
  if (comparison.unfinished) reasons.push("an interrupted run created it in part; this run completes it");
  const replaced = new Set<string>();
  for (const reference of resource.references) {
    for (const part of reference.parts)
      if (typeof part !== "string" && context.decided.get(part.address)?.action === "replace")
        replaced.add(part.address);
  }
  for (const address of [...replaced].sort()) reasons.push(`${address} is replaced and gets a new ID`);
  for (const { replaces, path } of comparison.diffs) if (replaces) reasons.push(replacementReason(path));
  for (const diff of comparison.diffs) {
    const why = changedByService(provider.fields[String(diff.path[0])] ?? {}, comparison.live);
    const isHidden = context.input.isSensitive?.(resource.address, diff.path, diff.before) === true;
    const value = isHidden ? SENSITIVE_TEXT : String(diff.before);
    if (why !== undefined) reasons.push(`the service set ${toDottedPath(diff.path)} to ${value} (${why})`);
    if (isWrittenUnseen(provider, diff))
      reasons.push(`the service never returns ${toDottedPath(diff.path)}, so it is written`);
  }
  return reasons;
}
