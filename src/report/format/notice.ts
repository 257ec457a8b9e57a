// Notices for CI services at the lines of the spec, the most severe first, with paths from the root of the repository.

import { CODES } from "../../core/codes.ts";
import { type Diagnostic, placeText } from "../../core/diagnostic.ts";
import type { ChangeOrigin } from "../../planner/model/plan.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";
import { ruleText } from "../text/diagnostic-text.ts";
import type { ChangeView, SpecPlace } from "../view/change-view.ts";
import type { DriftItem, DriftView } from "../view/drift-view.ts";
import { fieldNote } from "../view/field-lines.ts";
import type { OutcomeView } from "../view/outcome-view.ts";
import { ORIGINS, PENDING_NOTE, type PlanFinding, type PlanView } from "../view/plan-view.ts";

export interface Notice {
  /** A `note` keeps nothing from being applied, and calls for no look. */
  readonly level: "error" | "warning" | "note";
  /** A code, `change.delete`, `drift.changed`, or a code and the name of a rule. */
  readonly rule: string;
  readonly title: string;
  readonly message: string;
  /** Data that can differ between runs for the same problem: its severity, its origin, and its acknowledgement. */
  readonly remarks: readonly string[];
  readonly blocks: boolean;
  readonly address: string | undefined;
  readonly at: SpecPlace | undefined;
  readonly severity: Severity | undefined;
  /** In a plan that was compared with a base. */
  readonly origin: ChangeOrigin | undefined;
}

export const RULES: Readonly<Record<string, string>> = {
  ...CODES,
  "change.delete": "The plan deletes an object of the workspace.",
  "change.replace":
    "The plan replaces an object of the workspace: it deletes the object and creates another.",
  "change.revert": "The plan reverts drift that is acknowledged.",
  "drift.changed": "An object changed outside since the last apply.",
  "drift.deleted": "An object was deleted outside since the last apply.",
  "drift.appeared": "An object was created outside since the last apply.",
};

export function planNotices(plan: PlanView): readonly Notice[] {
  const declared = new Map<string, SpecPlace>(
    plan.allChanges.flatMap(({ address, at }) => (at === undefined ? [] : [[address, at] as const])),
  );
  const guards = plan.guards.map(({ diagnostic, addresses, origin }) => ({
    ...findingNotice({ ...diagnostic, origin }, addresses, declared),
    blocks: diagnostic.severity === "error",
  }));
  const findings = [...plan.diagnostics, ...plan.notes].map((diagnostic) =>
    findingNotice(diagnostic, [], declared),
  );
  const destroyed = plan.touching.filter((change) => change.destroys);
  const reverting = plan.touching.filter((change) => !change.destroys && change.reverts.length > 0);
  const changes = [...destroyed, ...reverting].map(changeNotice);
  const all = [...guards, ...findings.filter(isError), ...changes, ...findings];
  return bySeverity(plan.exitcodeFor === "all" ? all : all.map(asNoteIfPending));
}

/** With `--exitcode-for change`, what was pending neither fails nor blocks. */
function asNoteIfPending(notice: Notice): Notice {
  return notice.origin === "pending" ? { ...notice, level: "note", blocks: false } : notice;
}

/** Whether a forge shows it at a line of a pull request: pending changes do not belong to the pull request. */
export function isOwn({ level, origin }: Notice): boolean {
  return level !== "note" || origin !== "pending";
}

export function driftNotices(view: DriftView): readonly Notice[] {
  const findings = findingNotices(view.diagnostics);
  return bySeverity([...findings.filter(isError), ...view.drift.map(driftNotice), ...findings]);
}

/** The notices of an apply: its findings, and each change that was not applied, with the reason. */
export function outcomeNotices(view: OutcomeView): readonly Notice[] {
  const failed = view.changes.flatMap(({ finding, address }) =>
    finding === undefined ? [] : [findingNotice(finding, [address], new Map())],
  );
  return bySeverity([...failed, ...findingNotices([...view.diagnostics, ...view.notes])]);
}

export function findingNotices(diagnostics: readonly Diagnostic[]): readonly Notice[] {
  return bySeverity(diagnostics.map((diagnostic) => findingNotice(diagnostic, [], new Map())));
}

const isError = ({ level }: Notice): boolean => level === "error";

const LEVELS: readonly Notice["level"][] = ["error", "warning", "note"];

/** Errors first, of one level what was pending last, otherwise in the order given; each once. */
function bySeverity(notices: readonly Notice[]): readonly Notice[] {
  const rank = ({ level, origin }: Notice) => 2 * LEVELS.indexOf(level) + (origin === "pending" ? 1 : 0);
  return [...new Set(notices)].sort((a, b) => rank(a) - rank(b));
}

function findingNotice(
  { severity, code, message, cause, hint, at, usedAt = [], rule, address, origin }: PlanFinding,
  addresses: readonly string[],
  declared: ReadonlyMap<string, SpecPlace>,
): Notice {
  const about = [...(address === undefined ? [] : [address]), ...addresses];
  const place =
    at ?? about.map((text) => declared.get(text)).find((specPlace) => specPlace !== undefined) ?? rule?.at;
  return {
    level: severity,
    rule: rule === undefined ? code : `${code}/${rule.name}`,
    title: code,
    message: lines([
      message.endsWith(PENDING_NOTE) ? message.slice(0, -PENDING_NOTE.length) : message,
      ...usedAt.map((use) => `used at ${placeText(use)}`),
      ...(rule === undefined ? [] : [ruleText(rule)]),
      ...labelled("cause", cause),
      ...labelled("hint", hint),
    ]),
    remarks: originRemark(origin),
    blocks: false,
    severity: SEVERITIES.find((severityName) => severityName === rule?.severity),
    origin,
    address: about[0],
    at: place,
  };
}

function changeNotice(change: ChangeView): Notice {
  const { action, address, at, remarks, consequences, reasons, severity, origin, destroys } = change;
  const detail = remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;
  const because = reasons.map((reason) => `because ${reason}`);
  return {
    level: "warning",
    rule: `change.${destroys ? action : "revert"}`,
    title: `${action} ${address}`,
    message: lines([`the plan ${action}s ${address}${detail}`, ...because, ...consequences]),
    remarks: [...labelled("severity", severity), ...originRemark(origin)],
    blocks: false,
    address,
    severity,
    origin,
    at,
  };
}

/** Drift that is acknowledged, that the spec has already, or that with `--since last` was reported before, needs no attention. */
function driftNotice({ what, address, verb, at, fields, remark, author, open, ...item }: DriftItem): Notice {
  const severity = open ?? item.severity;
  const named = fields.map(({ label }) => label).filter((label) => label !== "");
  const notes = fields.flatMap((field) => labelled(field.label, fieldNote(field)));
  return {
    level: open === undefined ? "note" : "warning",
    rule: `drift.${what}`,
    title: `drift in ${address}`,
    message: lines([`${address} ${verb} since the last apply`, ...labelled("fields", named.join(", "))]),
    remarks: [
      `severity: ${severity}`,
      ...(remark === "" ? [] : [remark]),
      ...notes,
      ...(author === "" ? [] : [author]),
    ],
    blocks: false,
    address,
    severity,
    origin: undefined,
    at,
  };
}

function originRemark(origin: ChangeOrigin | undefined): readonly string[] {
  return origin === undefined ? [] : [ORIGINS[origin]];
}

function labelled(label: string, text: string | undefined): readonly string[] {
  return text === undefined || text === "" ? [] : [`${label}: ${text}`];
}

export function noticeText({ message, remarks }: Notice): string {
  return remarks.length === 0 ? message : `${message}\n${lines(remarks)}`;
}

/** One line for each part; the formats make line breaks inside a part visible. */
const lines = (parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[\r\n]+/g, " ")).join("\n");
