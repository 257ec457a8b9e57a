// Plans of untrusted specs: no byte of the plan depends on unmanaged objects.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { type Diagnostic, error } from "../../../src/core/diagnostic.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { RecordedSpec } from "../../../src/planner/mode/compare-secrets.ts";
import { markUntrusted, redactForUntrusted } from "../../../src/planner/mode/untrusted.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import type { Values } from "../../../src/resource/field-schema.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Live, LiveObject } from "../../../src/resource/live.ts";
import { sampleOf } from "../../sample-size.ts";
import { live, object, record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

const recorded = state([
  record("boxes.ours", "b1", { box_name: "ours", size: 1 }),
  record("keys.ours/k", "ours/k", { value: "digest" }, { seen: { written: "1" } }),
]);

const theirs = spec(
  [
    resource("boxes.ours", { values: { size: 2, near: ["foreign"] }, owns: ["labels"] }),
    resource("boxes.foreign", { values: { material: "wood", note: "${boxes.foreign.note}" } }),
    resource("boxes.root", { values: { size: 5 } }),
    resource("labels.ours/x", { values: { text: "hi" }, dependsOn: ["boxes.ours"] }),
    resource("labels.foreign/x", { values: { text: "hi" }, dependsOn: ["boxes.foreign"] }),
    resource("keys.ours/k", { values: { value: "" }, dependsOn: ["boxes.ours"] }),
    resource("tasks.foreign"),
  ],
  { authoritative: ["boxes", "tasks"], on_immutable_change: "replace" },
);

const OURS = [object("b1", "ours", { box_name: "ours", size: 1 })];
const KEY = object("ours/k", "ours/k", {}, { written: "1" });

function planned(boxes: readonly LiveObject[], labels: readonly LiveObject[] = []): Plan {
  const world = live({ boxes: [...OURS, ...boxes], labels, keys: [KEY], tasks: [object("t1", "foreign")] });
  const shield = redactForUntrusted({ registry, spec: theirs, state: recorded }, world);
  const input = {
    registry,
    host: "h",
    spec: shield.spec,
    live: shield.live,
    state: recorded,
    contents: new Map(),
  };
  return markUntrusted(makePlan(input), shield.notes);
}

const values = fc.record({
  size: fc.integer(),
  material: fc.string(),
  note: fc.string(),
  tags: fc.dictionary(fc.string(), fc.string()),
});

describe("a plan of an untrusted spec", () => {
  test("is the same byte for byte whatever the values and IDs of unmanaged objects are", () => {
    const plain = JSON.stringify(
      planned(
        [object("f1", "foreign"), object("r1", "root"), object("s1", "stranger")],
        [object("l", "ours/x")],
      ),
    );
    fc.assert(
      fc.property(values, values, values, fc.uuid(), fc.uuid(), (foreign, root, stranger, one, two) => {
        const boxes = [
          object(one, "foreign", foreign),
          object("r1", "root", root),
          object(two, `s-${two}`, stranger),
        ];
        const labels = [object("l", "ours/x", { text: foreign.note })];
        expect(JSON.stringify(planned(boxes, labels))).toBe(plain);
      }),
      { numRuns: sampleOf(300), seed: 7 },
    );
  });

  test("says how many a list that the spec calls its own would lose, and not which", () => {
    const { diagnostics, changes, unmanaged } = planned([
      object("x", "stranger-1"),
      object("y", "stranger-2"),
    ]);
    expect(diagnostics.map((one) => one.message).join("\n")).toContain("also delete 2 boxes");
    expect(JSON.stringify({ diagnostics, changes, unmanaged })).not.toContain("stranger");
  });

  test("compares no hidden value, so that an immutable one causes no error", () => {
    const root = resource("boxes.root", { values: { box_name: "root", material: "wood" } });
    const world = live({ boxes: [object("r1", "root", { box_name: "root", material: "stone" })] });
    const shield = redactForUntrusted({ registry, spec: spec([root]), state: state([]) }, world);
    const input = { registry, host: "h", spec: shield.spec, live: shield.live, state: state([]) };
    expect(makePlan(input).diagnostics).toEqual([]);
  });

  test("compares a secret whose value was not read, and says so", () => {
    const { changes, diagnostics } = planned([]);
    expect(changes.find((change) => change.address === "keys.ours/k")?.action).toBe("compare");
    expect(diagnostics.some((one) => one.message.includes("keys.ours/k"))).toBe(true);
  });

  test("shows live values of what the state manages", () => {
    const update = planned([]).changes.find((change) => change.address === "boxes.ours");
    expect(update).toMatchObject({ action: "update", before: { size: 1 }, after: { size: 2 } });
  });
});

describe("the input of a plan for an untrusted spec", () => {
  const labels = registry.get("labels");
  const kinds = registryOf([
    ...registry.kinds.filter(({ kind }) => kind !== "labels"),
    {
      ...labels,
      planning: {
        ...labels.planning,
        namedInKey: (name: string) =>
          name.endsWith("/none") ? undefined : { kinds: ["tasks"], name: name.slice(name.indexOf("/") + 1) },
        dependencies: (name: string) => [{ kind: "tasks", name: `needs ${name}` }],
      },
    },
  ]);
  const wanted = [
    resource("boxes.Ours", {
      values: { box_name: "Ours", note: "Mentioned", material: "wood", size: 2 },
      owns: ["labels"],
    }),
    resource("labels.ours/named", { values: { text: "Hi" } }),
    resource("keys.ours/k", { values: { value: "", other: 1 } }),
    resource("keys.ours/new", { values: { value: "" } }),
  ];
  const known = state([record("boxes.rec", "b1"), record("keys.ours/k", "k1", { value: "digest" })]);
  const redacted = (
    world: Readonly<Record<string, readonly LiveObject[]>>,
    more: Partial<RecordedSpec> = {},
  ) => redactForUntrusted({ registry: kinds, spec: spec(wanted), state: known, ...more }, live(world));
  const seen = (...given: Parameters<typeof redacted>) => {
    const found = redacted(...given).live;
    return [...found.values()].flatMap((kind) => (kind.readable ? kind.objects : []));
  };

  test("has managed objects in full, and only the names of others that the spec names", () => {
    const managed = object("b1", "anything", { size: 9 }, { by: "ada" });
    const strangers = [
      object("b2", "OURS", { size: 8 }, { by: "bo" }),
      object("b3", "mentioned", { size: 7 }),
      object("b4", "stranger"),
    ];
    expect(seen({ boxes: [managed, ...strangers] })).toEqual([
      managed,
      object("not-shown-1", "OURS", { material: "wood" }),
      object("not-shown-2", "mentioned"),
    ]);
  });

  test("compares names of kinds that do not ignore case to the letter", () => {
    expect(seen({ tasks: [object("t1", "Mentioned"), object("t2", "MENTIONED")] })).toEqual([
      object("not-shown-1", "Mentioned"),
    ]);
  });

  test("has the names that keys contain and that kinds depend on", () => {
    const tasks = ["named", "needs ours/named", "other"].map((name) => object(`id-${name}`, name));
    expect(seen({ tasks }).map(({ name }) => name)).toEqual(["named", "needs ours/named"]);
    const none = spec([resource("labels.ours/none", { values: { text: "t" } })]);
    expect(seen({ tasks: [object("t", "")] }, { spec: none })).toEqual([]);
  });

  test("has the ID of an object whose ID is its name", () => {
    expect(seen({ labels: [object("ours/named", "ours/named", { text: "secret" })] })).toEqual([
      object("ours/named", "ours/named"),
    ]);
  });

  test("has the unreadable kinds unchanged", () => {
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    const found = redactForUntrusted(
      { registry: kinds, spec: spec(wanted), state: known },
      new Map([["boxes", unread]]),
    );
    expect(found.live.get("boxes")).toBe(unread);
  });

  test("has recorded digests in place of secrets, and says that they were not checked", () => {
    const { spec: made, notes } = redacted({});
    expect(made.resources.get("keys.ours/k" as Address)?.values).toEqual({ value: "digest", other: 1 });
    expect(made.resources.get("keys.ours/k" as Address)?.locate(["value"])).toEqual(wanted[0]?.at);
    expect(made.resources.get("keys.ours/new" as Address)).toBe(wanted[3]);
    expect(made.resources.get("boxes.Ours" as Address)).toBe(wanted[0]);
    expect(notes).toEqual([
      {
        severity: "warning",
        code: "PLAN_MODE",
        message: "planned for an untrusted spec: only managed resources are shown",
        hint: "the plan does not show values of unmanaged objects, or side effects and guards that depend on them",
      },
      {
        severity: "warning",
        code: "PLAN_MODE",
        message:
          "secret values were not read, so changes to them are not checked: keys.ours/k and keys.ours/new",
      },
    ]);
    expect(redacted({}, { spec: spec(wanted.slice(0, 2)) }).notes).toHaveLength(1);
  });

  const foreign = (
    world: Readonly<Record<string, readonly LiveObject[]>>,
    more: Partial<RecordedSpec> = {},
  ) =>
    redacted(world, more).notes.flatMap(({ code, message, hint }) =>
      message.includes("also delete") ? [{ code, message, hint }] : [],
    );

  test("says how many members a list of the spec would lose", () => {
    const members = ["ours/named", "ours/x", "ours/y", "other/z"].map((name) => object(`id-${name}`, name));
    const lists = {
      spec: spec([resource("boxes.ours", { owns: ["labels"] }), resource("labels.ours/named")]),
    };
    expect(foreign({ labels: members }, lists)).toEqual([
      {
        code: "PLAN_MODE",
        message: "an apply would also delete 2 labels that are in neither the spec nor the state",
        hint: "the spec makes the list of labels authoritative; to show them, plan without --untrusted",
      },
    ]);
    const recorded = state([record("labels.ours/x", "id-ours/x")]);
    expect(foreign({ labels: members }, { ...lists, state: recorded })[0]?.message).toContain(
      "delete 1 label that is in neither",
    );
    expect(foreign({ labels: members }, { spec: spec([resource("boxes.ours")]) })).toEqual([]);
    expect(foreign({ keys: members }, { spec: spec([resource("boxes.ours", { owns: ["keys"] })]) })).toEqual(
      [],
    );
  });

  test("counts no members that the kind keeps for the caller", () => {
    const isImplicit = (one: LiveObject, caller: string | undefined, parent: Values) =>
      one.values.text === caller || one.values.text === parent.note;
    const keeping = registryOf(
      kinds.kinds.map((kind) => (kind.kind === "labels" ? { ...kind, planning: { isImplicit } } : kind)),
    );
    const members = [
      object("1", "ours/a", { text: "ada" }),
      object("2", "ours/b", { text: "n" }),
      object("3", "ours/c", { text: "x" }),
    ];
    const lists = {
      registry: keeping,
      spec: spec([
        resource("tasks.ours"),
        resource("boxes.ours", { owns: ["labels"], values: { note: "n" } }),
        resource("boxes.later", { name: "ours" }),
      ]),
    };
    const caller = { ...state(), caller: { name: "ada", credential: "c" } };
    expect(foreign({ labels: members }, { ...lists, state: caller })[0]?.message).toContain(
      "delete 1 label that is in neither",
    );
    expect(foreign({ labels: members }, { ...lists, state: state() })[0]?.message).toContain(
      "delete 2 labels",
    );
  });

  test("says how many objects an authoritative kind would lose", () => {
    const authoritative = {
      spec: spec([resource("boxes.ours"), resource("tasks.x")], { authoritative: ["boxes"] }),
    };
    const boxes = [
      object("b1", "rec"),
      object("2", "OURS"),
      object("3", "Root"),
      object("4", "x"),
      object("5", "y"),
    ];
    expect(
      foreign({ boxes, tasks: [object("t", "t")] }, authoritative).map(({ message }) => message),
    ).toEqual(["an apply would also delete 2 boxes that are in neither the spec nor the state"]);
    const unread = { readable: false, diagnostic: error("API_FORBIDDEN", "no") } as const;
    const blind = (world: Live) =>
      redactForUntrusted({ registry: kinds, state: known, ...authoritative }, world).notes;
    expect([blind(new Map([["boxes", unread]])), blind(new Map())].map((notes) => notes.length)).toEqual([
      1, 1,
    ]);
  });
});

describe("a plan marked as untrusted", () => {
  const at = { file: "f.yaml", line: 2, column: 3, frame: "secret line" };
  const place = { file: "f.yaml", line: 2, column: 3 };
  const made = (diagnostics: readonly Diagnostic[]) => {
    const base = makePlan({ registry, host: "h", spec: spec([]), live: live(), state: state() });
    const guards = diagnostics.map((diagnostic) => ({ diagnostic, addresses: [] }));
    return markUntrusted(
      { ...base, unmanaged: [{ kind: "boxes", name: "x", id: "1" }], guards, diagnostics },
      [error("PLAN_UNSEEN", "note")],
    );
  };
  const hint = "choose another name, or ask a maintainer to adopt the object";

  test("has its mode, no inventory, and the notes after its findings", () => {
    const plan = made([error("PLAN_UNREADABLE", "m")]);
    expect([plan.modes, plan.unmanaged]).toEqual([["untrusted"], []]);
    expect(plan.diagnostics).toEqual([error("PLAN_UNREADABLE", "m"), error("PLAN_UNSEEN", "note")]);
  });

  test.each<readonly [string, Diagnostic, Diagnostic]>([
    [
      "places without lines of files",
      error("PLAN_UNKNOWN_NAME", "m", { at, hint: "h", cause: "c" }),
      error("PLAN_UNKNOWN_NAME", "m", { at: place, hint: "h", cause: "c" }),
    ],
    [
      "no way to adopt an object",
      error("PLAN_ALREADY_EXISTS", "m", { hint: "pass --adopt" }),
      error("PLAN_ALREADY_EXISTS", "m", { hint }),
    ],
    [
      "other hints of the same code",
      error("PLAN_ALREADY_EXISTS", "m", { hint: "rename it" }),
      error("PLAN_ALREADY_EXISTS", "m", { hint: "rename it" }),
    ],
    ["no hint where there is none", error("PLAN_ALREADY_EXISTS", "m"), error("PLAN_ALREADY_EXISTS", "m")],
    [
      "hints of other codes",
      error("PLAN_IMMUTABLE", "m", { hint: "see --adopt" }),
      error("PLAN_IMMUTABLE", "m", { hint: "see --adopt" }),
    ],
    [
      "no IDs of unmanaged objects",
      error("GUARD_DUPLICATE_NAME", "m", { at, hint: "import 1", cause: "ID 1" }),
      error("GUARD_DUPLICATE_NAME", "m", { at: place, hint }),
    ],
    [
      "no IDs in warnings",
      error("PLAN_DUPLICATE_NAME", "m", { cause: "ID 1" }),
      error("PLAN_DUPLICATE_NAME", "m", { hint }),
    ],
  ])("has %s", (_, given, shown) => {
    expect(made([given]).diagnostics[0]).toEqual(shown);
    expect(made([given]).guards[0]?.diagnostic).toEqual(shown);
  });
});
