// The reports of a fleet: the same facts as text, Markdown, JSON, and metrics.

import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { describe, expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import type { WorkspaceResult } from "../../../src/fleet/model/result.ts";
import { fleetMarkdown, fleetText } from "../../../src/fleet/report/fleet-documents.ts";
import { fleetHtml } from "../../../src/fleet/report/fleet-html.ts";
import { fleetJson } from "../../../src/fleet/report/fleet-json.ts";
import { fleetMetrics } from "../../../src/fleet/report/fleet-metrics.ts";
import { fleetView } from "../../../src/fleet/report/fleet-view.ts";
import { resultOf, workspaceNamed } from "../queue/workspaces.ts";
import { FLEET_VIEW, NOW } from "./sample-fleet.ts";

const rowOf = (name: string) => FLEET_VIEW.rows.find(({ workspace }) => workspace === name);

interface Family {
  readonly name: string;
  readonly metrics: readonly object[];
}

describe("a fleet report", () => {
  test("has the age of the last run, the age of the drift, and the trend from the history", () => {
    const ads = rowOf("ads-prod");
    expect(ads).toMatchObject({
      status: "changes",
      drift: { security: 1, cost: 3 },
      trend: [0, 2, 0, 0, 1, 3, 3, 4],
    });
    expect(ads?.driftAgeMs).toBe((3 + 3 * 24) * 3_600_000);
    expect(rowOf("ads-test")?.driftAgeMs).toBeUndefined();
    expect(rowOf("ml-prod")).toMatchObject({ failuresInARow: 2, drift: { security: 1, cost: 1 } });
    expect(rowOf("new")).toMatchObject({ status: "never", trend: [] });
  });

  test("does not let a validation, which contacts no workspace, hide a failed run", () => {
    const failed = { ...resultOf("ads", "failed"), startedAt: 1_000 };
    const validated = { ...resultOf("ads", "ok"), command: "validate" as const, startedAt: 2_000 };
    const invalid = { ...validated, status: "failed" as const };
    const row = (results: readonly WorkspaceResult[]) =>
      fleetView({ workspaces: [workspaceNamed("ads")] }, new Map([["ads", results]]), 10_000).rows[0];
    expect(row([validated, failed])).toMatchObject({ status: "failed", failuresInARow: 1, ageMs: 8_995 });
    expect(row([validated])).toMatchObject({ status: "ok", failuresInARow: 0 });
    expect(row([invalid, failed])).toMatchObject({ status: "failed", failuresInARow: 2 });
    expect(row([validated, invalid, resultOf("ads", "ok")])).toMatchObject({ status: "ok" });
  });

  test("has the changes of the last plan until an apply makes them", () => {
    const plan = resultOf("ads", "changes", { command: "plan", counts: { create: 3 } });
    const apply = (status: WorkspaceResult["status"], counts: WorkspaceResult["counts"]) =>
      resultOf("ads", status, { command: "apply", counts });
    const changes = (results: readonly WorkspaceResult[]) =>
      fleetView({ workspaces: [workspaceNamed("ads")] }, new Map([["ads", results]]), 10_000).rows[0]
        ?.changes;
    expect(changes([plan])).toEqual({ create: 3 });
    expect(changes([apply("changes", { create: 3 }), plan])).toEqual({});
    expect(changes([apply("ok", {}), plan])).toEqual({});
    expect(changes([apply("failed", { create: 2, failed: 1 }), plan])).toEqual({ create: 2, failed: 1 });
    expect(changes([plan, apply("changes", { create: 1 })])).toEqual({ create: 3 });
  });

  test("sums the drift of the fleet by day, without days before the first run", () => {
    expect(FLEET_VIEW.days.at(0)).toEqual({ day: "2026-03-07", drifted: 0 });
    expect(FLEET_VIEW.days.at(-1)).toEqual({ day: "2026-03-14", drifted: 6 });
    expect(FLEET_VIEW.days).toHaveLength(8);
  });

  test("leaves out days before the oldest result that was read of a workspace", () => {
    const now = Date.parse("2026-03-14T12:00:00Z");
    const runs = (name: string, everyHours: number, number: number) =>
      Array.from({ length: number }, (_, at) =>
        resultOf(name, "changes", { startedAt: now - at * everyHours * 3_600_000, drift: { cost: 1 } }),
      );
    const workspaces = ["daily", "hourly"].map((name) => workspaceNamed(name));
    const days = (hourly: number) =>
      fleetView(
        { workspaces },
        new Map([
          ["daily", runs("daily", 24, 10)],
          ["hourly", runs("hourly", 1, hourly)],
        ]),
        now,
        30,
      ).days.map(({ drifted }) => drifted);
    expect(days(30)).toEqual([2, 2]);
    expect(days(29)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);
  });

  test("as text has a line a workspace and the verdict last", () => {
    expect(fleetText(FLEET_VIEW)).toMatchInlineSnapshot(`
      "WORKSPACE  STATUS     COMMAND  AGE     DRIFT               SINCE     TREND  CHANGES
      ml-prod    failed     drift    2 h     1 security, 1 cost  3 d      ▁▁▅▅██  -
      ml-test    timed out  drift    5 h     -                   -             -  -
      bi-prod    blocked    plan     60 min  -                   -           ▁█▁  12 delete
      ads-prod   drift      drift    3 h     1 security, 3 cost  3 d    ▁▅▁▁▃▆▆█  -
      web-prod   changes    plan     60 min  -                   -          ▆█▇▁  3 create, 1 update
      new        never run  -        -       -                   -             -  -
      ads-test   ok         drift    3 h     -                   -         ▁█▅▁▁  -

      ml-prod: drift: API_UNREACHABLE: cannot connect to <b>https://ml-prod.example</b>
      ml-test: drift: FLEET_TIMEOUT: the run did not end within 600 s
      bi-prod: plan: blocked

      7 workspaces, 2 failed, 1 blocked, 2 with drift (2 security, 4 cost), 1 never run.
      "
    `);
  });

  const unset = error("FLEET_VARIABLE", "UNSET_TOKEN is not set");
  const failedIn = (workspace: string, attempt: number, diagnostic = unset): [string, WorkspaceResult[]] => [
    workspace,
    [
      {
        ...{ workspace, command: "drift", status: "failed", startedAt: NOW - 8_000, durationMs: 1_400 },
        ...{ counts: {}, drift: {}, diagnostics: [diagnostic], attempt },
      },
    ],
  ];
  const failures = new Map([
    failedIn("a", 1),
    failedIn("b", 2),
    failedIn("c", 3),
    failedIn("d", 1, error("FLEET_TIMEOUT", "the run did not end")),
  ]);
  const failing = fleetView(
    { workspaces: [...failures.keys()].map((name) => workspaceNamed(name)) },
    failures,
    NOW,
  );

  test("as text and Markdown names a cause of several failures once, with its workspaces, whatever the attempts", () => {
    expect(fleetText(failing)).toContain(
      "\n3 workspaces (a, b, c): drift: FLEET_VARIABLE: UNSET_TOKEN is not set\nd: drift: FLEET_TIMEOUT: the run did not end\n",
    );
    expect(fleetMarkdown(failing)).toContain("- 3 workspaces (**a**, **b**, **c**): drift: FLEET");
    expect(fleetText(failing)).toContain("4 workspaces, 4 failed, 0 blocked, ");
  });

  test("as a page has a cause of several failures above the list, and says that an age is one", () => {
    const page = fleetHtml(failing);
    expect(page).toContain("<dt>3 workspaces</dt><dd>drift: FLEET_VARIABLE: UNSET_TOKEN is not set (");
    expect(page.match(/<dt>/g)).toHaveLength(1);
    expect(page).toContain(">7 s ago</span>");
    expect(fleetHtml(FLEET_VIEW)).toContain("drift in 8 runs</span>");
  });

  test("as Markdown escapes what services wrote", () => {
    const text = fleetMarkdown(FLEET_VIEW);
    expect(text).toContain("| ads-prod | drift | drift | 3 h | 1 security, 3 cost | 3 d |");
    expect(text).not.toContain("<b>");
  });

  test("as JSON has the days and the age of the drift", () => {
    const { days, workspaces } = fleetJson(FLEET_VIEW) as { days: unknown[]; workspaces: object[] };
    expect(days).toHaveLength(8);
    expect(workspaces[3]).toMatchObject({
      name: "ads-prod",
      state: "drift",
      drift_age_s: 270_000,
      failures_in_a_row: 0,
    });
  });

  test("names workspaces whose schedule is in the fleet file alone, and says nothing of their next check", () => {
    const schedule = { cron: "0 6 * * *", timezone: "UTC" };
    const workspaces = ["ads", "web"].map((name) => workspaceNamed(name, { schedule }));
    const facts = { jobs: [], active: [], workers: [], pauses: [], dead: [] };
    const viewOf = (scheduled: readonly string[]) =>
      fleetView({ workspaces }, new Map(), 0, 30, { ...facts, scheduled });
    const linesOf = (scheduled: readonly string[]) =>
      fleetText(viewOf(scheduled))
        .split("\n")
        .filter((line) => /^(Next|Not scheduled)/.test(line));
    expect(linesOf(["ads"])).toEqual([
      "Next: drift of ads at 1970-01-01T06:00Z.",
      "Not scheduled: 1 workspace (web). To start their checks, run `workspace fleet schedule`.",
    ]);
    expect(fleetJson(viewOf(["ads"]))).toMatchObject({ queue: { unscheduled: ["web"] } });
    expect(linesOf(["ads", "web"])).toEqual(["Next: drift of ads at 1970-01-01T06:00Z."]);
    expect(linesOf([])).toEqual([
      "Not scheduled: 2 workspaces (ads, web). To start their checks, run `workspace fleet schedule`.",
    ]);
  });

  test("names the cause of the last run, if it failed after a job that failed at every attempt", () => {
    const workspaces = ["web"].map((name) => workspaceNamed(name));
    const cancelled = error("FLEET_CANCELLED", "the apply of web was canceled");
    const last = resultOf("web", "interrupted", {
      command: "apply",
      startedAt: 5_000,
      diagnostics: [cancelled],
    });
    const failure = { diagnostics: [error("PLAN_ALREADY_EXISTS", "it exists")] };
    const job = { workspace: "web", command: "apply" as const, id: "1", attempts: 1, failure };
    const facts = { jobs: [], active: [], workers: [], pauses: [], scheduled: [] };
    const rowAfter = (failedAt: number) =>
      fleetView({ workspaces }, new Map([["web", [last]]]), 10_000, 30, {
        ...facts,
        dead: [{ ...job, failedAt }],
      }).rows[0];
    expect([4_000, 6_000].map((failedAt) => rowAfter(failedAt)?.cause?.code)).toEqual([
      "FLEET_CANCELLED",
      "PLAN_ALREADY_EXISTS",
    ]);
    expect([4_000, 6_000].map((failedAt) => rowAfter(failedAt)?.ageMs)).toEqual([
      10_000 - last.startedAt - last.durationMs,
      4_000,
    ]);
  });

  test("counts a job that failed at every attempt, and a run that never reported, as failed, however green the last result is", () => {
    const workspaces = ["dead", "lost", "late", "fixed"].map((name) => workspaceNamed(name));
    const plan = resultOf("dead", "ok", { command: "plan", startedAt: 5_000 });
    const results = new Map(
      [
        plan,
        ...["lost", "late", "fixed"].map((name) =>
          resultOf(name, "ok", { startedAt: name === "lost" ? 1_000 : 9_000 }),
        ),
      ].map((result) => [result.workspace, [result]]),
    );
    const failure = {
      diagnostics: [],
      message: "the worker stopped or lost the database before the run ended",
    };
    const dead = ["dead", "fixed"].map((workspace) => ({
      workspace,
      command: "drift" as const,
      id: workspace,
      failedAt: 4_000,
      attempts: 6,
      failure,
    }));
    const lost = (workspace: string) => ({
      workspace,
      command: "apply" as const,
      worker: "host:1",
      version: "0.1.0",
      attempt: 2,
      startedAt: 2_000,
      isLost: true,
    });
    const facts = {
      jobs: [],
      active: [lost("lost"), lost("late")],
      workers: [],
      pauses: [],
      dead,
      scheduled: [],
    };
    const view = fleetView({ workspaces }, results, 10_000, 30, facts);
    expect(view.rows.map(({ workspace, state, status }) => [workspace, state, status])).toEqual([
      ["dead", "failed", "crashed"],
      ["lost", "failed", "crashed"],
      ["late", "ok", "ok"],
      ["fixed", "ok", "ok"],
    ]);
    const text = fleetText(view);
    expect(text).toContain(
      "dead: drift, 6 attempts: FLEET_CRASH: the worker stopped or lost the database before the run ended\n",
    );
    expect(text).toContain(
      "lost: apply, 2 attempts: FLEET_CRASH: host:1 ended before the run reported a result\n",
    );
    expect(text).toContain("4 workspaces, 2 failed, 0 blocked, 0 with drift, 0 never run.\n");
    expect(fleetMetrics(view)).toContain('workspace_fleet_workspaces{state="failed"} 2\n');
  });

  test("as metrics is valid and has a sample for each workspace", () => {
    const families = parsePrometheusTextFormat(fleetMetrics(FLEET_VIEW)) as readonly Family[];
    const named = new Map(families.map((family) => [family.name, family.metrics]));
    expect(named.get("workspace_fleet_failures_in_a_row")).toHaveLength(7);
    const checked = JSON.stringify(named.get("workspace_fleet_drift"));
    expect(checked).toContain("ads-prod");
    expect(checked).not.toContain(FLEET_VIEW.rows.find(({ status }) => status === "never")?.workspace);
    expect(named.get("workspace_fleet_drift_age_seconds")).toEqual([
      { labels: { workspace: "ml-prod" }, value: "270000" },
      { labels: { workspace: "ads-prod" }, value: "270000" },
    ]);
  });
});
