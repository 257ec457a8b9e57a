// The text format of Prometheus, and the figures of a run in it.

import { isSuccess, RUN_OUTCOMES, type RunResult } from "./run-result.ts";

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

const LAST_SUCCESS = "workspace_last_success_timestamp_seconds";

/** `previous`: the text that the file had; a run that fails keeps the time of the last success from it. */
export function prometheusText(facts: RunResult, previous = ""): string {
  const { outcome, planMs, applyMs, resources = {}, differences = [], results = {}, requests } = facts;
  const common = { command: facts.command, target: facts.target };
  const gauge = (name: string, help: string, samples: readonly Sample[]): string =>
    metricText(
      name,
      "gauge",
      help,
      samples.map(([labels, value]) => [{ ...common, ...labels }, value]),
    );
  return [
    gauge("workspace_run_info", "The run that wrote this file; always 1.", [
      [{ version: facts.toolVersion, host: facts.host }, 1],
    ]),
    gauge(
      "workspace_run_outcome",
      "Outcome of the run: 1 for the one that applies, 0 for every other.",
      RUN_OUTCOMES.map((name) => [{ outcome: name }, name === outcome ? 1 : 0]),
    ),
    gauge("workspace_last_run_timestamp_seconds", "Unix time at which the run ended.", [
      [{}, seconds(facts.endedAt)],
    ]),
    gauge(
      LAST_SUCCESS,
      "Unix time at which the last successful run ended.",
      optional(lastSuccess(facts, previous, common)),
    ),
    gauge(
      "workspace_plan_duration_seconds",
      "Time to read the workspace and make the plan.",
      optional(planMs && planMs / 1000),
    ),
    gauge("workspace_apply_duration_seconds", "Time to apply the plan.", optional(applyMs && applyMs / 1000)),
    gauge(
      "workspace_resources",
      "Resources recorded in the state, by kind.",
      Object.entries(resources).map(([kind, value]) => [{ kind }, value]),
    ),
    gauge(
      "workspace_differences",
      "Differences that the run found before it changed anything.",
      differences.map(({ count, ...labels }) => [labels, count]),
    ),
    gauge(
      "workspace_changes",
      "Changes of an apply or destroy, by result.",
      Object.entries(results).map(([result, value]) => [{ result }, value]),
    ),
    gauge(
      "workspace_requests",
      "Attempts to send a request in this run; status 0 means that no complete response came.",
      requests.map(({ operation, status, count }) => [{ operation, status: String(status) }, count]),
    ),
    gauge(
      "workspace_request_retries",
      "Attempts in this run that were retried, by operation.",
      retries(facts),
    ),
  ].join("");
}

function retries({ requests }: RunResult): readonly Sample[] {
  const byOperation = new Map<string, number>();
  for (const { operation, retries: more } of requests)
    byOperation.set(operation, (byOperation.get(operation) ?? 0) + more);
  return [...byOperation].map(([operation, value]) => [{ operation }, value]);
}

function lastSuccess(facts: RunResult, previous: string, common: Labels): number | undefined {
  if (isSuccess(facts.outcome)) return seconds(facts.endedAt);
  const line = previous.split("\n").find((part) => part.startsWith(`${LAST_SUCCESS}${labelText(common)} `));
  const value = line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf("} ") + 2));
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

function optional(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [[{}, value]];
}

function seconds(iso: string): number {
  return Date.parse(iso) / 1000;
}

/** A metric with its samples; nothing without any. */
export function metricText(
  name: string,
  type: "gauge" | "counter" | "histogram",
  help: string,
  samples: readonly Sample[],
): string {
  if (samples.length === 0) return "";
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((sample) => sampleText(name, sample)).join("")}`;
}

export function sampleText(name: string, [labels, value]: Sample): string {
  return `${name}${labelText(labels)} ${value}\n`;
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

/** The format knows three escapes. Lone surrogates would not be UTF-8, and parsers differ on other line breaks. */
function escaped(value: string): string {
  return value
    .toWellFormed()
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replace(/[\p{Cc}\u2028\u2029]/gu, "\ufffd");
}
