// Keyed digests in place of sensitive values. A run that has a value finds it by its digest.
// `state/model/digests-in-state.ts` puts them into what a state stores.

import type { Address } from "../address.ts";
import { decryptedBlock, encryptedBlock, keyedDigest } from "../digest.ts";
import { stringifyJson } from "../exact-json.ts";
import type { Json } from "../json.ts";
import type { Path } from "../pointer.ts";
import { changedTexts, hasString, type Scalar, visitScalars } from "../scalars.ts";
import { SENSITIVE_TEXT } from "./texts.ts";

/** `(sensitive <salt>-<digest>)`. The salt belongs to the place, so equal values in two places have different digests. */
const DIGEST = /\(sensitive ([0-9a-f]{16}-)([0-9a-f]{32})\)/g;
const ONLY_DIGEST = new RegExp(`^${DIGEST.source}$`);

/** Whether a value, or a key in it, is or contains a digest in place of a sensitive value. */
export function hasDigest(value: Json | undefined): boolean {
  if (typeof value === "string") return value.includes("(sensitive ") && value.search(DIGEST) >= 0;
  return hasString(value, hasDigest);
}

/** A value for readers: `(sensitive)` in place of each digest. */
export function withoutDigests<T extends Json | undefined>(value: T): T {
  return (hasDigest(value) ? changedTexts(value as Json, shownText) : value) as T;
}

export const shownText = (text: string): string =>
  text.includes("(sensitive ") ? text.replace(DIGEST, SENSITIVE_TEXT) : text;

/** The digests of the values of a run, under the key of its state: who lacks the key cannot test a guess. */
export class ValueDigests {
  readonly #key: Uint8Array;
  readonly #lineage: string;
  readonly #codes = new Map<Scalar, string>();
  /** The values of this run by their codes. */
  readonly #byCode = new Map<string, Scalar>();
  /** Digests of values that this run does not have, by what takes their place in it. */
  readonly #unknown = new Map<string, string>();

  constructor(key: Uint8Array, lineage: string) {
    this.#key = key;
    this.#lineage = lineage;
  }

  keyed(text: string): string {
    return keyedDigest(this.#key, `digest\n${text}`);
  }

  /** Makes a value known, so that digests of it can be revealed. Returns its code. */
  learn(value: Scalar): string {
    const before = this.#codes.get(value);
    if (before !== undefined) return before;
    const code = keyedDigest(this.#key, `value\n${stringifyJson(value)}`).slice(0, 32);
    this.#codes.set(value, code);
    this.#byCode.set(code, value);
    return code;
  }

  digestOf(address: Address, path: Path, value: Scalar): string {
    const place = stringifyJson([this.#lineage, address, path]);
    const salt = `${keyedDigest(this.#key, `place\n${place}`).slice(0, 16)}-`;
    return `(sensitive ${salt}${encryptedBlock(this.#keyOf(salt), this.learn(value))})`;
  }

  /** Whether every digest in a value is one of a value that this run has. */
  knows(value: Json): boolean {
    let isKnown = true;
    visitScalars(value, [], (scalar) => {
      if (typeof scalar === "string")
        for (const [, salt = "", code = ""] of scalar.matchAll(DIGEST))
          isKnown &&= this.#byCode.has(this.#codeIn(salt, code));
    });
    return isKnown;
  }

  /** The values of this run in place of their digests, and the result of `unknown` in place of each other digest. */
  revealed(value: Scalar, unknown: (digest: string) => string): Scalar {
    if (typeof value !== "string") return value;
    const [, salt, code] = ONLY_DIGEST.exec(value) ?? [];
    if (salt !== undefined && code !== undefined)
      return this.#byCode.get(this.#codeIn(salt, code)) ?? unknown(value);
    return value.replace(DIGEST, (digest, inner: string, part: string) =>
      String(this.#byCode.get(this.#codeIn(inner, part)) ?? unknown(digest)),
    );
  }

  /** A string in place of the digest of a value that this run does not have. It cannot be written without the key, so it equals no value of a spec or of the service. */
  standIn(digest: string): string {
    const text = `\u0000${keyedDigest(this.#key, `unknown\n${digest}`).slice(0, 32)}`;
    this.#unknown.set(text, digest);
    return text;
  }

  /** The digest for which a string stands in. */
  unknown(value: Scalar): string | undefined {
    return typeof value === "string" ? this.#unknown.get(value) : undefined;
  }

  /** The code of the value that a digest is made of. */
  #codeIn(salt: string, digest: string): string {
    return decryptedBlock(this.#keyOf(salt), digest);
  }

  /** Encrypted, so that the digests of two versions of a state do not show how the values are related. */
  #keyOf(salt: string): string {
    return keyedDigest(this.#key, `cipher\n${salt}`).slice(0, 32);
  }
}
