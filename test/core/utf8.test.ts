// Bytes as text, only if they are UTF-8.

import { expect, test } from "vitest";
import { utf8Text } from "../../src/core/utf8.ts";

const MARKED = new Uint8Array([0xef, 0xbb, 0xbf, 0x61]);

test("a byte order mark is dropped unless it is kept", () => {
  expect(utf8Text(MARKED)).toBe("a");
  expect(utf8Text(MARKED, "kept")).toBe("\ufeffa");
});

test("bytes that are not UTF-8 are undefined, and the next bytes are decoded alone", () => {
  for (const mark of ["dropped", "kept"] as const) {
    expect(utf8Text(new Uint8Array([0x61, 0xc3]), mark)).toBeUndefined();
    expect(utf8Text(new Uint8Array([0x62]), mark)).toBe("b");
  }
});
