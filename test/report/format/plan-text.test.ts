// The text form of a plan: what a reader finds in it, and where.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import { driftText } from "../../../src/report/format/drift-text.ts";
import { planText } from "../../../src/report/format/plan-text.ts";
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
    const drift = everything.drift.map((item) => ({ ...item, marks: [{ reported: false, declared: true }] }));
    expect(planText(viewOf({ ...everything, drift }), plain)).toMatchInlineSnapshot(`
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
            max_capacity  5 → 7  # already in the spec

      Unmanaged: pools (theirs).

      error GUARD_PREVENT_DESTROY: pools.gone would be deleted, but prevent_destroy is set
        hint: take it away

      This plan destroys 2 objects: pools.gone and pools.old.

      Plan: 2 to create, 1 to update, 1 to replace, 1 to delete. 1 resource has drift that the spec has already; an apply records it.
      Blocked by GUARD_PREVENT_DESTROY.
      "
    `);
  });

  test("of many warnings with one code the first seven have their messages, errors and other warnings are whole", () => {
    const many = <T>(make: (message: string) => T): T[] =>
      Array.from({ length: 12 }, (_, at) => make(`number ${at + 1}`));
    const diagnostics = [
      ...many((message) => warning("PLAN_UNKNOWN_NAME", message)),
      ...many((message) => error("PLAN_UNREADABLE", message)),
      warning("PLAN_UNCHECKED", "the last one"),
    ];
    const shown = planText(viewOf(planOf([create], { diagnostics })), plain);
    expect(shown.match(/^warning PLAN_UNKNOWN_NAME|^ {2}also: number/gm)).toHaveLength(7);
    expect(shown.match(/^error PLAN_UNREADABLE/gm)).toHaveLength(12);
    expect(shown).toContain("warning PLAN_UNCHECKED: the last one");
    expect(shown).toContain("\n  … and 5 more; `-o json` lists each\n");
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

  test("a plan that is longer than a screen begins with its verdict and what it destroys", () => {
    const many = Array.from({ length: 12 }, (_, at) => ({
      ...remove,
      address: addressOf("pools", `gone-${at}`),
      name: `gone-${at}`,
    }));
    const created = Array.from({ length: 8 }, (_, at) => ({
      ...create,
      address: addressOf("pools", `new-${at}`),
      name: `new-${at}`,
    }));
    const shown = text(...created, ...many);
    expect(shown.split("\n").slice(0, 5)).toEqual([
      "Plan: 8 to create, 0 to update, 0 to replace, 12 to delete.",
      "",
      "This plan destroys 12 objects:",
      `  DELETE   12 pools: ${many
        .slice(0, 10)
        .map(({ address }) => address)
        .join(", ")}, and 2 more`,
      "",
    ]);
    expect(text(create, remove)).not.toMatch(/^Plan/);
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

  test("drift that the spec has already is listed apart from a change of the same resource by the spec", () => {
    const diff = { path: ["max_capacity"], before: 7, after: 5, cause: "drift", replaces: false } as const;
    const drift: Drift = {
      ...{
        address: addressOf("pools", "shared"),
        kind: "pools",
        name: "shared",
        what: "changed",
        diffs: [diff],
        facts: {},
      },
      origin: { by: "bo@example.com" },
      marks: [{ reported: false, declared: true }],
    };
    const shown = planText(viewOf(planOf([{ ...update, cause: "spec" }], { drift: [drift] })), plain);
    expect(shown).toMatch(/Drift that already matches the spec:.*pools\.shared.*max_capacity {2}5 → 7/s);
    expect(shown.match(/bo@example\.com/g)).toHaveLength(1);
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

  test("begins with deleted objects, and equal changes by one person are shown once", () => {
    const changed = ["a", "b", "c", "d", "e", "f"].map(
      (name, at): Drift => ({
        ...drifted(name, "changed"),
        origin: { by: "ada@example.com", at: Date.UTC(2026, 10, 28, 9, at) },
      }),
    );
    const view = driftView(planOf([], { drift: [...changed, drifted("lost", "deleted")] }), 7, registry);
    expect(driftText(view, plain)).toMatchInlineSnapshot(`
      "  - deleted  pools.lost

        ~ changed  6 pools  (pools.a, pools.b, pools.c, pools.d, pools.e, and 1 more)
            changed by ada@example.com at 2026-11-28T09:05:00Z (the latest)
            max_capacity  5 → 7

      Equal drift is shown once; \`-o json\` lists each resource.

      Drift in 7 resources: 6 changed, 1 deleted, 0 appeared.
      "
    `);
  });
});
