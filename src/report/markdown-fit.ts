// Keeps a Markdown text below a length by leaving out whole parts from the end, and says what was left out.

import { count } from "../core/words.ts";

export interface Part {
  readonly what: string;
  readonly text: string;
}

/** Room for the sentence that says what is missing. */
const RESERVE = 300;

export function keptWithin(parts: readonly Part[], limit: number): string {
  const whole = parts.map((part) => part.text).join("\n");
  if (whole.length <= limit) return whole;
  let length = 0;
  const kept: string[] = [];
  const left: Part[] = [];
  for (const part of parts) {
    if (left.length === 0 && length + part.text.length + 1 <= limit - RESERVE) {
      kept.push(part.text);
      length += part.text.length + 1;
    } else left.push(part);
  }
  return [
    ...kept,
    `**Cut here**: ${leftOut(left)} did not fit. All of it is in the output of the run.\n`,
  ].join("\n");
}

function leftOut(parts: readonly Part[]): string {
  const kinds = [...new Set(parts.map((part) => part.what).filter((what) => what !== "heading"))];
  return kinds
    .map((what) =>
      count(parts.filter((part) => part.what === what).length, what, what.endsWith("s") ? what : `${what}s`),
    )
    .join(", ");
}
