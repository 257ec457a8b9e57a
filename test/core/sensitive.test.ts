// A sensitive value shows itself nowhere.

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Sensitive } from "../../src/core/sensitive.ts";

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
