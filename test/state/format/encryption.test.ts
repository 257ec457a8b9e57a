import { expect, test } from "vitest";
import { Failure } from "../../../src/core/diagnostic.ts";
import { createSealer, type Purpose, type Sealer } from "../../../src/state/format/encryption.ts";
import { readKeyText } from "../../../src/state/format/key.ts";
import { counting } from "../build.ts";

const HEX = "5".repeat(64);
const sealer = (keyText: string, seed = 1): Sealer => createSealer({ keyText, random: counting(seed) });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const opened = (by: Sealer, purpose: Purpose, bound: string, text: string): string =>
  new TextDecoder().decode(by.open(purpose, bound, bytes(text), "file"));

function code(work: () => unknown): string {
  try {
    work();
    return "fine";
  } catch (failure) {
    return failure instanceof Failure ? (failure.diagnostics[0]?.code ?? "") : String(failure);
  }
}

test("an encrypted state decrypts to the same, reveals nothing, and differs each time", () => {
  const by = sealer(HEX);
  const [one, two] = [by.seal("state", "", "canary"), by.seal("state", "", "canary")];
  expect(one).not.toContain("canary");
  expect(one).not.toBe(two);
  expect(opened(sealer(HEX, 9), "state", "", one)).toBe("canary");
});

test("a ciphertext decrypts only for its purpose and location", () => {
  const by = sealer(HEX);
  const text = by.seal("journal", "before", "line");
  expect(opened(by, "journal", "before", text)).toBe("line");
  expect(code(() => opened(by, "journal", "elsewhere", text))).toBe("STATE_CORRUPT");
  expect(code(() => opened(by, "state", "before", text))).toBe("STATE_CORRUPT");
});

test("a flipped bit or a cut at any byte is damage, and never another text", () => {
  const by = sealer(HEX);
  const whole = bytes(by.seal("state", "", "a short text"));
  for (let at = 0; at < whole.length; at++) {
    const flipped = whole.slice();
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect([at, code(() => by.open("state", "", flipped, "file"))]).toEqual([at, "STATE_CORRUPT"]);
    expect([at, code(() => by.open("state", "", whole.slice(0, at), "file"))]).toEqual([at, "STATE_CORRUPT"]);
  }
});

test("a change without the key is detected, also with a matching checksum", async () => {
  const { digest } = await import("../../../src/core/digest.ts");
  const text = sealer(HEX).seal("state", "", "a short text");
  const body = text
    .slice(text.indexOf('"kdf"'), -1)
    .replace(/"data":"(.)/, (_, first) => `"data":"${first === "A" ? "B" : "A"}`);
  const forged = `{"sealed":1,"sum":"${digest(body)}",${body}}`;
  expect(() => opened(sealer(HEX), "state", "", forged)).toThrow("was modified, or belongs to another state");
});

test("a wrong or missing key has a different error than damage", () => {
  const text = sealer(HEX).seal("state", "", "x");
  expect(code(() => opened(sealer("6".repeat(64)), "state", "", text))).toBe("STATE_KEY");
  expect(code(() => opened(sealer("a passphrase of some length"), "state", "", text))).toBe("STATE_KEY");
  expect(code(() => opened(createSealer({ random: counting() }), "state", "", text))).toBe("STATE_KEY");
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
  expect(code(() => readKeyText("fifteen letters"))).toBe("STATE_KEY");
});

test("a state of the old key decrypts while the key changes", () => {
  const old = sealer(HEX).seal("state", "", "x");
  const changing = createSealer({
    keyText: "7".repeat(64),
    oldTexts: [HEX],
    opensPlain: true,
    random: counting(3),
  });
  expect(opened(changing, "state", "", old)).toBe("x");
  expect(opened(changing, "state", "", "{}")).toBe("{}");
  expect(opened(sealer("7".repeat(64)), "state", "", changing.seal("state", "", "y"))).toBe("y");
});
