// The text of a journal: one line of JSON for each entry, each carrying a digest of itself and of the line before it.

import { Failure, thrownText } from "../../core/diagnostic.ts";
import { digest } from "../../core/digest.ts";
import { JsonTooDeep, parseJson, stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { assertStateSize, corrupt, FORMAT_VERSION, newerFormat } from "../model/failures.ts";
import type { JournalEntry, NumberedEntry } from "../model/journal-entry.ts";
import { decodeEntry } from "./decode.ts";
import { type Shape, shapeOf } from "./shape.ts";

/** The first line of a journal: which state it continues. */
export interface Begin {
  readonly format_version: number;
  readonly lineage: string;
  /** Serial of the state that the entries add to, and the digest in its file; 0 and "" before there is one. */
  readonly serial: number;
  readonly state: string;
  readonly fence: number;
  /** Number of the last entry before this journal. */
  readonly seq: number;
}

export interface Journal {
  readonly begin: Begin;
  readonly entries: readonly NumberedEntry[];
  /** The digest in the last line. */
  readonly head: string;
  /** Bytes of an unfinished last line, which a crash leaves behind and which never counted. */
  readonly dropped: number;
}

const OPENING = '{"hash":"';
const HASH = /^[0-9a-f]{64}$/;
const HEAD_LENGTH = OPENING.length + 64 + 2;
const NEWLINE = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export interface Line {
  readonly text: string;
  readonly hash: string;
}

export function beginLine(begin: Begin): Line {
  return lineOf(begin.state, stringifyJson({ begin }));
}

export function entryLine(previous: string, one: NumberedEntry): Line {
  return lineOf(previous, stringifyJson({ seq: one.seq, at: one.at, entry: one.entry }));
}

/** `body` is an object's JSON; its digest is put in front of its members. */
function lineOf(previous: string, body: string): Line {
  const rest = body.slice(1);
  const hash = hashOf(previous, rest);
  return { hash, text: `${OPENING}${hash}",${rest}\n` };
}

function hashOf(previous: string, rest: string): string {
  return digest(`${previous}\n${rest}`);
}

/** Gives the plain text of a line that stands at an offset behind the line with the digest `previous`; "" before the first. */
export type OpenLine = (line: Uint8Array, previous: string, offset: number) => Uint8Array;

/** Reads a journal whole and checks its chain. Only an unfinished last line may be dropped; other damage throws STATE_CORRUPT. */
export function readJournal(bytes: Uint8Array, file: string, open: OpenLine = (line) => line): Journal {
  assertStateSize(file, bytes.length);
  const first = bytes.indexOf(NEWLINE);
  if (first < 0) throw corrupt(file, 0, "its first line is not complete");
  const begin = readBegin(open(bytes.subarray(0, first), "", 0), file);
  const entries: NumberedEntry[] = [];
  let { hash } = begin;
  const take = (line: Read, start: number): void => {
    const one = numbered(line.body, file, start);
    const seq = begin.begin.seq + entries.length + 1;
    if (one.seq !== seq) throw corrupt(file, start, `expected entry ${seq}, found entry ${one.seq}`);
    entries.push(one);
    ({ hash } = line);
  };
  let start = first + 1;
  for (let end = bytes.indexOf(NEWLINE, start); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    take(readLine(open(bytes.subarray(start, end), hash, start), hash, file, start), start);
    start = end + 1;
  }
  const tail = bytes.subarray(start);
  const whole = wholeLine(tail, hash, open);
  if (whole !== undefined) take(readLine(whole, hash, file, start), start);
  else if (wholeLine(tail.subarray(0, -1), hash, open) !== undefined)
    throw corrupt(file, bytes.length - 1, "its last line ends unexpectedly");
  return { begin: begin.begin, entries, head: hash, dropped: whole === undefined ? tail.length : 0 };
}

interface Read {
  readonly hash: string;
  readonly body: Shape;
}

function readLine(bytes: Uint8Array, previous: string, file: string, offset: number): Read {
  const text = textOf(bytes, file, offset);
  const hash = text.slice(OPENING.length, OPENING.length + 64);
  const rest = text.slice(HEAD_LENGTH);
  if (!text.startsWith(OPENING) || !HASH.test(hash) || text.slice(HEAD_LENGTH - 2, HEAD_LENGTH) !== '",')
    throw corrupt(file, offset, "a line does not start with its digest");
  if (hashOf(previous, rest) !== hash) throw corrupt(file, offset, "the digest of a line does not match");
  return { hash, body: shapeOf(bodyOf(rest, file, offset), "line") };
}

/** The digest detects damage, not tampering: anyone who can write a line can compute its digest. */
function bodyOf(rest: string, file: string, offset: number): Json {
  try {
    return parseJson(`{${rest}`);
  } catch (problem) {
    throw corrupt(file, offset, problem instanceof JsonTooDeep ? problem.message : "a line is not JSON");
  }
}

function textOf(bytes: Uint8Array, file: string, offset: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw corrupt(file, offset, "a line is not UTF-8 text");
  }
}

function readBegin(bytes: Uint8Array, file: string): { readonly begin: Begin; readonly hash: string } {
  const text = textOf(bytes, file, 0);
  const state = /"state":"([0-9a-f]*)"/.exec(text)?.[1] ?? "";
  const { hash, body } = readLine(bytes, state, file, 0);
  const begin = body.object("begin");
  const version = begin.number("format_version");
  if (version > FORMAT_VERSION) throw newerFormat(file, version);
  return {
    hash,
    begin: {
      format_version: version,
      lineage: begin.text("lineage"),
      serial: begin.number("serial"),
      state: begin.text("state"),
      fence: begin.number("fence"),
      seq: begin.number("seq"),
    },
  };
}

function numbered(body: Shape, file: string, offset: number): NumberedEntry {
  try {
    const entry: JournalEntry = decodeEntry(body.object("entry"));
    return { seq: body.number("seq"), at: body.number("at"), entry };
  } catch (failure) {
    if (failure instanceof Failure) throw failure;
    throw corrupt(file, offset, thrownText(failure));
  }
}

/** The rest of a file where it is a line with nothing but its end missing; a crash leaves the beginning of one. */
function wholeLine(tail: Uint8Array, previous: string, open: OpenLine): Uint8Array | undefined {
  if (tail.length === 0) return undefined;
  try {
    const line = open(tail, previous, 0);
    const text = utf8.decode(line);
    const hash = text.slice(OPENING.length, OPENING.length + 64);
    return text.length > HEAD_LENGTH && hashOf(previous, text.slice(HEAD_LENGTH)) === hash ? line : undefined;
  } catch {
    return undefined;
  }
}
