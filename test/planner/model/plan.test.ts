// Facts of a plan: counts, whether it is blocked, and whether an apply would do anything.

import { expect, test } from "vitest";
import { error, warning } from "../../../src/core/diagnostic.ts";
import { changesAnything, touches } from "../../../src/planner/model/change.ts";
import { isBlocked, summaryOf, wasStopped } from "../../../src/planner/model/plan.ts";
import { noop, one, report, update } from "../changes.ts";

const every = one("boxes.a");

test("a summary counts the changes of each action", () => {
  expect(summaryOf([...Object.values(every), every.create])).toEqual({
    create: 2,
    update: 1,
    replace: 1,
    delete: 1,
    adopt: 1,
    import: 1,
    move: 1,
    forget: 1,
    compare: 1,
    noop: 1,
    report: 1,
  });
  expect(summaryOf([])).toEqual({
    create: 0,
    update: 0,
    replace: 0,
    delete: 0,
    adopt: 0,
    import: 0,
    move: 0,
    forget: 0,
    compare: 0,
    noop: 0,
    report: 0,
  });
});

test("every action but no change and a report does something, or may do something", () => {
  expect(Object.values(every).filter(touches)).toHaveLength(9);
  expect([every.noop, every.report].some(touches)).toBe(false);
  expect(changesAnything({ changes: [noop("boxes.a"), update("boxes.b")] })).toBe(true);
  expect(changesAnything({ changes: [noop("boxes.a"), report("keys.a/k")] })).toBe(false);
});

test("an error or a guard blocks a plan, a warning does not", () => {
  const problem = error("PLAN_IMMUTABLE", "no");
  expect(isBlocked({ diagnostics: [warning("PLAN_MODE", "w")], guards: [] })).toBe(false);
  expect(isBlocked({ diagnostics: [problem], guards: [] })).toBe(true);
  expect(isBlocked({ diagnostics: [], guards: [{ diagnostic: problem, addresses: [] }] })).toBe(true);
});

test("a change was stopped if it was skipped because the run was interrupted", () => {
  const stopped = error("APPLY_INTERRUPTED", "stopped");
  expect(wasStopped({ result: "skipped", diagnostic: stopped })).toBe(true);
  expect(wasStopped({ result: "failed", diagnostic: stopped })).toBe(false);
  expect(wasStopped({ result: "skipped", diagnostic: error("PLAN_LIVE_MOVED", "moved") })).toBe(false);
  expect(wasStopped({ result: "skipped" })).toBe(false);
});
