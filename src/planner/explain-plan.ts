// Explains what a plan does with one resource: the fields that change and what decides them, what is left out or blocks it, and
// what it depends on. Pure.

import { type Address, addressOf, kindOf, nameOf } from "../core/address.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { PastRun } from "../core/past-run.ts";
import { fromPointer, overlaps, type Path, toPointer } from "../core/pointer.ts";
import type { PlanningRegistry } from "../resource/kind.ts";
import { isSameName } from "../resource/names.ts";
import type { FieldDiff } from "../resource/planning.ts";
import type { DecidedOrigin } from "../spec/edit/value-origin.ts";
import type { Spec } from "../spec/model/spec.ts";
import type { State } from "../state/model/record.ts";
import { isIgnored } from "./diff/normalize.ts";
import { type Action, type Change, isOfReplaced, isUnresolved, touches } from "./model/change.ts";
import type { Drift, Guard, Plan, Unmanaged } from "./model/plan.ts";

/**
 * `refused`: the plan has an error instead of a change. `left_out`: by `--only` or `--exclude`, or because the plan could not read
 * its kind. `unmanaged`: a live object that is neither declared nor recorded.
 */
type ExplainedStatus = "changes" | "unchanged" | "refused" | "left_out" | "unmanaged";

export interface ExplainedField {
  readonly diff: FieldDiff;
  /** Undefined for a field that the spec does not set. */
  readonly origin: DecidedOrigin | undefined;
  /** The newest recorded run that wrote the field. */
  readonly writtenBy: PastRun | undefined;
}

/** A resource on the other side of a dependency. */
export interface Neighbor {
  readonly address: Address;
  /** What the plan does with it; undefined if the plan does not decide it. */
  readonly action: Action | undefined;
  /** The fields that refer to the other side; empty if the dependency has another cause, such as a name. */
  readonly fields: readonly Path[];
}

export interface PlanExplanation {
  readonly address: Address;
  readonly kind: string;
  readonly status: ExplainedStatus;
  readonly change: Change | undefined;
  /** The options that leave the resource out. */
  readonly leftOutBy: readonly ("--only" | "--exclude")[];
  /** A resource that `--exclude` leaves out and that this one depends on. */
  readonly leftOutWith: Address | undefined;
  readonly unmanaged: Unmanaged | undefined;
  readonly fields: readonly ExplainedField[];
  /** Fields that differ, but that `lifecycle.ignore_changes` names. */
  readonly ignored: readonly ExplainedField[];
  /** The drift of the resource, with who caused it. */
  readonly drift: Drift | undefined;
  /** Guards and errors about the resource. */
  readonly blockedBy: readonly Diagnostic[];
  /** Guards and errors about others, which block the plan as a whole. */
  readonly planBlockedBy: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  readonly dependsOn: readonly Neighbor[];
  readonly dependents: readonly Neighbor[];
  /** The recorded runs that changed the resource, the newest first. */
  readonly runs: readonly PastRun[];
}

export interface ExplainInput {
  readonly registry: PlanningRegistry;
  readonly plan: Plan;
  /** The same plan, if the resource ignored no fields and could be replaced. */
  readonly permissive: Plan;
  readonly spec: Spec;
  readonly state: State;
  readonly only?: (address: Address) => boolean;
  readonly exclude?: (address: Address) => boolean;
  originOf(address: Address, path: Path): DecidedOrigin | undefined;
}

export function explainableAddresses({ plan, spec, state }: ExplainInput): readonly Address[] {
  const unmanaged = plan.unmanaged.map(({ kind, name }) => addressOf(kind, name));
  const planned = plan.changes.map(({ address }) => address);
  return [...new Set([...spec.resources.keys(), ...state.records.keys(), ...planned, ...unmanaged])];
}

/** Undefined for an address that is neither declared, recorded, nor live. */
export function explainResource(input: ExplainInput, address: Address): PlanExplanation | undefined {
  const { plan, permissive, spec, state, registry } = input;
  const change = changeOf(plan, address);
  const isKnown = change !== undefined || spec.resources.has(address) || state.records.has(address);
  const unmanaged = isKnown ? undefined : unmanagedAt(plan, registry, address);
  if (!isKnown && unmanaged === undefined) return undefined;
  const runs = [...(state.history ?? [])].reverse().filter(({ changed }) => changed.includes(address));
  const objections = objectionsTo(plan, address);
  const isRefused = change === undefined && objections.own.length > 0;
  const ignoredPaths = spec.resources.get(address)?.lifecycle.ignore_changes ?? [];
  const explained = (diff: FieldDiff): ExplainedField => ({
    diff,
    origin: input.originOf(address, diff.path),
    writtenBy: runs.find((run) => wrote(run, address, diff.path)),
  });
  const possible = diffsOf(changeOf(permissive, address));
  const ignored = possible.filter(({ path }) => isIgnored(path, ignoredPaths));
  const refused = possible.filter((diff) => !ignored.includes(diff));
  return {
    address,
    kind: kindOf(address),
    status: statusOf(change, isRefused, unmanaged),
    change,
    ...leftOut(input, address, change === undefined && !isRefused && unmanaged === undefined),
    unmanaged,
    fields: (isRefused ? refused : diffsOf(change)).map(explained),
    ignored: ignored.map(explained),
    drift: plan.drift.find((drift) => drift.address === address),
    blockedBy: objections.own,
    planBlockedBy: objections.others,
    warnings: objections.warnings,
    dependsOn: needsOf(input, address),
    dependents: dependentsOf(input, address),
    runs,
  };
}

function statusOf(
  change: Change | undefined,
  isRefused: boolean,
  unmanaged: Unmanaged | undefined,
): ExplainedStatus {
  if (unmanaged !== undefined || change?.action === "report") return "unmanaged";
  if (isRefused) return "refused";
  if (change === undefined) return "left_out";
  return touches(change) ? "changes" : "unchanged";
}

/** The change of the present object, if there is one, and else of a replaced one. */
function changeOf({ changes }: Plan, address: Address): Change | undefined {
  const own = changes.filter((change) => change.address === address);
  return own.find((change) => !isOfReplaced(change)) ?? own[0];
}

/** A creation sets its fields one by one. */
function diffsOf(change: Change | undefined): readonly FieldDiff[] {
  if (change === undefined) return [];
  if ("diffs" in change) return change.diffs;
  if (change.action !== "create") return [];
  return Object.entries(change.after).map(([name, after]) => ({
    path: [name],
    before: undefined,
    after,
    cause: change.cause,
    replaces: false,
    ...(isUnresolved(change, name) ? { unknown: true as const } : {}),
  }));
}

function unmanagedAt(plan: Plan, registry: PlanningRegistry, address: Address): Unmanaged | undefined {
  const provider = registry.find(kindOf(address));
  if (provider === undefined) return undefined;
  const name = nameOf(address);
  return plan.unmanaged.find(
    (object) => object.kind === provider.kind && isSameName(provider, object.name, name),
  );
}

function leftOut(
  { only, exclude, spec, plan }: ExplainInput,
  address: Address,
  isLeftOut: boolean,
): Pick<PlanExplanation, "leftOutBy" | "leftOutWith"> {
  if (!isLeftOut) return { leftOutBy: [], leftOutWith: undefined };
  const isExcluded = exclude?.(address) === true;
  const leftOutWith = isExcluded || exclude === undefined ? undefined : excludedNeed(spec, address, exclude);
  const byExclude =
    isExcluded || leftOutWith !== undefined || plan.part?.excluded?.includes(address) === true;
  const byOnly = !byExclude && only?.(address) === false;
  return { leftOutBy: byExclude ? ["--exclude"] : byOnly ? ["--only"] : [], leftOutWith };
}

/** The excluded resource that a declared one depends on, also through others. */
function excludedNeed(
  { resources }: Spec,
  address: Address,
  exclude: (address: Address) => boolean,
): Address | undefined {
  const reached = new Set<Address>([address]);
  for (const next of reached) {
    if (exclude(next)) return next;
    for (const need of resources.get(next)?.dependsOn ?? []) reached.add(need);
  }
  return undefined;
}

function objectionsTo({ guards, diagnostics }: Plan, address: Address) {
  const isError = ({ severity }: Diagnostic): boolean => severity === "error";
  const isAbout = (guard: Guard): boolean => guard.addresses.includes(address);
  const ofGuards = guards.filter(isAbout).map(({ diagnostic }) => diagnostic);
  const own = [...ofGuards, ...diagnostics.filter((diagnostic) => diagnostic.address === address)];
  const others = [
    ...guards.filter((guard) => !isAbout(guard)).map(({ diagnostic }) => diagnostic),
    ...diagnostics.filter((diagnostic) => diagnostic.address !== address),
  ];
  return {
    own: own.filter(isError),
    others: others.filter(isError),
    warnings: own.filter((diagnostic) => !isError(diagnostic)),
  };
}

function wrote({ details = [] }: PastRun, address: Address, path: Path): boolean {
  const change = details.find((detail) => detail.address === address);
  return change?.fields.some((field) => overlaps(fromPointer(field.path), path)) === true;
}

function needsOf(input: ExplainInput, address: Address): readonly Neighbor[] {
  const { spec, state, plan } = input;
  const resource = spec.resources.get(address);
  const needs = resource?.dependsOn ?? state.records.get(address)?.depends_on ?? [];
  return needs.map((need) => ({
    address: need,
    action: changeOf(plan, need)?.action,
    fields: referencesTo(input, address, need),
  }));
}

/** Declared resources, and recorded ones that are no longer declared. */
function dependentsOf(input: ExplainInput, address: Address): readonly Neighbor[] {
  const { spec, state, plan } = input;
  const declared = [...spec.resources.values()].filter(({ dependsOn }) => dependsOn.includes(address));
  const recorded = [...state.records.values()].filter(
    (record) => record.depends_on.includes(address) && !spec.resources.has(record.address),
  );
  const addresses = [...declared, ...recorded].map((dependent) => dependent.address).sort();
  return addresses.map((dependent) => ({
    address: dependent,
    action: changeOf(plan, dependent)?.action,
    fields: referencesTo(input, dependent, address),
  }));
}

function referencesTo({ spec }: ExplainInput, from: Address, to: Address): readonly Path[] {
  const references = spec.resources.get(from)?.references ?? [];
  const paths = references
    .filter(({ parts }) => parts.some((part) => typeof part !== "string" && part.address === to))
    .map(({ path }) => path);
  return [...new Map(paths.map((path) => [toPointer(path), path])).values()];
}
