// Names that would belong to nothing: told by the plan, wherever the kind that they name could be read.

import { describe, expect, test } from "vitest";
import { error } from "../../../src/core/diagnostic.ts";
import { unknownNames } from "../../../src/planner/check/confirm-names.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { createPlannedWorkspace } from "../../../src/planner/model/planned-workspace.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Live } from "../../../src/resource/live.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { context, live, object, plan, record, resource, spec, state } from "../build.ts";
import { adopt, create, forget, noop, remove, replace, report, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const near = (...names: string[]) =>
  resource("boxes.a", { values: { material: "wood", near: names }, dependsOn: [] });
const box = (id: string, name: string, more = {}) =>
  object(id, name, { box_name: name, material: "wood", size: 1, ...more });
const told = (made: ReturnType<typeof plan>) => made.diagnostics.map((one) => [one.code, one.message]);

test("a name that nothing has, or will have, is an error of the plan", () => {
  const made = plan({ spec: spec([near("shelf")]), live: live({ boxes: [box("s", "shelve")] }) });
  expect(told(made)).toEqual([
    ["PLAN_UNKNOWN_NAME", 'boxes.a refers to "shelf", which does not exist in boxes'],
  ]);
  expect(made.diagnostics[0]?.hint).toBe('did you mean "shelve"? otherwise, declare it under boxes');
});

test("a sensitive name has no hint with the nearest name, which would show most of it", () => {
  const hintOf = (isSensitive: PlanInput["isSensitive"]) =>
    plan({ spec: spec([near("shelf")]), live: live({ boxes: [box("s", "shelve")] }), isSensitive })
      .diagnostics[0]?.hint;
  expect(hintOf((...about) => about.join() === "boxes.a,near,0,shelf")).toBe(
    "declare it under boxes, or correct the name",
  );
  expect(hintOf(() => false)).toContain('"shelve"');
});

test("an unknown name without a similar one has a hint about declaring it", () => {
  const made = plan({ spec: spec([near("shelf")]), live: live({ boxes: [box("s", "drawer")] }) });
  expect(made.diagnostics[0]?.hint).toBe("declare it under boxes, or correct the name");
});

test("an unknown name that is similar to a declared one names it", () => {
  const declared = resource("boxes.drawer", { values: { material: "wood" } });
  const made = plan({ spec: spec([near("drawr"), declared]) });
  expect(made.diagnostics[0]?.hint).toBe('did you mean "drawer"? otherwise, declare it under boxes');
});

test("names of live, declared, and built-in objects are known, in any case", () => {
  const declared = resource("boxes.b", { values: { material: "wood" } });
  const made = plan({
    spec: spec([near("LIVE", "b", "root"), declared]),
    live: live({ boxes: [box("l", "live")] }),
  });
  expect(told(made)).toEqual([]);
});

test("a name whose object this plan renames by replacement or deletes is reported, also if nothing else changes", () => {
  const renamed = resource("boxes.b", {
    values: { material: "steel", box_name: "bee" },
    lifecycle: { on_immutable_change: "replace" },
  });
  const made = plan({
    spec: spec([near("b", "c"), renamed]),
    live: live({ boxes: [box("a", "a", { near: ["b", "c"] }), box("b", "b"), box("c", "c")] }),
    state: state([
      record("boxes.a", "a", { box_name: "a", material: "wood", near: ["b", "c"] }),
      record("boxes.b", "b", { box_name: "b", material: "wood" }),
      record("boxes.c", "c", { box_name: "c", material: "wood" }),
    ]),
  });
  expect(told(made).map(([, message]) => message)).toEqual([
    'boxes.a refers to "b", which this plan deletes',
    'boxes.a refers to "c", which this plan deletes',
  ]);
});

test("what the live object holds already under an id without a name stays the service's affair", () => {
  const made = plan({
    spec: spec([near("4711")]),
    live: live({ boxes: [box("a", "a", { near: ["4711"], size: 2 })] }),
    state: state([record("boxes.a", "a", { box_name: "a", material: "wood", near: ["4711"] })]),
  });
  expect(told(made)).toEqual([]);
});

test("names of a kind that was not listed are not checked", () => {
  const made = plan({ spec: spec([near("shelf")]), live: new Map() as Live });
  expect(told(made)).toEqual([]);
});

test("--only leaves the names of other resources alone", () => {
  const other = resource("boxes.b", { values: { material: "wood" } });
  const made = plan({ spec: spec([near("shelf"), other]), only: (address) => address === "boxes.b" });
  expect(told(made)).toEqual([]);
});

describe("a name in a field or a key", () => {
  const labels = registry.get("labels");
  const kinds = registryOf(
    registry.kinds.map((one) => {
      if (one.kind === "labels")
        return {
          ...labels,
          planning: {
            namedInKey: (name: string) =>
              name.includes("@")
                ? { kinds: ["boxes", "tasks"], name: name.slice(name.indexOf("@") + 1) }
                : undefined,
          },
        };
      if (one.kind !== "tasks") return one;
      const deep = {
        type: "object",
        properties: {
          list: { type: "array", items: { type: "string", names: "boxes" } },
          plain: { type: "string" },
        },
      } as const;
      return { ...one, fields: { ...one.fields, deep, room: { type: "string", names: "rooms" } } };
    }),
  );
  const at = (one: Resource): Resource => ({
    ...one,
    locate: (path) => ({ file: path.join("/"), line: 9, column: 9 }),
  });
  const made = (wanted: readonly Resource[], more: Partial<PlanInput> = {}) =>
    plan({ registry: kinds, spec: spec(wanted.map(at), { on_immutable_change: "replace" }), ...more })
      .diagnostics;

  test("is found deep in values, at its place", () => {
    const task = resource("tasks.t", {
      values: { deep: { list: ["x", "y", "${boxes.b.box_id}"], plain: "z" }, name: "t" },
    });
    expect(made([task, resource("boxes.x")])).toEqual([
      {
        severity: "error",
        code: "PLAN_UNKNOWN_NAME",
        message: 'tasks.t refers to "y", which does not exist in boxes',
        address: "tasks.t",
        at: { file: "deep/list/1", line: 9, column: 9 },
        hint: "declare it under boxes, or correct the name",
      },
    ]);
  });

  test("that is in a key may be of several kinds, and has the place of the resource", () => {
    const label = (name: string) => resource(`labels.a/${name}`, { values: { text: "t" } });
    const box = resource("boxes.a");
    expect(made([box, label("@lost")])).toMatchObject([
      {
        message: 'labels.a/@lost refers to "lost", which does not exist in boxes or tasks',
        at: { file: "workspace.yaml" },
        hint: "declare it under boxes or tasks, or correct the name",
      },
    ]);
    expect(made([box, label("plain"), label("@A")])).toEqual([]);
    expect(made([box, label("@task"), resource("tasks.task")])).toEqual([]);
    expect(
      made([
        box,
        label("@tusk"),
        resource("tasks.tusks"),
        resource("keys.a/tusk", { values: { value: "v" } }),
      ])[0]?.hint,
    ).toContain('"tusks"');
  });

  test("of a kind that is unknown or could not be read is not checked", () => {
    expect(made([resource("tasks.t", { values: { room: "lost" } })])).toEqual([]);
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    const task = resource("tasks.t", { values: { deep: { list: ["lost"] } } });
    expect(
      made([task], { live: new Map([...live(), ["boxes", unread]]) }).filter(
        ({ code }) => code === "PLAN_UNKNOWN_NAME",
      ),
    ).toEqual([]);
    expect(made([task], { partial: true })).toEqual([]);
    expect(made([task], { live: new Map([...live()].filter(([kind]) => kind !== "boxes")) })).toEqual([]);
  });

  test("that another object gives up is an error with its own hint, also offline and with no change", () => {
    const known = state([
      record("boxes.b", "b", { box_name: "b" }),
      record("boxes.c", "c", { box_name: "c" }),
      record("tasks.t", "t", { name: "t", deep: { list: ["b"] } }),
    ]);
    const world = live({
      boxes: [object("b", "b", { box_name: "b", size: 1 }), object("c", "c", { box_name: "c", size: 1 })],
      tasks: [object("t", "t", { name: "t", deep: { list: ["b"] } })],
    });
    const task = (name: string) => resource("tasks.t", { values: { deep: { list: [name] } } });
    const box = (key: string, name: string, values = {}) =>
      resource(`boxes.${key}`, { values: { box_name: name, ...values } });
    const goes = {
      message: 'tasks.t refers to "b", which this plan deletes',
      hint: "remove the name here too, or use the new one",
    };
    const given = { state: known, live: world };
    expect(made([task("b"), box("c", "c")], given)).toMatchObject([goes]);
    expect(made([task("b"), box("c", "c")], { ...given, partial: true })).toMatchObject([goes]);
    const replaced = box("b", "new", { material: "steel" });
    expect(made([task("b"), replaced, box("c", "c")], given)).toMatchObject([goes]);
    expect(made([task("b"), box("b", "b", { size: 2 }), box("c", "c", { size: 2 })], given)).toEqual([]);
  });

  test("that an object keeps because the spec ignores its name is known, and the declared one is not", () => {
    const known = state([
      record("boxes.b", "b", { box_name: "b", size: 1 }),
      record("tasks.t", "t", { name: "t" }),
    ]);
    const world = live({
      boxes: [object("b", "b", { box_name: "b", size: 1 })],
      tasks: [object("t", "t", { name: "t" })],
    });
    const ignoring = resource("boxes.b", {
      values: { box_name: "x", size: 2 },
      lifecycle: { ignore_changes: ["box_name"] },
    });
    const task = resource("tasks.t", { values: { deep: { list: ["b"] } } });
    expect(made([task, ignoring], { state: known, live: world })).toEqual([]);
    const other = resource("tasks.t", { values: { deep: { list: ["x"] } } });
    expect(made([other, ignoring], { state: known, live: world })).toMatchObject([
      {
        message: 'tasks.t refers to "x", which does not exist in boxes',
        hint: "declare it under boxes, or correct the name",
      },
    ]);
    expect(made([other, ignoring])).toEqual([]);
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    expect(
      made([other, ignoring], { state: known, live: new Map([...live(), ["boxes", unread]]) }).filter(
        ({ code }) => code === "PLAN_UNKNOWN_NAME",
      ),
    ).toEqual([]);
  });

  test("is suggested from what the plan leaves, and not from what it deletes", () => {
    const known = state([record("boxes.b", "b", { box_name: "drawer" })]);
    const world = live({ boxes: [object("b", "drawer", { box_name: "drawer", size: 1 })] });
    const task = resource("tasks.t", { values: { deep: { list: ["drawr"] } } });
    const kept = resource("boxes.b", { values: { box_name: "drawer" } });
    const hint = (wanted: readonly Resource[]) => made(wanted, { state: known, live: world })[0]?.hint;
    expect(hint([task, kept])).toBe('did you mean "drawer"? otherwise, declare it under boxes');
    expect(hint([task])).toBe("declare it under boxes, or correct the name");
  });

  test("that a renamed object gives up is unknown, and the renamed one has its new name", () => {
    const known = state([
      record("boxes.b", "b", { box_name: "old", size: 1 }),
      record("tasks.t", "t", { name: "t" }),
    ]);
    const world = live({
      boxes: [object("b", "old", { box_name: "old", size: 1 })],
      tasks: [object("t", "t", { name: "t" })],
    });
    const task = (name: string) => resource("tasks.t", { values: { deep: { list: [name] } } });
    const renamed = resource("boxes.b", { values: { box_name: "new", size: 2 } });
    expect(made([task("old"), renamed], { state: known, live: world })).toMatchObject([
      { message: 'tasks.t refers to "old", which this plan deletes' },
    ]);
    expect(made([task("new"), renamed], { state: known, live: world })).toEqual([]);
  });

  test("of a resource that the plan deletes, forgets, or only reports is not checked", () => {
    const wanted = spec([resource("tasks.t", { values: { deep: { list: ["lost"] } } })]);
    const here = context({ registry: kinds, spec: wanted });
    const told = (change: Change) =>
      unknownNames(here, [change], createPlannedWorkspace(here, {}, [change])).length;
    expect([remove("tasks.t"), forget("tasks.t"), report("tasks.t")].map(told)).toEqual([0, 0, 0]);
    expect([create("tasks.t"), update("tasks.t"), replace("tasks.t"), adopt("tasks.t")].map(told)).toEqual([
      1, 1, 1, 1,
    ]);
    expect(told(noop("tasks.t"))).toBe(0);
    expect(told(update("tasks.t", { before: { old: ["lost"] } }))).toBe(0);
  });
});
