// Applies `moved` entries to records: the resulting state, and the journal entries that produce it. Pure.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import { add, draftOf, stateOf } from "../../state/format/fold.ts";
import type { JournalEntry } from "../../state/model/journal-entry.ts";
import type { State } from "../../state/model/record.ts";
import { type Move, MovePaths, type MoveRules } from "./move-paths.ts";
import type { Recovered } from "./recover.ts";

export interface RecoveredAndMoved extends Recovered {
  /** Absent if nothing is moved. */
  readonly moved?: { readonly origins: ReadonlyMap<Address, Address>; readonly before: State };
}

/** A move that was applied before, or whose resource is not in the state, has no effect. */
export function moveRecords(
  moves: readonly Move[],
  recovered: Recovered,
  rules: MoveRules,
): RecoveredAndMoved {
  const before = recovered.state;
  if (moves.length === 0) return recovered;
  const diagnostics: Diagnostic[] = [];
  const origins = new Map<Address, Address>();
  const paths = new MovePaths(moves, rules);
  for (const from of [...before.records.keys()].sort()) {
    const { to, first } = paths.follow(from);
    if (to === from) continue;
    const problem = problemOf(before, from, to, origins.get(to));
    if (problem === undefined) origins.set(to, from);
    else
      diagnostics.push(
        error("PLAN_STATE_ENTRY", problem, {
          address: to,
          ...(first === undefined ? {} : { at: first.at }),
          hint: `to keep one of the records, run \`workspace state rm ${shellWord(from)}\``,
        }),
      );
  }
  if (origins.size === 0) return { ...recovered, diagnostics: [...recovered.diagnostics, ...diagnostics] };
  const entries = [...origins].map(([to, from]): JournalEntry => ({ type: "moved", from, to }));
  const draft = draftOf(before);
  for (const entry of entries) add(draft, { seq: 0, at: 0, entry });
  return {
    state: stateOf(draft),
    entries: [...recovered.entries, ...entries],
    diagnostics: [...recovered.diagnostics, ...diagnostics],
    moved: { origins, before },
  };
}

function problemOf(state: State, from: Address, to: Address, other: Address | undefined): string | undefined {
  if (state.records.has(to)) return `${from} cannot be moved to ${to}, because the state records both`;
  if (other !== undefined) return `${from} and ${other} cannot both be moved to ${to}`;
  if (state.open.some(({ address }) => address === from || address === to))
    return `${from} cannot be moved to ${to} while an interrupted change of it is unresolved`;
  return undefined;
}
