// The status of each difference of a drift report: new, reported before, or acknowledged.

import type { DriftMark, KnownDrift } from "../../planner/diff/known-drift.ts";
import type { DriftOrigin } from "../../planner/model/plan.ts";
import type { Severity } from "../../resource/field-schema.ts";
import { isAtLeast } from "../../resource/severity.ts";
import { printable } from "../text/printable.ts";
import { timeText } from "../text/vocabulary.ts";
import type { FieldLine } from "./field-lines.ts";

/** `sinceLast`: whether what was reported before still counts. `least`: what is less severe does not count. */
export interface DriftReportContext extends KnownDrift {
  readonly sinceLast: boolean;
  readonly least: Severity;
}

export const NO_KNOWN_DRIFT: DriftReportContext = {
  reported: [],
  acknowledged: [],
  sinceLast: false,
  least: "other",
};

/** Whether a difference of this severity needs attention. */
export function isOpen(
  { reported, acknowledged }: DriftMark,
  severity: Severity,
  { sinceLast, least }: DriftReportContext,
): boolean {
  return acknowledged === undefined && !(sinceLast && reported) && isAtLeast(severity, least);
}

export function markText(mark: DriftMark | undefined, { sinceLast }: DriftReportContext): string {
  if (mark?.acknowledged !== undefined) {
    const { until, by, reason } = mark.acknowledged;
    return printable(`acknowledged until ${timeText(until)} by ${by}: ${reason}`);
  }
  if (!sinceLast) return "";
  return mark?.reported === true ? "reported before" : "new";
}

export function markJson(
  mark: DriftMark | undefined,
  { sinceLast }: DriftReportContext,
): Record<string, unknown> {
  const said = mark?.acknowledged;
  return {
    ...(sinceLast ? { reported: mark?.reported === true } : {}),
    ...(said === undefined
      ? {}
      : { acknowledged: { until: timeText(said.until), by: said.by, reason: said.reason } }),
  };
}

/** `changed by ada@example.com at 2026-11-21T09:48:03Z`, or that the service does not record it. */
export function originText(origin: DriftOrigin | undefined): string {
  if (origin === undefined) return "";
  const { by, at, creator } = origin;
  const when = at === undefined ? "" : ` at ${timeText(at)}`;
  if (by !== undefined) return printable(`changed by ${by}${when}`);
  if (at !== undefined) return `changed${when}; the service does not record by whom`;
  const made = creator === undefined ? "" : `created by ${creator}; `;
  return printable(`${made}the service does not record who changed it, or when`);
}

export function originJson(origin: DriftOrigin | undefined): Record<string, unknown> {
  if (origin === undefined) return {};
  const { by, at, creator } = origin;
  return {
    origin: {
      changed_by: by ?? null,
      changed_at: at === undefined ? null : timeText(at),
      ...(creator === undefined ? {} : { created_by: creator }),
    },
  };
}

/** The lines of one field with a note on the first. */
export function withRemark(lines: readonly FieldLine[], text: string): readonly FieldLine[] {
  if (text === "") return lines;
  return lines.map((line, at) =>
    at === 0 ? { ...line, note: line.note === undefined ? text : `${line.note}, ${text}` } : line,
  );
}

/** `1 new, 1 reported before, 1 acknowledged.` Empty where the state says nothing. */
export function markTitle(marks: readonly DriftMark[], { sinceLast }: DriftReportContext): string {
  const acknowledged = marks.filter((mark) => mark.acknowledged !== undefined).length;
  const reported = marks.filter((mark) => mark.acknowledged === undefined && mark.reported).length;
  if (marks.length === 0 || (!sinceLast && acknowledged === 0)) return "";
  const parts = sinceLast
    ? [`${marks.length - acknowledged - reported} new`, `${reported} reported before`]
    : [`${marks.length - acknowledged} open`];
  return ` Differences: ${[...parts, `${acknowledged} acknowledged`].join(", ")}.`;
}
