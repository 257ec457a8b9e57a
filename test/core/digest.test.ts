// One canonical string for each value, and digests that distinguish values.

import { createHmac, hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, digest, fingerprint, keyedDigest } from "../../src/core/digest.ts";
import type { Json } from "../../src/core/json.ts";

test("members are sorted at every depth, arrays keep their order", () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }, 0], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1},0]}');
});

test("an integer reads the same as number and as bigint", () => {
  expect(canonicalJson({ id: 5n })).toBe(canonicalJson({ id: 5 }));
});

test("a member named __proto__ is a member like any other", () => {
  expect(canonicalJson(JSON.parse('{"__proto__":{"x":1},"a":2}') as Json)).toBe(
    '{"__proto__":{"x":1},"a":2}',
  );
});

test("the order in which members were written does not matter", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse());
      expect(fingerprint(turned as Json)).toBe(fingerprint(value as Json));
    }),
  );
});

test("digests are SHA-256 and HMAC-SHA-256 (FIPS 180-2 and RFC 4231 examples)", () => {
  expect(digest("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(keyedDigest(new Uint8Array(20).fill(0x0b), "Hi There")).toBe(
    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
  );
});

test("the digests are those of the process's own SHA-256, which the command line lends", () => {
  const texts = ["", "a", "é\u{1f600}", "\ud800", "x".repeat(1_000)];
  expect(texts.map((text) => hash("sha256", text))).toEqual(texts.map((text) => digest(text)));
  const key = new Uint8Array([1, 2, 3]);
  const native = (text: string) => createHmac("sha256", key).update(text).digest("hex");
  expect(texts.map(native)).toEqual(texts.map((text) => keyedDigest(key, text)));
});
