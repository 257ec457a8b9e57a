// Drift that an earlier run reported or a user acknowledged.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import {
  comparedIn,
  driftDigests,
  endedAcknowledgements,
  isInField,
  type KnownDrift,
  knownDrift,
  marksOf,
  pendingMoves,
  recordedAddress,
  withDriftDigests,
  withKnownDrift,
} from "../../../src/planner/diff/known-drift.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import type { Acknowledgement } from "../../../src/state/model/record.ts";
import { live, object, plan, record, resource, spec, state } from "../build.ts";
import { create, forget, noop, remove, replace, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const fields = { size: { type: "integer" }, value: { type: "string", writeOnly: true, witness: "written" } };
const address = "boxes.a" as Address;
const keyed = (value: string | Uint8Array) => `keyed ${String(value)}`;
const diff = (field: string, before: FieldDiff["before"]): FieldDiff => ({
  path: [field],
  before,
  after: 1,
  cause: "drift",
  replaces: false,
});
const drift = (more: Partial<Drift> = {}): Drift => ({
  address,
  kind: "boxes",
  name: "a",
  what: "changed",
  diffs: [diff("size", 2)],
  ...more,
});
const digests = (more: Partial<Drift> = {}) => driftDigests(drift(more), fields, keyed);

describe("the digest of a difference", () => {
  test("changes with the field and its live value, and with nothing else", () => {
    expect(digests()).toHaveLength(1);
    expect(digests()).toEqual(digests({ diffs: [{ ...diff("size", 2), after: 9 }], facts: { written: 4 } }));
    expect(digests()).not.toEqual(digests({ diffs: [diff("size", 3)] }));
    expect(digests()).not.toEqual(digests({ diffs: [diff("other", 2)] }));
    expect(digests({ diffs: [diff("size", undefined)] })).toEqual(digests({ diffs: [diff("size", null)] }));
  });

  test("of a value that cannot be read changes with the time of its last write", () => {
    const at = (written: string | number) =>
      digests({ diffs: [diff("value", undefined)], facts: { written } });
    expect(at(5)).not.toEqual(at(6));
    expect(at(5)).toEqual(at("5"));
    expect(digests({ diffs: [diff("value", undefined)] })).not.toEqual(at(5));
  });

  test("is keyed, so that no digest can be computed from a guessed value", () => {
    expect(digests({ diffs: [diff("size", "guess")] })[0]).toMatch(/^keyed /);
    const other = driftDigests(drift(), fields, (text) => `other ${text}`);
    expect(other).not.toEqual(digests());
  });

  test("does not depend on the order of a set", () => {
    const sets = { size: { type: "array", list: "set", items: { type: "string" } } } as const;
    const of = (before: FieldDiff["before"]) =>
      driftDigests(drift({ diffs: [diff("size", before)] }), sets, keyed);
    expect(of(["a", "b"])).toEqual(of(["b", "a"]));
    expect(of(["a", "b"])).not.toEqual(of(["a", "b", "c"]));
  });

  test("of an object that appeared changes with its ID, its values, and the time of the last write", () => {
    const appeared = (id: string, size: number, written?: number) =>
      digests({
        what: "appeared",
        diffs: [],
        id,
        values: { size },
        ...(written === undefined ? {} : { facts: { written } }),
      });
    const all = [
      appeared("1", 7),
      appeared("2", 7),
      appeared("1", 8),
      appeared("1", 7, 1),
      appeared("1", 7, 2),
    ];
    expect(new Set(all.flat()).size).toBe(5);
    expect(appeared("1", 7, 2)).toEqual(appeared("1", 7, 2));
  });

  test("of an object that appeared does not change when the service stops or starts it", () => {
    const states = { size: { type: "integer" }, run_state: { type: "string", atRest: "STOPPED" } } as const;
    const of = (run_state: string) =>
      driftDigests(
        drift({ what: "appeared", diffs: [], id: "1", values: { size: 1, run_state } }),
        states,
        keyed,
      );
    expect(of("STOPPED")).toEqual(of("RUNNING"));
  });

  test("is one for an object that was deleted or appeared", () => {
    const gone = digests({ what: "deleted", diffs: [] });
    expect(gone).toHaveLength(1);
    expect(gone).not.toEqual(digests({ what: "appeared", diffs: [] }));
  });
});

describe("digests in a state", () => {
  test("keep their form, so that what was acknowledged stays so", () => {
    const value = { diffs: [diff("value", undefined)], facts: { written: 4, "": 5 } };
    const appeared = { what: "appeared", diffs: [], id: "1", values: { size: 7 } } as const;
    expect([
      ...digests(),
      ...digests(value),
      ...digests({ what: "deleted", diffs: [] }),
      ...digests(appeared),
      ...digests({ ...appeared, facts: { written: 4, size: 6 } }),
    ]).toEqual([
      'keyed ["changed","/size",2,null]',
      'keyed ["changed","/value",null,"4"]',
      'keyed ["deleted"]',
      'keyed ["appeared","1",{"size":7},""]',
      'keyed ["appeared","1",{"size":7},"4"]',
    ]);
  });

  test("are in the plan once, so that a plan without its values keeps them", () => {
    const own = planned(3);
    const made = withDriftDigests(own, registry, keyed);
    expect(made).toEqual({
      ...own,
      drift: own.drift.map((item) => ({ ...item, digests: acceptedIn(3).differences })),
    });
    const [hidden] = made.drift.map((item) => ({ ...item, diffs: [] }));
    expect(hidden && driftDigests(hidden, fields, () => "other")).toEqual(acceptedIn(3).differences);
  });
});

describe("known facts of a difference", () => {
  const two = drift({ diffs: [diff("size", 2), diff("note", "x")] });
  const [size = "", note = ""] = driftDigests(two, fields, keyed);
  const told = (differences: readonly string[], by = "ada", to: string = address): Acknowledgement => ({
    address: to as Address,
    differences,
    until: 9,
    reason: "known",
    by,
    at: 1,
  });
  const marks = (known: Partial<KnownDrift>) =>
    marksOf(two, fields, { reported: [], acknowledged: [], ...known }, keyed);

  test("is nothing for a new one", () => {
    expect(marks({})).toEqual([{ reported: false }, { reported: false }]);
  });

  test("is that an earlier run reported it for this resource", () => {
    expect(marks({ reported: [{ address, differences: [note] }] })).toEqual([
      { reported: false },
      { reported: true },
    ]);
    const other = { address: "boxes.b" as Address, differences: [size, note] };
    expect(marks({ reported: [other] })).toEqual([{ reported: false }, { reported: false }]);
  });

  test("is not an acknowledgement of a field for an object that was deleted", () => {
    const gone = drift({ what: "deleted", diffs: [] });
    const all = driftDigests(gone, fields, keyed);
    const of = (field: string | undefined) =>
      marksOf(
        gone,
        fields,
        { reported: [], acknowledged: [{ ...told(all), ...(field && { field }) }] },
        keyed,
      );
    expect(of("size")).toEqual([{ reported: false }]);
    expect(of(undefined)).toMatchObject([{ acknowledged: { by: "ada" } }]);
    expect(marksOf(gone, fields, { reported: [], acknowledged: [] }, keyed)).toEqual([{ reported: false }]);
  });

  test("is an acknowledgement of its field only while the live value is the same", () => {
    const ofField = (differences: readonly string[]) =>
      marks({ acknowledged: [{ ...told(differences), field: "size" }] });
    expect(ofField([size])).toMatchObject([{ acknowledged: { by: "ada" } }, { reported: false }]);
    expect(ofField(["another value", note])).toEqual([{ reported: false }, { reported: false }]);
  });

  test("is the last acknowledgement of it for this resource", () => {
    const [first, last] = [told([size], "ada"), told([size], "bo")];
    expect(marks({ acknowledged: [first, last, told([size, note], "cy", "boxes.b")] })).toEqual([
      { reported: false, acknowledged: { until: 9, by: "bo", reason: "known" } },
      { reported: false },
    ]);
  });
});

describe("a field of an acknowledgement", () => {
  test("covers itself and what is inside it", () => {
    expect(isInField(["autoscale"], "autoscale")).toBe(true);
    expect(isInField(["autoscale", "max_workers"], "autoscale")).toBe(true);
    expect(isInField(["autoscale", "max_workers"], "autoscale.max_workers")).toBe(true);
    expect(isInField(["libraries", 0, "jar"], "libraries[0]")).toBe(true);
  });

  test("covers no field and no key whose name only begins alike", () => {
    expect(isInField(["max_capacity_hint"], "max_capacity")).toBe(false);
    expect(isInField(["autoscale_mode", "x"], "autoscale")).toBe(false);
    expect(isInField(["spark_conf", "spark.sql.shuffle"], "spark_conf.spark")).toBe(false);
    expect(isInField(["tags", "ab"], "tags.a")).toBe(false);
    expect(isInField(["autoscale"], "autoscale.max_workers")).toBe(false);
  });
});

describe("acknowledgements of a state", () => {
  const until = (time: number): Acknowledgement => ({
    address,
    differences: [],
    until: time,
    reason: "known",
    by: "ada",
    at: 1,
  });

  test("are known before their time and have ended at it", () => {
    const known = { acknowledged: [until(99), until(100), until(101)] };
    expect(knownDrift(known, 100).acknowledged.map((accepted) => accepted.until)).toEqual([101]);
    expect(knownDrift(known, 98).acknowledged).toHaveLength(3);
    expect(knownDrift({}, 98)).toEqual({ reported: [], acknowledged: [] });
  });
});

const boxes = (size: number | undefined) =>
  live({ boxes: size === undefined ? [] : [object("b1", "a", { box_name: "a", size })] });
const recorded = state([record("boxes.a", "b1", { box_name: "a", size: 1 })]);
const wanted = (size: number) => spec([resource("boxes.a", { values: { box_name: "a", size } })]);
const planned = (size: number | undefined, declared = 1) =>
  plan({ spec: wanted(declared), live: boxes(size), state: recorded });
const acceptedIn = (size: number | undefined, more: Partial<Acknowledgement> = {}): Acknowledgement => ({
  address,
  differences: planned(size).drift.flatMap((item) => driftDigests(item, registry.of(address).fields, keyed)),
  until: 1_000,
  reason: "load test",
  by: "grace",
  at: 1,
  ...more,
});

describe("a plan with acknowledged drift", () => {
  const reverts = (size: number | undefined, declared: number, accepted: readonly Acknowledgement[]) =>
    withKnownDrift(
      planned(size, declared),
      registry,
      { reported: [], acknowledged: accepted },
      keyed,
    ).changes.map((change) => change.reverts);
  const who = { until: 1_000, by: "grace", reason: "load test" };

  test("marks the change that reverts it", () => {
    expect(reverts(3, 1, [acceptedIn(3)])).toEqual([[{ path: ["size"], ...who }]]);
    expect(reverts(3, 2, [acceptedIn(3)])).toEqual([[{ path: ["size"], ...who }]]);
    expect(reverts(undefined, 1, [acceptedIn(undefined)])).toEqual([[who]]);
  });

  test("marks no change if the spec accepts the value, the value is another one, or the drift is not acknowledged", () => {
    expect(reverts(3, 3, [acceptedIn(3)])).toEqual([undefined]);
    expect(reverts(4, 1, [acceptedIn(3)])).toEqual([undefined]);
    // The change is of another field.
    const other = plan({
      spec: spec([resource("boxes.a", { values: { box_name: "a", size: 3, note: "new" } })]),
      live: boxes(3),
      state: recorded,
    });
    const known = { reported: [], acknowledged: [acceptedIn(3)] };
    expect(withKnownDrift(other, registry, known, keyed).changes).toEqual([
      expect.not.objectContaining({ reverts: expect.anything() }),
    ]);
    expect(reverts(3, 1, [])).toEqual([undefined]);
    expect(reverts(3, 1, [acceptedIn(3, { field: "siz" })])).toEqual([undefined]);
    expect(reverts(3, 1, [acceptedIn(3, { address: "boxes.b" as Address })])).toEqual([undefined]);
  });
});

describe("a change", () => {
  const existing = { id: "b1", before: {}, fingerprint: "f" } as never;
  const two = [diff("size", 2), diff("note", "x")];
  const writing = { diffs: [{ ...diff("size", 2), cause: "spec" }] } as never;
  const acknowledged = { until: 9, by: "ada", reason: "known" };
  const planOf = (change: Change, item: Drift) => ({ ...planned(1), changes: [change], drift: [item] });
  const reverts = (change: Change, item: Drift, differences: readonly string[], kinds = registry) => {
    const accepted = { address, differences, ...acknowledged, at: 1 };
    const known = { reported: [], acknowledged: [accepted] };
    return withKnownDrift(planOf(change, item), kinds, known, keyed).changes[0]?.reverts;
  };

  test.each<readonly [boolean, string, Drift["what"], Change]>([
    [true, "that creates it again", "deleted", create("boxes.a")],
    [false, "that forgets it", "deleted", forget("boxes.a")],
    [true, "that deletes it", "appeared", remove("boxes.a", existing)],
    [false, "that deletes a replaced object", "appeared", remove("boxes.a", { deposed: true })],
    [false, "that is for another object", "appeared", remove("boxes.b", existing)],
    [false, "that keeps it", "appeared", noop("boxes.a")],
    [false, "that creates another one", "appeared", create("boxes.a")],
  ])("reverts (%s) the drift of an object %s, if it %s", (isReverted, _, what, change) => {
    const item = drift({ what, diffs: [] });
    const expected = isReverted ? [acknowledged] : undefined;
    expect(reverts(change, item, driftDigests(item, registry.of(address).fields, keyed))).toEqual(expected);
    expect(reverts(change, item, ["other"])).toBeUndefined();
  });

  test("reverts the acknowledged fields that it writes, in place or in a new object", () => {
    const item = drift({ diffs: two });
    const [size = "", note = ""] = driftDigests(item, registry.of(address).fields, keyed);
    for (const change of [update("boxes.a", writing), replace("boxes.a", writing)]) {
      expect(reverts(change, item, [size])).toEqual([{ path: ["size"], ...acknowledged }]);
      expect(reverts(change, item, [size, note])).toEqual([{ path: ["size"], ...acknowledged }]);
      expect(reverts(change, item, [note])).toBeUndefined();
    }
    expect(reverts(noop("boxes.a"), item, [size])).toBeUndefined();
  });

  // A job has the fields of its only task itself, or in a list of tasks.
  test.each<readonly [boolean, string, string]>([
    [true, "task.a", "task.a"],
    [true, "task.a", "tasks.a"],
    [true, "tasks.a", "task.a"],
    [false, "task.a", "tasks.b"],
    [false, "tasks.a", "second.a"],
    [false, "task.a", "alone.a"],
    [false, "task.a", "other.a"],
    [false, "other.a", "tasks.a"],
    [false, "other.a", "else.a"],
  ])(
    "reverts (%s) the field %s, which the drift has as %s, if one is the other form of the other",
    (isSame, own, other) => {
      const holders: Readonly<Record<string, readonly string[]>> = {
        task: [],
        alone: [],
        tasks: ["1"],
        second: ["2"],
      };
      const placeOf = ([field = "", ...place]: readonly string[]) => ({ holder: holders[field], place });
      const item = drift({ diffs: [{ ...diff("x", 2), path: other.split(".") }] });
      const kinds = { of: () => ({ fields, planning: { placeOf } }) } as never;
      const change = update("boxes.a", { diffs: [{ ...diff("x", 2), path: own.split(".") }] } as never);
      const isReverted = reverts(change, item, driftDigests(item, fields, keyed), kinds) !== undefined;
      expect(isReverted).toBe(isSame);
    },
  );
});

describe("the addresses of a comparison", () => {
  const [a, b, c] = ["boxes.a", "boxes.b", "boxes.c"] as [Address, Address, Address];

  test("are those that --only and --exclude leave, what these take along, and all without the options", () => {
    const only = (one: Address) => one !== c;
    const exclude = (one: Address) => one === a;
    const needing = { ...resource(a), dependsOn: [c] };
    const declared = { spec: spec([needing, resource(b), resource(c)]) };
    const compared = (
      input: Omit<Parameters<typeof comparedIn>[0], "spec">,
      planned: readonly Address[] = [],
    ) => {
      const changes = planned.map((address) => ({ address }));
      return [a, b, c].filter((one) => comparedIn({ ...input, ...declared }, changes)?.(one));
    };
    expect(comparedIn(declared, [])).toBeUndefined();
    expect(compared({ only: (one) => one === a })).toEqual([a, c]);
    expect(compared({ only: (one) => one === b })).toEqual([b]);
    expect(compared({ exclude })).toEqual([b, c]);
    expect(compared({ only, exclude })).toEqual([b]);
    expect(compared({ only: (one) => one === a, exclude: (one) => one === c })).toEqual([a]);
    expect(compared({ only: (one) => one === b }, [b, c])).toEqual([b, c]);
  });

  test("are those before a move that the state does not have yet", () => {
    const moves = pendingMoves([
      { type: "moved", from: a, to: b },
      { type: "unacknowledged", address: c, field: undefined },
    ]);
    expect([...moves]).toEqual([[a, b]]);
    expect(recordedAddress(state([record(a, "1")]), moves, b)).toBe(a);
    expect(recordedAddress(state([record(b, "1")]), moves, b)).toBe(b);
    expect(recordedAddress(state([record(a, "1")]), moves, c)).toBe(c);
  });
});

describe("an acknowledgement that is over", () => {
  const ended = (
    size: number | undefined,
    accepted: Acknowledgement,
    {
      now = 500,
      world = boxes(size),
      only = undefined as ((one: Address) => boolean) | undefined,
      moves = new Map<Address, Address>(),
    } = {},
  ) =>
    endedAcknowledgements(
      [accepted],
      { drift: planned(size).drift, live: world, only, moves },
      registry,
      keyed,
      now,
    );

  test("is one whose time has come, whose value changed, or whose drift was repaired", () => {
    const end = [{ type: "unacknowledged", address }];
    expect(ended(3, acceptedIn(3), { now: 1_000 })).toEqual(end);
    expect(ended(4, acceptedIn(3))).toEqual(end);
    expect(ended(1, acceptedIn(3))).toEqual(end);
    expect(ended(undefined, acceptedIn(3))).toEqual(end);
    expect(ended(4, acceptedIn(3, { field: "size" }))).toEqual([{ ...end[0], field: "size" }]);
  });

  test("is not one whose drift exists, or whose address was not compared", () => {
    expect(ended(3, acceptedIn(3), { now: 999 })).toEqual([]);
    expect(ended(4, acceptedIn(3), { only: () => false })).toEqual([]);
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    expect(ended(1, acceptedIn(3), { world: new Map([["boxes", unread]]) })).toEqual([]);
    expect(ended(1, acceptedIn(3), { world: new Map() })).toEqual([]);
  });

  test("is not one whose drift has the new address of a move that is not applied", () => {
    const moves = new Map([["boxes.old" as Address, address]]);
    const before = acceptedIn(3, { address: "boxes.old" as Address });
    expect(ended(3, before, { moves })).toEqual([]);
    expect(ended(4, before, { moves, only: (compared) => compared === before.address })).toEqual([]);
    expect(ended(4, before, { moves })).toEqual([{ type: "unacknowledged", address: "boxes.old" }]);
  });

  test("loses the differences that no longer exist and keeps the others", () => {
    const [digest = ""] = acceptedIn(3).differences;
    const both = acceptedIn(3, { differences: ["gone", digest] });
    expect(ended(3, both)).toEqual([
      { type: "acknowledged", acknowledgement: { ...both, differences: [digest] } },
    ]);
  });
});
