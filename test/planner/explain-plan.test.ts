import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { error, warning } from "../../src/core/diagnostic.ts";
import type { PastRun } from "../../src/core/past-run.ts";
import { type ExplainInput, explainableAddresses, explainResource } from "../../src/planner/explain-plan.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import { live, object, plan, record, resource, spec, state } from "./build.ts";
import { create, noop, remove, report, update } from "./changes.ts";
import { registry } from "./kinds.ts";

const at = (text: string): Address => text as Address;
const A = at("boxes.a");
const B = at("boxes.b");

function inputOf(more: Partial<ExplainInput> & Pick<ExplainInput, "spec">, planned = {}): ExplainInput {
  const recorded = more.state ?? state();
  const made = plan({ spec: more.spec, state: recorded, ...planned });
  return { registry, plan: made, permissive: made, state: recorded, originOf: () => undefined, ...more };
}

const run = (id: string, fields: readonly string[]): PastRun => ({
  id,
  command: "apply",
  actor: id,
  started_at: 1,
  plan: "",
  outcome: "applied",
  applied: {},
  left: 0,
  changed: [A],
  details: [{ address: A, action: "update", fields: fields.map((path) => ({ path })) }],
});

const boxes = (values: object) => live({ boxes: [object("1", "a", { box_name: "a", size: 1, ...values })] });

describe("the explanation of a plan", () => {
  test("names for each field the newest run that wrote it", () => {
    const recorded = {
      ...state([record(A, "1", { size: 1, note: "x" })]),
      history: [run("first", ["/size", "/tags/env"]), run("second", ["/note"])],
    };
    const wanted = spec([resource(A, { values: { size: 2, note: "y", tags: { env: "dev" } } })]);
    const input = inputOf({ spec: wanted, state: recorded }, { live: boxes({ note: "x" }) });
    const explanation = explainResource(input, A);
    expect(explanation?.status).toBe("changes");
    expect(explanation?.fields.map(({ diff, writtenBy }) => [diff.path.join("."), writtenBy?.id])).toEqual([
      ["size", "first"],
      ["note", "second"],
      ["tags", "first"],
    ]);
    expect(explanation?.runs.map(({ id }) => id)).toEqual(["second", "first"]);
  });

  test("tells ignored fields apart from those that change", () => {
    const lifecycle = { ignore_changes: ["note"] };
    const values = { size: 2, note: "spec" };
    const wanted = spec([resource(A, { values, lifecycle })]);
    const recorded = state([record(A, "1", { size: 1, note: "live" })]);
    const planned = { spec: wanted, state: recorded, live: boxes({ note: "live" }) };
    const permissive = plan({ ...planned, spec: spec([resource(A, { values })]) });
    const explanation = explainResource(inputOf({ spec: wanted, state: recorded, permissive }, planned), A);
    expect(explanation?.fields.map(({ diff }) => diff.path)).toEqual([["size"]]);
    expect(explanation?.ignored.map(({ diff }) => diff)).toMatchObject([
      { path: ["note"], before: "live", after: "spec" },
    ]);
  });

  test("shows the fields of a refused replacement", () => {
    const values = { material: "steel" };
    const wanted = spec([resource(A, { values })]);
    const recorded = state([record(A, "1", { material: "wood" })]);
    const planned = { spec: wanted, state: recorded, live: boxes({ material: "wood" }) };
    const permissive = plan({
      ...planned,
      spec: spec([resource(A, { values })], { on_immutable_change: "replace" }),
    });
    const explanation = explainResource(inputOf({ spec: wanted, state: recorded, permissive }, planned), A);
    expect(explanation).toMatchObject({ status: "refused", change: undefined });
    expect(explanation?.blockedBy.map(({ code }) => code)).toEqual(["PLAN_IMMUTABLE"]);
    expect(explanation?.fields.map(({ diff }) => [diff.path[0], diff.replaces])).toEqual([
      ["material", true],
    ]);
  });

  test("separates what blocks the resource from what blocks the plan because of others", () => {
    const input = inputOf({ spec: spec([resource(A), resource(B)]) });
    const guard = (address: Address) => ({
      diagnostic: error("GUARD_PREVENT_DESTROY", `about ${address}`),
      addresses: [address],
    });
    const blocked = { ...input.plan, guards: [guard(A), guard(B)] };
    const explanation = explainResource({ ...input, plan: blocked }, A);
    expect(explanation?.blockedBy.map(({ message }) => message)).toEqual(["about boxes.a"]);
    expect(explanation?.planBlockedBy.map(({ message }) => message)).toEqual(["about boxes.b"]);
  });

  test("gives --exclude as the reason of a deletion that an excluded resource prevents", () => {
    const recorded = state([record(A, "1", { size: 1 }, { depends_on: [B] }), record(B, "2", { size: 1 })]);
    const objects = [
      object("1", "a", { box_name: "a", size: 1 }),
      object("2", "b", { box_name: "b", size: 1 }),
    ];
    const exclude = (address: Address): boolean => address === A;
    const wanted = spec([resource(A, { values: { size: 2 } })]);
    const input = inputOf(
      { spec: wanted, state: recorded, exclude },
      { exclude, live: live({ boxes: objects }) },
    );
    expect(input.plan.part?.excluded).toEqual([B]);
    expect(explainResource(input, B)).toMatchObject({ status: "left_out", leftOutBy: ["--exclude"] });
  });

  test("names the excluded resource that a left out one depends on through others", () => {
    const C = at("boxes.c");
    const wanted = spec([resource(A), resource(B, { dependsOn: [A] }), resource(C, { dependsOn: [B] })]);
    const exclude = (address: Address): boolean => address === A;
    const input = inputOf({ spec: wanted, exclude }, { exclude });
    expect(explainResource(input, C)).toMatchObject({
      status: "left_out",
      leftOutBy: ["--exclude"],
      leftOutWith: A,
      dependsOn: [{ address: B, action: undefined, fields: [] }],
    });
    expect(explainResource(input, A)).toMatchObject({ leftOutBy: ["--exclude"], leftOutWith: undefined });
  });

  test("has the fields that refer to a resource, and recorded dependents that are no longer declared", () => {
    const reference = { path: ["box"], parts: [{ address: A, attribute: "box_id" }] };
    const wanted = spec([
      resource(A),
      resource("tasks.t", { dependsOn: [A], references: [reference], values: { box: "${boxes.a.box_id}" } }),
    ]);
    const old = record("tasks.old", "9", {}, { depends_on: [A] });
    const explanation = explainResource(inputOf({ spec: wanted, state: state([old]) }), A);
    expect(explanation?.dependents.map(({ address, fields }) => [address, fields])).toEqual([
      ["tasks.old", []],
      ["tasks.t", [["box"]]],
    ]);
  });

  test("finds an unmanaged object by its name, and nothing at an address without one", () => {
    const found = live({ boxes: [object("7", "Crate", { box_name: "Crate" })] });
    const input = inputOf({ spec: spec([resource(B)]) }, { live: found });
    expect(explainResource(input, at("boxes.crate"))).toMatchObject({
      status: "unmanaged",
      unmanaged: { id: "7" },
      change: undefined,
    });
    expect(explainResource(input, at("boxes.cratte"))).toBeUndefined();
  });

  const C = at("boxes.c");
  /** With these members of the plan. */
  const given = (planned: Partial<Plan>, more: Partial<ExplainInput> = {}): ExplainInput => {
    const input = inputOf({ spec: spec([resource(A), resource(B)]), ...more });
    return { ...input, plan: { ...input.plan, changes: [], ...planned } };
  };
  const explained = (planned: Partial<Plan>, more: Partial<ExplainInput> = {}) =>
    explainResource(given(planned, more), A);

  test.each<readonly [string, Change | undefined]>([
    ["changes", update(A)],
    ["unchanged", noop(A)],
    ["unmanaged", report(A)],
    ["left_out", undefined],
    ["left_out", update(B)],
  ])("has the status %s by the action of the plan", (status, change) => {
    const expected = change?.address === A ? change : undefined;
    const explanation = explained({ changes: change === undefined ? [] : [change] });
    expect(explanation).toMatchObject({ status, change: expected, leftOutBy: [], leftOutWith: undefined });
    expect(explanation?.unmanaged).toBeUndefined();
  });

  test("is about the present object of an address, and about a replaced one only without it", () => {
    const [old, now] = [remove(A, { deposed: true }), update(A)];
    expect(explained({ changes: [old, now] })?.change).toBe(now);
    expect(explained({ changes: [old] })?.change).toBe(old);
    const nowhere = given({ changes: [remove(C)] });
    expect(explainResource(nowhere, C)?.change).toBe(nowhere.plan.changes[0]);
  });

  test("has each field of a creation, whether its value is known, and who decides it", () => {
    const unresolved = [{ path: ["note"], parts: [{ address: B, attribute: "box_id" }] }];
    const change = create(A, { after: { size: 2, note: "?" }, cause: "spec", unresolved });
    const originOf = (address: Address, path: readonly unknown[]) => `${address} ${path.join(".")}` as never;
    const added = { before: undefined, cause: "spec", replaces: false };
    expect(explained({ changes: [change] }, { originOf })?.fields).toEqual([
      { diff: { path: ["size"], after: 2, ...added }, origin: "boxes.a size", writtenBy: undefined },
      {
        diff: { path: ["note"], after: "?", ...added, unknown: true },
        origin: "boxes.a note",
        writtenBy: undefined,
      },
    ]);
    expect(explained({ changes: [remove(A)] })?.fields).toEqual([]);
  });

  test("has no ignored fields among those of a refused replacement", () => {
    const lifecycle = { ignore_changes: ["note"] };
    const change = update(A, {
      diffs: ["note", "size"].map((field) => ({
        ...{ path: [field], before: 1, after: 2, cause: "spec", replaces: true },
      })) as never,
    });
    const refused = { diagnostics: [error("PLAN_IMMUTABLE", "refused", { address: A })] };
    const input = given(refused, { spec: spec([resource(A, { lifecycle })]) });
    const explanation = explainResource({ ...input, permissive: { ...input.plan, changes: [change] } }, A);
    expect(explanation?.fields.map(({ diff }) => diff.path)).toEqual([["size"]]);
    expect(explanation?.ignored.map(({ diff }) => diff.path)).toEqual([["note"]]);
  });

  test("has the drift of the resource, and the findings about it apart from those about others", () => {
    const drift = [B, A].map((address) => ({
      address,
      kind: "boxes",
      name: "x",
      what: "deleted",
      diffs: [],
    }));
    const diagnostics = [
      error("PLAN_IMMUTABLE", "own error", { address: A }),
      warning("PLAN_MODE", "own warning", { address: A }),
      error("PLAN_IMMUTABLE", "other error", { address: B }),
      warning("PLAN_MODE", "other warning", { address: B }),
      error("PLAN_MODE", "error of the plan"),
    ];
    const texts = (found: readonly { readonly message: string }[] = []) =>
      found.map(({ message }) => message);
    const explanation = explained({ drift: drift as never, diagnostics, changes: [update(A)] });
    expect(explanation?.drift).toBe(drift[1]);
    expect(texts(explanation?.blockedBy)).toEqual(["own error"]);
    expect(texts(explanation?.planBlockedBy)).toEqual(["other error", "error of the plan"]);
    expect(texts(explanation?.warnings)).toEqual(["own warning"]);
    // A plan with a change of the resource does not refuse it.
    expect(explanation?.status).toBe("changes");
    expect(explained({ diagnostics: diagnostics.slice(1) })?.status).toBe("left_out");
  });

  test.each<
    readonly [string, readonly Address[], readonly Address[], readonly string[], Address | undefined]
  >([
    ["nothing", [], [], [], undefined],
    ["--only", [A], [], ["--only"], undefined],
    ["--exclude", [], [A], ["--exclude"], undefined],
    ["--exclude, also if --only does not choose it", [A], [A], ["--exclude"], undefined],
    ["--exclude of what it depends on", [], [B], ["--exclude"], B],
    ["nothing, if --exclude is about others", [], [C], [], undefined],
  ])("says that %s leaves a resource out", (_, notChosen, excluded, leftOutBy, leftOutWith) => {
    const options = {
      ...(notChosen.length > 0 && { only: (address: Address) => !notChosen.includes(address) }),
      ...(excluded.length > 0 && { exclude: (address: Address) => excluded.includes(address) }),
    };
    const wanted = spec([resource(A, { dependsOn: [B] }), resource(B)]);
    const left = explained({}, { ...options, spec: wanted });
    expect(left).toMatchObject({ status: "left_out", leftOutBy, leftOutWith });
    // A resource with a change is not left out.
    const changed = explained({ changes: [update(A)] }, { ...options, spec: wanted });
    expect(changed).toMatchObject({ leftOutBy: [], leftOutWith: undefined });
  });

  test("says that --exclude leaves out what the plan lists as excluded, and nothing else", () => {
    const exclude = () => false;
    const part = (excluded: readonly Address[]) => ({ part: { excluded } as never });
    expect(explained(part([A]), { exclude })?.leftOutBy).toEqual(["--exclude"]);
    expect(explained(part([B]), { exclude })?.leftOutBy).toEqual([]);
    expect(explained({ part: {} as never }, { exclude })?.leftOutBy).toEqual([]);
    // Errors about a resource are the reason, and options are not.
    const diagnostics = [error("PLAN_IMMUTABLE", "refused", { address: A })];
    expect(explained({ ...part([A]), diagnostics })?.leftOutBy).toEqual([]);
  });

  test("has each field once that refers to a dependency, and recorded dependencies without a declaration", () => {
    const to = (path: string, target: Address | string) => ({
      ...{
        path: [path],
        parts: target === "text" ? ["text"] : ["a ", { address: target as Address, attribute: "box_id" }],
      },
    });
    const references = [to("box", B), to("box", B), to("name", C), to("note", "text")];
    const recorded = state([
      record("boxes.old", "1", {}, { depends_on: [A] }),
      record(B, "2", {}, { depends_on: [A] }),
      record("boxes.other", "3", {}, { depends_on: [B] }),
    ]);
    const wanted = spec([resource(A, { dependsOn: [B], references }), resource(B)]);
    const input = given({ changes: [update(B), remove("boxes.old")] }, { spec: wanted, state: recorded });
    expect(explainResource(input, A)?.dependsOn).toEqual([
      { address: B, action: "update", fields: [["box"]] },
    ]);
    // The record of a declared resource does not count.
    expect(explainResource(input, A)?.dependents).toEqual([
      { address: "boxes.old", action: "delete", fields: [] },
    ]);
    expect(explainResource(input, at("boxes.old"))?.dependsOn).toEqual([
      { address: A, action: undefined, fields: [] },
    ]);
    expect(explainResource({ ...input, spec: spec([resource(C)]) }, C)?.dependsOn).toEqual([]);
  });

  test("names no run of another resource, and none that recorded no fields", () => {
    const other = { ...run("other", ["/size"]), changed: [B] };
    const { details: _, ...plain } = run("plain", []);
    const elsewhere = run("elsewhere", []);
    const details = [{ address: B, action: "update", fields: [{ path: "/size" }] }] as const;
    const history = [other, plain, { ...elsewhere, details }];
    const recorded = { ...state([record(A, "1", { size: 1 })]), history };
    const explanation = explained({ changes: [update(A)] }, { state: recorded });
    expect(explanation?.runs.map(({ id }) => id)).toEqual(["elsewhere", "plain"]);
    expect(explanation?.fields.map(({ writtenBy }) => writtenBy?.id)).toEqual([undefined]);
  });

  test("can be of every address that is declared, recorded, planned, or live", () => {
    const unmanaged = [{ kind: "boxes", name: "Crate", id: "7" }];
    const recorded = state([record(A, "1"), record("boxes.old", "2")]);
    const input = given({ changes: [remove(C), update(A)], unmanaged }, { state: recorded });
    expect(explainableAddresses(input)).toEqual([A, B, "boxes.old", C, "boxes.Crate"]);
    expect(explainResource(input, at("tasks.Crate"))).toBeUndefined();
    expect(explainResource(input, at("unknown.Crate"))).toBeUndefined();
    expect(explainResource(input, at("boxes.Crate"))?.status).toBe("unmanaged");
  });
});
