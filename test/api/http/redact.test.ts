import { expect, test } from "vitest";
import { redactor } from "../../../src/api/http/redact.ts";

const token = "wat+/token/9f8e~7d'";
const redact = redactor(() => [token]);
const bytes = (text: string) => new TextEncoder().encode(text);

test("a token is replaced in each of its writings", () => {
  for (const form of [
    token,
    `Bearer ${token}`,
    `Basic ${btoa(`token:${token}`)}`,
    Buffer.from(token).toString("base64"),
    Buffer.from(token).toString("base64url"),
    Buffer.from(token).toString("hex"),
    Buffer.from(token).toString("hex").toUpperCase(),
    Buffer.from(`id:${token}`).toString("base64"),
    encodeURIComponent(token),
    new URLSearchParams({ token }).toString().slice("token=".length),
  ]) {
    const out = redact(`you sent ${form}, which is wrong`);
    expect(out).toContain("(token)");
    expect(out).not.toContain(form);
  }
});

test("a message that repeats a secret is withheld whole, in whatever writing", () => {
  const secret = 'hunter2 "é\n';
  for (const form of [
    secret,
    Buffer.from(secret).toString("base64"),
    Buffer.from(secret).toString("base64url"),
    Buffer.from(secret).toString("hex").toUpperCase(),
    encodeURIComponent(secret),
    JSON.stringify(secret),
  ])
    expect(redact(`cannot store ${form} here`, [bytes(secret)])).toBe(
      "(withheld: the message repeats a secret)",
    );
});

test("a short secret is found in its encodings, too", () => {
  for (const form of ["x7", "X7", "eDc", "7837"])
    expect(redact(`cannot store ${form} here`, [bytes("x7")])).toBe(
      "(withheld: the message repeats a secret)",
    );
});

test("other messages are not changed", () => {
  expect(redact("Scope etl does not exist!", [bytes("hunter2"), bytes("")])).toBe(
    "Scope etl does not exist!",
  );
  expect(redactor(() => ["t"])("too late")).toBe("too late");
});
