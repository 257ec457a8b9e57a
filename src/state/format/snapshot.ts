// Reads and writes the text of state.json, and verifies its digest. Older formats differ only in their digests, which the next apply replaces.

import type { Address } from "../../core/address.ts";
import { Failure, failureOf, thrownText } from "../../core/diagnostic.ts";
import { startDigest } from "../../core/digest.ts";
import { JsonTooDeep, parseJson, stringifyJson } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { utf8Text } from "../../core/utf8.ts";
import { assertStateSize, corrupt, FORMAT_VERSION, newerFormat } from "../model/backend.ts";
import { type State, type StateRecord, sortedRecords } from "../model/record.ts";
import {
  decodeAcknowledgement,
  decodeOpen,
  decodeRecord,
  decodeReported,
  decodeRun,
  decodeSweep,
  InvalidShape,
  type Shape,
  shapeOf,
} from "./decode.ts";

export interface Snapshot extends SnapshotContent {
  readonly digest: string;
}

const FIRST_LINE = /^\{"format_version":(\d{1,9}),"digest":"([0-9a-f]{64})",$/;

/** Reads state.json; returns `snapshot` if that is what the bytes hold. Throws STATE_CORRUPT when a byte of it is not what was written, STATE_FORMAT when it is from a newer version. */
export function readSnapshot(bytes: Uint8Array, file: string, snapshot?: Snapshot): Snapshot {
  assertStateSize(file, bytes.length);
  const end = bytes.indexOf(NEWLINE);
  const first = textOf(bytes.subarray(0, Math.max(0, end)), file);
  const [, version, digest] = FIRST_LINE.exec(first) ?? [];
  if (version === undefined || digest === undefined)
    throw corrupt(file, 0, "its first line is not the first line of a state");
  if (Number(version) > FORMAT_VERSION) throw newerFormat(file, Number(version));
  const body = bytes.subarray(end + 1);
  if (digestOf(Number(version), [body]) !== digest)
    throw corrupt(file, end + 1, `checksum mismatch (${bytes.length} bytes)`);
  if (snapshot?.digest === digest && Number(version) === FORMAT_VERSION) return snapshot;
  return decoded(body, digest, file);
}

const NEWLINE = 10;

function textOf(bytes: Uint8Array, file: string): string {
  const text = utf8Text(bytes, "kept");
  if (text === undefined) throw corrupt(file, 0, "it is not UTF-8 text");
  return text;
}

/** The lines of a snapshot. It is decoded in pieces, so that it is never held whole as a string. */
function* linesOf(bytes: Uint8Array, file: string): Generator<string> {
  for (let start = 0; start < bytes.length; ) {
    const enough = bytes.indexOf(NEWLINE, start + PIECE);
    const end = enough < 0 ? bytes.length : enough + 1;
    yield* textOf(bytes.subarray(start, end), file).replace(/\n$/, "").split("\n");
    start = end;
  }
}

/** The digest detects damage, not tampering: anyone who can write a state can compute its digest. */
function decoded(body: Uint8Array, digest: string, file: string): Snapshot {
  try {
    const lines = linesOf(body, file);
    const head = String(lines.next().value ?? "");
    if (lines.next().value !== RECORDS)
      throw corrupt(file, head.length, "its records are not in the expected position");
    const members = parseJson(`{${head.slice(0, -1)}}`) as JsonObject;
    const from = shapeOf(members, "state");
    return {
      state: stateWith(from, recordsIn(lines)),
      seq: from.number("seq"),
      folded: from.text("folded"),
      key: from.text("key"),
      ...(from.has("digest_key") ? { digestKey: from.text("digest_key") } : {}),
      digest,
    };
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    if (problem instanceof SyntaxError && !(problem instanceof JsonTooDeep))
      throw corrupt(file, 0, "it is not JSON");
    throw corrupt(file, 0, thrownText(problem));
  }
}

/** Parses line by line, so that only one parsed line is in memory; only lines with long runs of digits pay for exact numbers. */
function* recordsIn(lines: Iterable<string>): Generator<Shape> {
  let at = 0;
  for (const line of lines)
    if (line.startsWith("{")) {
      const value = parseJson(line.endsWith(",") ? line.slice(0, -1) : line);
      yield shapeOf(value, `state.records[${at++}]`);
    }
}

/** A state among the members of what was parsed. Throws InvalidShape. */
function stateIn(from: Shape): State {
  return stateWith(from, from.objects("records"));
}

function stateWith(from: Shape, shapes: Iterable<Shape>): State {
  const records = new Map<Address, StateRecord>();
  let before: StateRecord | undefined;
  for (const shape of shapes) {
    before = decodeRecord(shape, before);
    records.set(before.address, before);
  }
  const caller = from.value.caller === null ? undefined : from.object("caller");
  return {
    lineage: from.text("lineage"),
    serial: from.number("serial"),
    host: from.text("host"),
    records,
    sweeps: from.objects("sweeps").map(decodeSweep),
    open: from.objects("open").map(decodeOpen),
    nonces: from.texts("nonces"),
    ...(from.has("history") ? { history: from.objects("history").map(decodeRun) } : {}),
    ...(caller && { caller: { name: caller.text("name"), credential: caller.text("credential") } }),
    ...(from.has("reported") ? { reported: from.objects("reported").map(decodeReported) } : {}),
    ...(from.has("acknowledged")
      ? { acknowledged: from.objects("acknowledged").map(decodeAcknowledgement) }
      : {}),
    ...(from.has("moved") ? { moved: from.text("moved") } : {}),
    ...(from.has("moving_above") ? { movingAbove: from.number("moving_above") } : {}),
  };
}

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
const RECORDS = '"records":[';
/** Characters, or bytes, of a state that are in memory at once. */
const PIECE = 1 << 18;

/** The text of state.json in pieces, so that it is never held whole: the digest of all of them is part of the first. */
export function snapshotText(from: SnapshotContent): {
  readonly text: Iterable<string>;
  readonly digest: string;
} {
  const body = bodyOf(from);
  const digest = digestOf(FORMAT_VERSION, inPieces(body));
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
function lastMembers(state: State) {
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
function digestOf(version: number, body: Iterable<string | Uint8Array>): string {
  const running = startDigest();
  running.add(`${version}\n`);
  for (const piece of body) running.add(piece);
  return running.end();
}

interface PortableState {
  readonly state: State;
  /** Check of the key that made its digests of secrets; empty where it holds none. */
  readonly key: string;
}

export function stateToJson({ state, key }: PortableState): string {
  const { lineage, serial, host } = state;
  const head = { format_version: FORMAT_VERSION, lineage, serial, host, key };
  const all = { ...head, ...lastMembers(state), records: sortedRecords(state) };
  return `${stringifyJson(all, 2)}\n`;
}

/** Throws STATE_CORRUPT with what is wrong, STATE_FORMAT for JSON of a newer version. */
export function stateFromJson(text: string, file: string): PortableState {
  try {
    const from = shapeOf(parsed(text), "state");
    const version = from.number("format_version");
    if (version > FORMAT_VERSION) throw newerFormat(file, version);
    const state = stateIn(from);
    const records = from.objects("records");
    if (records.length !== state.records.size) throw new InvalidShape("duplicate address in records");
    return { state, key: from.text("key") };
  } catch (failure) {
    if (failure instanceof Failure) throw failure;
    throw notAState(file, thrownText(failure));
  }
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (problem) {
    throw new InvalidShape(problem instanceof JsonTooDeep ? problem.message : "the text is not JSON");
  }
}

function notAState(file: string, what: string): Failure {
  return failureOf("STATE_CORRUPT", `${file} does not contain a state: ${what}`, {
    hint: "pass a file that `workspace state pull` wrote",
  });
}
