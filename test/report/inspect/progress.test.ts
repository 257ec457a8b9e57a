// What people see while they wait: counts by kind, time left, a line for each change.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import { duration } from "../../../src/core/duration.ts";
import type { ApplyEvent, ChangeOutcome } from "../../../src/planner/model/plan.ts";
import { ProgressCounts, plainProgress, tallyText } from "../../../src/report/inspect/progress.ts";
import { colorsFor, wantsColor } from "../../../src/report/text/terminal.ts";

const address = addressOf("pools", "a");
const done = (
  result: ChangeOutcome["result"] = "applied",
  rest: Partial<ChangeOutcome> = {},
): ApplyEvent => ({
  type: result === "applied" ? "apply_complete" : result === "skipped" ? "apply_skipped" : "apply_errored",
  outcome: { address, kind: "pools", action: "create", result, elapsedMs: 1, ...rest },
});

describe("progress", () => {
  test("a line for each change that ends, with its place and why it failed", () => {
    let text = "";
    const progress = plainProgress({ colors: colorsFor(false), write: (line) => (text += line) });
    progress.read({ type: "read", kind: "pools", objects: 3, done: 1, total: 2 });
    progress.read({ type: "read", kind: "jobs", objects: 1, done: 2, total: 2 });
    progress.apply({ type: "apply_begin", totals: { pools: 3 } });
    progress.apply({ type: "apply_start", address, kind: "pools", action: "create" });
    progress.apply(done());
    progress.apply(done("failed", { diagnostic: error("API_REFUSED", "no room") }));
    progress.apply(done("skipped", { diagnostic: error("APPLY_INTERRUPTED", "stopped") }));
    expect(text).toBe("Read 4 objects of 2 kinds.\n[1/3] created pools.a\n[2/3] failed pools.a: no room\n");
  });

  test("what could not be read does not count as read", () => {
    const linesOf = (...objects: readonly (number | undefined)[]) => {
      let text = "";
      const progress = plainProgress({ colors: colorsFor(false), write: (line) => (text += line) });
      objects.forEach((number, at) => {
        const read = number === undefined ? {} : { objects: number };
        progress.read({ type: "read", kind: `kind${at}`, ...read, done: at + 1, total: objects.length });
      });
      return text;
    };
    expect(linesOf(3, undefined, undefined)).toBe("Read 3 objects of 1 kind; 2 kinds could not be read.\n");
    expect(linesOf(undefined, undefined)).toBe("");
  });

  test("a kind's line shows finished changes, failures, and the remaining time", () => {
    const tally = new ProgressCounts();
    tally.count({ type: "apply_begin", totals: { pools: 4 } });
    tally.count(done());
    tally.count(done("failed"));
    tally.count({ type: "apply_start", address, kind: "pools", action: "create" });
    const [own] = tally.kinds();
    expect(own).toMatchObject({ done: 2, failed: 1, current: new Map([[address, "creating pools.a"]]) });
    expect(own === undefined ? "" : tallyText(own, 20_000)).toBe("pools 2/4, 1 failed, 20 s left");
  });

  test("a kind's tally counts skipped and blocked changes apart from failed ones", () => {
    const tally = new ProgressCounts();
    tally.count({ type: "apply_begin", totals: { pools: 4 } });
    for (const result of ["applied", "skipped", "skipped", "blocked"] as const) tally.count(done(result));
    const [own] = tally.kinds();
    expect(own).toMatchObject({ done: 4, failed: 0, skipped: 2, blocked: 1 });
    expect(own === undefined ? "" : tallyText(own, 0)).toBe("pools 4/4, 1 blocked, 2 skipped");
  });

  test("a change that live moved away from is skipped in the color of a warning, and a failed one in red", () => {
    let text = "";
    const progress = plainProgress({ colors: colorsFor(true), write: (line) => (text += line) });
    progress.apply(done("skipped", { diagnostic: error("PLAN_LIVE_MOVED", "it moved") }));
    progress.apply(done("failed", { diagnostic: error("API_REFUSED", "no room") }));
    const { yellow, red } = colorsFor(true);
    expect(text).toContain(`${yellow("skipped")} pools.a`);
    expect(text).toContain(`${red("failed")} pools.a`);
  });

  test("after the end nothing more is written", async () => {
    let text = "";
    const progress = plainProgress({ colors: colorsFor(false), write: (line) => (text += line) });
    await progress.stop();
    progress.apply(done());
    expect(text).toBe("");
  });
});

describe("colour", () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
    [{ CI: "true" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ])("with %j on a terminal %s: %s", (env, terminal, wanted) => {
    expect(wantsColor(env, terminal)).toBe(wanted);
  });
});

test("times read well", () => {
  expect([duration(40), duration(12_000), duration(200_000), duration(7_500_000)]).toEqual([
    "0.0 s",
    "12 s",
    "3 min 20 s",
    "2 h 5 min",
  ]);
});
