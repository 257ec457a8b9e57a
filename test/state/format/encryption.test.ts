import { expect, test } from "vitest";
import type { Failure } from "../../../src/core/diagnostic.ts";
import { Cipher, type Purpose, readKeyText } from "../../../src/state/format/encryption.ts";
import { thrownCode } from "../../failures.ts";
import { counting } from "../build.ts";

const HEX = "5".repeat(64);
const cipher = (keyText: string, seed = 1): Cipher => new Cipher({ keyText, random: counting(seed) });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const opened = (by: Cipher, purpose: Purpose, bound: string, text: string): string =>
  new TextDecoder().decode(by.decrypt(purpose, bound, bytes(text), "file"));

test("an encrypted state decrypts to the same, reveals nothing, and differs each time", () => {
  const by = cipher(HEX);
  const [one, two] = [by.encrypt("state", "", "canary"), by.encrypt("state", "", "canary")];
  expect(one).not.toContain("canary");
  expect(one).not.toBe(two);
  expect(opened(cipher(HEX, 9), "state", "", one)).toBe("canary");
});

test("a ciphertext decrypts only for its purpose and location", () => {
  const by = cipher(HEX);
  const text = by.encrypt("journal", "before", "line");
  expect(opened(by, "journal", "before", text)).toBe("line");
  expect(thrownCode(() => opened(by, "journal", "elsewhere", text))).toBe("STATE_CORRUPT");
  expect(thrownCode(() => opened(by, "state", "before", text))).toBe("STATE_CORRUPT");
});

test("a flipped bit or a cut at any byte is damage, and never another text", () => {
  const by = cipher(HEX);
  const whole = bytes(by.encrypt("state", "", "a short text"));
  for (let at = 0; at < whole.length; at++) {
    const flipped = whole.slice();
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect([at, thrownCode(() => by.decrypt("state", "", flipped, "file"))]).toEqual([at, "STATE_CORRUPT"]);
    expect([at, thrownCode(() => by.decrypt("state", "", whole.slice(0, at), "file"))]).toEqual([
      at,
      "STATE_CORRUPT",
    ]);
  }
});

test("a change without the key is detected, also with a matching checksum", async () => {
  const { digest } = await import("../../../src/core/digest.ts");
  const text = cipher(HEX).encrypt("state", "", "a short text");
  const body = text
    .slice(text.indexOf('"kdf"'), -1)
    .replace(/"data":"(.)/, (_, first) => `"data":"${first === "A" ? "B" : "A"}`);
  const forged = `{"sealed":1,"sum":"${digest(body)}",${body}}`;
  expect(() => opened(cipher(HEX), "state", "", forged)).toThrow("was modified, or belongs to another state");
});

test("a wrong or missing key has a different error than damage", () => {
  const text = cipher(HEX).encrypt("state", "", "x");
  expect(thrownCode(() => opened(cipher("6".repeat(64)), "state", "", text))).toBe("STATE_KEY");
  expect(thrownCode(() => opened(cipher("a passphrase of some length"), "state", "", text))).toBe(
    "STATE_KEY",
  );
  expect(thrownCode(() => opened(new Cipher({ random: counting() }), "state", "", text))).toBe("STATE_KEY");
});

test("keys are 32 bytes in hex or base64, or a passphrase that is stretched; nothing shorter than 16 characters", () => {
  expect(readKeyText(HEX).kdf).toBe("hkdf");
  const base64 = Buffer.alloc(32, 200).toString("base64");
  expect(readKeyText(base64)).toEqual({ kdf: "hkdf", bytes: new Uint8Array(32).fill(200) });
  expect(readKeyText(base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""))).toEqual(
    readKeyText(base64),
  );
  expect(readKeyText("correct horse battery").kdf).toBe("scrypt");
  expect(readKeyText(` ${HEX}\n`)).toEqual(readKeyText(HEX));
  expect(thrownCode(() => readKeyText("fifteen letters"))).toBe("STATE_KEY");
});

test("a state of the old key decrypts while the key changes", () => {
  const old = cipher(HEX).encrypt("state", "", "x");
  const changing = new Cipher({
    keyText: "7".repeat(64),
    oldTexts: [HEX],
    opensPlain: true,
    random: counting(3),
  });
  expect(opened(changing, "state", "", old)).toBe("x");
  expect(opened(changing, "state", "", "{}")).toBe("{}");
  expect(opened(cipher("7".repeat(64)), "state", "", changing.encrypt("state", "", "y"))).toBe("y");
});

const PASSPHRASE = "correct horse battery";
const ENCRYPTED =
  '{"sealed":1,"sum":"9f0b02a0b483ffdac989d41af650b59ea4b79c4e3bf61fd71cc4176f28a413bb","kdf":"hkdf","salt":"7eb18dd4aa64c4a42cec47a1f414b4d4","check":"e170ee285c226670","nonce":"7494cf5387abffc3d29ac2ca","data":"UO57b+CwAC9jjPaMpQD6eLeJcROZ"}';
const STRETCHED =
  '{"sealed":1,"sum":"ff55d585fb65354cdbcaa9432f6a9ee09d6d65bfbbcfa393a0be6484f0a15600","kdf":"scrypt","salt":"7eb18dd4aa64c4a42cec47a1f414b4d4","check":"16395c09c41d89d3","nonce":"7494cf5387abffc3d29ac2ca","data":"IvczGP33uPTgX0ZzBvtBjIN4fvZJ"}';

test("the encrypted form is the same in every version", () => {
  expect(cipher(HEX).encrypt("state", "", "tëxt")).toBe(ENCRYPTED);
  expect(opened(cipher(HEX, 9), "state", "", ENCRYPTED)).toBe("tëxt");
  expect(cipher(PASSPHRASE).encrypt("journal", "before", "tëxt")).toBe(STRETCHED);
  expect(opened(cipher(PASSPHRASE, 9), "journal", "before", STRETCHED)).toBe("tëxt");
});

test("an encrypted text may end with one line end", () => {
  expect(opened(cipher(HEX), "state", "", `${ENCRYPTED}\n`)).toBe("tëxt");
  for (const text of [`${ENCRYPTED}\n\n`, `\n${ENCRYPTED}`, `${ENCRYPTED} `])
    expect(thrownCode(() => opened(cipher(HEX), "state", "", text))).toBe("STATE_CORRUPT");
});

test("without a key, a part is neither encrypted nor decrypted", () => {
  const by = new Cipher({ random: counting() });
  expect([by.encrypts, cipher(HEX).encrypts]).toEqual([false, true]);
  expect(by.encrypt("state", "", "text")).toBe("text");
  expect(opened(by, "state", "", "text")).toBe("text");
});

test.each<[string, () => Cipher, Purpose, string, string, string]>([
  [
    "a plain state where a key is set",
    () => cipher(HEX),
    "state",
    '{"format_version":2,',
    "file is not encrypted, but WORKSPACE_STATE_KEY is set",
    "to encrypt it, run `workspace state rekey`; otherwise, unset the variable",
  ],
  [
    "a plain journal where a key is set",
    () => cipher(HEX),
    "journal",
    '{"hash":"00"}',
    "file is not encrypted, but WORKSPACE_STATE_KEY is set",
    "to encrypt it, run `workspace state rekey`; otherwise, unset the variable",
  ],
  [
    "a plain plan where a key is set",
    () => cipher(HEX),
    "plan",
    ' \n {"a":1}',
    "file is not encrypted, but WORKSPACE_STATE_KEY is set",
    "if `workspace state rekey` ran since it was saved, make a new plan; otherwise, unset the variable",
  ],
  [
    "an encrypted text where no key is set",
    () => new Cipher({ random: counting() }),
    "state",
    ENCRYPTED,
    "file is encrypted, but WORKSPACE_STATE_KEY is not set",
    "set WORKSPACE_STATE_KEY to the key of this state",
  ],
  [
    "an encrypted text of another key",
    () => cipher("6".repeat(64)),
    "state",
    ENCRYPTED,
    "file is encrypted with a different key than WORKSPACE_STATE_KEY",
    "set WORKSPACE_STATE_KEY to the key of this state; if `workspace state rekey` was interrupted, run it again with both keys",
  ],
  [
    "a plan of another key",
    () => cipher("6".repeat(64)),
    "plan",
    ENCRYPTED,
    "file is encrypted with a different key than WORKSPACE_STATE_KEY",
    "set WORKSPACE_STATE_KEY to the key of this state; if `workspace state rekey` ran since it was saved, make a new plan",
  ],
  [
    "an encrypted text of a key that is not among the old ones",
    () => new Cipher({ oldTexts: ["6".repeat(64)], random: counting() }),
    "state",
    ENCRYPTED,
    "file is encrypted with a different key than WORKSPACE_STATE_KEY_OLD",
    "set WORKSPACE_STATE_KEY_OLD to the key of this state",
  ],
])("%s is refused with a way out", (_what, by, purpose, text, message, hint) => {
  try {
    opened(by(), purpose, "", text);
    expect.unreachable();
  } catch (failure) {
    expect((failure as Failure).diagnostics).toMatchObject([{ code: "STATE_KEY", message, hint }]);
  }
});

test.each<[Purpose, string]>([
  ["state", ' {"format_version":2,'],
  ["state", '{"hash":"00"}'],
  ["journal", ' {"hash":"00"}'],
  ["journal", '{"format_version":2,'],
  ["plan", '[{"a":1}]'],
])("as a %s, %j is neither encrypted nor plain", (purpose, text) => {
  const at = () => cipher(HEX).decrypt(purpose, "", bytes(text), "file", 12);
  expect(at).toThrow("STATE_CORRUPT: file is damaged at byte 12: it is neither encrypted nor plain");
});

test("damage of an encrypted text says where it is and how long it was", () => {
  const cut = bytes(ENCRYPTED).slice(0, 100);
  expect(() => cipher(HEX).decrypt("state", "", cut, "file", 7)).toThrow(
    "STATE_CORRUPT: file is damaged at byte 7: checksum mismatch of its 100 encrypted bytes",
  );
});

test("base64 that was not written by the program is damage, also with a matching checksum", async () => {
  const { digest } = await import("../../../src/core/digest.ts");
  const text = cipher(HEX).encrypt("state", "", "1");
  const body = text.slice(text.indexOf('"kdf"'), -1);
  const other = body.replace(
    /(.)="$/,
    (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}="`,
  );
  expect(other).not.toBe(body);
  const data = (text: string) => Buffer.from(JSON.parse(`{${text}}`).data, "base64");
  expect(data(other)).toEqual(data(body));
  const forged = `{"sealed":1,"sum":"${digest(other)}",${other}}`;
  expect(() => opened(cipher(HEX), "state", "", forged)).toThrow("checksum mismatch");
});

test("a part is encrypted with the salt of a part that was decrypted with the same key", () => {
  const salt = (text: string): string => JSON.parse(text).salt;
  const by = cipher(HEX, 9);
  opened(by, "state", "", ENCRYPTED);
  expect(salt(by.encrypt("state", "", "y"))).toBe(salt(ENCRYPTED));
  const changing = new Cipher({ keyText: "7".repeat(64), oldTexts: [HEX], random: counting(9) });
  opened(changing, "state", "", ENCRYPTED);
  const first = changing.encrypt("state", "", "y");
  expect(salt(first)).not.toBe(salt(ENCRYPTED));
  expect(salt(changing.encrypt("state", "", "z"))).toBe(salt(first));
});

test("pieces give the same result as their whole, at any division, with the end of the line", () => {
  const text = "äbcdefghijklmnö";
  for (let first = 0; first <= text.length; first++)
    for (const second of [first, first + 1, first + 2]) {
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      const encrypted = [...cipher(HEX).encryptPieces(pieces)].join("");
      expect(encrypted).toBe(`${cipher(HEX).encrypt("state", "", text)}\n`);
    }
});

test("each piece is encrypted when it comes, in groups of three bytes", () => {
  const encrypted = [...cipher(HEX).encryptPieces(["abcd", "e", "fg"])];
  expect(encrypted.slice(2, -3).map((base64) => Buffer.from(base64, "base64").length)).toEqual([3, 0, 3]);
});

test("without a key, pieces are returned unchanged", () => {
  const pieces = ["a", "b"];
  expect(new Cipher({ random: counting() }).encryptPieces(pieces)).toBe(pieces);
});
