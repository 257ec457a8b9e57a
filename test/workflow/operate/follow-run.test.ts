// Following a run through the attempts that its job makes: to the last one, and not for ever.

import { expect, test, vi } from "vitest";
import type { Reader } from "../../../src/api/contract/reader.ts";
import { runStates } from "../../../src/cli/output/job-run.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { nodeClock } from "../../../src/state/backends/file/node-ports.ts";
import type { RecordedObject } from "../../../src/workflow/operate/recorded-object.ts";
import { followRun, waitForCluster } from "../../../src/workflow/operate/wait.ts";
import { contextWith } from "../../cli/context.ts";

const run = (run_id: number, result_state: string, first = 1): JsonObject => ({
  run_id,
  job_id: 7,
  original_attempt_run_id: first,
  state: { life_cycle_state: "TERMINATED", result_state, state_message: "" },
});

/** `lists`: the runs that each list gives, newest first; the last one again and again. */
function service(settings: JsonObject | undefined, ...lists: readonly (readonly JsonObject[])[]): Reader {
  let listed = 0;
  return {
    async read(operation, input) {
      if (operation === "jobs/runs/list") return { runs: lists[Math.min(listed++, lists.length - 1)] ?? [] };
      if (operation === "jobs/get" && settings !== undefined) return { settings };
      const found = lists.flat().find((one) => one.run_id === input?.run_id);
      if (operation === "jobs/runs/get" && found !== undefined) return found;
      throw new Refused(400, "INVALID_PARAMETER_VALUE", error("API_REFUSED", `no ${operation}`));
    },
  };
}

async function follow(reader: Reader, from = 1) {
  const context = contextWith();
  const signal = new AbortController().signal;
  const { id, ended } = await followRun(
    reader,
    { run: from, signal, timeoutMs: undefined, patienceMs: 0 },
    runStates(context),
  );
  return { id, ended: (ended?.state as JsonObject | undefined)?.result_state, told: context.err() };
}

test("attempts that are there already are followed to the last one, in their order", async () => {
  const other = run(9, "SUCCESS", 9);
  const runs = [run(5, "SUCCESS"), other, run(8, "FAILED"), run(1, "FAILED")];
  expect(await follow(service({ max_retries: 2 }, runs))).toEqual({
    id: 5,
    ended: "SUCCESS",
    told: "run 8: retry of run 1 (FAILED)\nrun 5: retry of run 8 (FAILED)\n",
  });
});

test("an attempt that is to come is waited for", async () => {
  const first = run(1, "FAILED");
  const reader = service(
    { max_retries: -1, min_retry_interval_millis: 5000 },
    [first],
    [run(2, "SUCCESS"), first],
  );
  expect(await follow(reader)).toMatchObject({
    id: 2,
    ended: "SUCCESS",
    told: "run 1: FAILED; the job retries it\nrun 2: retry of run 1 (FAILED)\n",
  });
});

test("an attempt that never comes is not waited for without end", async () => {
  expect(await follow(service({ max_retries: 1 }, [run(1, "FAILED")]))).toMatchObject({
    id: 1,
    ended: "FAILED",
  });
});

test("no further attempt is waited for where the job makes none", async () => {
  const hour = { min_retry_interval_millis: 3_600_000 };
  const cases: readonly (readonly [JsonObject | undefined, readonly JsonObject[]])[] = [
    [{ ...hour }, [run(1, "FAILED")]],
    [{ ...hour, max_retries: 0 }, [run(1, "FAILED")]],
    [{ ...hour, max_retries: 1 }, [run(2, "FAILED"), run(1, "FAILED")]],
    [{ ...hour, max_retries: 3 }, [run(1, "CANCELED")]],
    [{ ...hour, max_retries: 3 }, [run(1, "SUCCESS")]],
    [{ ...hour, max_retries: 3 }, [run(1, "TIMED_OUT")]],
    [undefined, [run(1, "FAILED")]],
  ];
  for (const [settings, runs] of cases)
    expect((await follow(service(settings, runs))).id).toBe(runs[0]?.run_id);
});

test("a run and a cluster are read every 10 seconds at the latest, however long the wait is", async () => {
  const waits: number[] = [];
  const sleep = vi.spyOn(nodeClock, "sleep").mockImplementation(async (ms) => void waits.push(ms));
  try {
    let reads = 0;
    const read = async (): Promise<JsonObject> => {
      reads += 1;
      return reads < 40 ? { run_id: 1, state: { life_cycle_state: "RUNNING" } } : run(1, "SUCCESS");
    };
    expect((await follow({ read })).ended).toBe("SUCCESS");
    expect([waits.length, Math.max(...waits)]).toEqual([39, 10_000]);
    waits.length = 0;
    const reader: Reader = { read: async () => ({ state: waits.length < 40 ? "PENDING" : "RUNNING" }) };
    const on = {
      what: "run",
      isReached: ({ state }: JsonObject) => state === "RUNNING",
      lost: [],
      timeoutMs: 3_600_000,
      signal: new AbortController().signal,
      polled: () => undefined,
    };
    const masked = (answer: JsonObject): JsonObject => answer;
    const cluster = { connection: { reader }, unmasked: reader, masked, id: "c", address: "clusters.c" };
    await waitForCluster(cluster as unknown as RecordedObject, on);
    expect([waits.length, Math.max(...waits)]).toEqual([40, 10_000]);
  } finally {
    sleep.mockRestore();
  }
});
