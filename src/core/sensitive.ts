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

/** For so many strings. */
interface Pattern {
  readonly size: number;
  readonly parts: RegExp | undefined;
}

/** Strings that no output may show, such as the values of sensitive variables. */
export class SensitiveTexts {
  readonly #texts = new Set<string>();
  #pattern: Pattern | undefined;
  #encodedPattern: Pattern | undefined;

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
    return this.#replaced(text, () => this.#parts(), mark);
  }

  /** The same for a sentence, which can be of the service and repeat what it was sent in another encoding. */
  maskedSentence(text: string): string {
    return this.#replaced(
      text,
      () => this.#encodedParts(),
      () => MASK,
    );
  }

  /** A copy of a value in which every text is masked as a sentence; the value itself if nothing is sensitive. */
  maskedDeep<T>(value: T): T {
    return this.#texts.size === 0 ? value : withTexts(value, (text) => this.maskedSentence(text));
  }

  #replaced(text: string, pattern: () => RegExp | undefined, mark: (part: string) => string): string {
    if (this.#texts.size === 0) return text;
    if (this.#texts.has(text)) return mark(text);
    const parts = pattern();
    return parts === undefined
      ? text
      : text.replace(parts, (part) => (part.startsWith('"') ? `"${mark(part.slice(1, -1))}"` : mark(part)));
  }

  /** Of short strings, only what messages quote. */
  #parts(): RegExp | undefined {
    if (this.#pattern?.size !== this.#texts.size)
      this.#pattern = { size: this.#texts.size, parts: anyOf(this.#quoted()) };
    return this.#pattern.parts;
  }

  /** Apart from the others, because values are searched far more often than sentences. */
  #encodedParts(): RegExp | undefined {
    if (this.#encodedPattern?.size !== this.#texts.size) {
      const encoded = [...this.#texts].filter((text) => text.length >= SHORTEST_PART).flatMap(encodings);
      this.#encodedPattern = { size: this.#texts.size, parts: anyOf([...this.#quoted(), ...encoded]) };
    }
    return this.#encodedPattern.parts;
  }

  #quoted(): readonly string[] {
    return [...this.#texts].map((text) => (text.length < SHORTEST_PART ? JSON.stringify(text) : text));
  }
}

/** Sorted by length, so that a short string does not divide a longer one. */
function anyOf(texts: readonly string[]): RegExp | undefined {
  const sorted = [...new Set(texts)]
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return sorted.length === 0 ? undefined : new RegExp(sorted.join("|"), "g");
}

/** A shorter part of base64 occurs by chance. */
const SHORTEST_BASE64_PART = 8;

/** A string as hex and as base64 in both alphabets, alone and inside a longer text, where its first and last characters are unknown. */
function encodings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString("hex");
  const whole = bytes.toString("base64");
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    return encoded.slice(before === 0 ? 0 : 4, encoded.length - (encoded.length % 4));
  });
  const base64 = [
    whole,
    whole.replace(/=+$/, ""),
    ...inside.filter(({ length }) => length >= SHORTEST_BASE64_PART),
  ];
  const url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [hex, hex.toUpperCase(), ...base64, ...url];
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
