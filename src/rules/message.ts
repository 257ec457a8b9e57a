// The message of a rule: text with expressions, as in `{{address}} has no team tag`.

import type { MessagePart } from "./rule.ts";

/** The parts of a message, or the offset of a `{{` that is never closed. */
export function messageParts(text: string): readonly MessagePart[] | { readonly open: number } {
  const parts: MessagePart[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf("{{", at);
    if (start < 0) break;
    const end = text.indexOf("}}", start);
    if (end < 0) return { open: start };
    if (start > at) parts.push(text.slice(at, start));
    parts.push({ expression: text.slice(start + 2, end), offset: start + 2 });
    at = end + 2;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** A value of an expression as text of a message. */
export function messageText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "bigint" ? Number(one) : one instanceof Map ? Object.fromEntries(one) : one,
  );
}
