// Reads the folder of a state: state.json and the journal that goes on from it, each checked against the other.

import { type Diagnostic, error, Failure, warning } from "../../core/diagnostic.ts";
import { emptyState, fold } from "../fold.ts";
import { corrupt } from "../format.ts";
import { type Journal, readJournal } from "../lines.ts";
import type { FileSystem } from "../ports.ts";
import type { State } from "../record.ts";
import { readSnapshot, type Snapshot } from "../snapshot.ts";
import { inFolder, ioFailure } from "./durable.ts";

export const STATE_FILE = "state.json";
export const JOURNAL_FILE = "journal.jsonl";

/** What the folder holds. */
export interface OnDisk {
  /** With the journal folded in. */
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

/** A reader without the lock may look while another run puts new files in place; then it looks again. */
const ATTEMPTS = 5;

/** Undefined when the folder holds no state. */
export async function loadFolder(fs: FileSystem, folder: string): Promise<OnDisk | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { bytes, snapshot, journal } = await readBoth(fs, folder);
      if (snapshot === undefined && journal === undefined) return undefined;
      return together(snapshot, journal, bytes);
    } catch (failure) {
      if (attempt === ATTEMPTS || !(failure instanceof Failure))
        throw ioFailure(failure, "reading the state");
    }
  }
}

async function readBoth(fs: FileSystem, folder: string) {
  const state = await fs.read(inFolder(folder, STATE_FILE));
  const journal = await fs.read(inFolder(folder, JOURNAL_FILE));
  return {
    bytes: journal?.length ?? 0,
    snapshot: state === undefined ? undefined : readSnapshot(state, STATE_FILE),
    journal: journal === undefined ? undefined : readJournal(journal, JOURNAL_FILE),
  };
}

function together(snapshot: Snapshot | undefined, journal: Journal | undefined, bytes: number): OnDisk {
  if (journal === undefined) throw corrupt(JOURNAL_FILE, 0, `it is missing beside ${STATE_FILE}`);
  const { begin } = journal;
  if (snapshot !== undefined && begin.lineage !== snapshot.state.lineage) throw otherLineage();
  const diagnostics = journal.dropped === 0 ? [] : [cutOff(journal, bytes)];
  const common = { snapshot, head: journal.head, fence: begin.fence, diagnostics };
  if (begin.state === (snapshot?.digest ?? "")) {
    const base = snapshot?.state ?? emptyState(begin.lineage);
    const seq = begin.seq + journal.entries.length;
    const unfolded = journal.entries.length > 0;
    return { ...common, state: fold(base, journal.entries), seq, unfolded };
  }
  // A crash between the two renames of a publication: the journal is the one that the state already contains.
  if (snapshot !== undefined && snapshot.folded === journal.head)
    return { ...common, state: snapshot.state, seq: snapshot.seq, unfolded: false };
  throw mismatch(snapshot, journal);
}

function otherLineage(): Failure {
  return new Failure(
    error("STATE_LINEAGE", `${STATE_FILE} and ${JOURNAL_FILE} come from different states`, {
      hint: "put back the two files that belong together",
    }),
  );
}

function mismatch(snapshot: Snapshot | undefined, journal: Journal): Failure {
  if (snapshot === undefined) return corrupt(STATE_FILE, 0, `it is missing beside ${JOURNAL_FILE}`);
  const { serial } = snapshot.state;
  return corrupt(
    STATE_FILE,
    0,
    `it is serial ${serial}, and ${JOURNAL_FILE} goes on from serial ${journal.begin.serial}`,
  );
}

function cutOff(journal: Journal, bytes: number): Diagnostic {
  const message = `the last line of ${JOURNAL_FILE} was not finished (${journal.dropped} bytes at byte ${bytes - journal.dropped}) and does not count`;
  return warning("STATE_CORRUPT", message, {
    hint: "a run died while it wrote; nothing was sent for that line",
  });
}
