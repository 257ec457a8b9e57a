// The board on a terminal: all of it is drawn before the run continues, and its last state shows the counts.

import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import type { ApplyEvent } from "../../../src/planner/model/plan.ts";
import { progressBoard } from "../../../src/report/inspect/progress-board.ts";

function terminal() {
  let text = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: true, columns: 100, rows: 40 }) as unknown as NodeJS.WriteStream,
    text: () => text,
  };
}

const TYPES = { applied: "apply_complete", failed: "apply_errored", skipped: "apply_skipped" } as const;
const ended = (name: string, result: keyof typeof TYPES, kind = "pools"): ApplyEvent => ({
  type: TYPES[result],
  outcome: { address: addressOf(kind, name), kind, action: "create", result, elapsedMs: 1 },
});

test("reading ends with what was read, however fast it was", async () => {
  const { stream, text } = terminal();
  const board = progressBoard({ stream, now: () => 0 });
  board.read({ type: "read", kind: "pools", objects: 3, done: 1, total: 2 });
  board.read({ type: "read", kind: "jobs", objects: 1_000, done: 2, total: 2 });
  await board.stop();
  expect(text()).toContain("Reading the workspace: 2/2 kinds, 1,003 objects");
});

test("each kind has a task with its counts; a failure marks it", async () => {
  const { stream, text } = terminal();
  const board = progressBoard({ stream, now: () => 0 });
  board.apply({ type: "apply_begin", totals: { pools: 2, jobs: 1 } });
  board.apply({ type: "apply_start", address: addressOf("pools", "a"), kind: "pools", action: "create" });
  board.apply(ended("a", "applied"));
  board.apply(ended("b", "failed"));
  await board.stop();
  const last = text().slice(text().lastIndexOf("pools 2/2"));
  expect(last).toContain("pools 2/2, 1 failed");
  expect(last).toContain("jobs 0/1");
});

test("a kind whose changes were skipped because the run was stopped is not marked as failed", async () => {
  const { stream, text } = terminal();
  const board = progressBoard({ stream, now: () => 0 });
  board.apply({ type: "apply_begin", totals: { pools: 2, jobs: 2 } });
  board.apply(ended("a", "applied"));
  board.apply(ended("b", "skipped"));
  board.apply(ended("c", "failed", "jobs"));
  board.apply(ended("d", "skipped", "jobs"));
  await board.stop();
  const last = text().slice(text().lastIndexOf("pools 2/2") - 40);
  expect(last).toMatch(/↓.*pools 2\/2, 1 skipped/);
  expect(last).toMatch(/✖.*jobs 2\/2, 1 failed, 1 skipped/);
});

test("a board that never began ends at once", async () => {
  const { stream, text } = terminal();
  await progressBoard({ stream, now: () => 0 }).stop();
  expect(text()).toBe("");
});
