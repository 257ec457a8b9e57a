// Objects that a plan gives another name: what names them names the same object afterwards.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import {
  withPlannedReferences,
  withRenamedReferences,
} from "../../../src/planner/decide/renamed-references.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Live } from "../../../src/resource/live.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { live, object, record, resource, spec, state } from "../build.ts";
import { create, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const world = live({
  boxes: [
    object("b1", "old", { near: ["OLD", "other"], note: "old" }),
    object("b2", "other", { near: ["old"] }),
  ],
  tasks: [object("b1", "t", { name: "old", steps: ["old"] })],
});
const renamed = resource("boxes.a", { values: { box_name: "new" } });
const known = state([
  record("boxes.a", "b1", { near: ["old"], note: "old" }, { seen: { near: ["OLD"] } }),
  record("boxes.b", "b2", { near: ["other"] }),
  record("tasks.t", "b1", { name: "old" }),
]);
const input = (given: Partial<PlanInput> = {}): PlanInput => ({
  registry,
  host: "h",
  spec: spec([
    renamed,
    resource("boxes.b", { values: { box_name: "other" } }),
    resource("tasks.t", { values: { name: "next" } }),
  ]),
  live: world,
  state: known,
  ...given,
});

/** The `near` lists of the live boxes, or the word that says that nothing changed. */
function lists(given: Partial<PlanInput> = {}) {
  const from = input(given);
  const made = withRenamedReferences(from);
  if (made === from) return "unchanged";
  const boxes = made.live.get("boxes");
  return boxes?.readable === true ? boxes.objects.map(({ values }) => values.near) : "unread";
}

describe("the input of a plan that gives an object a new name", () => {
  test("has the new name in live objects, and in other fields the old text", () => {
    const made = withRenamedReferences(input());
    const boxes = made.live.get("boxes");
    expect(boxes?.readable === true && boxes.objects).toEqual([
      object("b1", "old", { near: ["new", "other"], note: "old" }),
      object("b2", "other", { near: ["new"] }),
    ]);
    expect(made.live.get("tasks")).toEqual(world.get("tasks"));
  });

  test("has the new name in records, applied and seen", () => {
    const { records } = withRenamedReferences(input()).state;
    expect(records.get("boxes.a" as Address)).toEqual({
      ...record("boxes.a", "b1", { near: ["new"], note: "old" }, { seen: { near: ["new"] } }),
    });
    expect(records.get("boxes.b" as Address)).toEqual(record("boxes.b", "b2", { near: ["other"] }));
    expect(records.get("tasks.t" as Address)).toEqual(known.records.get("tasks.t" as Address));
  });

  test("has the new name in records of unfinished objects, and unchanged records of unknown kinds", () => {
    const { seen: _seen, ...half } = record("boxes.c", "b3", { near: ["old"] }) as Extract<
      StateRecord,
      { status: "ready" }
    >;
    const rooms = record("rooms.r", "r", { near: ["old"] });
    const more = state([...known.records.values(), { ...half, status: "deleting" }, rooms]);
    const { records } = withRenamedReferences(input({ state: more })).state;
    expect(records.get("boxes.c" as Address)).toEqual({
      ...half,
      status: "deleting",
      applied: { near: ["new"] },
    });
    expect(records.get("rooms.r" as Address)).toBe(rooms);
  });

  test("is the same when no name changes, or only in case", () => {
    const same = (name: string) => spec([resource("boxes.a", { values: { box_name: name } })]);
    expect(lists({ spec: same("old") })).toBe("unchanged");
    expect(lists({ spec: same("OLD") })).toBe("unchanged");
    expect(lists({ spec: spec([]) })).toBe("unchanged");
  });

  test("is the same when the plan does not give the name", () => {
    const ignoring = resource("boxes.a", {
      values: { box_name: "new" },
      lifecycle: { ignore_changes: ["box_name"] },
    });
    expect(lists({ spec: spec([ignoring]) })).toBe("unchanged");
    expect(lists({ destroy: true })).toBe("unchanged");
    expect(lists({ only: (address) => address !== "boxes.a" })).toBe("unchanged");
    expect(lists({ only: (address) => address === "boxes.a" })).toEqual([["new", "other"], ["new"]]);
    expect(lists({ state: state() })).toBe("unchanged");
    expect(lists({ live: live() })).toBe("unchanged");
  });

  test("is the same when a new name needs a new object, or the kind has no name field or was not read", () => {
    const boxes = registry.get("boxes");
    const replacing = {
      ...boxes,
      fields: { ...boxes.fields, box_name: { type: "string", onChange: "replace" } },
    } as const;
    const { nameField: _name, ...rest } = boxes;
    const others = registry.kinds.filter(({ kind }) => kind !== "boxes");
    expect(lists({ registry: registryOf([replacing, ...others]) })).toBe("unchanged");
    expect(lists({ registry: registryOf([{ ...rest, nameField: undefined }, ...others]) })).toBe("unchanged");
    const unread: Live = new Map([["boxes", { readable: false, diagnostic: error("API_FORBIDDEN", "no") }]]);
    expect(lists({ live: unread })).toBe("unchanged");
    expect(
      lists({
        registry: registryOf([
          { ...boxes, fields: { ...boxes.fields, near: { type: "array", items: { names: "rooms" } } } },
        ]),
        spec: spec([renamed]),
        state: state([record("boxes.a", "b1")]),
        live: new Map([["boxes", { readable: true, objects: [], unreadableParents: new Map() }]]),
      }),
    ).toBe("unchanged");
  });

  test("keeps what could not be read", () => {
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    const labels = { ...registry.get("labels"), fields: { text: { type: "string", names: "boxes" } } };
    const kinds = registryOf(registry.kinds.map((one) => (one.kind === "labels" ? labels : one)));
    const made = withRenamedReferences(
      input({ registry: kinds, live: new Map([...world, ["labels", unread]]) }),
    );
    expect(made.live.get("labels")).toBe(unread);
  });
});

describe("live objects as an earlier plan names them", () => {
  const change = update("boxes.a", { id: object("b1", "").id, name: "new" });
  const near = (changes: readonly Change[], from = world) => {
    const made = withPlannedReferences(registry, from, changes);
    const boxes = made.get("boxes");
    return made === from
      ? "unchanged"
      : boxes?.readable === true && boxes.objects.map(({ values }) => values.near);
  };

  test("have the names that its updates give", () => {
    expect(near([change])).toEqual([["new", "other"], ["new"]]);
  });

  test("are the same when no update gives a name", () => {
    expect(near([update("boxes.a", { id: change.id, name: "OLD" })])).toBe("unchanged");
    expect(near([update("boxes.a", { id: object("b9", "").id, name: "new" })])).toBe("unchanged");
    expect(near([{ ...create("boxes.a", { name: "new" }), id: change.id } as Change])).toBe("unchanged");
    expect(near([update("tasks.t", { id: object("b1", "").id, name: "new" })])).toBe("unchanged");
    expect(near([])).toBe("unchanged");
    const unread: Live = new Map([["boxes", { readable: false, diagnostic: error("API_FORBIDDEN", "no") }]]);
    expect(near([change], unread)).toBe("unchanged");
    expect(near([change], new Map())).toBe("unchanged");
  });
});
