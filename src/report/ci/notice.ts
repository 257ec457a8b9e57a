// What a forge shows beside the lines of the spec: findings, guards, destructive changes, drift, and failures, the most severe first.

import { CODES } from "../../core/codes.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { OutcomeView } from "../outcome/outcome-view.ts";
import type { ChangeView } from "../plan/change-view.ts";
import type { DriftItem, DriftView } from "../plan/drift-view.ts";
import type { PlanView } from "../plan/plan-view.ts";
import type { SpecPlace } from "../plan/spec-places.ts";

export interface Notice {
  readonly level: "error" | "warning";
  /** A code, `change.delete`, or `drift.changed`. */
  readonly rule: string;
  readonly title: string;
  readonly message: string;
  /** Whether it keeps the plan from being applied. */
  readonly blocks: boolean;
  readonly address?: string;
  readonly at?: SpecPlace;
}

/** What each rule is about, in one sentence. */
export const RULES: Readonly<Record<string, string>> = {
  ...CODES,
  "change.delete": "The plan deletes an object of the workspace.",
  "change.replace":
    "The plan replaces an object of the workspace: it deletes the object and creates another.",
  "drift.changed": "An object changed outside since the last apply.",
  "drift.gone": "An object was deleted outside since the last apply.",
  "drift.appeared": "An object was created outside since the last apply.",
};

export function planNotices(plan: PlanView): readonly Notice[] {
  const declared = new Map<string, SpecPlace>(
    plan.changes.flatMap(({ address, at }) => (at === undefined ? [] : [[address, at] as const])),
  );
  const guards = plan.guards.map(({ diagnostic, addresses }) => ({
    ...findingNotice(diagnostic, addresses, declared),
    blocks: diagnostic.severity === "error",
  }));
  const findings = [...plan.diagnostics, ...plan.notes].map((one) => findingNotice(one, [], declared));
  const destroyed = plan.changes.filter((change) => change.destroys).map(changeNotice);
  return bySeverity([...guards, ...findings.filter(isError), ...destroyed, ...findings]);
}

export function driftNotices(view: DriftView): readonly Notice[] {
  const findings = findingNotices(view.diagnostics);
  return bySeverity([...findings.filter(isError), ...view.drift.map(driftNotice), ...findings]);
}

/** Of an apply: its findings, and each change that was not applied and says why. */
export function outcomeNotices(view: OutcomeView): readonly Notice[] {
  const failed = view.changes.flatMap(({ finding, address }) =>
    finding === undefined ? [] : [findingNotice(finding, [address], new Map())],
  );
  return bySeverity([...failed, ...findingNotices([...view.diagnostics, ...view.notes])]);
}

export function findingNotices(found: readonly Diagnostic[]): readonly Notice[] {
  return bySeverity(found.map((one) => findingNotice(one, [], new Map())));
}

const isError = ({ level }: Notice): boolean => level === "error";

/** Errors first, otherwise in the order given; each once. */
function bySeverity(notices: readonly Notice[]): readonly Notice[] {
  const once = [...new Set(notices)];
  return [...once.filter(isError), ...once.filter((one) => !isError(one))];
}

function findingNotice(
  { severity, code, message, cause, hint, at, address }: Diagnostic,
  addresses: readonly string[],
  declared: ReadonlyMap<string, SpecPlace>,
): Notice {
  const about = [...(address === undefined ? [] : [address]), ...addresses];
  const place = at ?? about.map((one) => declared.get(one)).find((one) => one !== undefined);
  const [first] = about;
  return {
    level: severity,
    rule: code,
    title: code,
    message: lines([message, ...labelled("cause", cause), ...labelled("hint", hint)]),
    blocks: false,
    ...(first === undefined ? {} : { address: first }),
    ...(place === undefined ? {} : { at: place }),
  };
}

function changeNotice(change: ChangeView): Notice {
  const { action, address, at, remarks, consequences, reasons } = change;
  const detail = remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;
  const because = reasons.map((reason) => `because ${reason}`);
  return {
    level: "warning",
    rule: `change.${action}`,
    title: `${action} ${address}`,
    message: lines([`the plan ${action}s ${address}${detail}`, ...because, ...consequences]),
    blocks: false,
    address,
    ...(at === undefined ? {} : { at }),
  };
}

function driftNotice({ what, address, verb, at, fields }: DriftItem): Notice {
  const named = fields.map(({ label }) => label).filter((label) => label !== "");
  return {
    level: "warning",
    rule: `drift.${what}`,
    title: `drift in ${address}`,
    message: lines([`${address} ${verb} since the last apply`, ...labelled("fields", named.join(", "))]),
    blocks: false,
    address,
    ...(at === undefined ? {} : { at }),
  };
}

function labelled(label: string, text: string | undefined): readonly string[] {
  return text === undefined || text === "" ? [] : [`${label}: ${text}`];
}

/** A line of its own for each part; the forms make line ends inside a part visible. */
const lines = (parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[\r\n]+/g, " ")).join("\n");
