// What could not be read: one error for each cause, and the kinds that may use what a plan deletes.

import { describe, expect, test } from "vitest";
import { type Diagnostic, error } from "../../../src/core/diagnostic.ts";
import { dependentKinds, unreadableKinds, unreadDependents } from "../../../src/planner/check/guards.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Live, LiveKind } from "../../../src/resource/live.ts";
import { context, live, object, record, resource, spec, state } from "../build.ts";
import { create, remove, replace, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const unread = (message: string, more: Partial<Diagnostic> = {}): LiveKind => ({
  readable: false,
  diagnostic: { ...error("API_REFUSED", message), ...more },
});
const parents = (...all: readonly (readonly [string, string])[]): LiveKind => ({
  readable: true,
  objects: [],
  unreadableParents: new Map(all.map(([name, message]) => [name, error("API_REFUSED", message)])),
});

describe("kinds that could not be read", () => {
  const wanted = spec([resource("boxes.a"), resource("tasks.t")]);
  const told = (world: Readonly<Record<string, LiveKind>>, more: Partial<PlanInput> = {}) =>
    unreadableKinds(context({ spec: wanted, live: new Map(Object.entries(world)), ...more }));
  const groups = (world: Readonly<Record<string, LiveKind>>) =>
    told(world).map(({ message, cause }) => [message, cause]);

  test("are one error with the cause and the way on", () => {
    expect(told({ boxes: unread("refused") })).toEqual([
      {
        severity: "error",
        code: "PLAN_UNREADABLE",
        message: "boxes could not be read, so their differences are unknown",
        hint: "fix the cause, then plan again",
        cause: "API_REFUSED: refused",
      },
    ]);
    expect(told({ boxes: unread("refused", { hint: "ask an admin" }) })[0]?.hint).toBe("ask an admin");
  });

  test("with the same cause are one error, whatever operation, parent, attempts, and time it names", () => {
    expect(
      groups({
        boxes: unread("boxes could not be read: x/instance-pools/list was refused, 12 attempts in 34 s"),
        tasks: unread("tasks/list was refused"),
      }),
    ).toEqual([
      [
        "boxes and tasks could not be read, so their differences are unknown",
        "API_REFUSED: tasks/list was refused",
      ],
    ]);
  });

  test("with other codes, hints, or words are other errors", () => {
    const two = (a: LiveKind, b: LiveKind) => groups({ boxes: a, tasks: b }).length;
    expect(two(unread("a/b was refused"), unread("a/b was refused", { code: "API_FORBIDDEN" }))).toBe(2);
    expect(two(unread("a/b was refused"), unread("a/b was refused", { hint: "h" }))).toBe(2);
    expect(two(unread("a/b was refused"), unread("a/b was lost"))).toBe(2);
    expect(two(unread("then a/b was refused"), unread("then c/d was refused"))).toBe(2);
    expect(two(unread("no, 3 attempts in 2 s, then more"), unread("no, then more"))).toBe(2);
  });

  test("with a long cause are compared in time that grows with its length", () => {
    const long = "refused ".repeat(100_000);
    expect(told({ boxes: unread(long), tasks: unread(`tasks could not be read: ${long}`) })).toHaveLength(1);
  });

  test("are those that the spec, the state, or the policy manages", () => {
    const none = { spec: spec([]) };
    expect(told({ boxes: unread("m") }, none)).toEqual([]);
    expect(told({ boxes: unread("m") }, { ...none, state: state([record("boxes.a", "b1")]) })).toHaveLength(
      1,
    );
    expect(told({ boxes: unread("m") }, { spec: spec([], { authoritative: ["boxes"] }) })).toHaveLength(1);
  });

  test("in part name each parent", () => {
    const members = { spec: spec([resource("labels.a/x")]) };
    expect(
      told({ labels: parents(["a", "refused"], ["b", "refused"], ["c", "lost"]) }, members).map(
        ({ message }) => message,
      ),
    ).toEqual([
      "labels of a and labels of b could not be read, so their differences are unknown",
      "labels of c could not be read, so their differences are unknown",
    ]);
    expect(told({ labels: parents() }, members)).toEqual([]);
  });
});

describe("kinds that may use what a plan deletes", () => {
  const kinds = registryOf(
    registry.kinds.map((one) =>
      one.kind === "boxes"
        ? { ...one, usedBy: ["tasks", "labels"] }
        : one.kind === "tasks"
          ? { ...one, usedBy: ["labels"] }
          : one,
    ),
  );
  const boxes = live({ boxes: [object("b1", "a")] }).get("boxes") as LiveKind;
  const asked = (changes: readonly Change[], world: Live, more: Partial<PlanInput> = {}) => [
    ...dependentKinds({ ...context({ registry: kinds, live: world, ...more }).input }, changes),
  ];
  const gone = [remove("boxes.a"), replace("boxes.b")];

  test("are asked for once, with the first change that needs them, and for no other change", () => {
    expect(asked(gone, new Map())).toEqual([
      ["tasks", "boxes.a"],
      ["labels", "boxes.a"],
    ]);
    expect(asked([replace("boxes.b")], new Map())).toHaveLength(2);
    expect(asked([update("boxes.a"), create("boxes.b")], new Map())).toEqual([]);
    expect(asked([remove("labels.a/x")], new Map())).toEqual([]);
  });

  test("are not asked for when they were listed", () => {
    const world = new Map([["tasks", live().get("tasks") as LiveKind]]);
    expect(asked(gone, world).map(([kind]) => kind)).toEqual(["labels"]);
  });

  test("are members that were read where the deleted object is managed", () => {
    const world = new Map([["tasks", live().get("tasks") as LiveKind]]);
    expect(asked([remove("boxes.a")], world, { spec: spec([resource("boxes.a")]) })).toEqual([]);
    expect(asked([remove("boxes.a")], world, { state: state([record("boxes.a", "b1")]) })).toEqual([]);
  });

  test("are members of other kinds that were read where every parent is known", () => {
    const task = [remove("tasks.t")];
    const world: Live = new Map([["boxes", boxes]]);
    expect(asked(task, world)).toEqual([["labels", "tasks.t"]]);
    expect(asked(task, world, { spec: spec([resource("boxes.k", { values: { box_name: "a" } })]) })).toEqual(
      [],
    );
    expect(asked(task, world, { state: state([record("boxes.k", "b1", {}, { name: "a" })]) })).toEqual([]);
    expect(
      asked(task, world, { spec: spec([resource("tasks.a")]), state: state([record("tasks.a", "t")]) }),
    ).toHaveLength(1);
    const more = live({ boxes: [object("b1", "a"), object("b2", "b")] });
    const one = { state: state([record("boxes.k", "b1", {}, { name: "a" })]) };
    expect(asked(task, new Map([["boxes", more.get("boxes") as LiveKind]]), one)).toHaveLength(1);
    expect(asked(task, new Map([["boxes", unread("m")]]))).toHaveLength(1);
    expect(asked(task, new Map())).toHaveLength(1);
  });

  test("are a warning when they could not be read", () => {
    const input = context({ registry: kinds, live: new Map() }).input;
    const told = (found: Readonly<Record<string, LiveKind>>) =>
      unreadDependents(input, { dependentsOfDeleted: new Map(Object.entries(found)) }, gone);
    expect(told({ tasks: unread("refused") })).toEqual([
      {
        severity: "warning",
        code: "PLAN_UNSEEN",
        message: "tasks could not be read, so the users of boxes such as a are unknown",
        address: "boxes.a",
        cause: "API_REFUSED: refused",
        hint: "check for side effects that the plan does not show, or plan again",
      },
    ]);
    expect(told({ labels: parents(["a", "refused"], ["b", "lost"]) })).toMatchObject([
      {
        message: "the labels of a, b could not be read, so the users of boxes such as a are unknown",
        cause: "API_REFUSED: refused",
      },
    ]);
    expect(told({ labels: parents(), tasks: parents() })).toEqual([]);
    expect(unreadDependents(input, {}, gone)).toEqual([]);
  });
});
