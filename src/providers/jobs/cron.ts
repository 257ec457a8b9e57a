// Validates cron expressions by the Quartz grammar: six or seven fields, seconds first, exactly one of the two day fields `?`.

import { Cron } from "croner";

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly words?: readonly string[];
  /** A range may run over the end, as `22-2` and `FRI-MON` do. */
  readonly wraps: boolean;
}

const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAYS = "SUN MON TUE WED THU FRI SAT".split(" ");
const DAY_OF_MONTH = 3;
const DAY_OF_WEEK = 5;

const RULES: readonly FieldRule[] = [
  { name: "seconds", min: 0, max: 59, wraps: true },
  { name: "minutes", min: 0, max: 59, wraps: true },
  { name: "hours", min: 0, max: 23, wraps: true },
  { name: "day of month", min: 1, max: 31, wraps: true },
  { name: "month", min: 1, max: 12, words: MONTHS, wraps: true },
  { name: "day of week", min: 1, max: 7, words: DAYS, wraps: true },
  { name: "year", min: 1970, max: 2099, wraps: false },
];

/** The error in an expression, as a clause; undefined if Quartz accepts it and it fires at least once. */
export function quartzProblem(expression: string): string | undefined {
  const parts = expression
    .trim()
    .toUpperCase()
    .split(/[ \t]+/);
  if (parts.length < 6 || parts.length > 7) return wrongCount(expression, parts.length);
  for (const [at, part] of parts.entries()) {
    const rule = RULES[at];
    const problem = rule === undefined ? undefined : fieldProblem(rule, at, part);
    if (rule !== undefined && problem !== undefined) return `${rule.name} "${part}": ${problem}`;
  }
  const questions = [parts[DAY_OF_MONTH], parts[DAY_OF_WEEK]].filter((part) => part === "?").length;
  if (questions === 0) return "exactly one of day of month and day of week must be ?";
  if (questions === 2) return "only one of day of month and day of week may be ?";
  return neverFires(parts) ? "it never fires" : undefined;
}

function wrongCount(expression: string, count: number): string {
  if (expression.trim() === "") return "it is empty";
  const hint =
    count === 5
      ? "; Quartz has seconds as the first field, for example 0 30 2 * * ? for 02:30 every day"
      : "";
  return `it has ${count} ${count === 1 ? "field" : "fields"} instead of 6 or 7${hint}`;
}

function fieldProblem(rule: FieldRule, at: number, part: string): string | undefined {
  if (part === "?")
    return at === DAY_OF_MONTH || at === DAY_OF_WEEK ? undefined : "? is for the two day fields only";
  const items = part.split(",");
  if (items.length === 1) {
    const special =
      at === DAY_OF_MONTH ? monthDayProblem(part) : at === DAY_OF_WEEK ? weekDayProblem(part) : undefined;
    if (special !== undefined) return special.problem;
  }
  for (const item of items) {
    const problem = itemProblem(rule, item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A form that only one field has; `problem` is absent where it is well written. */
interface Special {
  readonly problem?: string;
}

const between = (text: string | undefined, min: number, max: number): boolean => {
  const number = Number(text);
  return number >= min && number <= max;
};

/** `L`, `LW`, `L-3`, `L-3W`, `15W`. */
function monthDayProblem(part: string): Special | undefined {
  const last = /^L(?:-(\d{1,2}))?W?$/.exec(part);
  if (last !== null)
    return last[1] === undefined || between(last[1], 1, 30)
      ? {}
      : { problem: "the offset from the last day is 1 to 30" };
  const weekday = /^(\d{1,2})W$/.exec(part);
  if (weekday === null) return undefined;
  return between(weekday[1], 1, 31) ? {} : { problem: "a day of the month is 1 to 31" };
}

/** `L`, `6L`, `FRIL`, `6#3`, `FRI#2`. */
function weekDayProblem(part: string): Special | undefined {
  if (part === "L") return {};
  const form = /^(\d|[A-Z]{3})(?:L|#(\d))$/.exec(part);
  if (form === null) return undefined;
  const [, day = "", nth] = form;
  if (!(/\d/.test(day) ? between(day, 1, 7) : DAYS.includes(day)))
    return { problem: "a day of the week is 1 (Sunday) to 7, or SUN to SAT" };
  return nth === undefined || between(nth, 1, 5) ? {} : { problem: "# is followed by 1 to 5" };
}

/** `*`, `5`, `1-5`, `MON-FRI`, each number also with `/step`. Steps after names are left out: Quartz ignores them silently. */
function itemProblem(rule: FieldRule, item: string): string | undefined {
  const [range = "", step, ...more] = item.split("/");
  if (more.length > 0) return "there is more than one /";
  if (step !== undefined) {
    const most = rule.max - (rule.min === 1 ? 0 : rule.name === "year" ? rule.min : 0);
    if (!/^\d{1,4}$/.test(step) || !between(step, 1, most)) return `the step after / is 1 to ${most}`;
    if (/[A-Z]/.test(range)) return "a step cannot follow a name";
    if (range === "") return undefined;
  }
  return range === "*" ? undefined : rangeProblem(rule, range);
}

function rangeProblem(rule: FieldRule, range: string): string | undefined {
  const ends = range.split("-");
  if (ends.length > 2) return "a range needs two ends";
  const numbers = ends.map((end) => numberOf(rule, end));
  const [from, to] = numbers;
  if (numbers.includes(undefined)) return allowed(rule, range);
  if (ends.length === 2 && /[A-Z]/.test(ends[0] ?? "") !== /[A-Z]/.test(ends[1] ?? ""))
    return "a range needs two names or two numbers";
  if (!rule.wraps && from !== undefined && to !== undefined && to < from)
    return "the range ends before it begins";
  return undefined;
}

function numberOf(rule: FieldRule, text: string): number | undefined {
  const word = rule.words?.indexOf(text) ?? -1;
  if (word >= 0) return word + rule.min;
  return /^\d{1,4}$/.test(text) && between(text, rule.min, rule.max) ? Number(text) : undefined;
}

function allowed(rule: FieldRule, range: string): string {
  if (/[LW#]/.test(range) && rule.words !== MONTHS)
    return "L, W, and # are allowed only in the day fields, and not in a list or range";
  const words =
    rule.words === undefined ? "" : `, or ${rule.words[0]} to ${rule.words[rule.words.length - 1]}`;
  return `use ${rule.min} to ${rule.max}${words}`;
}

/** Whether no date fits, as 30 February. The forms that croner does not know always have a date. */
function neverFires(parts: readonly string[]): boolean {
  if (surelyFires(parts)) return false;
  if (/L|W/.test(parts[DAY_OF_MONTH] ?? "") || /L|#/.test(parts[DAY_OF_WEEK] ?? "")) return false;
  try {
    const pattern = parts.map((part, at) => unwrapped(RULES[at], part)).join(" ");
    const cron = new Cron(pattern, {
      mode: "6-or-7-parts",
      alternativeWeekdays: true,
      timezone: "UTC",
      paused: true,
    });
    return cron.nextRun(new Date(0)) === null;
  } catch {
    return false;
  }
}

/** Without a year, what fires on any day of the week, or on a day that every month has, fires; no date has to be looked for. */
function surelyFires(parts: readonly string[]): boolean {
  const day = parts[DAY_OF_MONTH] ?? "";
  return parts.length === 6 && day.split(",").some((item) => /^[?*/]/.test(item) || parseInt(item, 10) <= 28);
}

/** Ranges that run over the end, split in two for croner. */
function unwrapped(rule: FieldRule | undefined, part: string): string {
  if (rule === undefined) return part;
  const split = part.split(",").map((item) => {
    const [range = "", step] = item.split("/");
    const [from, to] = range.split("-").map((end) => numberOf(rule, end));
    if (from === undefined || to === undefined || from <= to) return range === "" ? `*/${step}` : item;
    return `${from}-${rule.max},${rule.min}-${to}`;
  });
  return split.join(",");
}

const zones = new Map<string, boolean>();
/** Zones under their main name. An alias is asked for alone, which loads all that writing dates needs. */
let listed: ReadonlySet<string> | undefined;

export function isTimeZone(name: string): boolean {
  const zone = zones.get(name);
  if (zone !== undefined) return zone;
  listed ??= new Set(Intl.supportedValuesOf("timeZone"));
  const exists = listed.has(name) || (/^[A-Za-z]/.test(name) && resolves(name));
  zones.set(name, exists);
  return exists;
}

function resolves(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
