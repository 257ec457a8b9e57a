// Strings that no output may show: a value that prints as a placeholder, and the search that hides such strings in any encoding.

import { ELLIPSIS, grouped, inOneLine } from "../sentences.ts";
import { utf8Text } from "../utf8.ts";
import { credentialsIn, encodings, jsonForms, markupForms, SHORTEST_UNSURE_PART, urlForms } from "./forms.ts";

const MASK = "(sensitive)";
const NODE_INSPECT = Symbol.for("nodejs.util.inspect.custom");

export class Sensitive {
  readonly #value: Uint8Array;
  constructor(value: Uint8Array) {
    this.#value = value;
  }
  /** The bytes themselves. Call it only where the request that writes them is built. */
  reveal(): Uint8Array {
    return this.#value;
  }
  toString(): string {
    return MASK;
  }
  toJSON(): string {
    return MASK;
  }
  [NODE_INSPECT](): string {
    return MASK;
  }
}

export const SENSITIVE_TEXT = MASK;

/** A file system or a browser may write `é` as one character or as two. */
const UNICODE_FORMS = ["NFC", "NFD"] as const;

/** A shorter string is only hidden if it is the whole value: hiding it elsewhere would hide too much. */
const SHORTEST_PART = 4;

/** Strings that no output may show, such as the values of sensitive variables, in whatever encoding they are written. */
export class SensitiveTexts {
  readonly #texts = new Set<string>();
  readonly #numbers = new Set<string>();
  /** Values that a reader of the spec knows to be possible, so that hiding one of them elsewhere would show which one it is. */
  readonly #possible = new Set<string>();
  #hasPossible = false;
  #search = new FormSearch();
  /** Those that are not in the search yet. */
  #added: string[] = [];

  /**
   * Also hides the forms in which messages quote a string, its Unicode forms, its lines, which a diff shows apart, what trimming and joining lines leave of it,
   * and credentials in it, such as the private key in the key file of a service account.
   */
  add(text: string): void {
    if (this.#possible.has(text)) this.#hasPossible = true;
    if (text === "" || this.#texts.has(text) || this.#possible.has(text)) return;
    this.#add(text);
    this.add(text.trim());
    this.add(inOneLine(text));
    for (const form of UNICODE_FORMS) this.add(text.normalize(form));
    if (text.length < SHORTEST_PART) return;
    for (const form of [...jsonForms(text), ...urlForms(text), ...markupForms(text)])
      for (const shown of [form, inOneLine(form)]) if (!this.#texts.has(shown)) this.#add(shown);
    for (const part of credentialsIn(text)) this.add(part);
    if (!text.includes("\n")) return;
    for (const line of text.split("\n"))
      if (line.trim().length >= SHORTEST_UNSURE_PART) this.add(line.trim());
  }

  /** For a value that the spec names as possible: only the places of such a value are hidden, as those of a boolean. */
  addPossibleValue(text: string): void {
    this.#possible.add(text);
    if (!this.#texts.delete(text)) return;
    this.#hasPossible = true;
    this.#search = new FormSearch();
    this.#added = [...this.#texts];
    const numbers = [...this.#numbers];
    this.#numbers.clear();
    for (const number of numbers) this.#addNumber(number);
  }

  isPossibleValue(text: string): boolean {
    return text !== "" && this.#possible.has(text);
  }

  /** Also hides a number as messages write it. A short one, and a boolean, also occur by chance, so only their places are hidden. */
  addValue(value: string | number | bigint | boolean): void {
    if (typeof value === "string") this.add(value);
    else if (typeof value !== "boolean") this.#addNumber(String(value));
  }

  #addNumber(text: string): void {
    if (text.length < SHORTEST_PART || this.#numbers.has(text)) return;
    this.#numbers.add(text);
    this.#search.addNumber(text);
    if (/^\d+$/.test(text)) this.#search.addNumber(grouped(Number(text)));
  }

  /** Bytes that are not UTF-8 are hidden in their encodings only. */
  addBytes(bytes: Uint8Array): void {
    const text = utf8Text(bytes);
    if (text !== undefined) this.add(text);
    else for (const form of encodings(bytes)) this.#add(form);
  }

  /** Also hides what another spec hides. */
  addAll(texts: SensitiveTexts): void {
    for (const choice of texts.#possible) this.addPossibleValue(choice);
    for (const text of texts.#texts) if (!this.#texts.has(text) && !this.#possible.has(text)) this.#add(text);
    for (const number of texts.#numbers) this.#addNumber(number);
  }

  get size(): number {
    return this.#texts.size + this.#numbers.size + (this.#hasPossible ? 1 : 0);
  }

  /** Returns whether a string is, or contains, one of them. */
  isIn(text: string): boolean {
    return this.size > 0 && (this.#texts.has(text) || this.#forms().next(text, 0) !== undefined);
  }

  /** The sensitive parts of a string, each with how often it occurs. */
  partsIn(text: string): ReadonlyMap<string, number> {
    const parts = new Map<string, number>();
    this.masked(text, (part) => {
      parts.set(part, (parts.get(part) ?? 0) + 1);
      return part;
    });
    return parts;
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  /** Whether a string is, or contains, one that is long enough to be recognized anywhere. */
  hasLong(text: string): boolean {
    return text.length >= SHORTEST_PART && this.isIn(text);
  }

  /** The text with every occurrence replaced by its mark, in one pass, so that a mark is not changed again. */
  masked(text: string, mark: (part: string) => string = () => MASK): string {
    if (this.size === 0) return text;
    if (this.#texts.has(text)) return mark(text);
    return this.#forms().replaced(text, mark, false);
  }

  /** A copy of a value in which every text is masked; the value itself if nothing is sensitive. */
  maskedDeep<T>(value: T): T {
    return this.size === 0 ? value : withTexts(value, (text) => this.masked(text));
  }

  /**
   * The same for messages, which are shortened before they are masked: the beginning of an occurrence before an ellipsis
   * is masked, too. Not for what is in the workspace: who writes there could find a value by its beginnings.
   */
  maskedMessages<T>(value: T, isFieldName: (word: string) => boolean = () => false): T {
    if (this.size === 0) return value;
    return withTexts(value, (text) =>
      this.#texts.has(text)
        ? MASK
        : this.#forms().replaced(
            text,
            (part, start) => (isInName(text, part, start, isFieldName) ? part : MASK),
            ELLIPSES.some((dots) => text.includes(dots)),
          ),
    );
  }

  #add(text: string): void {
    this.#texts.add(text);
    this.#added.push(text);
  }

  #forms(): FormSearch {
    for (const text of this.#added) this.#search.add(text);
    if (this.#added.length > 0) this.#added = [];
    return this.#search;
  }
}

/** A sensitive part of a string. */
interface FoundForm {
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

/** Forms are found by their first characters, so the time of a search does not depend on their number or length. */
const HEAD = 3;

/** Searches for the forms of many strings at once: each in every encoding, and a short one only as messages quote it. */
class FormSearch {
  /** By their first characters, the longest first, so that a short form does not divide a longer one. */
  readonly #byHead = new Map<string, string[]>();
  readonly #quoted = new Set<string>();
  /** Forms of numbers: a longer number, an ID, or a digest that contains one is another value. */
  readonly #numbers = new Set<string>();
  /** 1 for the first characters of a form: at most positions of a string, no substring has to be compared. */
  readonly #starts = new Uint8Array(STARTS);
  /** No shorter string contains a form. */
  #shortest = Number.POSITIVE_INFINITY;

  add(text: string): void {
    if (text.length >= SHORTEST_PART)
      for (const form of [text, ...encodings(Buffer.from(text))]) this.#add(form);
    else {
      this.#quoted.add(JSON.stringify(text));
      this.#add(JSON.stringify(text));
    }
  }

  addNumber(form: string): void {
    if (this.#byHead.get(form.slice(0, HEAD))?.includes(form) === true) return;
    this.#add(form);
    this.#numbers.add(form);
  }

  #add(form: string): void {
    const head = form.slice(0, HEAD);
    const forms = this.#byHead.get(head) ?? [];
    this.#numbers.delete(form);
    if (forms.includes(form)) return;
    this.#starts[startOf(form, 0)] = 1;
    this.#shortest = Math.min(this.#shortest, form.length);
    this.#byHead.set(
      head,
      [...forms, form].sort((a, b) => b.length - a.length),
    );
  }

  /** `mayBeShortened`: also finds the beginning of a form before an ellipsis. */
  next(text: string, from: number, mayBeShortened = false): FoundForm | undefined {
    const last = text.length - (mayBeShortened ? HEAD : this.#shortest);
    for (let at = from; at <= last; at += 1) {
      if (this.#starts[startOf(text, at)] !== 1) continue;
      for (const form of this.#byHead.get(text.slice(at, at + HEAD)) ?? []) {
        const isQuoted = this.#quoted.has(form);
        if (this.#numbers.has(form) && !isWholeNumber(text, at, at + form.length)) continue;
        if (text.startsWith(form, at)) return { start: at, end: at + form.length, isQuoted };
        const end = mayBeShortened && !isQuoted ? endOfShortened(form, text, at) : undefined;
        if (end !== undefined) return { start: at, end, isQuoted };
      }
    }
    return undefined;
  }

  /** The quotes of a short string stay. */
  replaced(text: string, mark: (part: string, start: number) => string, mayBeShortened: boolean): string {
    let result = "";
    let from = 0;
    for (
      let form = this.next(text, 0, mayBeShortened);
      form !== undefined;
      form = this.next(text, from, mayBeShortened)
    ) {
      const quotes = form.isQuoted ? 1 : 0;
      const part = text.slice(form.start + quotes, form.end - quotes);
      result += text.slice(from, form.start + quotes) + mark(part, form.start + quotes);
      from = form.end - quotes;
      if (form.isQuoted) {
        result += '"';
        from = form.end;
      }
    }
    return from === 0 ? text : result + text.slice(from);
  }
}

/** Whether a part of a message is only a part of a word that names a field, which no user writes. */
function isInName(
  text: string,
  part: string,
  start: number,
  isFieldName: (word: string) => boolean,
): boolean {
  let [from, to] = [start, start + part.length];
  while (/\w/.test(text.charAt(from - 1))) from -= 1;
  while (/\w/.test(text.charAt(to))) to += 1;
  return to - from > part.length && isFieldName(text.slice(from, to));
}

/** Whether neither a digit nor a letter is before a number, and no digit follows it. */
const isWholeNumber = (text: string, start: number, end: number): boolean =>
  !/[\p{L}\p{N}_]/u.test(text.charAt(start - 1)) && !/\d/.test(text.charAt(end));

/** That of this program, and that of most services. */
const ELLIPSES = [ELLIPSIS, "..."];

/** Returns where the beginning of a form ends before an ellipsis; undefined if no ellipsis follows. */
function endOfShortened(form: string, text: string, start: number): number | undefined {
  let length = 0;
  while (length < form.length && form[length] === text[start + length]) length += 1;
  const end = start + length;
  const isShortened = ELLIPSES.some((dots) => text.startsWith(dots, end));
  return length >= SHORTEST_PART && isShortened ? end : undefined;
}

const STARTS = 2 ** 16;

const startOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 61 + text.charCodeAt(at + 1) * 599 + text.charCodeAt(at + 2) * 5003) % STARTS;

/** Words and addresses of a plan or an answer, which contain no value of a variable: it could not be read without them. */
const WORDS = new Set(
  "action address addresses code dependsOn fingerprint kind modes once operation path principalKind removeAfter replacing result severity subject type".split(
    " ",
  ),
);
const CAUSES = new Set<unknown>(["both", "drift", "spec"]);

const isWord = (key: string, value: unknown): boolean =>
  typeof value === "object" && !Array.isArray(value)
    ? false
    : WORDS.has(key) || (key === "cause" && CAUSES.has(value));

/** Values of the service, in which every text counts. */
const VALUES = new Set(["after", "before"]);

/** A copy of a value with each string changed. Keys stay. */
function withTexts<T>(value: T, change: (text: string) => string): T {
  return copied(value, change, false) as T;
}

function copied(value: unknown, change: (text: string) => string, inValues: boolean): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => copied(item, change, inValues));
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [key, copied(member, change, inValues)]));
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      !inValues && isWord(key, member) ? member : copied(member, change, inValues || VALUES.has(key)),
    ]),
  );
}
