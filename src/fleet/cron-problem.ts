// Checks the schedule of a workspace. Both croner, which `fleet run` uses, and the queue must read it alike.

import { Cron } from "croner";
import { thrownText } from "../core/diagnostic.ts";

const FIELD = /^(?:\*|[0-9]+(?:-[0-9]+)?)(?:\/[0-9]+)?(?:,(?:\*|[0-9]+(?:-[0-9]+)?)(?:\/[0-9]+)?)*$/;
const LIMITS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** croner accepts more than five fields and some invalid ones, so the grammar is checked here. */
export function cronProblem(cron: string, timezone: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== LIMITS.length) return `has ${fields.length} fields, not 5`;
  for (const [at, field] of fields.entries()) {
    const [min, max] = LIMITS[at] ?? [0, 0];
    const numbers = field.replaceAll(/\/[0-9]+/g, "").match(/[0-9]+/g) ?? [];
    const steps = field.match(/\/([0-9]+)/g) ?? [];
    const isInRange = numbers.every((one) => Number(one) >= min && Number(one) <= max);
    if (!FIELD.test(field) || !isInRange || steps.some((step) => Number(step.slice(1)) === 0))
      return `has the invalid field "${field}" (allowed: ${min} to ${max})`;
    const twice = repeatedValue(field, min, max);
    if (twice !== undefined) return `has the field "${field}", which contains ${twice} more than once`;
  }
  try {
    return new Cron(cron, { timezone }).nextRun() === null ? "never matches a date" : undefined;
  } catch (problem) {
    return `is invalid: ${thrownText(problem)}`;
  }
}

/** The queue refuses such a field. Sunday is 0 and 7. */
function repeatedValue(field: string, min: number, max: number): number | undefined {
  const seen = new Set<number>();
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [first = min, last = range === "*" ? max : first] =
      range === "*" ? [] : range.split("-").map(Number);
    const values = new Set<number>();
    for (let value = first; value <= last; value += Number(step)) values.add(max === 7 ? value % 7 : value);
    for (const value of values) if (seen.has(value)) return value;
    for (const value of values) seen.add(value);
  }
  return undefined;
}
