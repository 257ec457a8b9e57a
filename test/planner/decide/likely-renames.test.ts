// A key that was renamed: the plan says how the object is kept, and says nothing where it is not certain which one.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { movedEntry, withLikelyRenames } from "../../../src/planner/decide/likely-renames.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { context, live, object, plan, record, reference, resource, spec, state } from "../build.ts";
import { create, noop, remove } from "../changes.ts";
import { registry } from "../kinds.ts";

const fields = (name: string) => ({ box_name: name, material: "steel" });
const world = live({ boxes: [object("b1", "a", fields("a")), object("b2", "c", fields("c"))] });
const consequences = (made: ReturnType<typeof plan>) =>
  made.changes.flatMap((change) => (change.action === "delete" ? change.consequences : []));

test("a delete with the fields of a create says that state mv keeps the object", () => {
  const made = plan({
    spec: spec([resource("boxes.b", { values: { material: "steel" } })]),
    live: world,
    state: state([record("boxes.a", "b1", fields("a"))]),
  });
  expect(consequences(made)).toEqual([
    "it has the same fields as boxes.b; if it was only renamed, add `moved: [{ from: boxes.a, to: boxes.b }]` to the spec, or run `workspace state mv boxes.a boxes.b` to keep it",
  ]);
});

test("values known only after apply are not compared", () => {
  const wanted = (key: string) =>
    resource(key, {
      values: { box: "${boxes.n.box_id}", steps: ["one"] },
      references: [reference(["box"], "boxes.n", "box_id")],
      dependsOn: ["boxes.n"],
    });
  const made = plan({
    spec: spec([resource("boxes.n"), wanted("tasks.new")]),
    live: live({ tasks: [object("t1", "old", { name: "old", box: "b1", steps: ["one"] })] }),
    state: state([record("tasks.old", "t1", { name: "old", box: "b1", steps: ["one"] })]),
  });
  expect(consequences(made)).toMatchObject([expect.stringContaining("state mv tasks.old tasks.new")]);
});

test("a tie is named where two would fit; nothing is said if other fields are wanted, or nothing can be compared", () => {
  const both = state([record("boxes.a", "b1", fields("a")), record("boxes.c", "b2", fields("c"))]);
  const made = (values: Record<string, string>, known = both) =>
    plan({ spec: spec([resource("boxes.b", { values })]), live: world, state: known });
  expect(consequences(made({ material: "steel" }))).toEqual(
    ["boxes.c", "boxes.a"].map(
      (from) =>
        `it has the same fields as boxes.b, and so has another deleted resource; if it became that one, add \`moved: [{ from: ${from}, to: boxes.b }]\` to the spec to keep it`,
    ),
  );
  expect(consequences(made({ material: "wood" }, state([record("boxes.a", "b1", fields("a"))])))).toEqual([]);
  expect(consequences(made({}, state([record("boxes.a", "b1", { box_name: "a" })])))).toEqual([]);
});

describe("a delete and a create", () => {
  const both = [
    ["boxes.a", "b1", "a"],
    ["boxes.c", "b2", "c"],
  ] as const;
  const said = (wanted: readonly Resource[], more: Partial<PlanInput> = {}) =>
    plan({
      spec: spec(wanted),
      live: world,
      state: state(
        both.map(([address, id, name]) =>
          record(address, id, { ...fields(name), ...(name === "c" ? { note: "n" } : {}) }),
        ),
      ),
      ...more,
    }).changes.flatMap(({ action, address, consequences }) =>
      consequences.length === 0 ? [] : [`${action} ${address}: ${consequences}`],
    );
  const like = (from: string, to: string) =>
    `delete ${from}: it has the same fields as ${to}; if it was only renamed, add \`moved: [{ from: ${from}, to: ${to} }]\` to the spec, or run \`workspace state mv ${from} ${to}\` to keep it`;

  test("that fit each other are found among several", () => {
    const wanted = [
      resource("boxes.x", { values: { material: "steel" } }),
      resource("boxes.y", { values: { material: "steel", note: "n" } }),
      resource("boxes.z", { values: { material: "wood" } }),
      resource("tasks.t", { values: {} }),
    ];
    expect(said(wanted)).toEqual([like("boxes.c", "boxes.y"), like("boxes.a", "boxes.x")]);
  });

  test("are a tie when two creates have the same fields, and fit nothing when the delete is of another kind", () => {
    const steel = (key: string) => resource(key, { values: { material: "steel" } });
    expect(said([steel("boxes.x"), steel("boxes.y")])).toEqual([
      "delete boxes.a: it has the same fields as boxes.x and boxes.y; if it became one of them, add `moved: [{ from: boxes.a, to: … }]` to the spec to keep it",
    ]);
    expect(said([resource("tasks.x", { values: { material: "steel" } })])).toEqual([]);
  });

  test("fit by what the state recorded, and a replaced object has no record", () => {
    const deposed = [record("boxes.x", "b1", fields("x"), { deposed: [object("b2", "").id] })];
    const wanted = [
      resource("boxes.x", { values: { material: "steel", box_name: "a" } }),
      resource("boxes.y", { values: { material: "steel" } }),
    ];
    expect(said(wanted, { state: state(deposed) })).toEqual([]);
  });

  test("are compared without the fields that other creates learn from an apply", () => {
    const later = (key: string, ...paths: string[]) =>
      resource(key, {
        values: { steps: ["one"], ...Object.fromEntries(paths.map((path) => [path, "${boxes.n.box_id}"])) },
        references: paths.map((path) => reference([path], "boxes.n", "box_id")),
        dependsOn: ["boxes.n"],
      });
    const tasks = ["t1", "t2"].map((id) =>
      record(`tasks.${id}`, id, { name: id, steps: [id === "t1" ? "one" : "two"], box: "b1" }),
    );
    const made = said([resource("boxes.n"), later("tasks.new", "box")], {
      live: live({ tasks: [object("t1", "t1"), object("t2", "t2")] }),
      state: state(tasks),
    });
    expect(made).toEqual([like("tasks.t1", "tasks.new")]);
  });

  test("that are members are compared by no name, and so by nothing", () => {
    const label = (name: string) => record(`labels.a/${name}`, `a/${name}`, { text: "same" });
    const wanted = [
      resource("boxes.a", { values: { material: "steel" }, owns: ["labels"] }),
      resource("labels.a/new", { values: { text: "same" }, dependsOn: ["boxes.a"] }),
    ];
    const there = live({
      boxes: [object("b1", "a", fields("a"))],
      labels: [object("a/old", "a/old", { text: "same" })],
    });
    expect(
      said(wanted, { live: there, state: state([record("boxes.a", "b1", fields("a")), label("old")]) }),
    ).toEqual([]);
  });

  test("are compared without several fields that an apply fills, in any order of references", () => {
    const later = (key: string, ...paths: string[]) =>
      resource(key, {
        values: { steps: ["one"], ...Object.fromEntries(paths.map((path) => [path, "${boxes.n.box_id}"])) },
        references: paths.map((path) => reference([path], "boxes.n", "box_id")),
        dependsOn: ["boxes.n"],
      });
    const there = {
      live: live({ tasks: [object("t1", "t1")] }),
      state: state([record("tasks.t1", "t1", { name: "t1", steps: ["one"], box: "b1", where: "w" })]),
    };
    const boxN = resource("boxes.n");
    expect(said([boxN, later("tasks.new", "box", "where")], there)).toEqual([like("tasks.t1", "tasks.new")]);
    expect(
      said([boxN, later("tasks.new", "box", "where"), later("tasks.other", "where", "box")], there),
    ).toEqual([expect.stringContaining("it has the same fields as tasks.new and tasks.other")]);
  });

  test("are paired by most equal fields when several alike resources are renamed at once", () => {
    const values = (at: number, size: string) => ({ material: "steel", note: `n${at}`, color: "red", size });
    const old = [1, 2, 3].map((at) =>
      record(`boxes.old${at}`, `b${at}`, { box_name: `old${at}`, ...values(at, "small") }),
    );
    const there = {
      live: live({ boxes: [1, 2, 3].map((at) => object(`b${at}`, `old${at}`, { box_name: `old${at}` })) }),
      state: state(old),
    };
    const renamed = [1, 2, 3].map((at) =>
      resource(`boxes.new${at}`, { values: values(at, at === 2 ? "large" : "small") }),
    );
    expect(
      said(renamed, there)
        .map((sentence) => sentence.replace(/; if .*/, ""))
        .sort(),
    ).toEqual([
      "delete boxes.old1: it has the same fields as boxes.new1",
      "delete boxes.old2: it has 3 of 4 fields of boxes.new2",
      "delete boxes.old3: it has the same fields as boxes.new3",
    ]);
  });

  test("with the same name need no name in the spec", () => {
    const tasks = registry.get("tasks");
    const fixed = {
      ...tasks,
      fields: { ...tasks.fields, name: { type: "string", onChange: "replace" } },
    } as const;
    const kinds = registryOf(registry.kinds.map((one) => (one.kind === "tasks" ? fixed : one)));
    const wanted = [resource("tasks.new", { values: { name: "same", steps: ["one"] } })];
    const there = {
      registry: kinds,
      live: live({ tasks: [object("t1", "same", { name: "same" })] }),
      state: state([record("tasks.old", "t1", { name: "same", steps: ["one"] }, { name: "same" })]),
    };
    expect(said(wanted, there)).toEqual([like("tasks.old", "tasks.new")]);
  });

  test("of a kind that cannot be renamed keep the object with its old name in the spec", () => {
    const boxes = registry.get("boxes");
    const fixed = {
      ...boxes,
      fields: { ...boxes.fields, box_name: { type: "string", onChange: "replace" } },
    } as const;
    const kinds = registryOf(registry.kinds.map((one) => (one.kind === "boxes" ? fixed : one)));
    const keep = (wanted: Resource) =>
      said([wanted, resource("boxes.c", { values: { material: "steel", note: "n" } })], { registry: kinds });
    expect(keep(resource("boxes.b", { values: { material: "steel" } }))).toEqual([
      "delete boxes.a: it has the same fields as boxes.b; if it was only renamed, add `moved: [{ from: boxes.a, to: boxes.b }]` to the spec, or run `workspace state mv boxes.a boxes.b`, with box_name: a in the spec, to keep it",
    ]);
  });
});

describe("the likely renames of a plan", () => {
  type Fields = Readonly<Record<string, number>>;
  /** Each object has a name too, which is not compared. */
  const renames = (olds: Readonly<Record<string, Fields>>, news: Readonly<Record<string, Fields>>) => {
    const known = Object.entries(olds).map(([key, applied]) => record(key, key, { name: key, ...applied }));
    const deletes = Object.keys(olds).map((key) => remove(key));
    const creates = Object.entries(news).map(([key, after]) =>
      create(key, { after: { name: key, ...after } }),
    );
    const changes = [noop("tasks.same"), ...creates, ...deletes];
    const made = withLikelyRenames(context({ state: state(known) }), changes);
    // Only deletions get a sentence.
    expect(made.changes.filter(({ action }) => action !== "delete")).toEqual(
      changes.slice(0, 1 + creates.length),
    );
    return made.renames;
  };
  const pair = (from: string, to: string) => ({ from, to, name: undefined });

  test.each<readonly [string, Fields, Fields, boolean]>([
    ["one of one field", { a: 1 }, { a: 1 }, true],
    ["three of four fields", { a: 1, b: 2, c: 3, d: 4 }, { a: 1, b: 2, c: 3, d: 5 }, true],
    ["three of four fields, of which one is new", { a: 1, b: 2, c: 3 }, { a: 1, b: 2, c: 3, d: 5 }, true],
    ["two of three fields", { a: 1, b: 2, c: 3 }, { a: 1, b: 2, c: 4 }, false],
    ["one of two fields", { a: 1, b: 2 }, { a: 1, b: 3 }, false],
    ["no field", { a: 1 }, { a: 2 }, false],
    ["no fields that could be compared", {}, {}, false],
  ])("need %s that are equal", (_, old, wanted, isLikely) => {
    const expected = isLikely ? { pairs: [pair("tasks.old", "tasks.new")], ties: [] } : undefined;
    expect(renames({ "tasks.old": old }, { "tasks.new": wanted })).toEqual(expected);
  });

  test("are of the creation with the largest share of equal fields", () => {
    const old = { a: 1, b: 2, c: 3 };
    const news = { "tasks.more": { ...old, d: 4 }, "tasks.same": old, "boxes.same": old };
    expect(renames({ "tasks.old": old }, news)).toEqual({
      pairs: [pair("tasks.old", "tasks.same")],
      ties: [],
    });
  });

  test("name the creations that fit equally well", () => {
    const [old, news] = [{ a: 1 }, { "tasks.x": { a: 1 }, "tasks.y": { a: 1 } }];
    expect(renames({ "tasks.old": old }, news)).toEqual({
      pairs: [],
      ties: [{ from: "tasks.old", candidates: ["tasks.x", "tasks.y"] }],
    });
  });

  test("are none without a deletion or without a creation", () => {
    expect(renames({}, { "tasks.new": { a: 1 } })).toBeUndefined();
    expect(renames({ "tasks.old": { a: 1 } }, {})).toBeUndefined();
  });

  test("need all fields to be equal if very many resources are deleted and created", () => {
    const many = (count: number, of: string) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`tasks.${of}${at}`, { [`${of}${at}`]: at }]),
      );
    const [old, alike] = [
      { a: 1, b: 2, c: 3, d: 4 },
      { a: 1, b: 2, c: 3, d: 5 },
    ];
    const olds = (count: number) => ({ ...many(count, "x"), "tasks.old": old, "tasks.old2": { e: 1, f: 2 } });
    const news = { ...many(199, "y"), "tasks.alike": alike, "tasks.new2": { f: 2, e: 1 } };
    const pairs = [pair("tasks.old2", "tasks.new2")];
    expect(renames(olds(198), news)?.pairs).toEqual(pairs);
    // 40,000 pairs are few enough.
    const fewer = Object.fromEntries(Object.entries(news).slice(1));
    expect(renames(olds(198), fewer)?.pairs).toEqual(
      expect.arrayContaining([...pairs, pair("tasks.old", "tasks.alike")]),
    );
  });
});

test.each([
  ["boxes.a-b_c@x/d.e", "{ from: boxes.a-b_c@x/d.e, to: boxes.new }"],
  ["boxes.two words", '{ from: "boxes.two words", to: boxes.new }'],
  ["boxes.${x}", '{ from: "boxes.${x}", to: boxes.new }'],
])("an entry for the spec quotes %s only if it must", (from, expected) => {
  expect(movedEntry({ from: from as Address, to: "boxes.new" as Address, name: undefined })).toBe(expected);
});
