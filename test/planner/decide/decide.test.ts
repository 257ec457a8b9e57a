// The change of one resource by its declared, live, and recorded values.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Values } from "../../../src/resource/field-schema.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { actions, live, object, plan, record, reference, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const LIVE = { box_name: "a", material: "wood", size: 1 };

interface Case {
  readonly about: string;
  readonly declared?: Record<string, string | number>;
  readonly there?: boolean;
  readonly recorded?: boolean;
  readonly adopt?: boolean;
  readonly replace?: boolean;
  readonly gives: Record<string, string> | string;
}

const CASES: readonly Case[] = [
  { about: "declared only", declared: {}, gives: { "boxes.a": "create" } },
  { about: "live only", there: true, gives: {} },
  { about: "recorded only", recorded: true, gives: { "boxes.a": "forget" } },
  { about: "declared and recorded, not live", declared: {}, recorded: true, gives: { "boxes.a": "create" } },
  { about: "live and recorded, not declared", there: true, recorded: true, gives: { "boxes.a": "delete" } },
  { about: "all three and equal", declared: { size: 1 }, there: true, recorded: true, gives: {} },
  {
    about: "all three, one field differs",
    declared: { size: 2 },
    there: true,
    recorded: true,
    gives: { "boxes.a": "update" },
  },
  {
    about: "all three, an immutable field differs, and the policy allows no replacement",
    declared: { material: "steel" },
    there: true,
    recorded: true,
    gives: "PLAN_IMMUTABLE",
  },
  {
    about: "all three, an immutable field differs, and the policy replaces",
    declared: { material: "steel" },
    there: true,
    recorded: true,
    replace: true,
    gives: { "boxes.a": "replace" },
  },
  {
    about: "declared and live, not recorded",
    declared: { size: 1 },
    there: true,
    gives: "PLAN_ALREADY_EXISTS",
  },
  {
    about: "declared and live, adopted",
    declared: { size: 1 },
    there: true,
    adopt: true,
    gives: { "boxes.a": "adopt" },
  },
  {
    about: "declared and live, adopted with a difference",
    declared: { size: 2 },
    there: true,
    adopt: true,
    gives: { "boxes.a": "update" },
  },
];

describe("a resource that is", () => {
  test.each(CASES)("$about", ({ declared, there, recorded, adopt = false, replace, gives }) => {
    const made = plan({
      spec: spec(
        declared === undefined ? [] : [resource("boxes.a", { values: { material: "wood", ...declared } })],
        replace === true ? { on_immutable_change: "replace" } : {},
      ),
      live: live(there === true ? { boxes: [object("b1", "a", LIVE)] } : {}),
      state: state(recorded === true ? [record("boxes.a", "b1", LIVE)] : []),
      adopt,
    });
    if (typeof gives === "string") expect(made.diagnostics.map(({ code }) => code)).toEqual([gives]);
    else {
      expect(made.diagnostics).toEqual([]);
      expect(actions(made)).toEqual(gives);
    }
  });
});

describe("the reasons of a change", () => {
  const LIVE_BOX = object("b1", "a", LIVE, { scaled: "autoscaling" });
  const known = state([record("boxes.a", "b1", LIVE)]);
  const first = (...given: Parameters<typeof plan>) => plan(...given).changes[0];
  const box = (values = {}, more = {}) =>
    resource("boxes.a", { values: { material: "wood", size: 1, ...values }, ...more });

  test("of a creation are none, or that the object no longer exists", () => {
    expect(first({ spec: spec([box()]) })).toMatchObject({ cause: "spec", reasons: [] });
    expect(first({ spec: spec([box()]), state: known })).toMatchObject({
      cause: "drift",
      reasons: ["it no longer exists in the workspace"],
    });
  });

  test("of an adoption are that it matches, or that it exists", () => {
    const given = { live: live({ boxes: [LIVE_BOX] }), adopt: true };
    expect(first({ spec: spec([box()]), ...given })).toMatchObject({
      action: "adopt",
      cause: "spec",
      reasons: ["the existing object matches the spec"],
    });
    expect(first({ spec: spec([box({ size: 2 })]), ...given })).toMatchObject({
      action: "update",
      cause: "spec",
      reasons: ["it exists and is adopted"],
      steps: [{ operation: "update" }],
    });
  });

  test("of an object that an interrupted run created are that this run completes it", () => {
    const { seen: _seen, ...half } = record("boxes.a", "b1", LIVE) as Extract<
      StateRecord,
      { status: "ready" }
    >;
    const creating = state([{ ...half, status: "creating", token: "t" }]);
    const given = { live: live({ boxes: [LIVE_BOX] }), state: creating };
    expect(first({ spec: spec([box({ size: 2 })]), ...given })).toMatchObject({
      reasons: ["an interrupted run created it in part; this run completes it"],
    });
    expect(first({ spec: spec([box()]), ...given })).toMatchObject({ action: "adopt", reasons: [] });
  });

  test("of a moved resource are none, because the change names its old address, and a record moves although nothing differs", () => {
    const moved = { origins: new Map([["boxes.a" as Address, "boxes.old" as Address]]), before: known };
    const given = { live: live({ boxes: [LIVE_BOX] }), state: known, moved };
    expect(first({ spec: spec([box()]), ...given })).toMatchObject({
      action: "move",
      movedFrom: "boxes.old",
      reasons: [],
    });
    expect(first({ spec: spec([box({ size: 2 })]), ...given })).toMatchObject({
      action: "update",
      movedFrom: "boxes.old",
      reasons: [],
    });
  });

  test("of a replacement are the fields that cannot be changed in place, and what is replaced before it", () => {
    const task = resource("tasks.t", {
      values: {
        box: "${boxes.b.box_id}",
        steps: ["${boxes.a.box_id} of ${boxes.b.box_id}", "${boxes.c.box_id}"],
      },
      references: [
        reference(["box"], "boxes.b", "box_id"),
        {
          path: ["steps", 0],
          parts: [
            ...reference([], "boxes.a", "box_id").parts,
            " of ",
            ...reference([], "boxes.b", "box_id").parts,
          ],
        },
        reference(["steps", "1"], "boxes.c", "box_id"),
      ],
      dependsOn: ["boxes.a", "boxes.b", "boxes.c"],
    });
    const boxes = ["a", "b", "c"];
    const made = plan({
      spec: spec(
        [
          ...boxes.map((name) =>
            resource(`boxes.${name}`, { values: { material: name === "c" ? "wood" : "steel", size: 1 } }),
          ),
          task,
        ],
        { on_immutable_change: "replace" },
      ),
      live: live({
        boxes: boxes.map((name) => object(name, name, { box_name: name, material: "wood", size: 1 })),
        tasks: [object("t1", "t", { name: "t", box: "b", steps: ["a of b", "c"] })],
      }),
      state: state([
        ...boxes.map((name) => record(`boxes.${name}`, name, { box_name: name, material: "wood", size: 1 })),
        record("tasks.t", "t1", { name: "t", box: "b", steps: ["a of b", "c"] }),
      ]),
    });
    expect(made.changes.map(({ address, reasons }) => [address, reasons])).toEqual([
      ["boxes.a", ["material cannot be changed in place"]],
      ["boxes.b", ["material cannot be changed in place"]],
      ["boxes.c", []],
      ["tasks.t", ["boxes.a is replaced and gets a new ID", "boxes.b is replaced and gets a new ID"]],
    ]);
  });

  test("of a resource that is declared again under its former address name both addresses", () => {
    const origins = new Map([["boxes.a" as Address, "boxes.old" as Address]]);
    const given = (back: readonly string[] | undefined) => ({
      ...{ live: live({ boxes: [LIVE_BOX] }), state: known },
      moved: { origins, before: known, ...(back && { back: new Set(back as Address[]) }) },
    });
    const reason = "the spec declares boxes.a again, which moved to boxes.old before";
    for (const size of [1, 2]) {
      const reasons = (back?: readonly string[]) =>
        first({ spec: spec([box({ size })]), ...given(back) })?.reasons;
      expect([reasons(["boxes.a"]), reasons(["boxes.b"]), reasons()]).toEqual([[reason], [], []]);
    }
    const unmoved = { ...given(["boxes.a"]), moved: { ...given(["boxes.a"]).moved, origins: new Map() } };
    expect(first({ spec: spec([box({ size: 2 })]), ...unmoved })?.reasons).toEqual([]);
  });

  test("of an import are that it exists", () => {
    const imports = [{ to: "boxes.a" as Address, id: "b1" }];
    const imported = (size: number) =>
      first({
        spec: { ...spec([box({ size })]), stateEntries: { imports, moved: [], removed: [] } as never },
        live: live({ boxes: [LIVE_BOX] }),
      });
    expect(imported(2)).toMatchObject({ action: "update", reasons: ["it exists and is imported"] });
    expect(imported(1)).toMatchObject({
      action: "import",
      reasons: ["the existing object matches the spec"],
    });
  });

  test("of a value that the service itself changed name the value and its reason", () => {
    const size = { type: "integer", changedByService: "scaled" } as const;
    const kinds = registryOf(
      registry.kinds.map((kind) =>
        kind.kind === "boxes" ? { ...kind, fields: { ...kind.fields, size } } : kind,
      ),
    );
    const change = first({
      registry: kinds,
      spec: spec([box({ size: 2, note: "n" })]),
      live: live({ boxes: [LIVE_BOX] }),
      state: known,
    });
    expect(change?.reasons).toEqual(["the service set size to 1 (autoscaling)"]);
    const isSensitive = (address: Address, path: readonly unknown[], value: unknown) =>
      address === "boxes.a" && path.join() === "size" && value === 1;
    const hidden = first({
      ...{
        registry: kinds,
        live: live({ boxes: [LIVE_BOX] }),
        state: known,
        isSensitive: isSensitive as never,
      },
      spec: spec([box({ size: 2, note: "n" })]),
    });
    expect(hidden?.reasons).toEqual(["the service set size to (sensitive) (autoscaling)"]);
  });
});

describe("the values that a change reaches", () => {
  const known = state([record("boxes.a", "b1", LIVE, { seen: { timeout: 60 } })]);
  const made = (values: object, more: object, now: object = {}) =>
    plan({
      spec: spec([resource("boxes.a", { values: { material: "wood", ...values }, ...more })]),
      live: live({ boxes: [object("b1", "a", { ...LIVE, timeout: 60, ...now })] }),
      state: known,
    }).changes[0];

  test("have defaults and recorded values that drifted, and no value for what is removed", () => {
    const change = made({ colors: ["red"] }, {}, { size: 5, timeout: 7, note: "x" });
    expect(change).toMatchObject({
      cause: "both",
      after: { box_name: "a", material: "wood", size: 1, timeout: 60, colors: ["red"] },
    });
    expect(change).not.toHaveProperty("after.note");
    expect(change).toMatchObject({ payload: undefined });
  });

  test("have the digest of the payload", () => {
    expect(made({ size: 3 }, {})).toMatchObject({ cause: "spec" });
    const wanted = { ...resource("boxes.a", { values: { size: 3 } }), payload: { digest: "d" } as never };
    expect(plan({ spec: spec([wanted]) }).changes[0]).toMatchObject({ action: "create", payload: "d" });
    expect(plan({ spec: spec([resource("boxes.a")]) }).changes[0]).toMatchObject({ payload: undefined });
  });

  test("have no value of an ignored field that is not live, inside a value that is written", () => {
    const ignoring = { lifecycle: { ignore_changes: ["limits.low"] } };
    expect(made({ limits: { low: 1, high: 2 } }, ignoring)).toMatchObject({ after: { limits: { high: 2 } } });
    expect(made({ limits: { low: 1, high: 2 } }, ignoring)).not.toHaveProperty("after.limits.low");
  });

  test("have the live value of an ignored field, also inside another", () => {
    const ignoring = { lifecycle: { ignore_changes: ["limits.low"] } };
    expect(made({ limits: { low: 1, high: 2 } }, ignoring, { limits: { low: 5, high: 1 } })).toMatchObject({
      after: { limits: { low: 5, high: 2 } },
      diffs: [{ path: ["limits", "high"] }],
    });
  });

  test("have no default of an ignored field that the live object lacks", () => {
    const values = { box_name: "a", material: "wood" };
    const change = plan({
      spec: spec([resource("boxes.a", { values, lifecycle: { ignore_changes: ["size"] } })]),
      live: live({ boxes: [object("b1", "a", values)] }),
      state: state([record("boxes.a", "b1", values)]),
    }).changes[0];
    expect(change).toMatchObject({ action: "noop", after: values });
  });

  test("have no difference in an ignored field that another declared field excludes", () => {
    const boxes = registry.get("boxes");
    const normalize = ({ timeout, ...values }: Values): Values =>
      values.note === undefined && timeout !== undefined ? { ...values, timeout } : values;
    const excluding = { ...boxes, planning: { ...boxes.planning, normalize } };
    const values = { box_name: "a", timeout: 60 };
    const declared = { box_name: "a", note: "no timeout" };
    const change = plan({
      registry: registryOf(registry.kinds.map((one) => (one.kind === "boxes" ? excluding : one))),
      spec: spec([resource("boxes.a", { values: declared, lifecycle: { ignore_changes: ["timeout"] } })]),
      live: live({ boxes: [object("b1", "a", values)] }),
      state: state([record("boxes.a", "b1", values)]),
    }).changes[0];
    expect(change).toMatchObject({ action: "update", after: declared, diffs: [{ path: ["note"] }] });
    expect(change).toHaveProperty("diffs.length", 1);
  });

  test("have the live value of an ignored reference to an object that the same plan creates", () => {
    const task = resource("tasks.t", {
      values: { box: "${boxes.new.box_id}", steps: ["two"] },
      references: [reference(["box"], "boxes.new", "box_id")],
      lifecycle: { ignore_changes: ["box"] },
    });
    const values = { name: "t", box: "b1", steps: ["one"] };
    const change = plan({
      spec: spec([resource("boxes.new"), task]),
      live: live({ tasks: [object("t1", "t", values)] }),
      state: state([record("tasks.t", "t1", values)]),
    }).changes.find(({ address }) => address === "tasks.t");
    expect(change).toMatchObject({ action: "update", after: { box: "b1", steps: ["two"] }, unresolved: [] });
    expect(change).toHaveProperty("diffs.length", 1);
  });
});

test("the policy for immutable fields is that of the resource, else of its kind, else of the spec", () => {
  const decided = (lifecycle: Parameters<typeof resource>[1], policy: Parameters<typeof spec>[1]) =>
    actions(
      plan({
        spec: spec([resource("boxes.a", { values: { material: "steel" }, ...lifecycle })], policy),
        live: live({ boxes: [object("b1", "a", LIVE)] }),
        state: state([record("boxes.a", "b1", LIVE)]),
      }),
    )["boxes.a"];
  const own = { lifecycle: { on_immutable_change: "error" as const } };
  expect(decided({}, { on_immutable_change_by_kind: { boxes: "replace" } })).toBe("replace");
  expect(
    decided({}, { on_immutable_change: "replace", on_immutable_change_by_kind: { boxes: "error" } }),
  ).toBeUndefined();
  expect(decided(own, { on_immutable_change: "replace" })).toBeUndefined();
});

describe("a secret without a value", () => {
  const recorded = state([
    record("boxes.a", "b1", LIVE),
    record("keys.a/k", "a/k", { value: "digest" }, { seen: { written: 5 } }),
  ]);
  const there = live({
    boxes: [object("b1", "a", LIVE)],
    keys: [object("a/k", "a/k", {}, { written: 5 })],
  });
  const changeOf = (more: object, kinds = registry) => {
    const key = resource("keys.a/k", { values: { value: "digest" }, dependsOn: ["boxes.a"] });
    const box = resource("boxes.a", { values: { material: "wood" } });
    const made = plan({
      registry: kinds,
      spec: spec([box, { ...key, ...more } as never]),
      live: there,
      state: recorded,
    });
    expect(made.diagnostics).toEqual([]);
    return made.changes.find(({ address }) => address === "keys.a/k");
  };

  test("is compared by the apply, by the steps of its kind, with the place of its value", () => {
    const compared = {
      action: "compare",
      id: "a/k",
      after: { value: "digest" },
      steps: [{ operation: "update" }],
    };
    expect(changeOf({ unread: "env K" })).toMatchObject({ ...compared, source: "env K" });
    expect(changeOf({})).toMatchObject({ ...compared, source: "" });
    const kinds = registryOf(
      registry.kinds.map((kind) =>
        kind.kind === "keys"
          ? {
              ...kind,
              planning: {
                ...kind.planning,
                steps: (diffs) => [{ operation: `put ${JSON.stringify(diffs)}` }],
              },
            }
          : kind,
      ),
    );
    const written = { path: ["value"], cause: "spec", replaces: false };
    expect(changeOf({}, kinds)).toMatchObject({ steps: [{ operation: `put ${JSON.stringify([written])}` }] });
  });

  test("is unchanged if its value is known, or ignored", () => {
    expect(changeOf({ payload: { digest: "digest" } })).toMatchObject({ action: "noop" });
    const ignored = { lifecycle: { prevent_destroy: false, ignore_changes: ["value"] } };
    expect(changeOf(ignored)).toMatchObject({ action: "noop" });
  });
});
