// Keys of digests and of encryption. The bytes are fixed: another key would make every stored state unreadable.

import { describe, expect, test } from "vitest";
import {
  derive,
  keptKey,
  keyCheck,
  keyFromText,
  otherKey,
  readKeyText,
} from "../../../src/state/format/encryption.ts";
import { toHex } from "../../../src/state/model/store.ts";
import { thrownDiagnostics } from "../../failures.ts";

const HEX = "5".repeat(64);

test("the key of the digests is the same in every version", () => {
  expect(toHex(keyFromText(HEX))).toBe("7f01bee11195da62ae07cf444dc38cb0a43036b2645eac8c77c96098a7611cd5");
  expect(toHex(keyFromText("correct horse battery"))).toBe(
    "39b13c8a76ec32a1ce687f0a7a46cdeac2e5f7b73e762d9a56ad0a7cac99f33d",
  );
});

test("the check of a key is the same in every version, and has 16 digits", () => {
  expect(keyCheck(new Uint8Array(32).fill(7))).toBe("35624dc18180a161");
});

test("a key is written with two digits for each byte, and is read again with or without a line end", () => {
  const key = Uint8Array.from({ length: 32 }, (_, at) => at);
  const text = toHex(key);
  expect(text).toMatch(/^000102.*1e1f$/);
  expect(keptKey(text, "f")).toEqual(key);
  expect(keptKey(`${text}\n`, "f")).toEqual(key);
});

test.each(["", "5".repeat(63), "5".repeat(65), `x${HEX}`, "G".repeat(64), `${HEX}\n\n`])(
  "%j is not a kept key",
  (text) => {
    expect(thrownDiagnostics(() => keptKey(text, "secret.key"))[0]).toMatchObject({
      code: "STATE_KEY",
      message: "secret.key does not contain a key",
      hint: "restore it from a copy; if nothing has been applied yet, delete it",
    });
  },
);

test("a key that does not fit says whether one was given", () => {
  const hint = "set WORKSPACE_STATE_KEY to the key of this state, or restore secret.key";
  expect(otherKey(true, "secret.key").diagnostics).toMatchObject([
    { code: "STATE_KEY", message: "this state was written with another key", hint },
  ]);
  expect(otherKey(false, "secret.key").diagnostics).toMatchObject([
    { code: "STATE_KEY", message: "the state's key is missing", hint },
  ]);
});

describe("WORKSPACE_STATE_KEY", () => {
  test.each([
    ["0".repeat(63), "scrypt"],
    [`${HEX}0`, "scrypt"],
    [`0${"z".repeat(63)}`, "scrypt"],
    [`0${HEX}`, "scrypt"],
    ["aF".repeat(32), "hkdf"],
    ["A".repeat(43), "hkdf"],
    [`${"A".repeat(43)}=`, "hkdf"],
    ["A".repeat(42), "scrypt"],
    [`${"A".repeat(43)}==`, "scrypt"],
    [`!${"A".repeat(43)}`, "scrypt"],
    ["sixteen letters!", "scrypt"],
  ])("%j is used with %s", (text, kdf) => {
    expect(readKeyText(text).kdf).toBe(kdf);
  });

  test("may be in the base64 of URLs", () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, at) => [0xfb, 0xef, 0xff][at % 3] ?? 0);
    const text = Buffer.from(bytes).toString("base64");
    expect(text).toMatch(/\+.*\//);
    expect(readKeyText(text)).toEqual({ kdf: "hkdf", bytes });
    expect(readKeyText(Buffer.from(bytes).toString("base64url"))).toEqual({ kdf: "hkdf", bytes });
  });

  test("is the same however its letters are composed", () => {
    expect(readKeyText("cafe\u0301 au lait, sucre")).toEqual(readKeyText("caf\u00e9 au lait, sucre"));
    expect(new TextDecoder().decode(readKeyText("correct horse battery").bytes)).toBe(
      "correct horse battery",
    );
  });

  test("shorter than 16 characters is refused with a way to make one, and is not repeated", () => {
    expect(thrownDiagnostics(() => readKeyText("  fifteen letters  "))[0]).toMatchObject({
      code: "STATE_KEY",
      message: "WORKSPACE_STATE_KEY is shorter than 16 characters",
      hint: "use 32 random bytes, for example the output of `openssl rand -hex 32`",
    });
  });

  test("gives different keys for different uses and salts", () => {
    const of = (salt: string, use: string) => toHex(derive(readKeyText(HEX), salt, use));
    expect(new Set([of("a", "x"), of("b", "x"), of("a", "y")]).size).toBe(3);
  });
});
