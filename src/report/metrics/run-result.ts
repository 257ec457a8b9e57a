// The result of a run as numbers and names, without values of the spec or the workspace: for metrics and webhooks.

import { count } from "../../core/sentences.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { printable, printableJson } from "../text/printable.ts";

export const RUN_OUTCOMES = [
  "success",
  "differences",
  "refused",
  "stale",
  "locked",
  "interrupted",
  "failed",
] as const;

/** `differences`: the run succeeded, and its exit code reports differences. */
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** `reported`: an earlier `drift --since last` reported it. `declared`: the spec has the live value. */
export const DIFFERENCE_STATUSES = ["new", "reported", "declared", "acknowledged"] as const;

export type DifferenceStatus = (typeof DIFFERENCE_STATUSES)[number];

/** A resource with a planned change or with drift: what a message names of it. */
export interface DifferingResource {
  readonly address: string;
  readonly action: string;
  readonly severity: string;
  /** That of its newest difference. */
  readonly status: DifferenceStatus;
}

export interface DifferenceGroup {
  readonly kind: string;
  /** The action of a planned change, or what drift found: `changed`, `deleted`, `appeared`. */
  readonly action: string;
  readonly cause: string;
  readonly severity: string;
  readonly status: DifferenceStatus;
  readonly count: number;
}

export interface RequestGroup {
  readonly operation: string;
  /** HTTP status; 0 if no complete response came. */
  readonly status: number;
  readonly count: number;
  readonly retries: number;
}

export interface RunResult {
  readonly command: string;
  readonly toolVersion: string;
  /** Empty if the run ended before the host was known. */
  readonly host: string;
  readonly target: string;
  readonly commit?: string;
  readonly runUrl?: string;
  readonly endedAt: string;
  readonly outcome: RunOutcome;
  readonly exitCode: number;
  /** Diagnostic codes of the errors that ended the run. */
  readonly errors: readonly string[];
  /** Recorded resources by kind; absent if the state was not read. */
  readonly resources?: Readonly<Record<string, number>>;
  /** Absent if the run made no plan. */
  readonly differences?: readonly DifferenceGroup[];
  /** New ones first. */
  readonly differing?: readonly DifferingResource[];
  readonly planMs?: number;
  readonly applyMs?: number;
  readonly results?: Readonly<Record<string, number>>;
  readonly requests: readonly RequestGroup[];
}

export function isSuccess(outcome: RunOutcome): boolean {
  return outcome === "success" || outcome === "differences";
}

/**
 * Whether a run has nothing to report: it succeeded, changed no object, and every difference was reported before, is acknowledged, or is in the
 * spec already. Drift that does not count for the exit code is less severe than the caller asks for.
 */
export function hasNoNews({ command, outcome, differences = [], results = {} }: RunResult): boolean {
  if (command === "drift" && outcome === "success") return true;
  const changed = Object.values(results).some((number) => number > 0);
  return isSuccess(outcome) && !changed && differences.every(({ status }) => status !== "new");
}

/** Of so many resources a message has the address. */
const MOST_NAMED = { json: 100, slack: 10 };

export const WEBHOOK_FORMATS = ["json", "slack"] as const;

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export function webhookBody(facts: RunResult, format: WebhookFormat): string {
  return format === "json" ? printableJson(runDocument(facts)) : printableJson({ text: slackText(facts) });
}

function runDocument(facts: RunResult): Record<string, unknown> {
  const { command, outcome, errors, host, target, commit, resources, differences, results } = facts;
  const { differing } = facts;
  return {
    format: "workspace-run/1",
    command,
    outcome,
    exit_code: facts.exitCode,
    errors,
    tool_version: facts.toolVersion,
    host,
    target,
    commit,
    run_url: facts.runUrl,
    ended_at: facts.endedAt,
    resources,
    differences,
    differing_resources: differing?.slice(0, MOST_NAMED.json),
    more_differing_resources: differing && Math.max(0, differing.length - MOST_NAMED.json),
    results,
  };
}

function slackText(facts: RunResult): string {
  const { command, target, outcome, errors, host, commit, runUrl } = facts;
  const failed = errors.length === 0 ? "" : ` (${errors.join(", ")})`;
  const from = [
    ...(host === "" ? [] : [host]),
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
  ];
  const link = runUrl === undefined ? [] : [`<${slackEscaped(runUrl.replaceAll("|", "%7C"))}|CI run>`];
  return [
    `*${slackEscaped(`workspace ${command}`)}* of ${slackEscaped(target)}: ${outcome}${failed}`,
    ...differenceLines(facts),
    [...from.map(slackEscaped), ...link].join(" · "),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function differenceLines({ differences, differing = [], results = {} }: RunResult): readonly string[] {
  if (differences === undefined) return [];
  const sumOf = (counts: (group: DifferenceGroup) => boolean): number =>
    differences.reduce((sum, group) => sum + (counts(group) ? group.count : 0), 0);
  const bySeverity = SEVERITIES.flatMap((severity) => {
    const number = sumOf((group) => group.severity === severity);
    return number === 0 ? [] : [`${severity} ${number}`];
  });
  const byStatus = DIFFERENCE_STATUSES.map(
    (status) => `${sumOf((group) => group.status === status)} ${status}`,
  );
  const isNew = differing.filter(({ status }) => status === "new");
  const named = isNew.slice(0, MOST_NAMED.slack);
  const names = named.map(({ address, action, severity }) =>
    slackEscaped(`• ${address}: ${action} (${severity})`),
  );
  const more = isNew.length - named.length;
  const applied = Object.entries(results).map(([result, number]) => `${number} ${result}`);
  const severities = bySeverity.length === 0 ? "" : ` (${bySeverity.join(", ")})`;
  const done = applied.length === 0 ? [] : [`Changes: ${applied.join(", ")}`];
  const total = sumOf(() => true);
  return [
    `${count(total, "difference")}${severities}${total === 0 ? "" : `: ${byStatus.join(", ")}`}`,
    ...names,
    ...(more > 0 ? [`… and ${count(more, "more resource")}`] : []),
    ...done,
  ];
}

/** The three characters that have a meaning in such messages: a name cannot make a link or notify a channel. */
function slackEscaped(text: string): string {
  return printable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
