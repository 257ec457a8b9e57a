// A value that only one request may contain: printing, joining, or serializing it shows a placeholder.

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

/** A shorter string is only hidden if it is the whole value: hiding it elsewhere would hide too much. */
const SHORTEST_PART = 4;

/** Strings that no output may show, such as the values of sensitive variables. */
export class SensitiveTexts {
  readonly #texts = new Set<string>();
  #pattern: { readonly size: number; readonly parts: RegExp | undefined } | undefined;

  /** Also hides the forms in which messages quote a string. */
  add(text: string): void {
    if (text === "" || this.#texts.has(text)) return;
    this.#texts.add(text);
    if (text.length < SHORTEST_PART) return;
    this.#texts.add(JSON.stringify(text).slice(1, -1));
    if (text.isWellFormed()) this.#texts.add(encodeURIComponent(text));
  }

  get size(): number {
    return this.#texts.size;
  }

  /** Returns whether a string is, or contains, one of them. */
  isIn(text: string): boolean {
    if (this.#texts.has(text)) return true;
    for (const part of this.#texts) if (part.length >= SHORTEST_PART && text.includes(part)) return true;
    return false;
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
    if (this.#texts.size === 0) return text;
    if (this.#texts.has(text)) return mark(text);
    const parts = this.#parts();
    return parts === undefined
      ? text
      : text.replace(parts, (part) => (part.startsWith(`"`) ? `"${mark(part.slice(1, -1))}"` : mark(part)));
  }

  /** A copy of a value in which every text is masked; the value itself if nothing is sensitive. */
  maskedDeep<T>(value: T, mark?: (part: string) => string): T {
    return this.#texts.size === 0 ? value : withTexts(value, (text) => this.masked(text, mark));
  }

  /** Sorted by length, so that a short string does not divide a longer one. Of short ones, only what messages quote. */
  #parts(): RegExp | undefined {
    if (this.#pattern?.size === this.#texts.size) return this.#pattern.parts;
    const sorted = [...this.#texts]
      .map((text) => (text.length < SHORTEST_PART ? JSON.stringify(text) : text))
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const parts = sorted.length === 0 ? undefined : new RegExp(sorted.join("|"), "g");
    this.#pattern = { size: this.#texts.size, parts };
    return parts;
  }
}

/** Words and addresses of a plan, which contain no value of a variable: a plan without them could not be read. */
const WORDS = new Set(
  "action address addresses code dependsOn fingerprint kind modes once operation path removeAfter replacing result severity type".split(
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
export function withTexts<T>(value: T, change: (text: string) => string): T {
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
