// The lines of a change for its fields: values that are set, replaced, added, or removed, line diffs of strings, and cron expressions in words.

import cronstrue from "cronstrue";
import { structuredPatch } from "diff/lib/patch/create.js";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, toDottedPath, toPointer, valueAt } from "../../core/pointer.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { type FieldTable, type ListRule, type Severity, schemaAt } from "../../resource/field-schema.ts";
import { isSensitive, maskedValue } from "../../resource/masked.ts";
import type { Cause, FieldDiff } from "../../resource/planning.ts";
import { tableSchema, visitValue } from "../../resource/walk.ts";
import { printable } from "../text/printable.ts";
import { cut, setChange, valueText } from "../text/terminal.ts";
import { aroundDifference } from "./word-differences.ts";

/**
 * `label  text  note`. `was` is an old value, left of an arrow; `sign` marks a member that comes or goes. `severity` is never `other`.
 * `isExcerpt`: both values are long, and are shown around their difference.
 */
export interface FieldLine {
  readonly label: string;
  readonly sign?: "+" | "-";
  readonly was?: string;
  readonly text: string;
  readonly severity?: Severity;
  readonly note?: string;
  readonly isExcerpt?: true;
}

/** `security, forces replacement`; empty for a line without both. */
export function fieldNote({ severity, note }: FieldLine): string {
  return [severity, note].filter((part) => part !== undefined).join(", ");
}

/** Inside one line a list of plain values may be this long. */
const SHORT_LIST = 60;

export function setLines(
  fields: FieldTable,
  values: JsonObject,
  unknown: ReadonlySet<string>,
): readonly FieldLine[] {
  const lines: FieldLine[] = [];
  visitValue(tableSchema(fields), values, (schema, value, path) => {
    if (path.length === 0) return true;
    const label = printable(toDottedPath(path));
    if (schema.sensitive === true) lines.push({ label, text: SENSITIVE_TEXT });
    else if (unknown.has(toPointer(path))) lines.push({ label, text: unknownText(value), note: LATER });
    else if (isObject(value) && Object.keys(value).length > 0) return true;
    else if (Array.isArray(value) && value.length > 0)
      lines.push(...listLines(label, maskedValue(schema, value) as Json[]));
    else lines.push(...withNote([{ label, text: cut(contentText(path, value)) }], wordsFor(path, value)));
    return false;
  });
  return lines;
}

function listLines(label: string, items: readonly Json[]): readonly FieldLine[] {
  const inline = items.map((item) => valueText(item)).join(", ");
  if (inline.length <= SHORT_LIST) return [{ label, text: inline }];
  return items.map((item, at) => ({ label: at === 0 ? label : "", text: valueText(item) }));
}

const LATER = "known after apply";

/** The reference says where the value will come from. */
function unknownText(value: Json | undefined): string {
  return typeof value === "string" ? printable(value) : "?";
}

/** The lines of one difference. `usual` is the cause that the change as a whole has; others are noted. */
export function diffLines(
  fields: FieldTable,
  diff: FieldDiff,
  usual: Cause,
  severity: Severity,
): readonly FieldLine[] {
  const label = printable(toDottedPath(diff.path));
  const notes = [
    wordsFor(diff.path, diff.after),
    diff.unknown === true ? LATER : "",
    diff.replaces ? "forces replacement" : "",
    diff.cause === usual ? "" : causeText(diff.cause),
  ];
  const note = notes.filter((note) => note !== "").join(", ");
  const lines = withNote(changedLines(fields, diff, label), note);
  if (severity === "other") return lines;
  return lines.map((line) => (line.label === "" ? line : { ...line, severity }));
}

function changedLines(fields: FieldTable, diff: FieldDiff, label: string): readonly FieldLine[] {
  const schema = schemaAt(fields, diff.path);
  if (isSensitive(fields, diff.path))
    return [{ label, text: diff.before === undefined ? "(sensitive)" : "(sensitive, changed)" }];
  // Its live value is unknown.
  if (schema.writeOnly === true && diff.before === undefined && diff.unknown !== true)
    return [{ label, text: wholeText(diff.after) }];
  const before = diff.before === undefined ? undefined : maskedValue(schema, diff.before);
  const after = diff.after === undefined ? undefined : maskedValue(schema, diff.after);
  if (diff.unknown === true) return [{ label, was: valueText(before), text: unknownText(after) }];
  if (schema.list !== undefined && isListOrNothing(before) && isListOrNothing(after))
    return memberLines(label, before ?? [], after ?? [], schema.list);
  if (isLong(before) || isLong(after)) return textLines(label, before, after);
  if (isObject(before) || isObject(after)) return objectLines(diff.path, before, after);
  return [pairLine(label, contentText(diff.path, before), contentText(diff.path, after))];
}

/** A line of two values, each as its whole text. */
function pairLine(label: string, was: string, text: string): FieldLine {
  if (cut(was) === was && cut(text) === text) return { label, was, text };
  const [before, after] = aroundDifference(was, text);
  return { label, was: cut(before), text: cut(after), isExcerpt: true };
}

const wholeText = (value: Json | undefined): string => valueText(value, Number.POSITIVE_INFINITY);

/** The first characters of a digest differ for different contents. Cells are known by a digest alone, where files also have a size. */
function contentText(path: Path, value: Json | undefined): string {
  if (path[0] !== "content" || typeof value !== "string") return wholeText(value);
  const [, size = "", digest] = /^(\d+ bytes, )?(?:sha256 )?([0-9a-f]{64})$/.exec(value) ?? [];
  return digest === undefined ? wholeText(value) : `${size}sha256 ${digest.slice(0, 12)}`;
}

function isLong(value: Json | undefined): value is string {
  return typeof value === "string" && value.includes("\n");
}

function textLines(label: string, before: Json | undefined, after: Json | undefined): readonly FieldLine[] {
  const side = (value: Json | undefined) => (typeof value === "string" ? value : "");
  const lines = textDiff(side(before), side(after));
  return lines.map((line, at) => (at === 0 ? { ...line, label } : line));
}

function isListOrNothing(value: Json | undefined): value is readonly Json[] | undefined {
  return value === undefined || Array.isArray(value);
}

/** Added and removed members; two members with the same key, or that look alike when shortened, are shown as a change inside. */
function memberLines(
  label: string,
  before: readonly Json[],
  after: readonly Json[],
  rule: ListRule,
): readonly FieldLine[] {
  const { gone, come } = setChange(before, after);
  const [was, text] = [valueText(before), valueText(after)];
  const isShort = rule === "ordered" && was.length + text.length <= SHORT_LIST;
  if (isShort || gone.length + come.length === 0) return [{ label, was, text }];
  const lines: FieldLine[] = [];
  const keyed = typeof rule === "object" ? rule.key : undefined;
  const paired = new Set<Json>();
  const isHeir = (value: Json, item: Json): boolean =>
    keyed === undefined ? valueText(value) === valueText(item) : sameKey(keyed, value, item);
  for (const item of gone) {
    const heir = come.find((value) => !paired.has(value) && isHeir(value, item));
    if (heir === undefined) lines.push({ label: "", sign: "-", text: valueText(item) });
    else {
      paired.add(heir);
      lines.push(pairLine("", wholeText(item), wholeText(heir)));
    }
  }
  for (const item of come) if (!paired.has(item)) lines.push({ label: "", sign: "+", text: valueText(item) });
  return lines.map((line, at) => (at === 0 ? { ...line, label } : line));
}

function sameKey(key: string, a: Json, b: Json): boolean {
  return isObject(a) && isObject(b) && a[key] !== undefined && a[key] === b[key];
}

/** An object that is added, removed, or changed: its members by their paths. */
function objectLines(path: Path, before: Json | undefined, after: Json | undefined): readonly FieldLine[] {
  const [old = {}, next = {}] = [before, after];
  const keys = isObject(old) && isObject(next) ? [...Object.keys(old), ...Object.keys(next)] : [];
  if (keys.length === 0)
    return [pairLine(printable(toDottedPath(path)), wholeText(before), wholeText(after))];
  return [...new Set(keys)].flatMap((key) => {
    const [a, b] = [valueAt(old, [key]), valueAt(next, [key])];
    const isSame = !isObject(a) && !isObject(b) && canonicalJson(a ?? null) === canonicalJson(b ?? null);
    return isSame ? [] : objectLines([...path, key], a, b);
  });
}

/** Each changed field has the note. The lines of one value have it once, next to the label. */
export function withNote(lines: readonly FieldLine[], note: string): readonly FieldLine[] {
  if (note === "") return lines;
  return lines.map((line) => {
    if (line.label === "") return line;
    return { ...line, note: line.note === undefined ? note : `${line.note}, ${note}` };
  });
}

export function causeText(cause: Cause): string {
  switch (cause) {
    case "spec":
      return "the spec changed";
    case "drift":
      return "changed outside";
    case "both":
      return "the spec changed, and so did the workspace";
  }
  return cause satisfies never;
}

const CONTEXT = 2;
/** Longer differences are truncated, with a note. */
const MOST = 200;

export function textDiff(before: string, after: string): readonly FieldLine[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: CONTEXT });
  const lines = hunks.flatMap((hunk) => [
    { label: "", text: `line ${hunk.newStart}:` },
    ...hunk.lines.map(lineOf),
  ]);
  if (lines.length <= MOST) return lines;
  return [...lines.slice(0, MOST), { label: "", text: `… (${lines.length - MOST} more lines)` }];
}

function lineOf(line: string): FieldLine {
  const text = printable(line.slice(1).replaceAll("\t", "  "));
  if (line.startsWith("+")) return { label: "", sign: "+", text };
  if (line.startsWith("-")) return { label: "", sign: "-", text };
  return { label: "", text: line.startsWith("\\") ? `(${text.trim()})` : `  ${text}` };
}

export function wordsFor(path: Path, value: Json | undefined): string {
  if (path.at(-1) !== "quartz_cron_expression" || typeof value !== "string") return "";
  const words = cronWords.get(value) ?? meaningOf(value);
  cronWords.set(value, words);
  return words;
}

/** Many jobs run at the same times. */
const cronWords = new Map<string, string>();

function meaningOf(value: string): string {
  try {
    // Quartz counts the days of the week from 1, Sunday.
    const words = cronstrue.toString(value, { dayOfWeekStartIndexZero: false, use24HourTimeFormat: true });
    return printable(words.charAt(0).toLowerCase() + words.slice(1));
  } catch {
    return "";
  }
}
