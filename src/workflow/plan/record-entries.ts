// Entries of the spec about records: how they apply to a state (`moved`: `engine/recover/move-records`), and which have no effect any longer.

import { existsSync } from "node:fs";
import { type Address, kindOf, nameOf, remoteId } from "../../core/address.ts";
import { type Diagnostic, Failure, hasErrors, type Location, warning } from "../../core/diagnostic.ts";
import { listed, shellWord } from "../../core/sentences.ts";
import { MovePaths, moveRecords } from "../../engine/recover/move-records.ts";
import { type ComparedDrift, pendingMoves } from "../../planner/diff/known-drift.ts";
import { stateExists } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { addressesOf } from "../../resource/names.ts";
import type { Spec, StateEntries } from "../../spec/model/spec.ts";
import type { JournalEntry, State, StateRecord } from "../../state/model/record.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { withState } from "../session/open-state.ts";
import { checkSpec } from "../session/read-spec.ts";

/** All entries but the moves of resources that the plan leaves out. */
export function entriesWithoutOtherMoves(
  entries: readonly JournalEntry[],
  plan: Pick<Plan, "changes">,
): readonly JournalEntry[] {
  const planned = new Set(plan.changes.map(({ address }) => address));
  return entries.filter((entry) => entry.type !== "moved" || planned.has(entry.to));
}

/** The moves that the state does not have yet; none if the spec has errors, because nothing depends on it then. */
export async function movesOfSpec(invocation: Invocation, state: State): Promise<ComparedDrift["moves"]> {
  try {
    const { spec } = await checkSpec(invocation);
    if (spec === undefined) return new Map();
    const { moved = [], removed } = spec.stateEntries ?? {};
    const rules = { registry, declared: spec.resources, removed };
    return pendingMoves(moveRecords(moved, { state, entries: [], diagnostics: [] }, rules).entries);
  } catch (problem) {
    if (problem instanceof Failure) return new Map();
    throw problem;
  }
}

/** The spec without imports: an untrusted spec does not choose which objects are read. */
export function withoutImports(spec: Spec): Spec {
  const { stateEntries } = spec;
  return stateEntries === undefined ? spec : { ...spec, stateEntries: { ...stateEntries, imports: [] } };
}

/** Says which resources to import the plan shows as created, because it does not read unmanaged objects. */
export function importNotes(
  { stateEntries }: Spec,
  { records }: Pick<State, "records">,
): readonly Diagnostic[] {
  const pending = (stateEntries?.imports ?? []).filter(({ to }) => !records.has(to));
  const [first] = pending;
  if (first === undefined) return [];
  const which = listed(pending.map(({ to }) => to));
  const message = `the plan does not read unmanaged objects, so it creates what would be imported: ${which}`;
  return [
    warning("PLAN_MODE", message, { at: first.at, hint: "a plan that reads unmanaged objects imports them" }),
  ];
}

/** The state with an empty record for each resource to import that has none. For reading only. */
export function withImports(state: State, entries: StateEntries | undefined): State {
  const missing = (entries?.imports ?? []).filter(({ to }) => !state.records.has(to));
  if (missing.length === 0) return state;
  const records = new Map(state.records);
  for (const { to, id } of missing) records.set(to, emptyRecord(to, id, nameOf(to)));
  return { ...state, records };
}

/** The record of an object of which only the ID is known. */
export function emptyRecord(
  address: Address,
  id: string,
  name: string,
  depends_on: readonly Address[] = [],
): StateRecord {
  return { status: "ready", address, id: remoteId(id), name, applied: {}, seen: {}, depends_on };
}

/** The state of a target; absent if it does not exist on this machine, or cannot be read. */
interface TargetState {
  readonly target: string | undefined;
  readonly state?: State;
  /** Why it could not be read. */
  readonly unread?: readonly Diagnostic[];
}

type Records = Pick<State, "records">;

interface Entry {
  readonly what: string;
  readonly at: Location;
  isDone(state: Records): boolean;
  /** Why the entry is done, though it did not do what it says. */
  conflict?(state: Records): Pick<Diagnostic, "message" | "hint"> | undefined;
}

/** Reads the states of all targets, wherever they are, if the spec has entries. A state that cannot be read is a warning. */
export async function doneEntries(invocation: Invocation, spec: Spec): Promise<readonly Diagnostic[]> {
  if (spec.stateEntries === undefined) return [];
  const states = await Promise.all(
    targetsToCheck(invocation, spec).map((target) => readState(invocation, target)),
  );
  const entries = entriesOf(spec);
  return masked(spec, [
    ...states.flatMap((state) => unreadState(state, entries)),
    ...entries.flatMap((entry) => doneIn(entry, states) ?? []),
  ]);
}

/** A sensitive value can be a part of an entry. */
function masked({ sensitive }: Spec, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return sensitive?.maskedMessages(diagnostics) ?? diagnostics;
}

export function entriesDoneIn(spec: Spec, state: Records): readonly Diagnostic[] {
  const { target } = spec;
  const where = target === undefined ? "" : ` in ${target.name}`;
  const hint =
    target === undefined ? "remove the entry" : "remove the entry after it was applied in every target";
  const done = entriesOf(spec)
    .filter(({ isDone }) => isDone(state))
    .map(
      (entry) =>
        conflictIn(entry, [state]) ??
        warning("SPEC_STATE_ENTRY", `${entry.what} was already applied${where}`, { at: entry.at, hint }),
    );
  return masked(spec, done);
}

/** Every target; one state for all of them is that of the selected one. */
function targetsToCheck(invocation: Invocation, { target }: Spec): readonly (string | undefined)[] {
  const { names } = invocation.target();
  return names.length === 0 ? [target?.name] : names;
}

/** A state in the workspace that did not answer in this time counts as unreachable; PostgreSQL has its own time limit. */
const TIMEOUT_MS = 10_000;

async function readState(invocation: Invocation, target: string | undefined): Promise<TargetState> {
  const isShared = invocation.namedStates.length > 0;
  if (isShared && target !== invocation.target().settings?.name) return { target };
  const ofTarget = target === undefined ? invocation : invocation.with({ target });
  const { folder } = ofTarget.stateLocation();
  if (folder !== undefined && !existsSync(folder)) return { target };
  const ends = [
    AbortSignal.timeout(TIMEOUT_MS),
    ...(invocation.abandoned === undefined ? [] : [invocation.abandoned]),
  ];
  try {
    const { state, diagnostics } = await withState(
      { ...ofTarget, abandoned: AbortSignal.any(ends) },
      (store) => store.read(),
    );
    if (hasErrors(diagnostics)) return { target, unread: diagnostics };
    return stateExists(state) ? { target, state } : { target };
  } catch (problem) {
    if (problem instanceof Failure) return { target, unread: problem.diagnostics };
    throw problem;
  }
}

/** Of a state that could not be read it is unknown what was applied; that does not make the spec invalid. */
function unreadState({ target, unread = [] }: TargetState, [first]: readonly Entry[]): readonly Diagnostic[] {
  const [reason] = unread;
  if (reason === undefined || first === undefined) return [];
  const whose = target === undefined ? "the state" : `the state of ${target}`;
  return [
    warning("SPEC_STATE_ENTRY", `${whose} could not be read, so it is unknown which entries it still needs`, {
      at: first.at,
      cause: `${reason.code}: ${reason.message}`,
      hint: "keep the entries, or run `workspace validate` where the state can be read",
    }),
  ];
}

function entriesOf({ stateEntries, resources }: Spec): readonly Entry[] {
  const { moved = [], removed = [], imports = [] } = stateEntries ?? {};
  const rules = { registry, declared: resources };
  const followed = new Map<Records["records"], FollowedMoves>();
  const follow = ({ records }: Records): FollowedMoves => {
    const followedMoves = followed.get(records) ?? followMoves(records, new MovePaths(moved, rules));
    followed.set(records, followedMoves);
    return followedMoves;
  };
  return [
    ...moved.map((move) => ({
      what: `the entry that moves ${move.from} to ${move.to}`,
      at: move.at,
      isDone: (state: Records) => !follow(state).used.has(move),
    })),
    ...removed.map(({ address, at }) => ({
      what: `the entry that removes ${address}`,
      at,
      isDone: (state: Records) => !follow(state).left.has(address),
    })),
    ...imports.map(({ to, id, at }) => ({
      what: `the entry that imports ${to}`,
      at,
      isDone: ({ records }: Records) => records.has(to),
      conflict: ({ records }: Records) => {
        const record = records.get(to);
        return record === undefined || record.id === remoteId(id)
          ? undefined
          : {
              message: `the entry imports ${id} as ${to}, which is another object in the state: ${record.id}`,
              hint: `remove the entry; to import ${id} instead, run \`workspace state rm ${shellWord(to)}\` first`,
            };
      },
    })),
  ];
}

/** An entry in a chain is needed until the record has passed it. */
interface FollowedMoves {
  readonly used: MovePaths["used"];
  /** Addresses of records after the moves, and of the modules around them. */
  readonly left: ReadonlySet<Address>;
}

function followMoves(records: Records["records"], paths: MovePaths): FollowedMoves {
  const left = new Set<Address>();
  for (const address of records.keys()) {
    const { to } = paths.follow(address);
    for (const address of addressesOf(registry.find(kindOf(to)), to)) left.add(address);
  }
  return { used: paths.used, left };
}

function conflictIn({ at, conflict }: Entry, states: readonly Records[]): Diagnostic | undefined {
  const [diagnostic] = states.flatMap((state) => conflict?.(state) ?? []);
  return diagnostic && warning("SPEC_STATE_ENTRY", diagnostic.message, { at, ...diagnostic });
}

/** Nothing is said of an entry that a target still needs. */
function doneIn(entry: Entry, states: readonly TargetState[]): Diagnostic | undefined {
  const checked = states.flatMap(({ state }) => state ?? []);
  if (checked.length === 0 || !checked.every((state) => entry.isDone(state))) return undefined;
  const conflict = states.length === 1 ? conflictIn(entry, checked) : undefined;
  if (conflict !== undefined) return conflict;
  const namesOf = (isChecked: boolean): string =>
    listed(
      states
        .filter(({ state }) => (state !== undefined) === isChecked)
        .map(({ target = "the state" }) => target),
    );
  const isAll = checked.length === states.length;
  const isOnlyState = states.length === 1 && states[0]?.target === undefined;
  const where = isOnlyState ? "" : ` in ${isAll ? "every target" : namesOf(true)}`;
  return warning("SPEC_STATE_ENTRY", `${entry.what} was already applied${where}`, {
    at: entry.at,
    hint: isAll
      ? "remove the entry"
      : `remove the entry after it was also applied in ${namesOf(false)}, whose state was not read`,
  });
}
