// A value that must reach one request and nothing else: printing, joining or serialising it shows only that it is there.

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
