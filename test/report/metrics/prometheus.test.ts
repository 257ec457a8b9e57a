// The metrics of a run as another program reads them, and against the rules of the format that lenient parsers pass over.

import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { expect, test } from "vitest";
import { prometheusText } from "../../../src/report/metrics/prometheus.ts";
import type { RunResult } from "../../../src/report/metrics/run-result.ts";

interface Parsed {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly metrics: readonly { readonly value: string; readonly labels?: Record<string, string> }[];
}

const parsed = (text: string) => parsePrometheusTextFormat(text) as readonly Parsed[];

const FACTS: RunResult = {
  command: "apply",
  toolVersion: "0.1.0",
  host: "https://w.test",
  target: "prod",
  endedAt: "2026-01-02T03:04:05.500Z",
  outcome: "success",
  exitCode: 0,
  errors: [],
  resources: { pools: 2, jobs: 0 },
  differences: [
    { kind: "pools", action: "update", cause: "drift", severity: "cost", status: "new", count: 3 },
  ],
  planMs: 1500,
  applyMs: 20,
  results: { applied: 3 },
  requests: [
    { operation: "clusters/list", status: 200, count: 2, retries: 0 },
    { operation: "clusters/list", status: 503, count: 1, retries: 1 },
  ],
};

const NAME = /^workspace_[a-z]+(_[a-z]+)*$/;
const LINE = /^(# (HELP|TYPE) (\w+) .+|(\w+)\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\} (\S+))$/;

/** Each family has HELP and TYPE before its samples and is contiguous, and every series is unique. */
function assertStrict(text: string): void {
  expect(text.endsWith("\n")).toBe(true);
  const begun: string[] = [];
  const series = new Set<string>();
  for (const line of text.slice(0, -1).split("\n")) {
    const [, , comment, about, name, labels, value] = LINE.exec(line) ?? [];
    if (comment === "HELP") begun.push(about ?? "");
    expect(name ?? about, line).toBe(begun.at(-1));
    expect(begun.at(-1)).toMatch(NAME);
    if (name === undefined) continue;
    expect(Number.isFinite(Number(value)), line).toBe(true);
    expect(series.has(`${name}${labels}`), line).toBe(false);
    series.add(`${name}${labels}`);
  }
  expect(new Set(begun).size).toBe(begun.length);
  expect(series.size).toBeGreaterThan(0);
}

function numberIn(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const family = parsed(text).find((one) => one.name === name);
  const metric = family?.metrics.find((one) =>
    Object.entries(labels).every(([key, value]) => one.labels?.[key] === value),
  );
  return metric === undefined ? undefined : Number(metric.value);
}

test("the text follows the format, in base units and with the labels of the run on every series", () => {
  const text = prometheusText(FACTS);
  assertStrict(text);
  expect(parsed(text).every(({ type, help }) => type === "GAUGE" && help !== "")).toBe(true);
  for (const { metrics } of parsed(text))
    for (const { labels } of metrics) expect(labels).toMatchObject({ command: "apply", target: "prod" });
  expect(numberIn(text, "workspace_plan_duration_seconds")).toBe(1.5);
  expect(numberIn(text, "workspace_apply_duration_seconds")).toBe(0.02);
  expect(numberIn(text, "workspace_last_run_timestamp_seconds")).toBe(1767323045.5);
  expect(numberIn(text, "workspace_resources", { kind: "jobs" })).toBe(0);
  expect(numberIn(text, "workspace_differences", { kind: "pools", cause: "drift", severity: "cost" })).toBe(
    3,
  );
  expect(numberIn(text, "workspace_requests", { operation: "clusters/list", status: "503" })).toBe(1);
  expect(numberIn(text, "workspace_request_retries", { operation: "clusters/list" })).toBe(1);
});

test("exactly one outcome is 1", () => {
  const outcomes = parsed(prometheusText({ ...FACTS, outcome: "locked", exitCode: 5 })).find(
    ({ name }) => name === "workspace_run_outcome",
  );
  expect(outcomes?.metrics.filter(({ value }) => value === "1")).toMatchObject([
    { labels: { outcome: "locked" } },
  ]);
});

test("a failing run keeps the last success of the previous file, of the same command and target", () => {
  const before = prometheusText(FACTS);
  const failed = { ...FACTS, outcome: "failed", exitCode: 1, endedAt: "2026-02-01T00:00:00.000Z" } as const;
  const last = "workspace_last_success_timestamp_seconds";
  const once = prometheusText(failed, before);
  expect(numberIn(once, last)).toBe(1767323045.5);
  expect(numberIn(prometheusText(failed, once), last)).toBe(1767323045.5);
  expect(numberIn(prometheusText({ ...failed, command: "drift" }, before), last)).toBeUndefined();
  expect(
    numberIn(prometheusText(failed, `${last}{command="apply",target="prod"} none\n`), last),
  ).toBeUndefined();
  expect(numberIn(prometheusText({ ...failed, outcome: "differences" }, before), last)).toBe(1769904000);
});

test.each([
  ["quotes, backslashes and line breaks", 'a"b\\c\nd'],
  ["what looks like another series", 'x"} 1\nworkspace_forged{a="b'],
  ["control characters and line separators", "a\u0000b\u001b[31m\r\u2028c"],
  ["lone surrogates", "a\ud800b"],
  ["the end of an escape", "\\"],
])("a target with %s stays one label", (_, target) => {
  const text = prometheusText({ ...FACTS, target });
  assertStrict(text);
  expect(text.isWellFormed()).toBe(true);
  expect(parsed(text).some(({ name }) => name === "workspace_forged")).toBe(false);
});

test("a run that failed before it read anything has no numbers that it does not know", () => {
  const { resources: _, differences: __, planMs: ___, applyMs: ____, results: _____, ...rest } = FACTS;
  const text = prometheusText({ ...rest, host: "", requests: [], outcome: "failed", exitCode: 1 });
  assertStrict(text);
  expect(parsed(text).map(({ name }) => name)).toEqual([
    "workspace_run_info",
    "workspace_run_outcome",
    "workspace_last_run_timestamp_seconds",
  ]);
});
