import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  clusterText,
  durations,
  eventsText,
  outcomeWord,
  outputText,
  runsText,
  runText,
  sizeText,
} from "../../../src/report/inspect/cluster-text.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";

const PLAIN = colorsFor(false);

test.each([
  [{ state: "RUNNING", num_workers: 1 }, "RUNNING, 1 worker"],
  [{ state: "RUNNING", autoscale: { min_workers: 1, max_workers: 8 } }, "RUNNING, 1 to 8 workers"],
  [{ state: "PENDING", state_message: "Waiting." }, "PENDING: Waiting."],
  [
    { state: "TERMINATED", termination_reason: { code: "INACTIVITY" }, state_message: "" },
    "TERMINATED: INACTIVITY",
  ],
  [{ state: "TERMINATED", state_message: "a\u001b[31mb" }, "TERMINATED: a\\u001b[31mb"],
  [{}, "UNKNOWN"],
])("a cluster %j is shown as %s", (cluster, text) => {
  expect(clusterText(cluster)).toBe(text);
});

test("a size that the service does not tell is unknown", () => {
  expect(sizeText({})).toBe("size unknown");
});

test("an event tells who, how large and why", () => {
  const events: readonly JsonObject[] = [
    {
      timestamp: 0,
      type: "TERMINATING",
      details: { reason: { code: "INACTIVITY", parameters: { min: 60 } } },
    },
    {
      timestamp: 1_600_000_000_000,
      type: "RESIZING",
      details: {
        user: "ada",
        cause: "USER_REQUEST",
        previous_cluster_size: { num_workers: 1 },
        cluster_size: { num_workers: 4 },
      },
    },
    {
      timestamp: 1_600_000_000_000,
      type: "RUNNING",
      details: { current_num_workers: 3, target_num_workers: 4 },
    },
    {
      timestamp: 1_600_000_000_000,
      type: "EDITED",
      details: { previous_attributes: { a: 1, b: 2 }, attributes: { a: 1, b: 3, c: 4 } },
    },
  ];
  expect(eventsText(events, PLAIN)).toBe(`time                  event        details
                      TERMINATING  INACTIVITY (min 60)
2020-09-13T12:26:40Z  RESIZING     by ada; from 1 worker to 4 workers; USER_REQUEST
2020-09-13T12:26:40Z  RUNNING      3 of 4 workers
2020-09-13T12:26:40Z  EDITED       changed b, c
`);
  expect(eventsText([], PLAIN)).toBe("No events.\n");
});

test("a run says its state in one word: how it ended, where it did", () => {
  expect(outcomeWord({ state: { life_cycle_state: "RUNNING" } })).toBe("RUNNING");
  expect(outcomeWord({ state: { life_cycle_state: "TERMINATED", result_state: "FAILED" } })).toBe("FAILED");
  expect(outcomeWord({ state: { life_cycle_state: "INTERNAL_ERROR", result_state: "FAILED" } })).toBe(
    "INTERNAL_ERROR",
  );
  expect(outcomeWord({})).toBe("UNKNOWN");
});

test("negligible parts of a run's time are not shown", () => {
  expect(durations({ setup_duration: 4, execution_duration: 7000, cleanup_duration: 0 })).toBe(
    "7.0 s: 7.0 s of work",
  );
  expect(durations({})).toBe("");
});

test("hostile names and messages stay visible and on their line", () => {
  const run = {
    run_id: 1,
    run_name: "a\u202e\n::warning::b",
    state: { life_cycle_state: "SKIPPED", state_message: "x\ny" },
  };
  expect(runsText([run], PLAIN).split("\n")).toHaveLength(3);
  expect(runsText([run], PLAIN)).not.toMatch(/::|\u202e/);
  expect(runText(run, PLAIN)).not.toMatch(/::|\u202e/);
  expect(outputText({ notebook_output: { result: "a\u001b[2J\nb", truncated: true } })).toBe(
    "a\\u001b[2J\nb\n(truncated by the service, which keeps the first 1 MB)\n",
  );
});
