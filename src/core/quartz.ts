// Cron expressions by the public Quartz grammar (six or seven fields, seconds first, exactly one of the two day fields `?`), when they fire, and time zones.

import { Cron, type CronOptions } from "croner";

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

/** The error in an expression, as a clause; undefined if Quartz accepts it. */
export function quartzProblem(expression: string): string | undefined {
  const parts = fieldsOf(expression);
  if (parts.length < 6 || parts.length > 7) return wrongCount(expression, parts.length);
  for (const [at, part] of parts.entries()) {
    const rule = RULES[at];
    const problem = rule === undefined ? undefined : fieldProblem(rule, at, part);
    if (rule !== undefined && problem !== undefined) return `${rule.name} "${part}": ${problem}`;
  }
  const questions = [parts[DAY_OF_MONTH], parts[DAY_OF_WEEK]].filter((part) => part === "?").length;
  if (questions === 0) return "exactly one of day of month and day of week must be ?";
  if (questions === 2) return "only one of day of month and day of week may be ?";
  return undefined;
}

/** Whether a valid expression fires at least once. 30 February does not exist, for example. */
export function everFires(expression: string): boolean {
  return surelyFires(fieldsOf(expression)) || nextFiring(expression, "UTC", 0) !== undefined;
}

/** The first time after `after` at which a valid expression fires, or undefined if it never does again. */
export function nextFiring(expression: string, timezone: string, after: number): number | undefined {
  const times = crons(expression, { timezone }).flatMap(
    (cron) => cron.nextRun(new Date(after))?.getTime() ?? [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** It fires when one of them does. */
function crons(expression: string, zone: Pick<CronOptions, "timezone" | "utcOffset">): readonly Cron[] {
  const mode = "6-or-7-parts";
  return cronPatterns(expression).map(
    (pattern) => new Cron(pattern, { mode, alternativeWeekdays: true, paused: true, ...zone }),
  );
}

/** How often a valid expression fires in a month, on average over a year; undefined if it cannot be computed. */
export function firingsPerMonth(expression: string): number | undefined {
  const fields = fieldsOf(expression);
  if (quartzProblem(expression) !== undefined) return undefined;
  const perDay = [0, 1, 2].reduce((product, at) => product * valuesOf(at, fields[at] ?? "").length, 1);
  return (perDay * firingDays(fields.slice(DAY_OF_MONTH, DAY_OF_WEEK + 1).join(" "))) / 12;
}

const DAY_MS = 86_400_000;
/** A year that is not a leap year, so that the number is the same at any time. */
const YEAR_START = Date.UTC(2027, 0, 1);
/** By the fields of days and months, which many schedules share. */
const countedDays = new Map<string, number>();

function firingDays(dayFields: string): number {
  const counted = countedDays.get(dayFields);
  if (counted !== undefined) return counted;
  // With a time zone, each comparison would take ten times as long.
  const days = crons(`0 0 0 ${dayFields}`, { utcOffset: 0 });
  let count = 0;
  for (let day = 0; day < 365; day += 1) {
    const midnight = new Date(YEAR_START + day * DAY_MS);
    if (days.some((cron) => cron.match(midnight))) count += 1;
  }
  countedDays.set(dayFields, count);
  return count;
}

function fieldsOf(expression: string): readonly string[] {
  return expression
    .trim()
    .toUpperCase()
    .split(/[ \t]+/);
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

/** Without a year, what fires on any day of the week, or on a day that every month has, fires; no date has to be looked for. */
function surelyFires(parts: readonly string[]): boolean {
  const day = parts[DAY_OF_MONTH] ?? "";
  return parts.length === 6 && day.split(",").some((item) => /^[?*/]/.test(item) || parseInt(item, 10) <= 28);
}

/** An expression as the patterns that croner reads: it fires whenever one of them does. */
function cronPatterns(expression: string): readonly string[] {
  const [second = "", minute = "", hour = "", day = "", month = "", weekday = "", year = "*"] =
    fieldsOf(expression);
  const time = `${numbers(0, second)} ${numbers(1, minute)} ${numbers(2, hour)}`;
  const months = numbers(4, month);
  const years = numbers(6, year);
  if (weekday !== "?") return [`${time} * ${months} ${weekDays(weekday)} ${years}`];
  const beforeLast = /^L-(\d{1,2})(W?)$/.exec(day);
  if (beforeLast === null) return [`${time} ${monthDays(day)} ${months} * ${years}`];
  return daysBeforeLast(Number(beforeLast[1]), beforeLast[2] ?? "")
    .map(
      ([days, ofMonths, ofYears]) =>
        `${time} ${days} ${common(months, ofMonths)} * ${common(years, ofYears)}`,
    )
    .filter((pattern) => !pattern.includes("none"));
}

/** A field of plain values, ranges, and steps, as a list of numbers or `*`. */
const numbers = (at: number, part: string): string => (part === "*" ? part : valuesOf(at, part).join(","));

function valuesOf(at: number, part: string): readonly number[] {
  const rule = RULES[at];
  const values = rule === undefined ? [] : part.split(",").flatMap((item) => expanded(rule, item));
  return [...new Set(values)].sort((a, b) => a - b);
}

function expanded(rule: FieldRule, item: string): readonly number[] {
  const [range = "", step] = item.split("/");
  const [from, to] = range === "" || range === "*" ? [] : range.split("-").map((end) => numberOf(rule, end));
  const start = from ?? rule.min;
  const end = to ?? (from === undefined || step !== undefined ? rule.max : start);
  const span = rule.max - rule.min + 1;
  const length = end >= start ? end - start : end - start + span;
  const values: number[] = [];
  for (let offset = 0; offset <= length; offset += Number(step ?? 1))
    values.push(rule.min + ((start - rule.min + offset) % span));
  return values;
}

/** croner knows `L`, `LW`, and `15W`, too. */
const monthDays = (part: string): string => (/[LW]/.test(part) ? part : numbers(DAY_OF_MONTH, part));

/** `L` is Saturday; croner knows `6L` and `6#3`, with a number for the day. */
function weekDays(part: string): string {
  if (part === "L") return "7";
  const form = /^(\d|[A-Z]{3})(L|#\d)$/.exec(part);
  return form === null
    ? numbers(DAY_OF_WEEK, part)
    : `${numbers(DAY_OF_WEEK, form[1] ?? "")}${form[2] ?? ""}`;
}

type DaysOfMonths = readonly [days: string, months: string, years: string];

/** L-3 is another day in months of other lengths: one pattern for each length. */
function daysBeforeLast(offset: number, suffix: string): readonly DaysOfMonths[] {
  const years = Array.from({ length: 2099 - 1970 + 1 }, (_, index) => 1970 + index);
  const leap = years.filter((year) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
  const lengths: readonly (readonly [
    length: number,
    months: string,
    years: readonly number[] | undefined,
  ])[] = [
    [31, "1,3,5,7,8,10,12", undefined],
    [30, "4,6,9,11", undefined],
    [29, "2", leap],
    [28, "2", years.filter((year) => !leap.includes(year))],
  ];
  return lengths
    .filter(([length]) => length > offset)
    .map(([length, months, of]) => [`${length - offset}${suffix}`, months, of?.join(",") ?? "*"]);
}

function common(a: string, b: string): string {
  if (a === "*") return b;
  if (b === "*") return a;
  const other = new Set(b.split(","));
  return (
    a
      .split(",")
      .filter((value) => other.has(value))
      .join(",") || "none"
  );
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
