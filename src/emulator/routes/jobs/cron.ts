// Quartz cron expressions (contract B 2.2, CronSchedule): a strict grammar, and the next time that one fires in a time zone.

import { Cron } from "croner";

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const SECOND: Field = { name: "second", min: 0, max: 59 };
const MINUTE: Field = { name: "minute", min: 0, max: 59 };
const HOUR: Field = { name: "hour", min: 0, max: 23 };
const DAY: Field = { name: "day of month", min: 1, max: 31 };
const MONTH: Field = { name: "month", min: 1, max: 12, names: MONTHS };
/** 1 is Sunday. */
const WEEKDAY: Field = { name: "day of week", min: 1, max: 7, names: DAYS };
const YEAR: Field = { name: "year", min: 1970, max: 2099 };

/** Thrown for an invalid Quartz expression; the message names the field and the problem. */
export class CronError extends Error {}

/** One expression as the patterns that croner reads: it fires whenever one of them does. */
type Patterns = readonly string[];

export function parseQuartz(expression: string): Patterns {
  const parts = expression.trim().toUpperCase().split(/\s+/);
  if (parts.length < 6 || parts.length > 7)
    throw new CronError(`it needs six or seven fields, not ${expression.trim() === "" ? 0 : parts.length}`);
  const [second = "", minute = "", hour = "", day = "", month = "", weekday = "", year = "*"] = parts;
  if ((day === "?") === (weekday === "?"))
    throw new CronError("exactly one of day of month and day of week must be ?");
  const time = [numbers(second, SECOND), numbers(minute, MINUTE), numbers(hour, HOUR)].join(" ");
  const months = numbers(month, MONTH);
  const years = numbers(year, YEAR);
  if (weekday !== "?") return [`${time} * ${months} ${weekdays(weekday)} ${years}`];
  const beforeLast = /^L-(\d{1,2})(W?)$/.exec(day);
  if (beforeLast !== null) {
    const offset = within(Number(beforeLast[1]), { ...DAY, min: 0, max: 30 });
    return daysBeforeLast(offset, beforeLast[2] ?? "")
      .map(
        ([days, ofMonths, ofYears]) =>
          `${time} ${days} ${common(months, ofMonths)} * ${common(years, ofYears)}`,
      )
      .filter((pattern) => !pattern.includes("none"));
  }
  return [`${time} ${monthDays(day)} ${months} * ${years}`];
}

/** The first time after `after` at which the expression fires, or undefined when it never does again. */
export function nextFiring(expression: string, timezone: string, after: number): number | undefined {
  const times = parseQuartz(expression).flatMap((pattern) => {
    const cron = new Cron(pattern, {
      mode: "6-or-7-parts",
      alternativeWeekdays: true,
      timezone,
      paused: true,
    });
    return cron.nextRun(new Date(after))?.getTime() ?? [];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

export function isTimezone(id: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: id }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** A field of plain values, ranges and steps, as a list of numbers or `*`. */
function numbers(text: string, field: Field): string {
  if (text === "*") return "*";
  const values = new Set(text.split(",").flatMap((item) => expand(item, field)));
  return [...values].sort((a, b) => a - b).join(",");
}

const ITEM = /^(?:(\*)|([A-Z]{3}|\d{1,4})(?:-([A-Z]{3}|\d{1,4}))?)?(?:\/(\d{1,4}))?$/;

function expand(text: string, field: Field): number[] {
  const match = text === "" ? null : ITEM.exec(text);
  if (match === null) throw new CronError(`"${text}" is not allowed in the field ${field.name}`);
  const [, , from, to, step] = match;
  const span = field.max - field.min + 1;
  const by = step === undefined ? 1 : Number(step);
  if (by < 1 || by >= span + field.min)
    throw new CronError(`the step ${by} is out of range in the field ${field.name}`);
  const start = from === undefined ? field.min : numberOf(from, field);
  const end =
    to !== undefined ? numberOf(to, field) : from === undefined || step !== undefined ? field.max : start;
  // A range may run over the end, as in FRI-MON.
  const length = end >= start ? end - start : end - start + span;
  const out: number[] = [];
  for (let offset = 0; offset <= length; offset += by)
    out.push(field.min + ((start - field.min + offset) % span));
  return out;
}

function numberOf(text: string, field: Field): number {
  if (/^\d+$/.test(text)) return within(Number(text), field);
  const index = field.names?.indexOf(text) ?? -1;
  if (index < 0) throw new CronError(`"${text}" is not allowed in the field ${field.name}`);
  return field.min + index;
}

function within(value: number, { name, min, max }: Field): number {
  if (value < min || value > max) throw new CronError(`${value} is out of range in the field ${name}`);
  return value;
}

/** L (last), LW (last weekday of the month), 15W (weekday nearest to the 15th) stand alone. */
function monthDays(text: string): string {
  if (text === "L" || text === "LW") return text;
  const nearest = /^(\d{1,2})W$/.exec(text);
  return nearest === null ? numbers(text, DAY) : `${within(Number(nearest[1]), DAY)}W`;
}

/** L (Saturday), 6L (last Friday of the month), 6#3 (third Friday of the month) stand alone. */
function weekdays(text: string): string {
  if (text === "L") return "7";
  const last = /^([A-Z]{3}|\d)L$/.exec(text);
  if (last !== null) return `${numberOf(last[1] ?? "", WEEKDAY)}L`;
  const nth = /^([A-Z]{3}|\d)#(\d)$/.exec(text);
  if (nth === null) return numbers(text, WEEKDAY);
  return `${numberOf(nth[1] ?? "", WEEKDAY)}#${within(Number(nth[2]), { ...WEEKDAY, max: 5 })}`;
}

type DaysOfMonths = readonly [days: string, months: string, years: string];

/** L-3 is another day in months of other lengths: one pattern for each length. */
function daysBeforeLast(offset: number, suffix: string): readonly DaysOfMonths[] {
  const years = Array.from({ length: YEAR.max - YEAR.min + 1 }, (_, index) => YEAR.min + index);
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
