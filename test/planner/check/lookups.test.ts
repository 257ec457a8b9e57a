// Values that only the workspace can confirm: what a plan asks, and what it says about the answers.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { neededLookups, unconfirmedValues } from "../../../src/planner/check/confirm-names.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { addressByObject, indexLive } from "../../../src/planner/model/context.ts";
import type { Lookup, LookupAnswer, LookupAnswers } from "../../../src/planner/model/input.ts";
import { createPlannedWorkspace } from "../../../src/planner/model/planned-workspace.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { live, object, reference, resource, spec, state, type Wanted } from "../build.ts";
import { create, noop, remove, replace, update } from "../changes.ts";
import { registry as plain } from "../kinds.ts";

const machine = { type: "string", catalog: "node_types" } as const;
const registry = registryOf(
  plain.kinds.map((kind) => {
    if (kind.kind !== "tasks") return kind;
    const more = {
      machine,
      machines: { type: "array", items: machine },
      roles: { type: "object", additionalProperties: machine },
      where: { type: "string", mentions: ["boxes"], shouldExist: true },
      near: { type: "string", mentions: ["boxes"] },
      odd: { type: "string", shouldExist: true },
    } as const;
    return { ...kind, fields: { ...kind.fields, ...more } };
  }),
);

const world = live({ boxes: [object("b1", "a"), object("b2", "b")] });
const liveIndex = indexLive(world, registry);
const task = (values: JsonObject, more: Wanted = {}) =>
  ({
    ...resource("tasks.t", { values, ...more }),
    locate: (path) => ({ file: path.join("/"), line: 2, column: 3 }),
  }) satisfies Resource;
const declared = [resource("boxes.new", { values: { box_name: "new" } })];
const owners = addressByObject(new Map());
const input = (wanted: Resource) => ({
  registry,
  host: "h",
  spec: spec([...declared, wanted]),
  live: world,
  state: state(),
});

function questions(wanted: Resource, change: Change, others: readonly Change[] = []): string[] {
  const context = { input: input(wanted), liveIndex };
  const workspace = createPlannedWorkspace({ ...context, owners }, {}, [change, ...others]);
  return neededLookups(context, [change, ...others], workspace).map(
    ({ address, path, text, source }) =>
      `${address} ${path.join("/")} ${text} in ${source.in} of ${source.of}`,
  );
}

const made = (values: JsonObject, more: Wanted = {}) =>
  questions(task(values, more), create("tasks.t", { after: values }));

describe("a plan asks the workspace about", () => {
  test("values of a catalog, also in lists and maps", () => {
    expect(
      made({ machine: "m", machines: ["n", "o"], roles: { first: "p" }, steps: ["x"], name: "y" }),
    ).toEqual([
      "tasks.t machine m in catalog of node_types",
      "tasks.t machines/0 n in catalog of node_types",
      "tasks.t machines/1 o in catalog of node_types",
      "tasks.t roles/first p in catalog of node_types",
    ]);
  });

  test("IDs that no live object has", () => {
    expect(made({ box: "b9" })).toEqual(["tasks.t box b9 in ids of boxes"]);
    expect(made({ box: "b1" })).toEqual([]);
  });

  test("no ID of a declared object whose name is its ID, such as an ARN", () => {
    const kinds = registry.kinds.map((kind) =>
      kind.kind === "boxes" ? { ...kind, idAttribute: String(kind.nameField) } : kind,
    );
    const wanted = task({ box: "new" });
    const context = { input: { ...input(wanted), registry: registryOf(kinds) }, liveIndex };
    const changes = [create("tasks.t", { after: { box: "new" } })];
    const workspace = createPlannedWorkspace({ ...context, owners }, {}, changes);
    expect(neededLookups(context, changes, workspace)).toEqual([]);
    expect(made({ box: "new" })).toEqual(["tasks.t box new in ids of boxes"]);
  });

  test("names that should exist and that neither the spec nor the workspace has", () => {
    expect(made({ where: "lost", near: "lost", odd: "lost" })).toEqual([
      "tasks.t where lost in names of boxes",
    ]);
    expect(made({ where: "a" })).toEqual([]);
    expect(made({ where: "new" })).toEqual([]);
  });

  test("a name whose object the same plan deletes, unless the spec declares it", () => {
    const asked = (name: string) =>
      questions(task({ where: name }), create("tasks.t", { after: { where: name } }), [
        remove(`boxes.${name}`),
      ]);
    expect(asked("a")).toEqual(["tasks.t where a in names of boxes"]);
    expect(asked("new")).toEqual([]);
  });

  test("no reference, and only strings", () => {
    const references = [reference(["box"], "boxes.new", "box_id")];
    expect(made({ box: "b9" }, { references })).toEqual([]);
    expect(made({ box: "b9" }, { references: [reference(["machine"], "boxes.new", "box_id")] })).toEqual([
      "tasks.t box b9 in ids of boxes",
    ]);
    expect(made({ box: "${boxes.new.box_id}", where: "in ${boxes.new.box_id}" })).toEqual([]);
    expect(made({ machine: 4, where: null })).toEqual([]);
  });

  test("a value of a catalog although it comes from a reference", () => {
    expect(made({ machine: "m" }, { references: [reference(["machine"], "boxes.new", "note")] })).toEqual([
      "tasks.t machine m in catalog of node_types",
    ]);
  });

  test("nothing that the change does not write", () => {
    const values = { machine: "m", machines: ["n", "o"] };
    const diff = (...path: (string | number)[]): FieldDiff => ({
      path,
      before: "x",
      after: "y",
      cause: "spec",
      replaces: false,
    });
    const asked = (...diffs: readonly [FieldDiff, ...FieldDiff[]]) =>
      questions(task(values), update("tasks.t", { after: values, diffs })).map((one) => one.split(" ")[1]);
    expect(asked(diff("machine"))).toEqual(["machine"]);
    expect(asked(diff("machines", 1), diff("name"))).toEqual(["machines/1"]);
    expect(asked(diff("name"), diff("machines"))).toEqual(["machines/0", "machines/1"]);
    expect(asked(diff("machine", "inner"))).toEqual(["machine"]);
    expect(asked(diff("mach"))).toEqual([]);
  });

  test("what a replacement sends, and nothing for other changes and undeclared resources", () => {
    const values = { machine: "m" };
    expect(questions(task(values), replace("tasks.t", { after: values }))).toHaveLength(1);
    expect(questions(task(values), noop("tasks.t", { after: values }))).toEqual([]);
    expect(questions(task(values), remove("tasks.t"))).toEqual([]);
    expect(questions(task(values), create("tasks.other", { after: values }))).toEqual([]);
  });

  test("the value that the change reaches, where the spec has another", () => {
    expect(questions(task({ machine: "m" }), create("tasks.t", { after: { machine: "other" } }))).toEqual([
      "tasks.t machine other in catalog of node_types",
    ]);
  });
});

const catalog = (more: Partial<LookupAnswer> = {}) =>
  ({
    readable: true,
    singular: "node type",
    operation: "clusters/list-node-types",
    values: new Set(["large"]),
    ...more,
  }) as LookupAnswer;
const names = (more: Partial<LookupAnswer> = {}) =>
  ({ readable: true, values: new Set(["shelf"]), ...more }) as LookupAnswer;
const ask = (field: string, text: string, source: Lookup["source"], address = "tasks.t"): Lookup => ({
  address: address as Address,
  path: [field],
  text,
  source,
});
const inCatalog = (text: string, field = "machine") => ask(field, text, { in: "catalog", of: "node_types" });
const inIds = (text: string) => ask("box", text, { in: "ids", of: "boxes" });
const inNames = (text: string, field = "where") => ask(field, text, { in: "names", of: "boxes" });

function said(
  answers: { readonly catalog?: LookupAnswer; readonly kind?: LookupAnswer },
  ...asked: Lookup[]
) {
  const lookups: LookupAnswers = {
    catalogs: new Map(answers.catalog === undefined ? [] : [["node_types", answers.catalog]]),
    kinds: new Map(answers.kind === undefined ? [] : [["boxes", answers.kind]]),
  };
  return unconfirmedValues({ input: input(task({})), liveIndex }, lookups, asked);
}

describe("a value that does not exist in the workspace", () => {
  const at = (file: string) => ({ file, line: 2, column: 3 });

  test("is an error in a catalog, with the nearest value or the command that lists them", () => {
    expect(said({ catalog: catalog() }, inCatalog("larg"), inCatalog("xyz"), inCatalog("large"))).toEqual([
      {
        severity: "error",
        code: "PLAN_UNKNOWN_NAME",
        message: 'tasks.t: machine "larg" is not a node type of the workspace',
        address: "tasks.t",
        at: at("machine"),
        hint: 'did you mean "large"?',
      },
      {
        severity: "error",
        code: "PLAN_UNKNOWN_NAME",
        message: 'tasks.t: machine "xyz" is not a node type of the workspace',
        address: "tasks.t",
        at: at("machine"),
        hint: "to list them, run `workspace api clusters/list-node-types`",
      },
    ]);
  });

  test("is an error for an ID, without a guess at another ID", () => {
    expect(said({ kind: names({ values: new Set(["b1"]) }) }, inIds("b2"))).toEqual([
      {
        severity: "error",
        code: "PLAN_UNKNOWN_NAME",
        message: 'tasks.t: box "b2" is not the ID of a box in the workspace',
        address: "tasks.t",
        at: at("box"),
        hint: "declare it under boxes and use a reference, or correct the ID",
      },
    ]);
  });

  test("is a warning for a name, because another user may create the object", () => {
    expect(said({ kind: names() }, inNames("shelv"), inNames("drawer"))).toEqual([
      {
        severity: "warning",
        code: "PLAN_UNKNOWN_NAME",
        message: 'tasks.t: where "shelv" is not a box in the workspace',
        address: "tasks.t",
        at: at("where"),
        hint: 'did you mean "shelf"?',
      },
      {
        severity: "warning",
        code: "PLAN_UNKNOWN_NAME",
        message: 'tasks.t: where "drawer" is not a box in the workspace',
        address: "tasks.t",
        at: at("where"),
        hint: "declare it under boxes, correct the name, or create it before it is used",
      },
    ]);
  });

  test("has no source when the spec lacks the resource", () => {
    const [found] = said({ kind: names() }, ask("where", "x", { in: "names", of: "boxes" }, "tasks.gone"));
    expect(found?.at).toBeUndefined();
  });
});

describe("a value that was not looked up", () => {
  const refused = error("API_FORBIDDEN", "not allowed");

  test("is not mentioned without answers", () => {
    expect(unconfirmedValues({ input: input(task({})), liveIndex }, undefined, [inIds("b2")])).toEqual([]);
    expect(said({}, inIds("b2"), inCatalog("x"))).toEqual([]);
  });

  test("is a warning for each catalog that could not be read", () => {
    const answer = { readable: false, diagnostic: refused, singular: "node type" } as const;
    expect(said({ catalog: answer }, inCatalog("x"), inCatalog("y", "machines"))).toEqual([
      {
        severity: "warning",
        code: "PLAN_UNCHECKED",
        message:
          "node types could not be read, so machine of tasks.t and machines of tasks.t are not checked",
        at: { file: "machine", line: 2, column: 3 },
        cause: "API_FORBIDDEN: not allowed",
        hint: "check these values, or plan again",
      },
    ]);
  });

  test("is a warning with the hint of the failure for a kind that could not be read", () => {
    const answer = { readable: false, diagnostic: { ...refused, hint: "ask an admin" } } as const;
    expect(said({ kind: answer }, inIds("b2"))).toMatchObject([
      {
        message: "boxes could not be read, so box of tasks.t is not checked",
        hint: "ask an admin",
      },
    ]);
  });

  test("is a warning when a request for it failed, and values that were found are not in it", () => {
    const answer = names({ failed: new Map([["x", refused]]) });
    expect(said({ kind: answer }, inNames("x"), inNames("shelf", "near"))).toMatchObject([
      {
        code: "PLAN_UNCHECKED",
        message: "boxes could not be read, so where of tasks.t is not checked",
        cause: "API_FORBIDDEN: not allowed",
      },
    ]);
  });

  test("is a warning when it would have taken too many requests", () => {
    const answer = names({ unasked: new Set(["x", "y"]) });
    expect(said({ kind: answer }, inNames("x"), inNames("y", "near"))).toEqual([
      {
        severity: "warning",
        code: "PLAN_UNCHECKED",
        message: "too many folders to search, so where of tasks.t and near of tasks.t are not checked",
        at: { file: "where", line: 2, column: 3 },
        hint: "declare these resources, or check that they exist",
      },
    ]);
  });

  test("has no source when the spec lacks the resource", () => {
    const gone = (answer: LookupAnswer) =>
      said({ kind: answer }, ask("where", "x", { in: "names", of: "boxes" }, "tasks.gone"))[0];
    expect(gone(names({ unasked: new Set(["x"]) }))?.at).toBeUndefined();
    expect(gone({ readable: false, diagnostic: refused })?.at).toBeUndefined();
  });

  test("comes after values that do not exist", () => {
    const answer = names({ unasked: new Set(["x"]) });
    expect(said({ kind: answer }, inNames("x"), inNames("drawer")).map(({ code }) => code)).toEqual([
      "PLAN_UNKNOWN_NAME",
      "PLAN_UNCHECKED",
    ]);
  });
});

/** Boxes and apps compare names without regard to case, keys exactly; apps have a second name. */
const principals = registryOf(
  registry.kinds.map((kind) => {
    if (kind.kind === "labels")
      return { ...kind, fields: { ...kind.fields, app: { type: "string", identifies: true } } };
    if (kind.kind !== "tasks") return kind;
    const namedPrincipals = ({ access = {} }: JsonObject) =>
      Object.keys(access as JsonObject).map((text) => {
        const [of = "", name = ""] = text.split(/:(.*)/s);
        return { kind: of, name, path: ["access", text] };
      });
    return { ...kind, planning: { ...kind.planning, namedPrincipals } };
  }),
);

describe("principals that a change gives a right", () => {
  const all = live({
    boxes: [object("b1", "a"), object("b2", "b")],
    labels: [object("a/l", "a/l", {})],
    keys: [object("a/k", "a/k", {})],
  });
  const others = [resource("boxes.new"), resource("labels.a/app", { values: { app: "ID-1" } })];
  const asked = (names: readonly string[], change = create("tasks.t"), more: readonly Change[] = []) => {
    const access = Object.fromEntries(names.map((name) => [name, "READ"]));
    const wanted = task({ access });
    const writing = { ...change, after: { access } } as Change;
    const given = { ...input(wanted), registry: principals, spec: spec([...others, wanted]), live: all };
    const around = { input: given, liveIndex: indexLive(all, principals) };
    const workspace = createPlannedWorkspace({ ...around, owners }, {}, [writing, ...more]);
    return neededLookups(around, [writing, ...more], workspace).map(
      ({ path, text, source }) => `${path.join(" ")} ${text} in ${source.in} of ${source.of}`,
    );
  };

  test("are asked about if neither the spec nor the workspace has them", () => {
    expect(asked(["boxes:a", "boxes:new", "boxes:root", "boxes:lost", "labels:id-1", "labels:id-2"])).toEqual(
      ["access boxes:lost lost in principals of boxes", "access labels:id-2 id-2 in principals of labels"],
    );
    // A reference, and a kind that the dialect does not have.
    expect(asked(["boxes:${boxes.new.box_name}", "robots:lost"])).toEqual([]);
    // Only a field that identifies an object names it.
    expect(asked(["boxes:ID-1"])).toEqual(["access boxes:ID-1 ID-1 in principals of boxes"]);
  });

  test("are asked about if the plan deletes them, and only if the change sends them", () => {
    expect(asked(["boxes:a", "boxes:b"], create("tasks.t"), [remove("boxes.a")])).toEqual([
      "access boxes:a a in principals of boxes",
    ]);
    const diffs = [
      { path: ["access", "boxes:x"], before: 1, after: 2, cause: "spec", replaces: false },
    ] as const;
    expect(asked(["boxes:x", "boxes:y"], update("tasks.t", { diffs }) as never)).toEqual([
      "access boxes:x x in principals of boxes",
    ]);
  });

  test("exist in another case, unless their kind compares names exactly", () => {
    const kinds = ["boxes", "labels", "keys"];
    const answers: LookupAnswers = {
      catalogs: new Map(),
      kinds: new Map(kinds.map((kind) => [kind, names({ values: new Set(["Ada"]) })])),
    };
    const found = (text: string, where: "principals" | "names" = "principals") =>
      unconfirmedValues(
        { input: { ...input(task({})), registry: principals }, liveIndex },
        answers,
        kinds.map((of) => ({
          ...ask("access", text, { in: where, of } as Lookup["source"]),
          path: ["access", text],
        })),
      );
    expect(found("Ada")).toEqual([]);
    expect(found("ADA")).toMatchObject([
      {
        severity: "error",
        message: 'tasks.t: access "ADA" is not a key in the workspace',
        hint: 'did you mean "Ada"?',
      },
    ]);
    expect(found("ADA", "names")).toHaveLength(3);
    const unreadable: LookupAnswers = {
      catalogs: new Map(),
      kinds: new Map([["boxes", { readable: false, diagnostic: error("API_FORBIDDEN", "no") }]]),
    };
    const lookup = ask("access", "x", { in: "principals", of: "boxes" });
    expect(
      unconfirmedValues({ input: { ...input(task({})), registry: principals }, liveIndex }, unreadable, [
        lookup,
      ]),
    ).toMatchObject([{ code: "PLAN_UNCHECKED" }]);
  });
});

describe("a path in a field of names", () => {
  test("is not asked about if it is a path of a repository", () => {
    const kinds = registryOf(
      registry.kinds.map((kind) =>
        kind.kind === "boxes" ? { ...kind, tree: { root: "workspace" } as never } : kind,
      ),
    );
    const asked = (values: JsonObject) => {
      const wanted = task(values);
      const around = { input: { ...input(wanted), registry: kinds }, liveIndex };
      const changes = [create("tasks.t", { after: values })];
      const workspace = createPlannedWorkspace({ ...around, owners }, {}, changes);
      return neededLookups(around, changes, workspace).map(({ text }) => text);
    };
    expect(asked({ where: "lib/main/" })).toEqual([]);
    expect(asked({ where: "/Shared/main" })).toEqual(["/Shared/main"]);
    expect(asked({ box: "lib/main" })).toEqual(["lib/main"]);
  });
});

describe("the sentence about a value that does not exist", () => {
  test.each([
    ["box", "a box"],
    ["instance pool", "an instance pool"],
    ["user", "a user"],
    ["service principal", "a service principal"],
  ])("has the article of %s", (singular, expected) => {
    const kinds = registryOf(
      registry.kinds.map((kind) => (kind.kind === "boxes" ? { ...kind, singular } : kind)),
    );
    const answers: LookupAnswers = { catalogs: new Map(), kinds: new Map([["boxes", names()]]) };
    const context = { input: { ...input(task({})), registry: kinds }, liveIndex };
    expect(unconfirmedValues(context, answers, [inNames("x")])[0]?.message).toBe(
      `tasks.t: where "x" is not ${expected} in the workspace`,
    );
  });

  test("shows neither a sensitive value nor the nearest one", () => {
    const answers: LookupAnswers = { catalogs: new Map([["node_types", catalog()]]), kinds: new Map() };
    const isSensitive = (...about: readonly unknown[]) => about.join() === "tasks.t,machine,larg";
    const context = { input: { ...input(task({})), isSensitive }, liveIndex };
    const found = unconfirmedValues(context, answers, [inCatalog("larg"), inCatalog("larg", "machines")]);
    expect(found.map(({ message, hint }) => [message, hint])).toEqual([
      [
        "tasks.t: machine (sensitive) is not a node type of the workspace",
        "to list them, run `workspace api clusters/list-node-types`",
      ],
      ['tasks.t: machines "larg" is not a node type of the workspace', 'did you mean "large"?'],
    ]);
  });
});
