// Memberships in objects that cannot be managed: refused where a change would write them.

import { expect, test } from "vitest";
import { unmanageableMemberships } from "../../../src/planner/check/memberships.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import { context, live, object, resource, spec } from "../build.ts";
import { adopt, create, noop, remove, replace, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const teams = { type: "array", items: { names: "boxes" }, writtenToNamed: true } as const;
const kinds = registryOf(
  registry.kinds.map((one) =>
    one.kind === "tasks"
      ? {
          ...one,
          fields: {
            ...one.fields,
            teams,
            plain: { type: "array", items: { names: "boxes" } },
            odd: { type: "array", writtenToNamed: true },
          },
        }
      : one,
  ),
);
const account = { ...object("b1", "Account"), unmanageable: "it belongs to the account" };
const world = live({ boxes: [account, object("b2", "local")] });
const wanted = {
  ...resource("tasks.t"),
  locate: (path: readonly unknown[]) => ({ file: path.join("/"), line: 1, column: 1 }),
};
const told = (change: Change) =>
  unmanageableMemberships(context({ registry: kinds, spec: spec([wanted]), live: world }), [change]);
const after = { teams: ["local", "account", 5], plain: ["account"], odd: ["account"] };
const diff = (field: string): FieldDiff => ({
  path: [field, 0],
  before: "a",
  after: "b",
  cause: "spec",
  replaces: false,
});

test("a list that is written has an error for each such name, at the name", () => {
  expect(told(create("tasks.t", { after }))).toEqual([
    {
      severity: "error",
      code: "PLAN_UNMANAGEABLE",
      message: 'tasks.t cannot be added to the box "Account": it belongs to the account',
      address: "tasks.t",
      at: { file: "teams/1", line: 1, column: 1 },
      hint: "remove the name from teams, and change the box with other tools; memberships that exist are kept",
    },
  ]);
  expect(told(replace("tasks.t", { after }))).toHaveLength(1);
  expect(told(update("tasks.t", { after, diffs: [diff("name"), diff("teams")] }))).toHaveLength(1);
});

test("a list that is not written has none", () => {
  expect(told(update("tasks.t", { after, diffs: [diff("name"), diff("plain")] }))).toEqual([]);
  for (const change of [noop("tasks.t", { after }), adopt("tasks.t", { after }), remove("tasks.t")])
    expect(told(change)).toEqual([]);
  expect(told(create("tasks.t", { after: { teams: "account" } }))).toEqual([]);
  expect(told(create("tasks.t", { after: { teams: ["local", "unknown"] } }))).toEqual([]);
});

test("an error about a resource that the spec lacks has no place", () => {
  expect(told(create("tasks.other", { after }))[0]?.at).toBeUndefined();
});
