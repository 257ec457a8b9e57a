// Moves the records of `moved` entries to their new addresses, as entries of the journal.

import { type Address, addressOf, isInModule, kindOf, nameOf } from "../../core/address.ts";
import { type Diagnostic, error, type Location } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { addressesOf } from "../../resource/names.ts";
import { withEntries } from "../../state/format/fold.ts";
import type { JournalEntry, State } from "../../state/model/record.ts";
import type { Recovered } from "./recover.ts";

/** An entry of `moved`; both addresses may be of modules. */
export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly at: Location;
}

interface MoveRules {
  readonly registry: KindRegistry;
  readonly declared: { has(address: Address): boolean };
  /** Of `removed` entries: their records stay where they are. */
  readonly removed?: readonly { readonly address: Address }[];
}

/** The last address of a path, and the first entry on it; without an entry, the path ends where it begins. */
interface PathEnd {
  readonly to: Address;
  readonly first?: Move;
}

interface Step {
  readonly move: Move;
  readonly from: Address;
  readonly to: Address;
}

export class MovePaths {
  readonly #byFrom: ReadonlyMap<Address, Move>;
  readonly #rules: MoveRules;
  /** The ends of paths that were followed, so that the addresses of a long chain are followed once. */
  readonly #ends = new Map<Address, PathEnd>();
  readonly #used = new Set<Move>();

  constructor(moves: readonly Move[], rules: MoveRules) {
    this.#byFrom = new Map(moves.map((move) => [move.from, move]));
    this.#rules = rules;
  }

  /** The entries on the paths that were followed. */
  get used(): ReadonlySet<Move> {
    return this.#used;
  }

  follow(from: Address): PathEnd {
    const steps: Step[] = [];
    const passed = new Set<Move>();
    let to = from;
    let unsure: number | undefined;
    for (;;) {
      const pathEnd = this.#ends.get(to);
      if (pathEnd !== undefined) {
        if (steps.length === 0) return pathEnd;
        to = pathEnd.to;
        break;
      }
      const step = this.#stepFrom(to);
      if (step === undefined || passed.has(step.move)) break;
      if (isNested(step.move)) unsure ??= steps.length;
      passed.add(step.move);
      steps.push(step);
      to = step.to;
    }
    // `team/ads/shared` may be the resource of an instance, or that of a module in the module.
    if (unsure !== undefined && !this.#rules.declared.has(to)) {
      steps.length = unsure;
      to = steps.at(-1)?.to ?? from;
    }
    for (const { move } of steps) this.#used.add(move);
    if (unsure === undefined) for (const step of steps) this.#ends.set(step.from, { to, first: step.move });
    return { to, first: steps[0]?.move };
  }

  /** The entry of an address itself, or else of the innermost module that contains it. */
  #stepFrom(address: Address): Step | undefined {
    const { registry, declared } = this.#rules;
    for (const ownerAddress of addressesOf(registry.find(kindOf(address)), address)) {
      const move = this.#byFrom.get(ownerAddress);
      if (move === undefined || (isNested(move) && declared.has(address))) continue;
      const rest = nameOf(address).slice(nameOf(ownerAddress).length);
      return { move, from: address, to: addressOf(kindOf(address), `${nameOf(move.to)}${rest}`) };
    }
    return undefined;
  }
}

/** Whether one module of an entry is inside the other: `modules.team` to `modules.team/ads`. */
function isNested({ from, to }: Move): boolean {
  return isInModule(from, to) || isInModule(to, from);
}

export interface RecoveredAndMoved extends Recovered {
  /** Absent if nothing is moved. */
  readonly moved?: {
    readonly origins: ReadonlyMap<Address, Address>;
    /** New addresses of records that move back without an entry. */
    readonly back: ReadonlySet<Address>;
    readonly before: State;
  };
}

/**
 * A move that was applied before, or whose resource is not in the state, has no effect. A record whose address is not declared, but an
 * earlier one of it, moves back: the spec is that of an older commit.
 */
export function moveRecords(
  moves: readonly Move[],
  recovered: Recovered,
  rules: MoveRules,
): RecoveredAndMoved {
  const before = recovered.state;
  const diagnostics: Diagnostic[] = [];
  const origins = new Map<Address, Address>();
  const paths = new MovePaths(moves, rules);
  for (const from of moves.length === 0 ? [] : [...before.records.keys()].sort()) {
    const { to, first } = paths.follow(from);
    if (to === from) continue;
    const problem = problemOf(before, from, to, origins.get(to));
    if (problem === undefined) origins.set(to, from);
    else
      diagnostics.push(
        error("PLAN_STATE_ENTRY", problem, {
          address: to,
          at: first?.at,
          hint: `to keep one of the records, run \`workspace state rm ${shellWord(from)}\``,
        }),
      );
  }
  const back = new Set<Address>();
  for (const [to, from] of movesBack(before, origins, rules)) {
    if (problemOf(before, from, to, undefined) !== undefined) continue;
    origins.set(to, from);
    back.add(to);
  }
  const late = lateMoves(before, paths);
  if (origins.size === 0 && late.length === 0)
    return diagnostics.length === 0
      ? recovered
      : { ...recovered, diagnostics: [...recovered.diagnostics, ...diagnostics] };
  const entries = [...[...origins].map(([to, from]): JournalEntry => ({ type: "moved", from, to })), ...late];
  return {
    state: withEntries(before, entries),
    entries: [...recovered.entries, ...entries],
    diagnostics: [...recovered.diagnostics, ...diagnostics],
    moved: { origins, back, before },
  };
}

/** A creation whose object may still appear moves with the entry, also without a record: the object then belongs to the new address. */
function lateMoves({ records, sweeps, open }: State, paths: MovePaths): readonly JournalEntry[] {
  const pending = new Set([...sweeps, ...open].map(({ address }) => address));
  return [...pending].flatMap((from): readonly JournalEntry[] => {
    const { to } = paths.follow(from);
    return to === from || records.has(from) ? [] : [{ type: "moved", from, to }];
  });
}

/** By the declared address, the one of the record. */
function movesBack(
  { records }: State,
  origins: ReadonlyMap<Address, Address>,
  { declared, removed = [] }: MoveRules,
): ReadonlyMap<Address, Address> {
  const moving = new Set([...origins.values(), ...removed.map(({ address }) => address)]);
  const back = new Map<Address, Address>();
  for (const { address, former } of records.values()) {
    if (former === undefined || declared.has(address) || moving.has(address)) continue;
    const to = former.findLast((earlier) => declared.has(earlier));
    if (to !== undefined && !records.has(to) && !origins.has(to) && !back.has(to)) back.set(to, address);
  }
  return back;
}

function problemOf(state: State, from: Address, to: Address, other: Address | undefined): string | undefined {
  if (state.records.has(to)) return `${from} cannot be moved to ${to}, because the state records both`;
  if (other !== undefined) return `${from} and ${other} cannot both be moved to ${to}`;
  if (state.open.some(({ address }) => address === from || address === to))
    return `${from} cannot be moved to ${to} while an interrupted change of it is unresolved`;
  return undefined;
}
