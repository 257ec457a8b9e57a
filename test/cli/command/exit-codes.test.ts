// Exit codes say what kind of end a run had.

import { describe, expect, test } from "vitest";
import { exitOf, exitOfOutcome } from "../../../src/cli/command/exit-codes.ts";
import { addressOf } from "../../../src/core/address.ts";
import type { Code } from "../../../src/core/codes.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { ApplyOutcome, ChangeOutcome } from "../../../src/planner/model/plan.ts";

const exits = (...codes: Code[]) => exitOf(codes.map((code) => error(code, "x")));

describe("exit codes", () => {
  test.each<[Code, number]>([
    ["SPEC_TYPE", 1],
    ["GUARD_LOCKOUT", 3],
    ["PLAN_IMMUTABLE", 3],
    ["PLAN_STALE", 4],
    ["PLAN_EXPIRED", 4],
    ["PLAN_LIVE_MOVED", 4],
    ["PLAN_FILE", 1],
    ["STATE_LOCKED", 5],
    ["CLI_INTERNAL", 1],
  ])("%s leads to %i", (code, exit) => {
    expect(exits(code)).toBe(exit);
  });

  test("warnings do not count, and a plain error outweighs what is special", () => {
    expect(exitOf([warning("STATE_LOCKED", "x")])).toBe(0);
    expect(exits("GUARD_LIMIT", "SPEC_TYPE")).toBe(1);
    expect(exits("GUARD_LIMIT", "PLAN_STALE")).toBe(4);
  });

  const outcome = (...changes: Partial<ChangeOutcome>[]): ApplyOutcome => ({
    changes: changes.map((change) => ({
      address: addressOf("pools", "x"),
      kind: "pools",
      action: "create",
      result: "applied",
      elapsedMs: 0,
      ...change,
    })),
    diagnostics: [],
    interrupted: false,
    elapsedMs: 0,
  });

  test("an apply with a failure exits 1, one that only found moved objects 4, a whole one 0", () => {
    const moved = { result: "skipped", diagnostic: error("PLAN_LIVE_MOVED", "x") } as const;
    expect(exitOfOutcome(outcome({}))).toBe(0);
    expect(exitOfOutcome(outcome(moved))).toBe(4);
    expect(exitOfOutcome(outcome(moved, { result: "failed" }))).toBe(1);
    expect(exitOfOutcome(outcome({ result: "unknown" }))).toBe(1);
  });
});
