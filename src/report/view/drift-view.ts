// The view of drift for all reports: plain data; each format only lays it out.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { isAgreedBySpec, marksOfSpec } from "../../planner/diff/known-drift.ts";
import { normalForm } from "../../planner/diff/normalize.ts";
import type { Drift, DriftMark, DriftOrigin, Plan } from "../../planner/model/plan.ts";
import { type FieldTable, type Severity, schemaAt } from "../../resource/field-schema.ts";
import { isContentField, type Kind, type KindRegistry } from "../../resource/kind.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import { isAtLeast, mostSevere, severityOfObject } from "../../resource/severity.ts";
import { printable } from "../text/printable.ts";
import { timeText } from "../text/vocabulary.ts";
import {
  contentLine,
  contentLines,
  NO_PLACES,
  type RatedDiff,
  ratedDiff,
  type SpecPlace,
  type SpecPlaces,
} from "./change-view.ts";
import { type Choice, driftEntry, hiddenLine, isChosen, SHOW_ALL } from "./choice.ts";
import { diffLines, type FieldLine, withNote } from "./field-lines.ts";

export interface DriftView {
  readonly host: string;
  /** One sentence: how much drift there is, and whether the state manages anything. */
  readonly title: string;
  /** Number of managed resources: without any, "no drift" means little. */
  readonly managed: number;
  /** Number of fields that `lifecycle.ignore_changes` leaves out. */
  readonly ignoredFields: number;
  readonly drift: readonly DriftItem[];
  /** The rows for readers, by `--show` and `--hide`. */
  readonly shown: readonly DriftItem[];
  /** One sentence that counts the other rows; undefined if there are none. */
  readonly hidden: string | undefined;
  readonly choice: Choice;
  /** The text form leaves them out where standard error shows them. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface DriftItem {
  readonly address: string;
  readonly kind: string;
  readonly what: Drift["what"];
  /** `changed`, `was deleted`, `appeared`: after the address in a sentence. */
  readonly verb: string;
  readonly at: SpecPlace | undefined;
  readonly fields: readonly FieldLine[];
  /** The diff of a string as lines of a unified diff. */
  readonly content: readonly string[];
  /** The severity of its most severe difference, or of the object if it was deleted or appeared. */
  readonly severity: Severity;
  readonly differences: readonly RatedDiff[];
  /** The status of each difference; one status for an object that was deleted or appeared. As in JSON. */
  readonly marks: readonly Record<string, unknown>[];
  /** The status of an object that was deleted or appeared; empty if unknown or shown at the fields. */
  readonly remark: string;
  /** After the address in a list: the severity unless it is `other`, and `remark`. */
  readonly remarks: readonly string[];
  /** Who changed it, and when, as a sentence; empty if unknown. */
  readonly author: string;
  /** The severity of the most severe difference that needs attention; undefined if none does. */
  readonly open: Severity | undefined;
  /** It appeared, and no plan deletes it: its value cannot be read. */
  readonly isKept?: boolean;
  /** The spec agrees with the workspace: no plan changes it, and an apply records it. */
  readonly isInSpec: boolean;
  /** Exact values for machines; `table` says which of them are sensitive. */
  readonly source: Drift;
  readonly table: FieldTable;
}

/** Which differences need attention. */
interface DriftAttention {
  /** Whether a difference that an earlier run reported does not. */
  readonly sinceLast?: boolean;
  /** A less severe difference does not. */
  readonly least?: Severity;
}

interface DriftViewOptions extends DriftAttention {
  readonly ignoredFields?: number;
  /** Where the spec declares what drifted. */
  readonly places?: SpecPlaces;
  readonly choice?: Choice;
}

const VERBS = { changed: "changed", deleted: "was deleted", appeared: "appeared" } as const;

export function driftView(
  plan: Pick<Plan, "host" | "drift" | "diagnostics"> & Partial<Pick<Plan, "changes">>,
  managed: number,
  registry: KindRegistry,
  { places = NO_PLACES, choice = SHOW_ALL, ignoredFields = 0, ...context }: DriftViewOptions = {},
): DriftView {
  const { host, drift, diagnostics, changes = [] } = plan;
  const title = `${verdict(drift, managed)}${markTitle(drift.flatMap(marksIn), context)}${ignoredText(ignoredFields)}`;
  const kept = new Set(changes.flatMap(({ action, address }) => (action === "report" ? [address] : [])));
  const items = drift.map((drift) => ({
    ...driftItem(drift, registry, places, context),
    isKept: kept.has(drift.address),
  }));
  const shown = items.filter((item) => isChosen(choice, driftEntry(item)));
  return {
    host,
    title,
    managed,
    ignoredFields,
    drift: items,
    shown,
    hidden: hiddenLine(choice, { drift: items.length - shown.length }),
    choice,
    diagnostics,
  };
}

export function driftItem(
  drift: Drift,
  registry: KindRegistry,
  places: SpecPlaces,
  context: DriftAttention = {},
): DriftItem {
  const provider = registry.of(drift.address);
  const differences = drift.diffs.map((diff) => ratedDiff(provider, drift.address, diff, places));
  const whole = severityOfObject(provider);
  const marks = marksIn(drift);
  const open = marks.flatMap((mark, at) => {
    const severity = differences[at]?.severity ?? whole;
    return isOpen(mark, severity, context) ? [severity] : [];
  });
  const severity = mostSevere(differences.map((rated) => rated.severity)) ?? whole;
  const remark = differences.length > 0 ? "" : markText(marks[0], context);
  const rights = differences.length > 0 ? [] : rightsIn(drift, provider, places);
  return {
    address: drift.address,
    kind: drift.kind,
    what: drift.what,
    verb: VERBS[drift.what],
    at: places(drift.address),
    fields: [
      ...differences.flatMap((rated, at) => withMark(linesOf(drift, rated, registry), marks[at], context)),
      ...rights.flatMap((rated) => linesOf(drift, rated, registry)),
    ],
    severity,
    differences,
    marks: marks.map((mark) => markJson(mark, context)),
    remark,
    remarks: [severity === "other" ? "" : severity, remark].filter((text) => text !== ""),
    open: mostSevere(open),
    isInSpec: isAgreedBySpec(drift),
    author: authorText(drift.origin),
    content: contentLines(drift.content),
    source: drift,
    table: provider.fields,
  };
}

/** The fields with rights of an object that was deleted or appeared: which permission an ACL lost. */
function rightsIn(
  { what, values = {}, address, name }: Drift,
  provider: Kind,
  places: SpecPlaces,
): readonly RatedDiff[] {
  return Object.entries(values).flatMap(([field, recorded]) => {
    const value = normalForm(schemaAt(provider.fields, [field]), recorded);
    if (value === undefined || value === name || field === provider.nameField) return [];
    const [before, after] = what === "deleted" ? [undefined, value] : [value, undefined];
    const diff: FieldDiff = { path: [field], before, after, cause: "drift", replaces: false };
    const rated = ratedDiff(provider, address, diff, places);
    return rated.severity === "security" ? [rated] : [];
  });
}

/** Which differences a report alerts of, one for each mark of an address: it shows them, and they are at least as severe as `least`. */
export function alertedDifferences(
  { shown }: Pick<DriftView, "shown">,
  least: Severity,
): ReadonlyMap<string, readonly boolean[]> {
  return new Map(
    shown.map(({ address, differences, marks, severity }) => [
      address,
      marks.map((_, at) => isAtLeast(differences[at]?.severity ?? severity, least)),
    ]),
  );
}

/** The status of each difference; new if the state was not asked. */
export function marksIn(drift: Drift): readonly DriftMark[] {
  return drift.marks ?? marksOfSpec(drift);
}

/** Digests of contents mean nothing to users. */
function linesOf(
  { address, content }: Drift,
  { diff, severity }: RatedDiff,
  registry: KindRegistry,
): readonly FieldLine[] {
  const provider = registry.of(address);
  if (!isContentField(provider, String(diff.path[0])))
    return diffLines(provider.fields, asItHappened(diff), diff.cause, severity);
  return [content === undefined ? { label: "content", text: "changed" } : contentLine(content)];
}

/** A difference leads from live to recorded; what happened went the other way. */
function asItHappened(diff: FieldDiff): FieldDiff {
  return { ...diff, before: diff.after, after: diff.before, replaces: false };
}

function verdict(drift: readonly Drift[], managed: number): string {
  const empty = "The state manages no resources.";
  if (drift.length > 0) return managed === 0 ? `${driftTitle(drift)} ${empty}` : driftTitle(drift);
  return managed === 0 ? `No drift. ${empty}` : "No drift. The workspace matches the last apply.";
}

function ignoredText(fields: number): string {
  if (fields === 0) return "";
  return ` ${count(fields, "field is", "fields are")} not compared (ignore_changes).`;
}

function driftTitle(drift: readonly Pick<Drift, "what">[]): string {
  const number = (what: Drift["what"]) => drift.filter((drift) => drift.what === what).length;
  return `Drift in ${count(drift.length, "resource")}: ${number("changed")} changed, ${number("deleted")} deleted, ${number("appeared")} appeared.`;
}

/** Whether a difference of this severity needs attention. */
function isOpen(
  { reported, acknowledged, declared = false }: DriftMark,
  severity: Severity,
  { sinceLast = false, least = "other" }: DriftAttention,
): boolean {
  const isKnown = acknowledged !== undefined || declared || (sinceLast && reported);
  return !isKnown && isAtLeast(severity, least);
}

function markText(mark: DriftMark | undefined, { sinceLast = false }: DriftAttention): string {
  if (mark?.acknowledged !== undefined) {
    const { until, by, reason } = mark.acknowledged;
    return printable(`acknowledged until ${timeText(until)} by ${by}: ${reason}`);
  }
  if (mark?.declared === true) return "already in the spec";
  if (!sinceLast) return "";
  return mark?.reported === true ? "reported before" : "new";
}

function markJson(
  { acknowledged, reported, declared }: DriftMark,
  { sinceLast = false }: DriftAttention,
): Record<string, unknown> {
  return {
    reported: sinceLast ? reported : undefined,
    declared,
    acknowledged: acknowledged && {
      until: timeText(acknowledged.until),
      by: acknowledged.by,
      reason: acknowledged.reason,
    },
  };
}

const UNRECORDED = "the service does not record who changed it, or when";

/** Of several changes without a name, one line says it. */
export const UNRECORDED_NOTE =
  "For changes without a name, the service does not record who made them, or when.";

export const areUnrecorded = (origins: readonly (DriftOrigin | undefined)[]): boolean =>
  origins.filter((origin) => origin !== undefined && origin.by === undefined && origin.at === undefined)
    .length > 1;

/** The same drift. If the service does not record who changed several objects, `note` says it once for all. */
export function notedOnce(drift: readonly DriftItem[]): {
  readonly items: readonly DriftItem[];
  readonly note: string;
} {
  const isNoted = areUnrecorded(drift.map(({ source }) => source.origin));
  const items = drift.map((item) => ({ ...item, author: authorText(item.source.origin, isNoted) }));
  return { items, note: isNoted ? UNRECORDED_NOTE : "" };
}

/**
 * `changed by ada@example.com at 2026-11-21T09:48:03Z`, or that the service does not record it. `isNoted`: `UNRECORDED_NOTE` says
 * once what is not recorded.
 */
export function authorText(origin: DriftOrigin | undefined, isNoted = false): string {
  if (origin === undefined) return "";
  const { by, at, creator } = origin;
  const when = at === undefined ? "" : ` at ${timeText(at)}`;
  if (by !== undefined) return printable(`changed by ${by}${when}`);
  if (at !== undefined) return `changed${when}; the service does not record by whom`;
  const parts = [
    ...(creator === undefined ? [] : [`created by ${creator}`]),
    ...(isNoted ? [] : [UNRECORDED]),
  ];
  return printable(parts.join("; "));
}

export function driftOriginJson(origin: DriftOrigin | undefined): Record<string, unknown> | undefined {
  if (origin === undefined) return undefined;
  const { by = null, at, creator } = origin;
  return { changed_by: by, changed_at: at === undefined ? null : timeText(at), created_by: creator };
}

/** The lines of one difference. Each has its status, and the first one who acknowledged it, until when, and why. */
function withMark(
  [first, ...others]: readonly FieldLine[],
  mark: DriftMark | undefined,
  context: DriftAttention,
): readonly FieldLine[] {
  if (first === undefined) return [];
  const status = markText(mark, context);
  const short = mark?.acknowledged === undefined ? status : "acknowledged";
  return [...withNote([first], status), ...withNote(others, short)];
}

/** `1 new, 1 reported before, 1 in the spec, 1 acknowledged.` Empty where neither the state nor the spec says anything. */
function markTitle(marks: readonly DriftMark[], { sinceLast = false }: DriftAttention): string {
  const acknowledged = marks.filter((mark) => mark.acknowledged !== undefined).length;
  const others = marks.filter((mark) => mark.acknowledged === undefined);
  const declared = others.filter((mark) => mark.declared === true).length;
  const reported = others.filter((mark) => mark.declared !== true && mark.reported).length;
  if (marks.length === 0 || (!sinceLast && acknowledged + declared === 0)) return "";
  const open = others.length - declared;
  const parts = sinceLast ? [`${open - reported} new`, `${reported} reported before`] : [`${open} open`];
  const inSpec = declared === 0 ? [] : [`${declared} in the spec`];
  const accepted = sinceLast || acknowledged > 0 ? [`${acknowledged} acknowledged`] : [];
  return ` Differences: ${[...parts, ...inSpec, ...accepted].join(", ")}.`;
}
