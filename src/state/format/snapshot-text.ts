// Writes the text of state.json: readable JSON, one record per line, with a digest of every byte.

import { startDigest } from "../../core/digest.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import { FORMAT_VERSION } from "../model/failures.ts";
import { type State, sortedRecords } from "../model/record.ts";

/** A state with its links to its journal and its key. */
export interface SnapshotContent {
  readonly state: State;
  /** Number of the last journal entry in it. */
  readonly seq: number;
  /** Head of the journal that was folded into it. */
  readonly folded: string;
  /** Identifies the key of the digests of secrets; empty if there are none. */
  readonly key: string;
  /** That key itself, in hex: only in an encrypted state, where it survives a change of the encryption key. */
  readonly digestKey?: string;
}

/** The line before the records. */
export const RECORDS = '"records":[';
/** Characters, or bytes, of a state that are in memory at once. */
export const PIECE = 1 << 18;

/** The text of state.json in pieces, so that it is never held whole: the digest of all of them is part of the first. */
export function snapshotText(from: SnapshotContent): {
  readonly text: Iterable<string>;
  readonly digest: string;
} {
  const body = bodyOf(from);
  const digest = sumOf(FORMAT_VERSION, inPieces(body));
  return {
    digest,
    text: inPieces(function* () {
      yield `{"format_version":${FORMAT_VERSION},"digest":"${digest}",\n`;
      yield* body();
    }),
  };
}

function bodyOf(from: SnapshotContent): () => Generator<string> {
  const { state } = from;
  const head = {
    lineage: state.lineage,
    serial: state.serial,
    host: state.host,
    seq: from.seq,
    folded: from.folded,
    key: from.key,
    digest_key: from.digestKey,
    moved: state.moved,
    moving_above: state.movingAbove,
    ...lastMembers(state),
  };
  const records = sortedRecords(state);
  return function* () {
    yield `${stringifyJson(head).slice(1, -1)},\n${RECORDS}\n`;
    for (const [at, record] of records.entries()) yield `${at === 0 ? "" : ",\n"}${stringifyJson(record)}`;
    yield "\n]}\n";
  };
}

/** The members before the records. Undefined ones are not written. */
export function lastMembers(state: State) {
  const { caller = null, nonces, open, sweeps, reported, acknowledged, history } = state;
  return { caller, nonces, open, sweeps, reported, acknowledged, history };
}

/** The same text, in pieces that are worth a write each. It is made again for each use. */
function inPieces(parts: () => Iterable<string>): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      let piece = "";
      for (const part of parts()) {
        piece += part;
        if (piece.length < PIECE) continue;
        yield piece;
        piece = "";
      }
      yield piece;
    },
  };
}

/** Covers every byte behind the first line. */
export function sumOf(version: number, body: Iterable<string | Uint8Array>): string {
  const sum = startDigest();
  sum.add(`${version}\n`);
  for (const piece of body) sum.add(piece);
  return sum.end();
}
