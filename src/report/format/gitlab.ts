// Reports for GitLab: the counts of its Terraform widget, and notices as its code quality report.

import { printable, printableJson } from "../text/printable.ts";
import { type RunInfo, runJson } from "../text/run-info.ts";
import { repositoryPath } from "../text/source-link.ts";
import type { ChangeView } from "../view/change-view.ts";
import type { DriftView } from "../view/drift-view.ts";
import type { OutcomeView } from "../view/outcome-view.ts";
import type { PlanView } from "../view/plan-view.ts";
import { type Notice, noticeText } from "./notice.ts";
import { actionsOf } from "./plan-json.ts";
import { noticeFingerprint, specPath } from "./sarif.ts";

/** A replace counts as one creation and one deletion, as in Terraform's own report; what is only written if it differs does not count. GitLab reads these three members alone. */
export function planCounts({ touching, split, exitcodeFor }: PlanView, info: RunInfo): string {
  if (split === undefined) return document(countsOf(touching), info);
  const [caused, pending] = (["caused", "pending"] as const).map((origin) =>
    countsOf(touching.filter((change) => change.origin === origin)),
  );
  const parts = { base: split.base, caused, pending, resolved: split.resolved.length };
  return document({ ...(exitcodeFor === "change" ? caused : countsOf(touching)), split: parts }, info);
}

function countsOf(changes: readonly ChangeView[]): Readonly<Record<string, number>> {
  const certain = changes.filter(({ action }) => action !== "compare");
  const actions = certain.flatMap(({ source }) => actionsOf(source));
  const number = (action: string) => actions.filter((planned) => planned === action).length;
  return { create: number("create"), update: number("update"), delete: number("delete") };
}

/** Changes made outside the spec: an object appeared, changed, or was deleted. */
export function driftCounts({ drift }: DriftView, info: RunInfo): string {
  const number = (what: string) => drift.filter((item) => item.what === what).length;
  const counts = { create: number("appeared"), update: number("changed"), delete: number("deleted") };
  return document(counts, info);
}

/** As in the counts of a plan, a replace that kept the old object deleted nothing. */
export function outcomeCounts({ applied, changes, plan }: OutcomeView, info: RunInfo): string {
  const { create, update, replace } = applied;
  const keeping = new Set(
    plan?.touching
      .filter(({ action, destroys }) => action === "replace" && !destroys)
      .map(({ address }) => address),
  );
  const removed = changes.filter(
    ({ action, result, address }) => action === "replace" && result === "applied" && !keeping.has(address),
  ).length;
  return document({ create: create + replace, update, delete: applied.delete + removed }, info);
}

function document(members: Readonly<Record<string, unknown>>, info: RunInfo): string {
  const run = { tool_version: info.toolVersion, host: info.host, ...runJson(info) };
  return `${printableJson({ ...members, run })}\n`;
}

export function codeQuality(notices: readonly Notice[], info: RunInfo): string {
  const printCounts = new Map<string, number>();
  const items = notices.map((notice) => {
    const { rule, at } = notice;
    const path = at === undefined ? undefined : repositoryPath(at.file, info);
    return {
      description: printable(noticeText(notice).replaceAll("\n", "; ")),
      check_name: rule,
      fingerprint: uniquePrint(noticeFingerprint(notice, info), printCounts),
      severity: severityOf(notice),
      location: {
        path: path ?? specPath(info),
        lines: { begin: at === undefined || path === undefined ? 1 : at.line },
      },
    };
  });
  return `${printableJson(items, 2)}\n`;
}

/** GitLab treats items with the same fingerprint as one. */
function uniquePrint(print: string, counts: Map<string, number>): string {
  const times = (counts.get(print) ?? 0) + 1;
  counts.set(print, times);
  return times === 1 ? print : `${print}-${times}`;
}

function severityOf(notice: Notice): "blocker" | "critical" | "major" | "minor" | "info" {
  const { level, blocks, rule } = notice;
  if (blocks) return "blocker";
  if (level === "note") return "info";
  if (level === "error") return "critical";
  return /^(change|drift)\./.test(rule) ? "major" : "minor";
}
