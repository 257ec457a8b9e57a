// Loads a state: the folded part and the journal that continues it, each checked against the other.

import { type Diagnostic, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import type { Cipher } from "../format/encryption.ts";
import { emptyState, fold } from "../format/fold.ts";
import { Journal } from "../format/journal.ts";
import { readSnapshot, type Snapshot } from "../format/snapshot.ts";
import {
  allMissing,
  type BackendNames,
  corrupt,
  ioFailure,
  type StateBackend,
  type StoredText,
} from "../model/backend.ts";
import type { State } from "../model/record.ts";

export interface LoadedState {
  readonly state: State;
  readonly snapshot: Snapshot | undefined;
  /** Number of the last entry, in the snapshot or the journal. */
  readonly seq: number;
  /** Head of the journal; empty when there is none. */
  readonly head: string;
  /** The greatest fence that the state has seen. */
  readonly fence: number;
  /** Whether the journal holds entries that the snapshot lacks. */
  readonly unfolded: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** A reader without the lock may read while another run writes new parts; then it reads again. */
const ATTEMPTS = 5;
const MAY_BE_BETWEEN: ReadonlySet<string> = new Set(["STATE_CORRUPT", "STATE_LINEAGE", "STATE_KEY"]);

export async function loadFrom(backend: StateBackend, cipher: Cipher): Promise<LoadedState | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      // Read first: entries that were durable at that time must be in the journal.
      const last = await lastDurable(backend);
      const { state, journal } = await backend.load();
      if (state === undefined && journal === undefined) {
        if (last > 0) throw allMissing(backend.names);
        return undefined;
      }
      const loadedState = together(
        backend.names,
        state === undefined ? undefined : snapshotIn(state, cipher),
        journal === undefined ? undefined : journalIn(journal, cipher),
      );
      return loadedState.seq >= last
        ? loadedState
        : { ...loadedState, diagnostics: [shortened(backend.names, loadedState.seq, last)] };
    } catch (failure) {
      if (attempt === ATTEMPTS || !isBetween(failure))
        throw ioFailure(await withPossibleHint(failure, backend), "reading the state");
    }
  }
}

/** A damaged state is restored from an earlier version only where one is kept. */
async function withPossibleHint(failure: unknown, backend: StateBackend): Promise<unknown> {
  if (!(failure instanceof Failure)) return failure;
  const isDamage = ({ code }: Diagnostic): boolean => code === "STATE_CORRUPT";
  if (!failure.diagnostics.some(isDamage)) return failure;
  const kept = await backend.generations().catch(() => undefined);
  if (kept?.length !== 0) return failure;
  return new Failure(
    ...failure.diagnostics.map((diagnostic) =>
      isDamage(diagnostic) ? { ...diagnostic, hint: NO_VERSION } : diagnostic,
    ),
  );
}

const NO_VERSION =
  "no earlier version is kept; to recover the state, see docs/state.md#recover-from-a-missing-state";

async function lastDurable(backend: StateBackend): Promise<number> {
  const latest = await backend.latestClaim();
  return latest !== undefined && "claim" in latest ? (latest.claim.seq ?? 0) : 0;
}

function isBetween(failure: unknown): boolean {
  return failure instanceof Failure && failure.diagnostics.every(({ code }) => MAY_BE_BETWEEN.has(code));
}

/** The last snapshot: a run reads its state several times, mostly unchanged, and decoding 10,000 records takes about 0.1 s. */
const opened = new WeakMap<Cipher, Snapshot>();

export function snapshotIn({ name, bytes }: StoredText, cipher: Cipher): Snapshot {
  const snapshot = readSnapshot(cipher.decrypt("state", "", bytes, name), name, opened.get(cipher));
  opened.set(cipher, snapshot);
  return snapshot;
}

interface NamedJournal {
  readonly name: string;
  readonly bytes: number;
  readonly journal: Journal;
}

function journalIn({ name, bytes }: StoredText, cipher: Cipher): NamedJournal {
  const open = (line: Uint8Array, previous: string, offset: number): Uint8Array =>
    cipher.decrypt("journal", previous, line, name, offset);
  return { name, bytes: bytes.length, journal: new Journal(bytes, name, open) };
}

function together(
  names: BackendNames,
  snapshot: Snapshot | undefined,
  namedJournal: NamedJournal | undefined,
): LoadedState {
  if (namedJournal === undefined) throw corrupt(names.journal, 0, `it is missing, but ${names.state} exists`);
  const { journal } = namedJournal;
  const { begin } = journal;
  if (snapshot !== undefined && begin.lineage !== snapshot.state.lineage) throw otherLineage(names);
  const continues = begin.state === (snapshot?.digest ?? "");
  const base = continues ? snapshot?.state : undefined;
  const state = fold(base ?? emptyState(begin.lineage), journal.entries());
  const diagnostics = journal.dropped === 0 ? [] : [cutOff(namedJournal)];
  const common = { snapshot, head: journal.head, fence: begin.fence, diagnostics };
  if (continues) return { ...common, state, seq: journal.seq, unfolded: journal.seq > begin.seq };
  // A crash between the two steps of a publication: the journal is the one that the state already contains.
  if (snapshot !== undefined && snapshot.folded === journal.head)
    return { ...common, state: snapshot.state, seq: snapshot.seq, unfolded: false };
  throw mismatch(names, snapshot, journal);
}

function otherLineage({ state, journal }: BackendNames): Failure {
  const hint = "restore the two files that belong together";
  return failureOf("STATE_LINEAGE", `${state} and ${journal} come from different states`, { hint });
}

function mismatch(names: BackendNames, snapshot: Snapshot | undefined, journal: Journal): Failure {
  if (snapshot === undefined) return corrupt(names.state, 0, `it is missing, but ${names.journal} exists`);
  const continues = `${names.journal} continues from serial ${journal.begin.serial}`;
  return corrupt(names.state, 0, `it is at serial ${snapshot.state.serial}, but ${continues}`);
}

function shortened({ journal }: BackendNames, seq: number, last: number): Diagnostic {
  const message = `${journal} ends with entry ${seq}, but a run had written entries up to ${last}`;
  const hint = "before you apply, check that the plan does not create objects that already exist";
  return warning("STATE_CORRUPT", message, { hint });
}

function cutOff({ name, bytes, journal }: NamedJournal): Diagnostic {
  const message = `the last line of ${name} is incomplete (${journal.dropped} bytes at byte ${bytes - journal.dropped}) and is ignored`;
  return warning("STATE_CORRUPT", message, {
    hint: "a run crashed during the write; no request was sent for that line",
  });
}
