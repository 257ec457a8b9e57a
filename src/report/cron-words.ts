// What a cron expression means, in words beside it: few people read Quartz.

import cronstrue from "cronstrue";
import type { Json } from "../core/json.ts";
import type { Path } from "../core/pointer.ts";
import { printable } from "./printable.ts";

/** The words for a value that is a cron expression; else the empty text. */
export function wordsFor(path: Path, value: Json | undefined): string {
  if (path.at(-1) !== "quartz_cron_expression" || typeof value !== "string") return "";
  const words = known.get(value) ?? meaningOf(value);
  known.set(value, words);
  return words;
}

/** Many jobs run at the same times. */
const known = new Map<string, string>();

function meaningOf(value: string): string {
  try {
    // Quartz counts the days of the week from 1, Sunday.
    const words = cronstrue.toString(value, { dayOfWeekStartIndexZero: false, use24HourTimeFormat: true });
    return printable(words.charAt(0).toLowerCase() + words.slice(1));
  } catch {
    return "";
  }
}
