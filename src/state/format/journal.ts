// The text of a journal: one line of JSON per entry, each with a digest of itself and of the previous line.

import { thrownText } from "../../core/diagnostic.ts";
import { digest } from "../../core/digest.ts";
import { JsonTooDeep, parseJson, stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { utf8Text } from "../../core/utf8.ts";
import { assertStateSize, corrupt, FORMAT_VERSION, newerFormat } from "../model/backend.ts";
import type { JournalEntry, NumberedEntry } from "../model/record.ts";
import { decodeEntry, type Shape, shapeOf } from "./decode.ts";

/** The first line of a journal: which state it continues. */
interface Begin {
  readonly format_version: number;
  readonly lineage: string;
  /** Serial of the state that the entries add to, and the digest in its file; 0 and "" before there is one. */
  readonly serial: number;
  readonly state: string;
  readonly fence: number;
  /** Number of the last entry before this journal. */
  readonly seq: number;
}

const OPENING = '{"hash":"';
const HASH = /^[0-9a-f]{64}$/;
const HEAD_LENGTH = OPENING.length + 64 + 2;
const NEWLINE = 10;

export interface Line {
  readonly text: string;
  readonly hash: string;
}

export function beginLine(begin: Begin): Line {
  return lineOf(begin.state, stringifyJson({ begin }));
}

export function entryLine(previous: string, numberedEntry: NumberedEntry): Line {
  return lineOf(
    previous,
    stringifyJson({ seq: numberedEntry.seq, at: numberedEntry.at, entry: numberedEntry.entry }),
  );
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

/** Returns the plain text of a line at an offset. `previous` is the digest of the line before it, or "" for the first one. */
type OpenLine = (line: Uint8Array, previous: string, offset: number) => Uint8Array;

/** A stored journal. Its entries are read one by one, because those of a large apply take more memory than the state. */
export class Journal {
  readonly begin: Begin;
  readonly #bytes: Uint8Array;
  readonly #first: number;
  readonly #file: string;
  readonly #open: OpenLine;
  #head: string;
  #seq: number;
  #dropped = 0;

  constructor(bytes: Uint8Array, file: string, open: OpenLine = (line) => line) {
    assertStateSize(file, bytes.length);
    const first = bytes.indexOf(NEWLINE);
    if (first < 0) throw corrupt(file, 0, "its first line is not complete");
    const { begin, hash } = readBegin(open(bytes.subarray(0, first), "", 0), file);
    this.begin = begin;
    this.#bytes = bytes;
    this.#first = first + 1;
    this.#file = file;
    this.#open = open;
    this.#head = hash;
    this.#seq = begin.seq;
  }

  /** The digest in the last line that was read. */
  get head(): string {
    return this.#head;
  }

  /** Number of the last entry that was read. */
  get seq(): number {
    return this.#seq;
  }

  /** Bytes of an unfinished last line, which a crash leaves behind and which never counted; known when all is read. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Reads the entries, once, and checks their chain. Only an unfinished last line may be dropped; other damage throws STATE_CORRUPT. */
  *entries(): Generator<NumberedEntry> {
    const bytes = this.#bytes;
    let start = this.#first;
    for (let end = bytes.indexOf(NEWLINE, start); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield this.#read(this.#open(bytes.subarray(start, end), this.#head, start), start);
      start = end + 1;
    }
    const tail = bytes.subarray(start);
    const whole = wholeLine(tail, this.#head, this.#open);
    if (whole !== undefined) yield this.#read(whole, start);
    else if (wholeLine(tail.subarray(0, -1), this.#head, this.#open) !== undefined)
      throw corrupt(this.#file, bytes.length - 1, "its last line ends unexpectedly");
    else this.#dropped = tail.length;
  }

  #read(line: Uint8Array, offset: number): NumberedEntry {
    const { hash, body } = readLine(line, this.#head, this.#file, offset);
    const numberedEntry = shaped(this.#file, offset, () => numbered(body));
    if (numberedEntry.seq !== this.#seq + 1)
      throw corrupt(this.#file, offset, `expected entry ${this.#seq + 1}, found entry ${numberedEntry.seq}`);
    this.#head = hash;
    this.#seq = numberedEntry.seq;
    return numberedEntry;
  }
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
  const text = utf8Text(bytes, "kept");
  if (text === undefined) throw corrupt(file, offset, "a line is not UTF-8 text");
  return text;
}

function readBegin(bytes: Uint8Array, file: string): { readonly begin: Begin; readonly hash: string } {
  const text = textOf(bytes, file, 0);
  const state = /"state":"([0-9a-f]*)"/.exec(text)?.[1] ?? "";
  const { hash, body } = readLine(bytes, state, file, 0);
  const version = shaped(file, 0, () => body.object("begin").number("format_version"));
  if (version > FORMAT_VERSION) throw newerFormat(file, version);
  return { hash, begin: shaped(file, 0, () => beginOf(body.object("begin"))) };
}

function beginOf(from: Shape): Begin {
  return {
    format_version: from.number("format_version"),
    lineage: from.text("lineage"),
    serial: from.number("serial"),
    state: from.text("state"),
    fence: from.number("fence"),
    seq: from.number("seq"),
  };
}

function numbered(body: Shape): NumberedEntry {
  const entry: JournalEntry = decodeEntry(body.object("entry"));
  return { seq: body.number("seq"), at: body.number("at"), entry };
}

/** Throws STATE_CORRUPT for a line whose members are not those that the program writes. */
function shaped<T>(file: string, offset: number, read: () => T): T {
  try {
    return read();
  } catch (problem) {
    throw corrupt(file, offset, thrownText(problem));
  }
}

/** The rest of a file if it is an incomplete line, which a crash can leave. */
function wholeLine(tail: Uint8Array, previous: string, open: OpenLine): Uint8Array | undefined {
  if (tail.length === 0) return undefined;
  try {
    const line = open(tail, previous, 0);
    // A character may be incomplete.
    const text = utf8Text(line, "kept") ?? "";
    const hash = text.slice(OPENING.length, OPENING.length + 64);
    if (hashOf(previous, text.slice(HEAD_LENGTH)) === hash) return line;
  } catch {
    // The beginning of an encrypted line cannot be decrypted.
  }
  return undefined;
}
