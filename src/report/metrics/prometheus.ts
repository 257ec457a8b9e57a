// The figures of a run in the text format of Prometheus.

import { isSuccess, RUN_OUTCOMES, type RunResult } from "./run-result.ts";

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const LAST_SUCCESS = "workspace_last_success_timestamp_seconds";

/** `previous`: the text that the file had; a run that fails keeps the time of the last success from it. */
export function prometheusText(facts: RunResult, previous = ""): string {
  const common = { command: facts.command, target: facts.target };
  return families(facts, lastSuccess(facts, previous, common))
    .filter(({ samples }) => samples.length > 0)
    .map((family) => familyText(family, common))
    .join("");
}

function families(facts: RunResult, succeededAt: number | undefined): readonly Family[] {
  const { outcome, planMs, applyMs, resources = {}, differences = [], results = {}, requests } = facts;
  return [
    {
      name: "workspace_run_info",
      help: "The run that wrote this file; always 1.",
      samples: [{ labels: { version: facts.toolVersion, host: facts.host }, value: 1 }],
    },
    {
      name: "workspace_run_outcome",
      help: "Outcome of the run: 1 for the one that applies, 0 for every other.",
      samples: RUN_OUTCOMES.map((name) => ({
        labels: { outcome: name },
        value: name === outcome ? 1 : 0,
      })),
    },
    {
      name: "workspace_last_run_timestamp_seconds",
      help: "Unix time at which the run ended.",
      samples: [{ value: seconds(facts.endedAt) }],
    },
    {
      name: LAST_SUCCESS,
      help: "Unix time at which the last successful run ended.",
      samples: optional(succeededAt),
    },
    {
      name: "workspace_plan_duration_seconds",
      help: "Time to read the workspace and make the plan.",
      samples: optional(planMs === undefined ? undefined : planMs / 1000),
    },
    {
      name: "workspace_apply_duration_seconds",
      help: "Time to apply the plan.",
      samples: optional(applyMs === undefined ? undefined : applyMs / 1000),
    },
    {
      name: "workspace_resources",
      help: "Resources recorded in the state, by kind.",
      samples: Object.entries(resources).map(([kind, value]) => ({ labels: { kind }, value })),
    },
    {
      name: "workspace_differences",
      help: "Differences that the run found before it changed anything.",
      samples: differences.map(({ count: value, ...labels }) => ({ labels, value })),
    },
    {
      name: "workspace_changes",
      help: "Changes of an apply or destroy, by result.",
      samples: Object.entries(results).map(([result, value]) => ({ labels: { result }, value })),
    },
    {
      name: "workspace_requests",
      help: "Attempts to send a request in this run; status 0 means that no complete response came.",
      samples: requests.map(({ operation, status, count: value }) => ({
        labels: { operation, status: String(status) },
        value,
      })),
    },
    {
      name: "workspace_request_retries",
      help: "Attempts in this run that were retried, by operation.",
      samples: retries(facts),
    },
  ];
}

function retries({ requests }: RunResult): readonly Sample[] {
  const byOperation = new Map<string, number>();
  for (const { operation, retries: more } of requests)
    byOperation.set(operation, (byOperation.get(operation) ?? 0) + more);
  return [...byOperation].map(([operation, value]) => ({ labels: { operation }, value }));
}

function lastSuccess(facts: RunResult, previous: string, common: Labels): number | undefined {
  if (isSuccess(facts.outcome)) return seconds(facts.endedAt);
  const line = previous.split("\n").find((part) => part.startsWith(`${LAST_SUCCESS}${labelText(common)} `));
  const value = line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf("} ") + 2));
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

function optional(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ value }];
}

function seconds(iso: string): number {
  return Date.parse(iso) / 1000;
}

function familyText({ name, help, samples }: Family, common: Labels): string {
  const lines = samples.map(
    ({ labels, value }) => `${name}${labelText({ ...common, ...labels })} ${value}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
}

function labelText(labels: Labels): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}}`;
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
