// A value that must reach one request only: printing, joining, or serializing it shows a placeholder.

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

  add(text: string): void {
    if (text !== "") this.#texts.add(text);
  }

  get size(): number {
    return this.#texts.size;
  }

  /** Returns whether a string is, or contains, one of them. */
  isIn(text: string): boolean {
    if (this.#texts.has(text)) return true;
    for (const one of this.#texts) if (one.length >= SHORTEST_PART && text.includes(one)) return true;
    return false;
  }

  /** The text with every occurrence replaced. */
  masked(text: string): string {
    if (this.#texts.size === 0) return text;
    if (this.#texts.has(text)) return MASK;
    let shown = text;
    for (const one of [...this.#texts].sort((a, b) => b.length - a.length))
      if (one.length >= SHORTEST_PART) shown = shown.replaceAll(one, () => MASK);
    return shown;
  }

  /** A copy of a value in which every text is masked; the value itself if nothing is sensitive. */
  maskedDeep<T>(value: T): T {
    return this.#texts.size === 0 ? value : (this.#copy(value) as T);
  }

  #copy(value: unknown): unknown {
    if (typeof value === "string") return this.masked(value);
    if (Array.isArray(value)) return value.map((one) => this.#copy(one));
    if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, this.#copy(one)]));
    if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
      return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#copy(one)]));
  }
}
