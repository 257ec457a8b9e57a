// Reports for GitLab: the counts of its Terraform widget, and notices as its code quality report.

import type { OutcomeView } from "../outcome/outcome-view.ts";
import type { DriftView } from "../plan/drift-view.ts";
import { actionsOf } from "../plan/plan-json.ts";
import type { PlanView } from "../plan/plan-view.ts";
import { printable, printableJson } from "../text/printable.ts";
import type { RunInfo } from "../text/run-info.ts";
import type { Notice } from "./notice.ts";
import { repositoryPath } from "./repository-path.ts";
import { noticeFingerprint, specPath } from "./sarif.ts";

/** A replace counts as one creation and one deletion, as in Terraform's own report. */
export function planCounts({ changes }: PlanView): string {
  const actions = changes.flatMap(({ source }) => actionsOf(source));
  const number = (action: string) => actions.filter((one) => one === action).length;
  return counts(number("create"), number("update"), number("delete"));
}

/** What happened outside: an object appeared, changed, or is gone. */
export function driftCounts({ drift }: DriftView): string {
  const number = (what: string) => drift.filter((one) => one.what === what).length;
  return counts(number("appeared"), number("changed"), number("gone"));
}

/** What was applied. */
export function outcomeCounts({ applied }: OutcomeView): string {
  return counts(applied.create + applied.replace, applied.update, applied.delete + applied.replace);
}

function counts(create: number, update: number, destroy: number): string {
  return `${printableJson({ create, update, delete: destroy })}\n`;
}

export function codeQuality(notices: readonly Notice[], info: RunInfo): string {
  const seen = new Map<string, number>();
  const items = notices.map((notice) => {
    const { rule, message, at } = notice;
    const path = at === undefined ? undefined : repositoryPath(at.file, info);
    return {
      description: printable(message.replaceAll("\n", "; ")),
      check_name: rule,
      fingerprint: once(noticeFingerprint(notice, info), seen),
      severity: severityOf(notice),
      location: {
        path: path ?? specPath(info),
        lines: { begin: at === undefined || path === undefined ? 1 : at.line },
      },
    };
  });
  return `${printableJson(items, 2)}\n`;
}

/** GitLab takes two items of one fingerprint for one. */
function once(print: string, seen: Map<string, number>): string {
  const times = (seen.get(print) ?? 0) + 1;
  seen.set(print, times);
  return times === 1 ? print : `${print}-${times}`;
}

function severityOf({ level, blocks, rule }: Notice): "blocker" | "critical" | "major" | "minor" {
  if (blocks) return "blocker";
  if (level === "error") return "critical";
  return /^(change|drift)\./.test(rule) ? "major" : "minor";
}
