// JUnit XML for CI services: well-formed, with a failure for each item that needs attention.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { ApplyOutcome } from "../../../src/planner/model/plan.ts";
import { driftJunit, findingsJunit, outcomeJunit, planJunit } from "../../../src/report/format/junit.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import { outcomeView } from "../../../src/report/view/outcome-view.ts";
import { everything, planOf, registry, viewOf } from "../plans.ts";

const head = (xml: string) => xml.split("\n")[1];
const cases = (xml: string) =>
  [...xml.matchAll(/<testcase classname="(.*?)" name="(.*?)" time="[\d.]+"(?:\/>|><(.*?)[ >])/g)].map(
    ([, ...one]) => one,
  );

describe("JUnit", () => {
  test("in a plan each change is a case, and who objects fails", () => {
    expect(cases(planJunit(viewOf(everything)))).toEqual([
      ["GUARD_PREVENT_DESTROY", "pools.gone would be deleted, but prevent_destroy is set", "failure"],
      ["secrets", "create secrets.etl/password", "system-out"],
      ["pools", "create pools.new", "system-out"],
      ["pools", "update pools.shared", "system-out"],
      ["pools", "replace pools.old", "system-out"],
      ["pools", "DELETE pools.gone", "system-out"],
    ]);
    expect(head(planJunit(viewOf(everything)))).toContain('tests="6" failures="1" errors="0" skipped="0"');
  });

  test("each resource that drifted fails, and no drift is a case that passes", () => {
    const xml = driftJunit(driftView(everything, 1, registry));
    expect(cases(xml)).toEqual([["pools", "pools.same", "failure"]]);
    expect(xml).toContain('<failure type="drift.changed" message="pools.same changed since the last apply">');
    expect(cases(driftJunit(driftView(planOf([]), 1, registry)))).toEqual([
      ["workspace drift", "No drift. The workspace matches the last apply", undefined],
    ]);
    expect(cases(planJunit(viewOf(planOf([]))))).toHaveLength(1);
  });

  test("of an apply what failed or is blocked fails, and what was stopped is skipped", () => {
    const one = { kind: "pools", action: "create", elapsedMs: 1500 } as const;
    const outcome: ApplyOutcome = {
      changes: [
        { ...one, address: addressOf("pools", "a"), result: "applied" },
        {
          ...one,
          address: addressOf("pools", "b"),
          result: "failed",
          diagnostic: error("API_REFUSED", "no <b>"),
        },
        { ...one, address: addressOf("pools", "c"), result: "blocked", blockedBy: addressOf("pools", "b") },
        { ...one, address: addressOf("pools", "d"), result: "skipped" },
      ],
      diagnostics: [error("STATE_IO", "the state cannot be written")],
      interrupted: false,
      elapsedMs: 2000,
    };
    const xml = outcomeJunit(outcomeView(outcome));
    expect(cases(xml).map(([, name, what]) => [name, what])).toEqual([
      ["created pools.a", undefined],
      ["create pools.b", "failure"],
      ["create pools.c", "failure"],
      ["create pools.d", "skipped"],
      ["the state cannot be written", "failure"],
    ]);
    expect(xml).toContain('message="no &lt;b&gt;"');
    expect(head(xml)).toContain('tests="5" failures="3" errors="0" skipped="1" time="1.500"');
  });

  test("each error of a check fails, at its place; a warning passes", () => {
    const at = { file: "w.yaml", line: 3, column: 5 };
    const xml = findingsJunit("workspace validate", "Valid", [
      error("SPEC_TYPE", 'a & "b"', { at }),
      warning("SPEC_EMPTY", "nothing"),
    ]);
    expect(cases(xml)).toEqual([
      ["SPEC_TYPE", "w.yaml:3:5 a &amp; &quot;b&quot;", "failure"],
      ["SPEC_EMPTY", "nothing", "system-out"],
    ]);
    expect(cases(findingsJunit("workspace validate", "Valid: 1 resource", []))).toEqual([
      ["workspace validate", "Valid: 1 resource", undefined],
    ]);
  });
});
