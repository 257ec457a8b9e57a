// The view of drift for all reports: plain data; each format only lays it out.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { marksOf } from "../../planner/diff/known-drift.ts";
import type { Drift, Plan } from "../../planner/model/plan.ts";
import { isContentField } from "../../resource/content.ts";
import type { FieldTable, Severity } from "../../resource/field-schema.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import { mostSevere, severityOfObject } from "../../resource/severity.ts";
import {
  contentLine,
  contentLines,
  NO_PLACES,
  type RatedDiff,
  ratedDiff,
  type SpecPlace,
  type SpecPlaces,
} from "./change-fields.ts";
import {
  type DriftReportContext,
  isOpen,
  markJson,
  markText,
  markTitle,
  NO_KNOWN_DRIFT,
  originText,
  withRemark,
} from "./drift-marks.ts";
import { diffLines, type FieldLine } from "./field-lines.ts";

export interface DriftView {
  readonly host: string;
  /** One sentence: how much drift there is, and whether the state manages anything. */
  readonly title: string;
  /** Number of managed resources: without any, "no drift" means little. */
  readonly managed: number;
  readonly drift: readonly DriftItem[];
  /** The text form leaves them out, because they are on standard error already. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface DriftItem {
  readonly address: string;
  readonly kind: string;
  readonly what: Drift["what"];
  /** `changed`, `is gone`, `appeared`. */
  readonly verb: string;
  readonly at?: SpecPlace;
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
  /** Who changed it, and when, as a sentence; empty if unknown. */
  readonly origin: string;
  /** The severity of the most severe difference that needs attention; undefined if none does. */
  readonly open: Severity | undefined;
  /** Exact values for machines; `table` says which of them are sensitive. */
  readonly source: Drift;
  readonly table: FieldTable;
}

const VERBS = { changed: "changed", gone: "was deleted", appeared: "appeared" } as const;

export function driftView(
  found: Pick<Plan, "host" | "drift" | "diagnostics">,
  managed: number,
  registry: KindRegistry,
  places: SpecPlaces = NO_PLACES,
  known: DriftReportContext = NO_KNOWN_DRIFT,
): DriftView {
  const { host, drift, diagnostics } = found;
  const marks = drift.flatMap((one) => marksOf(one, registry.of(one.address).fields, known));
  return {
    host,
    title: `${verdict(drift, managed)}${markTitle(marks, known)}`,
    managed,
    drift: drift.map((one) => driftItem(one, registry, places, known)),
    diagnostics,
  };
}

export function driftItem(
  one: Drift,
  registry: KindRegistry,
  places: SpecPlaces,
  known = NO_KNOWN_DRIFT,
): DriftItem {
  const at = places(one.address);
  const provider = registry.of(one.address);
  const differences = one.diffs.map((diff) => ratedDiff(provider, one.address, diff, places));
  const whole = severityOfObject(provider);
  const marks = marksOf(one, provider.fields, known);
  const open = marks.flatMap((mark, at) => {
    const severity = differences[at]?.severity ?? whole;
    return isOpen(mark, severity, known) ? [severity] : [];
  });
  return {
    address: one.address,
    kind: one.kind,
    what: one.what,
    verb: VERBS[one.what],
    ...(at === undefined ? {} : { at }),
    fields: differences.flatMap((rated, at) =>
      withRemark(linesOf(one, rated, registry), markText(marks[at], known)),
    ),
    severity: mostSevere(differences.map((rated) => rated.severity)) ?? whole,
    differences,
    marks: marks.map((mark) => markJson(mark, known)),
    remark: differences.length > 0 ? "" : markText(marks[0], known),
    open: mostSevere(open),
    origin: originText(one.origin),
    content: contentLines(one.content),
    source: one,
    table: provider.fields,
  };
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

export function driftTitle(drift: readonly Pick<Drift, "what">[]): string {
  const number = (what: Drift["what"]) => drift.filter((one) => one.what === what).length;
  return `Drift in ${count(drift.length, "resource")}: ${number("changed")} changed, ${number("gone")} deleted, ${number("appeared")} appeared.`;
}
