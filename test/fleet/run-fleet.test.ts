// Running a fleet: parallelism, waves, the limit on failures, and interruption.

import { describe, expect, test } from "vitest";
import type { FleetWorkspace } from "../../src/fleet/model/fleet.ts";
import type { ResultStatus, WorkspaceResult } from "../../src/fleet/model/result.ts";
import { type FleetRunOptions, runFleet } from "../../src/fleet/run-fleet.ts";
import { parseWaves, splitIntoWaves } from "../../src/fleet/waves.ts";
import { resultOf, workspaceNamed } from "./queue/workspaces.ts";

const named = (count: number): FleetWorkspace[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `w${String(at).padStart(2, "0")}`,
    spec: ".",
    variables: {},
    environment: {},
    labels: {},
    timeoutMs: 1000,
  }));

const result = (workspace: string, status: ResultStatus): WorkspaceResult => ({
  workspace,
  command: "apply",
  status,
  startedAt: 0,
  durationMs: 0,
  counts: {},
  drift: {},
  diagnostics: [],
});

/** Runs with workspaces that fail by name. `answer`: the status of the others. */
async function ran(
  count: number,
  failing: readonly string[],
  options: Partial<FleetRunOptions> = {},
  answer: ResultStatus = "ok",
) {
  let running = 0;
  let most = 0;
  const waves: string[] = [];
  const found = await runFleet(
    named(count),
    async ({ name }) => {
      running++;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return result(name, failing.includes(name) ? "failed" : answer);
    },
    { parallelism: 3, ...options },
    { finished: () => undefined, waveStarted: (name, items) => waves.push(`${name} ${items.length}`) },
  );
  return { ...found, most, waves };
}

describe("a run over a fleet", () => {
  test("runs every workspace, at most as many at once as asked for", async () => {
    const { results, skipped, most } = await ran(10, ["w03"]);
    expect(results.map(({ workspace }) => workspace).sort()).toEqual(named(10).map(({ name }) => name));
    expect({ skipped, most }).toEqual({ skipped: [], most: 3 });
  });

  test("starts nothing after a wave with a failure", async () => {
    const found = await ran(20, ["w01"], { waves: parseWaves("canary: 1, then 10%, then rest") });
    expect(found.waves).toEqual(["canary 1", "wave 2 2"]);
    expect(found.results).toHaveLength(3);
    expect(found.skipped).toHaveLength(17);
    expect(found.stopped).toEqual({ reason: "wave", wave: "wave 2" });
  });

  test.each<ResultStatus>(["ok", "changes"])(
    "passes through all waves when the result is %s",
    async (status) => {
      const options = { waves: parseWaves("canary: 1, then 10%, then rest"), maxFailures: 2 };
      const found = await ran(20, [], options, status);
      expect(found.waves).toEqual(["canary 1", "wave 2 2", "rest 17"]);
      expect(found.skipped).toEqual([]);
    },
  );

  test("starts no more workspaces after the limit on failures", async () => {
    const found = await ran(20, ["w00", "w01"], { parallelism: 1, maxFailures: 2 });
    expect(found.results).toHaveLength(2);
    expect(found.stopped).toEqual({ reason: "failures" });
  });

  test("starts nothing once it is interrupted", async () => {
    const found = await ran(5, [], { signal: AbortSignal.abort() });
    expect(found.results).toEqual([]);
    expect(found.stopped).toEqual({ reason: "interrupted" });
  });
});

describe("limits", () => {
  test("hold the workspaces of a host and of a label back, each counted by every limit that fits", async () => {
    const hosts = ["https://a.example", "a.example", "https://b.example", "https://b.example"];
    const items = hosts.map((host, at) =>
      workspaceNamed(`w${at}`, { host, labels: { env: at === 3 ? "prod" : "test" } }),
    );
    let most = 0;
    const running = new Set<string>();
    const order: string[] = [];
    const execute = async ({ name }: { readonly name: string }) => {
      running.add(name);
      order.push([...running].sort().join(" "));
      most = Math.max(most, running.size);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running.delete(name);
      return resultOf(name);
    };
    const limits = [
      { of: { label: "env", value: "prod" }, runs: 1 },
      { of: "per_host" as const, runs: 1 },
    ];
    await runFleet(items, execute, { parallelism: 4, limits }, { finished: () => undefined });
    expect(most).toBe(2);
    for (const pair of [
      ["w0", "w1"],
      ["w2", "w3"],
    ])
      expect(order.filter((names) => pair.every((name) => names.includes(name)))).toEqual([]);
  });
});

describe("waves", () => {
  test.each([
    ["canary: 1, then 10%, then rest", [1, 2, 9]],
    ["50%", [6, 6]],
    ["25%, then 50%, then rest", [3, 6, 3]],
    ["3 then 3", [3, 3, 6]],
    ["100%", [12]],
    ["20", [12]],
  ])("%j split 12 workspaces into %j", (text, sizes) => {
    expect(splitIntoWaves(named(12), parseWaves(text)).map(({ items }) => items.length)).toEqual(sizes);
  });

  test("by label come in their order, and a percentage counts what is left", () => {
    const labels = ["dev", "test", "prod", "prod", "prod", "prod", "test", "dev"];
    const items = labels.map((env, at) => workspaceNamed(`w${at}`, { labels: { env } }));
    const waves = splitIntoWaves(items, parseWaves("env=dev, env in (test, stage), then 25%, then rest"));
    expect(waves.map(({ name, items }) => [name, items.map((item) => item.name)])).toEqual([
      ["env=dev", ["w0", "w7"]],
      ["env in (test, stage)", ["w1", "w6"]],
      ["wave 3", ["w2", "w3"]],
      ["rest", ["w4", "w5"]],
    ]);
  });

  test.each(["", "0", "101%", "rest, 1", "a few", "-1"])("%j is not a list of waves", (text) => {
    expect(() => parseWaves(text)).toThrow("is not a valid list of waves");
  });
});
