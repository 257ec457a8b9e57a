// Encrypts the parts of a state: AES-256-GCM with WORKSPACE_STATE_KEY and a random IV for every part.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, scryptSync } from "node:crypto";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { digest, keyedDigest, startDigest } from "../../core/digest.ts";
import { corrupt } from "../model/backend.ts";
import { type Random, toHex } from "../model/store.ts";

/** The purpose of a part, which prevents that one part replaces another. */
export type Purpose = "state" | "journal" | "plan";

interface CipherOptions {
  /** The value of WORKSPACE_STATE_KEY; without it, nothing is encrypted, and nothing encrypted can be read. */
  readonly keyText?: string;
  /** Keys that may have encrypted the input: for a change of the key. */
  readonly oldTexts?: readonly string[];
  /** Whether plain input is accepted although a key is set: for the first encryption. */
  readonly opensPlain?: boolean;
  readonly random: Random;
}

const MARK = '{"sealed":1,';
const ENCRYPTED =
  /^\{"sealed":1,"sum":"([0-9a-f]{64})",(("kdf":"(hkdf|scrypt)","salt":"([0-9a-f]{32})","check":"([0-9a-f]{16})","nonce":"([0-9a-f]{24})"),"data":"([\w+/]+={0,2})")\}$/;
const TAG_BYTES = 16;
const LONGEST_BEGINNING = 64;

interface Derived {
  readonly key: Uint8Array;
  /** Whether this key encrypted a part, without decrypting it. */
  readonly check: string;
}

export class Cipher {
  readonly #keyText: string | undefined;
  readonly #oldTexts: readonly string[];
  readonly #opensPlain: boolean;
  readonly #random: Random;
  readonly #derived = new Map<string, Derived>();
  /** Of what was read: deriving a key from a passphrase is slow on purpose, so one salt serves a state. */
  #salt: string | undefined;

  constructor(options: CipherOptions) {
    this.#keyText = options.keyText;
    this.#oldTexts = options.oldTexts ?? [];
    this.#opensPlain = options.opensPlain ?? options.keyText === undefined;
    this.#random = options.random;
  }

  get encrypts(): boolean {
    return this.#keyText !== undefined;
  }

  /** Every key that may have encrypted the input, the current one first. */
  get #keyTexts(): readonly string[] {
    return this.#keyText === undefined ? this.#oldTexts : [this.#keyText, ...this.#oldTexts];
  }

  /** One line without its end. `bound` has to be known again to open it. */
  encrypt(purpose: Purpose, bound: string, text: string): string {
    return this.#keyText === undefined
      ? text
      : this.#encrypted(this.#keyText, purpose, bound, [text]).join("");
  }

  /** The same for pieces, with the end of the line. Without a key, returns the pieces unchanged. */
  encryptPieces(text: Iterable<string>): Iterable<string> {
    return this.#keyText === undefined ? text : [...this.#encrypted(this.#keyText, "state", "", text), "\n"];
  }

  #encrypted(keyText: string, purpose: Purpose, bound: string, text: Iterable<string>): readonly string[] {
    this.#salt ??= toHex(this.#random(16));
    const { kdf } = readKeyText(keyText);
    const { key, check } = this.#derive(keyText, this.#salt);
    const nonce = this.#random(12);
    const head = `"kdf":"${kdf}","salt":"${this.#salt}","check":"${check}","nonce":"${toHex(nonce)}"`;
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    cipher.setAAD(Buffer.from(boundTo(purpose, bound, head)));
    const body = [`${head},"data":"`];
    let rest: Uint8Array = new Uint8Array(0);
    for (const piece of text) {
      const bytes = Buffer.concat([rest, cipher.update(piece)]);
      // Base64 of a multiple of three bytes can be continued.
      const whole = bytes.length - (bytes.length % 3);
      body.push(bytes.toString("base64", 0, whole));
      rest = bytes.subarray(whole);
    }
    body.push(`${Buffer.concat([rest, cipher.final(), cipher.getAuthTag()]).toString("base64")}"`);
    const sum = startDigest();
    for (const piece of body) sum.add(piece);
    return [`${MARK}"sum":"${sum.end()}",`, ...body, "}"];
  }

  /** The plain bytes. Throws STATE_KEY where the key does not fit, STATE_CORRUPT where a byte is not what was written. */
  decrypt(purpose: Purpose, bound: string, bytes: Uint8Array, file: string, offset = 0): Uint8Array {
    const beginning = Buffer.from(bytes.subarray(0, LONGEST_BEGINNING)).toString("latin1");
    if (!beginning.startsWith(MARK)) {
      if (this.#opensPlain) return bytes;
      if (!PLAIN[purpose].test(beginning)) throw corrupt(file, offset, "it is neither encrypted nor plain");
      throw notEncrypted(purpose, file);
    }
    const text = Buffer.from(bytes).toString("latin1");
    const parts = ENCRYPTED.exec(text.endsWith("\n") ? text.slice(0, -1) : text);
    const [, sum, body = "", head = "", , salt = "", check, nonce = "", base64 = ""] = parts ?? [];
    const data = Buffer.from(base64, "base64");
    if (digest(body) !== sum || data.toString("base64") !== base64)
      throw corrupt(file, offset, `checksum mismatch of its ${bytes.length} encrypted bytes`);
    const derived = this.#keyFor(salt, check);
    if (derived === undefined)
      throw this.#keyTexts.length === 0 ? keyMissing(file) : otherEncryptionKey(purpose, file, this.#keyText);
    try {
      const cipher = createDecipheriv("aes-256-gcm", derived.key, Buffer.from(nonce, "hex"));
      cipher.setAAD(Buffer.from(boundTo(purpose, bound, head)));
      cipher.setAuthTag(data.subarray(-TAG_BYTES));
      return Buffer.concat([cipher.update(data.subarray(0, -TAG_BYTES)), cipher.final()]);
    } catch {
      throw corrupt(file, offset, "its encrypted part was modified, or belongs to another state");
    }
  }

  #keyFor(salt: string, check: string | undefined): Derived | undefined {
    for (const text of this.#keyTexts) {
      const derived = this.#derive(text, salt);
      if (derived.check !== check) continue;
      if (text === this.#keyText) this.#salt ??= salt;
      return derived;
    }
    return undefined;
  }

  #derive(text: string, salt: string): Derived {
    const name = `${salt} ${text}`;
    const earlier = this.#derived.get(name);
    if (earlier !== undefined) return earlier;
    const key = derive(readKeyText(text), Buffer.from(salt, "hex"), "workspace state seal");
    const check = createHmac("sha256", key).update("workspace state seal check").digest("hex").slice(0, 16);
    const derived = { key, check };
    this.#derived.set(name, derived);
    return derived;
  }
}

/** The start of a plain state: it was never encrypted, rather than damaged. */
const PLAIN: Readonly<Record<Purpose, RegExp>> = {
  state: /^\{"format_version":/,
  journal: /^\{"hash":"/,
  plan: /^\s*\{/,
};

function boundTo(purpose: Purpose, bound: string, head: string): string {
  return `workspace ${purpose}\n${bound}\n${head}`;
}

function keyFailure(message: string, hint: string): Failure {
  return failureOf("STATE_KEY", message, { hint });
}

const SAVED_BEFORE_REKEY = "if `workspace state rekey` ran since it was saved, make a new plan";

function notEncrypted(purpose: Purpose, file: string): Failure {
  const way = purpose === "plan" ? SAVED_BEFORE_REKEY : "to encrypt it, run `workspace state rekey`";
  const hint = `${way}; otherwise, unset the variable`;
  return keyFailure(`${file} is not encrypted, but WORKSPACE_STATE_KEY is set`, hint);
}

function keyMissing(file: string): Failure {
  const hint = "set WORKSPACE_STATE_KEY to the key of this state";
  return keyFailure(`${file} is encrypted, but WORKSPACE_STATE_KEY is not set`, hint);
}

/** Without a present key, the state is being decrypted with the previous one. */
function otherEncryptionKey(purpose: Purpose, file: string, keyText: string | undefined): Failure {
  const variable = keyText === undefined ? "WORKSPACE_STATE_KEY_OLD" : "WORKSPACE_STATE_KEY";
  const ways = [`set ${variable} to the key of this state`];
  if (purpose === "plan") ways.push(SAVED_BEFORE_REKEY);
  else if (keyText !== undefined)
    ways.push("if `workspace state rekey` was interrupted, run it again with both keys");
  return keyFailure(`${file} is encrypted with a different key than ${variable}`, ways.join("; "));
}

const KEPT = /^[0-9a-f]{64}\n?$/;

/** Distinguishes two keys without revealing them. */
export function keyCheck(key: Uint8Array): string {
  return keyedDigest(key, "workspace state key").slice(0, 16);
}

/** The key derived from WORKSPACE_STATE_KEY, the same for every state, because plans exist before a state does. */
export function keyFromText(text: string): Uint8Array {
  return derive(readKeyText(text), "workspace state digests", "workspace state digests");
}

export function keptKey(text: string, name: string): Uint8Array {
  if (!KEPT.test(text))
    throw failureOf("STATE_KEY", `${name} does not contain a key`, {
      hint: "restore it from a copy; if nothing has been applied yet, delete it",
    });
  return fromHex(text);
}

export function otherKey(hasKey: boolean, name: string): Failure {
  return failureOf(
    "STATE_KEY",
    hasKey ? "this state was written with another key" : "the state's key is missing",
    { hint: `set WORKSPACE_STATE_KEY to the key of this state, or restore ${name}` },
  );
}

interface KeyText {
  /** How a key is made of it: a passphrase is stretched, random bytes need not be. */
  readonly kdf: "hkdf" | "scrypt";
  readonly bytes: Uint8Array;
}

const SHORTEST = 16;
const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Throws STATE_KEY if the value is too short to be a secret; no message contains the value. */
export function readKeyText(text: string): KeyText {
  const trimmed = text.trim();
  if (trimmed.length < SHORTEST)
    throw failureOf("STATE_KEY", `WORKSPACE_STATE_KEY is shorter than ${SHORTEST} characters`, {
      hint: "use 32 random bytes, for example the output of `openssl rand -hex 32`",
    });
  if (HEX.test(trimmed)) return { kdf: "hkdf", bytes: fromHex(trimmed) };
  if (BASE64.test(trimmed)) return { kdf: "hkdf", bytes: fromBase64(trimmed) };
  return { kdf: "scrypt", bytes: new TextEncoder().encode(trimmed.normalize("NFC")) };
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function fromBase64(text: string): Uint8Array {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
}

const KEY_BYTES = 32;
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

/** `use` separates keys of different uses. */
export function derive({ kdf, bytes }: KeyText, salt: Uint8Array | string, use: string): Uint8Array {
  if (kdf === "hkdf") return new Uint8Array(hkdfSync("sha256", bytes, salt, use, KEY_BYTES));
  const stretched = scryptSync(bytes, salt, KEY_BYTES, SCRYPT);
  return new Uint8Array(hkdfSync("sha256", stretched, "", use, KEY_BYTES));
}
