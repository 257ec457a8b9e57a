// Creations with the name of an unmanaged object: refused while no state exists, else a warning.

import { describe, expect, test } from "vitest";
import { markUntrusted } from "../../src/planner/mode/untrusted.ts";
import { emptyState } from "../../src/state/format/fold.ts";
import { actions, live, object, plan, record, resource, spec, state } from "./build.ts";

const ALLOW = { duplicate_names: "allow" } as const;
const one = live({ tasks: [object("t1", "t", {}, { creator_user_name: "ada@example.com" })] });
const two = live({
  tasks: [object("t1", "t", {}, { creator_user_name: "ada@example.com" }), object("t2", "t")],
});
const wanted = spec([resource("tasks.t")]);
const none = emptyState("l");

describe("a creation whose name an unmanaged object has", () => {
  test("is blocked when no state exists, with the object, its creator and the ways on", () => {
    const made = plan({ spec: wanted, live: one, state: none });
    expect(made.guards).toMatchObject([
      {
        addresses: ["tasks.t"],
        diagnostic: {
          code: "GUARD_DUPLICATE_NAME",
          address: "tasks.t",
          cause: "ID t1, created by ada@example.com",
        },
      },
    ]);
    const hint = made.guards[0]?.diagnostic.hint;
    for (const way of [
      "--adopt",
      "`workspace import tasks.t t1`",
      "workspace:/",
      "--allow-duplicates",
      "policy.duplicate_names",
    ])
      expect(hint).toContain(way);
    expect(made.diagnostics).toEqual([]);
  });

  test("says so in one sentence, at the resource", () => {
    const [guard] = plan({ spec: wanted, live: one, state: none }).guards;
    const at = { file: "workspace.yaml", line: 1, column: 1 };
    expect(guard?.diagnostic).toMatchObject({
      message: 'tasks.t: an unmanaged task named "t" already exists, and no state exists yet',
      at,
    });
    expect(plan({ spec: wanted, live: one }).diagnostics).toMatchObject([
      {
        message: 'tasks.t: an unmanaged task named "t" already exists, and the plan creates another one',
        at,
      },
    ]);
  });

  test("names at most ten objects and counts the others", () => {
    const many = (count: number) =>
      plan({
        spec: wanted,
        live: live({
          tasks: Array.from({ length: count }, (_, at) =>
            object(`t${at}`, "t", {}, { creator_user_name: 5 }),
          ),
        }),
        state: none,
      }).guards[0]?.diagnostic.cause;
    const ten = Array.from({ length: 10 }, (_, at) => `ID t${at}, creator unknown`).join("; ");
    expect(many(10)).toBe(ten);
    expect(many(12)).toBe(`${ten}; 2 more`);
  });

  test("names every object and its import command when several have the name", () => {
    const [guard] = plan({ spec: wanted, live: two, state: none }).guards;
    expect(guard?.diagnostic.cause).toBe("ID t1, created by ada@example.com; ID t2, creator unknown");
    expect(guard?.diagnostic.hint).toContain(
      "`workspace import tasks.t t1` or `workspace import tasks.t t2`",
    );
    expect(guard?.diagnostic.hint).not.toContain("--adopt");
  });

  test.each([
    ["the option", { spec: wanted, allowDuplicates: true }],
    ["the policy", { spec: spec([resource("tasks.t")], ALLOW) }],
  ])("is a warning when %s allows it", (_, input) => {
    const made = plan({ ...input, live: one, state: none });
    expect(made.guards).toEqual([]);
    expect(made.diagnostics).toMatchObject([{ severity: "warning", code: "PLAN_DUPLICATE_NAME" }]);
    expect(actions(made)).toEqual({ "tasks.t": "create" });
  });

  test.each([
    ["manages something else", state([record("boxes.b", "b1")])],
    ["manages nothing", state()],
    ["has recorded no more than its host", { ...none, host: "h" }],
  ])("is a warning when a state exists that %s", (_, known) => {
    const made = plan({ spec: wanted, live: one, state: known });
    expect(made.guards).toEqual([]);
    expect(made.diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "PLAN_DUPLICATE_NAME",
        address: "tasks.t",
        cause: "ID t1, created by ada@example.com",
        hint: expect.stringContaining("workspace import tasks.t t1"),
      },
    ]);
  });

  test("is allowed if the object is managed, is adopted, or is outside --only", () => {
    const managed = state([record("tasks.other", "t1")]);
    for (const input of [
      { state: managed },
      { state: none, adopt: true },
      { state: none, only: () => false },
    ]) {
      const made = plan({ spec: wanted, live: one, ...input });
      expect([made.guards, made.diagnostics]).toEqual([[], []]);
    }
  });

  test("is refused for an untrusted spec without IDs, creators and commands", () => {
    const made = markUntrusted(plan({ spec: wanted, live: two, state: none }), []);
    expect(made.guards).toMatchObject([{ diagnostic: { code: "GUARD_DUPLICATE_NAME" } }]);
    expect(JSON.stringify(made.guards)).not.toMatch(/t1|t2|ada|import/);
    const warned = markUntrusted(plan({ spec: wanted, live: two }), []);
    expect(warned.diagnostics).toMatchObject([{ code: "PLAN_DUPLICATE_NAME" }]);
    expect(JSON.stringify(warned.diagnostics)).not.toMatch(/t1|t2|ada|import/);
  });
});

describe("an unmanaged object that cannot be managed", () => {
  const odd = { ...object("t9", "t"), unmanageable: "it has 2 parts" };

  test("is reported with the reason and without a way to adopt it", () => {
    const { diagnostics } = plan({ spec: wanted, live: live({ tasks: [odd] }) });
    expect(diagnostics).toMatchObject([
      {
        code: "PLAN_DUPLICATE_NAME",
        cause: "ID t9, creator unknown, cannot be managed: it has 2 parts",
        hint: "to avoid a second object with this name, give the resource another name",
      },
    ]);
    const [guard] = plan({ spec: wanted, live: live({ tasks: [odd] }), state: none }).guards;
    expect(guard?.diagnostic.hint).not.toMatch(/adopt|import/);
    expect(guard?.diagnostic.hint).toContain("--allow-duplicates");
  });

  test("leaves the import of the other objects with its name", () => {
    const both = live({ tasks: [odd, object("t1", "t")] });
    expect(plan({ spec: wanted, live: both }).diagnostics[0]?.hint).toBe(
      "to adopt it, run `workspace import tasks.t t1`",
    );
    expect(plan({ spec: wanted, live: both, adopt: true }).diagnostics).toMatchObject([
      { code: "PLAN_ALREADY_EXISTS", hint: "to adopt one of them, run `workspace import tasks.t t1`" },
    ]);
  });

  test("is refused by --adopt with the reason if no object with the name can be managed", () => {
    const none = live({ tasks: [odd, { ...odd, id: object("t8", "t").id }] });
    expect(plan({ spec: wanted, live: none, adopt: true }).diagnostics).toMatchObject([
      { code: "PLAN_UNMANAGEABLE", message: "tasks.t cannot manage the task t9: it has 2 parts" },
    ]);
  });
});

describe("an ambiguous --adopt", () => {
  test("is refused with every candidate, its creator and its import command", () => {
    const made = plan({ spec: wanted, live: two, state: none, adopt: true });
    expect(made.diagnostics).toMatchObject([
      {
        code: "PLAN_ALREADY_EXISTS",
        message: '2 unmanaged tasks are named "t", so --adopt cannot choose one for tasks.t',
        cause: "ID t1, created by ada@example.com; ID t2, creator unknown",
        hint: expect.stringContaining("`workspace import tasks.t t1` or `workspace import tasks.t t2`"),
      },
    ]);
  });

  test("quotes an address for a shell", () => {
    const odd = spec([resource("tasks.it's $(x)")]);
    const objects = [object("t1", "it's $(x)"), object("t2", "it's $(x)")];
    const made = plan({ spec: odd, live: live({ tasks: objects }), state: none, adopt: true });
    expect(made.diagnostics[0]?.hint).toContain("workspace import 'tasks.it'\\''s $(x)' t1");
  });
});
