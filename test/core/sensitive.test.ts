// A sensitive value shows itself nowhere.

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Sensitive, SensitiveTexts } from "../../src/core/sensitive.ts";

const canary = "canary-7f3a";
const secret = new Sensitive(new TextEncoder().encode(canary));

test("no way of printing a sensitive value shows it", () => {
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ deep: [secret] }, { depth: 9, showHidden: true }),
    Object.values(secret).join(),
  ];
  for (const text of shown) expect(text).not.toContain(canary);
  expect(shown[0]).toBe("(sensitive)");
});

test("the bytes come out where they are asked for", () => {
  expect(new TextDecoder().decode(secret.reveal())).toBe(canary);
});

test.each([
  ["hex", (text: string) => Buffer.from(text).toString("hex")],
  ["upper-case hex", (text: string) => Buffer.from(text).toString("hex").toUpperCase()],
  ["base64", (text: string) => Buffer.from(text).toString("base64")],
  ["base64url", (text: string) => Buffer.from(text).toString("base64url")],
  ["URL encoding", encodeURIComponent],
  ["JSON", (text: string) => JSON.stringify(text)],
])("a sentence that repeats a sensitive string as %s does not show it", (_, encode) => {
  const text = 'S3nsi&tive/Va=lue+>?"x';
  const texts = new SensitiveTexts();
  texts.add(text);
  const sentence = `bad value ${encode(text)} in the request`;
  expect(texts.maskedSentence(sentence)).toMatch(/^bad value "?\(sensitive\)"? in the request$/);
  expect(texts.maskedDeep({ cause: [sentence] }).cause[0]).toBe(texts.maskedSentence(sentence));
});

test.each([0, 1, 2])(
  "a request that a sentence repeats as base64 does not show a sensitive string after %i bytes",
  (before) => {
    const text = "canary-0123456789";
    const texts = new SensitiveTexts();
    texts.add(text);
    const encoded = Buffer.from(`${"x".repeat(before + 3)}${text}yyyy`).toString("base64");
    const shown = texts.maskedSentence(`bad request ${encoded}`);
    expect(shown).toContain("(sensitive)");
    expect(Buffer.from(shown.slice("bad request ".length).replace("(sensitive)", "")).length).toBeLessThan(
      20,
    );
  },
);
