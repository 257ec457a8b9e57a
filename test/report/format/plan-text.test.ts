// The text form of a plan: what a reader finds in it, and where.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import { driftText, planText } from "../../../src/report/format/plan-text.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import {
  create,
  everything,
  noop,
  planOf,
  registry,
  remove,
  replace,
  secret,
  update,
  viewOf,
} from "../plans.ts";

const plain = colorsFor(false);
const text = (...changes: Parameters<typeof planOf>[0]) => planText(viewOf(planOf(changes)), plain);

describe("plan as text", () => {
  test("a plan reads like this, whole", () => {
    expect(planText(viewOf(everything), plain)).toMatchInlineSnapshot(`
      "  + create   secrets.etl/password
            value  (sensitive)

        + create   pools.new
            node_type_id  small
            max_capacity  20
            tags.team     data

        ~ update   pools.shared  (the spec changed, and so did the workspace)
            max_capacity  10 → 50
            versions      - a  # changed outside
                          + c
            ! 2 running clusters restart

        ± replace  pools.old  (create the new object first; id id-1)
            node_type_id  small → large  # forces replacement

        - DELETE   pools.gone  (id id-0)

      Drift that already matches the spec:
        ~ changed  pools.same
            max_capacity  5 → 7

      Unmanaged: pools (theirs).

      error GUARD_PREVENT_DESTROY: pools.gone would be deleted, but prevent_destroy is set
        hint: take it away

      This plan destroys 2 objects: pools.old and pools.gone.

      Plan: 2 to create, 1 to update, 1 to replace, 1 to delete.
      Blocked by GUARD_PREVENT_DESTROY.
      "
    `);
  });

  test("of many warnings of one kind ten are shown, of errors and of other warnings all", () => {
    const many = <T>(make: (message: string) => T): T[] =>
      Array.from({ length: 12 }, (_, at) => make(`number ${at + 1}`));
    const diagnostics = [
      ...many((message) => warning("PLAN_UNKNOWN_NAME", message)),
      ...many((message) => error("PLAN_UNREADABLE", message)),
      warning("PLAN_UNCHECKED", "the last one"),
    ];
    const shown = planText(viewOf(planOf([create], { diagnostics })), plain);
    expect(shown.match(/^warning PLAN_UNKNOWN_NAME/gm)).toHaveLength(10);
    expect(shown.match(/^error PLAN_UNREADABLE/gm)).toHaveLength(12);
    expect(shown).toContain("warning PLAN_UNCHECKED: the last one");
    expect(shown).toContain("\n… and 2 more warnings of PLAN_UNKNOWN_NAME; `-o json` shows all\n");
  });

  test("a created resource shows what the spec sets, one column of values", () => {
    expect(text(create)).toContain(
      "      node_type_id  small\n      max_capacity  20\n      tags.team     data\n",
    );
  });

  test("an old value stands left of an arrow, the new one right", () => {
    expect(text(update)).toContain("max_capacity  10 → 50");
  });

  test("members of a set that go and come have signs", () => {
    expect(text(update)).toMatch(/versions {6}- a.*\n +\+ c/);
  });

  test("a field that forces a replacement says so once; other reasons are sentences", () => {
    const reasons = [...replace.reasons, "users.ada is replaced and gets a new ID"];
    const shown = text({ ...replace, reasons });
    expect(shown).toContain("small → large  # forces replacement");
    expect(shown).not.toContain("cannot be changed in place");
    expect(shown).toContain("because users.ada is replaced and gets a new ID");
  });

  test("a secret is never shown, not even its digest", () => {
    expect(text(secret)).toContain("value  (sensitive)");
    expect(text(secret)).not.toContain("0123456789abcdef");
  });

  test("deletes are written in capitals and named again before the summary", () => {
    const shown = text(create, remove);
    expect(shown).toContain("- DELETE   pools.gone");
    expect(shown).toMatch(/This plan destroys 1 object: pools\.gone\.\n\nPlan: /);
  });

  test("the last line sums up", () => {
    expect(text(create, update, replace, remove)).toMatch(
      /Plan: 1 to create, 1 to update, 1 to replace, 1 to delete\.\n$/,
    );
  });

  test("a plan without changes is one line", () => {
    expect(text(noop)).toBe("No changes. 1 resource matches the spec.\n");
  });

  test("each field of an object that changed outside says so, the second as well", () => {
    const autoscale = {
      path: ["autoscale"],
      before: { min_workers: 1, max_workers: 4 },
      after: { min_workers: 2, max_workers: 8 },
      cause: "drift",
      replaces: false,
    } as const;
    const shown = text({ ...update, diffs: [autoscale] } as typeof update);
    expect(shown).toContain("autoscale.min_workers  1 → 2  # changed outside");
    expect(shown).toContain("autoscale.max_workers  4 → 8  # changed outside");
  });

  test("a change that is not the spec's own doing says who moved", () => {
    expect(text(update)).toContain("(the spec changed, and so did the workspace)");
    expect(text(update)).toContain("# changed outside");
  });
});

describe("drift as text", () => {
  const drifted = (name: string, what: "changed" | "deleted"): Drift => ({
    ...{ address: addressOf("pools", name), kind: "pools", name, what },
    diffs:
      what === "deleted"
        ? []
        : [{ path: ["max_capacity"], before: 7, after: 5, cause: "drift", replaces: false }],
  });

  test("has an empty line where a plan has one: around an entry of several lines", () => {
    const drift = [
      drifted("a", "deleted"),
      drifted("b", "deleted"),
      drifted("c", "changed"),
      drifted("d", "changed"),
    ];
    const view = driftView(planOf([], { drift }), 4, registry);
    expect(driftText(view, plain)).toMatchInlineSnapshot(`
      "  - deleted  pools.a
        - deleted  pools.b

        ~ changed  pools.c
            max_capacity  5 → 7

        ~ changed  pools.d
            max_capacity  5 → 7

      Drift in 4 resources: 2 changed, 2 deleted, 0 appeared.
      "
    `);
  });
});
