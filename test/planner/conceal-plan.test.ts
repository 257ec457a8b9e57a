// A plan for readers has a digest at each sensitive place; an apply puts the values of its run back, and refuses others.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../src/core/address.ts";
import { error, warning } from "../../src/core/diagnostic.ts";
import type { Path } from "../../src/core/pointer.ts";
import { hasDigest, withoutDigests } from "../../src/core/sensitive/digests.ts";
import { SensitiveValues } from "../../src/core/sensitive/values.ts";
import { concealedPlan, otherSensitiveValue, restoredPlan } from "../../src/planner/conceal-plan.ts";
import { type Change, touches } from "../../src/planner/model/change.ts";
import type { Drift, Plan } from "../../src/planner/model/plan.ts";
import * as changes from "./changes.ts";

const SECRET = "canary-77-secret";
const SHA = "a".repeat(64);
const OTHER_SHA = `12 bytes, sha256 ${"b".repeat(64)}`;
const A = addressOf("boxes", "a");
const KEY = Buffer.alloc(32, 7);
const NONE: ReadonlySet<string> = new Set();

/** `note` of `boxes.a` comes from a sensitive value. */
function sensitiveNote(secret = SECRET): SensitiveValues {
  const sensitive = new SensitiveValues({ key: KEY, lineage: "l" });
  sensitive.declare(A, { note: secret, size: 2 }, [["note"]]);
  return sensitive;
}

const planOf = (all: readonly Change[], more: Partial<Plan> = {}): Plan => ({
  host: "h",
  changes: all,
  drift: [],
  unmanaged: [],
  guards: [],
  diagnostics: [],
  ...more,
});

const values = (note: string) => ({ before: { note: "old", size: 1 }, after: { note, size: 2 } });
const diff = (path: Path, before: string, after: string, replaces = false) =>
  ({ path, before, after, cause: "spec", replaces }) as const;
const NOTE = diff(["note"], "old", SECRET);
const STEP = { operation: "set", detail: { note: SECRET, ids: ["1"] } };

const EACH: readonly (readonly [string, Change])[] = [
  ["create", changes.create("boxes.a", { after: values(SECRET).after })],
  ["update", changes.update("boxes.a", { ...values(SECRET), diffs: [NOTE], steps: [STEP] })],
  ["replace", changes.replace("boxes.a", { ...values(SECRET), diffs: [NOTE], because: [NOTE] })],
  ["delete", changes.remove("boxes.a", { before: values(SECRET).after })],
  ["adopt", changes.adopt("boxes.a", values(SECRET))],
  ["move", changes.move("boxes.a", values(SECRET))],
  ["compare", changes.compare("boxes.a", { ...values(SECRET), steps: [STEP] })],
  ["noop", changes.noop("boxes.a", values(SECRET))],
  ["report", changes.report("boxes.a", { before: values(SECRET).after })],
];

describe("a plan without sensitive values", () => {
  test("is the same plan if the run has none", () => {
    const plan = planOf(EACH.map(([, change]) => change));
    const nothing = new SensitiveValues({ key: KEY, lineage: "l" });
    expect(concealedPlan(plan, nothing, NONE)).toBe(plan);
    expect(restoredPlan(plan, nothing)).toEqual({ plan, diagnostics: [] });
  });

  test.each(EACH)("has a digest in both sides, differences, and steps of a change (%s)", (_, change) => {
    const [shown] = concealedPlan(planOf([change]), sensitiveNote(), NONE).changes;
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    const hidden = JSON.parse(JSON.stringify(change).replaceAll(SECRET, "(sensitive)"));
    const { fingerprint: _print, ...rest } = withoutDigests(JSON.parse(JSON.stringify(shown)));
    const { fingerprint: _plain, ...expected } = hidden;
    // The live value is at a sensitive place, too.
    expect(rest).toEqual(JSON.parse(JSON.stringify(expected).replaceAll('"old"', '"(sensitive)"')));
  });

  test.each(EACH)("gives an apply of the same values its change back (%s)", (_, change) => {
    const sensitive = sensitiveNote();
    const saved = JSON.parse(JSON.stringify(concealedPlan(planOf([change]), sensitive, NONE)));
    const later = sensitiveNote();
    later.learn("old");
    const { plan, diagnostics } = restoredPlan(saved, later);
    expect(diagnostics).toEqual([]);
    const { fingerprint: _print, ...restored } = plan.changes[0] as Change & { fingerprint?: string };
    const { fingerprint: _plain, ...planned } = change as Change & { fingerprint?: string };
    expect(restored).toEqual(JSON.parse(JSON.stringify(planned)));
  });

  test.each(EACH.filter(([, change]) => touches(change) && "after" in change))(
    "stops an apply that has another value, and names the place (%s)",
    (_, change) => {
      const saved = JSON.parse(JSON.stringify(concealedPlan(planOf([change]), sensitiveNote(), NONE)));
      const { plan, diagnostics } = restoredPlan(saved, sensitiveNote("another-value"));
      expect(diagnostics).toMatchObject([{ severity: "error", code: "PLAN_STALE", address: A }]);
      expect(diagnostics[0]?.message).toBe(
        "boxes.a: note has another sensitive value than when the plan was made",
      );
      expect(hasDigest((plan.changes[0] as Extract<Change, { readonly after: unknown }>).after)).toBe(true);
    },
  );

  test("stops no apply for what it does not write", () => {
    const saved = ["delete", "noop"].map((action) => changes.one("boxes.a")[action as "delete"]);
    const written = saved.map((change) => ({ ...change, before: { note: SECRET } }));
    const shown = JSON.parse(JSON.stringify(concealedPlan(planOf(written), sensitiveNote(), NONE)));
    expect(restoredPlan(shown, sensitiveNote("another-value")).diagnostics).toEqual([]);
  });

  test("keeps a change without a sensitive value unchanged, with its fingerprint", () => {
    const open = changes.update("boxes.b", { before: { note: "old" }, after: { note: "new" } });
    const noop = changes.noop("boxes.b", { before: { note: "same" }, after: { note: "same" } });
    const [update, unchanged] = concealedPlan(planOf([open, noop]), sensitiveNote(), NONE).changes;
    expect(update).toEqual(open);
    expect(unchanged).toBe(noop);
  });

  test("has a keyed fingerprint where a value is hidden: a digest without a key could be tested with guesses", () => {
    const sensitive = sensitiveNote();
    const change = changes.update("boxes.a", { ...values(SECRET), fingerprint: "plain-print" });
    const [shown] = concealedPlan(planOf([change]), sensitive, NONE).changes;
    expect(shown).toMatchObject({ fingerprint: sensitive.keyed("plain-print") });
  });

  test("shows `(sensitive)` in sentences, and hides a noop with one", () => {
    const sentences = { reasons: [`is ${SECRET}`], consequences: [`ends ${SECRET}`] };
    const deleted = changes.remove("boxes.b", { ...sentences, harms: [`harms ${SECRET}`] });
    const noop = changes.noop("boxes.b", { consequences: [`waits for ${SECRET}`] });
    const shown = concealedPlan(planOf([deleted, noop]), sensitiveNote(), NONE);
    expect(shown.changes).toMatchObject([
      { reasons: ["is (sensitive)"], consequences: ["ends (sensitive)"], harms: ["harms (sensitive)"] },
      { consequences: ["waits for (sensitive)"] },
    ]);
  });

  test("hides a value in the lines of a content, and in parts of a reference", () => {
    const content = { lines: [`+ ${SECRET}`, "- b"], added: 1, removed: 1 };
    const reference = { path: ["note"], parts: [`pre-${SECRET}-`, { address: A, attribute: "box_id" }] };
    const change = {
      ...changes.update("boxes.a", { content }),
      unresolved: [reference],
    } as unknown as Change;
    const saved = concealedPlan(planOf([change]), sensitiveNote(), NONE);
    expect(JSON.stringify(saved)).not.toContain(SECRET);
    expect(saved.changes).toMatchObject([{ content: { lines: ["+ (sensitive)", "- b"], added: 1 } }]);
    const later = sensitiveNote();
    later.learn(`pre-${SECRET}-`);
    const { plan } = restoredPlan(JSON.parse(JSON.stringify(saved)), later);
    expect(plan.changes).toMatchObject([{ unresolved: [reference] }]);
  });

  test("has the address of a hidden key of a map without the value", () => {
    const change = changes.update("boxes.b", { diffs: [diff(["tags", `k-${SECRET}`], "1", "2")] });
    const [shown] = concealedPlan(planOf([change]), sensitiveNote(), NONE).changes;
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    const { plan } = restoredPlan(JSON.parse(JSON.stringify(planOf([shown as Change]))), sensitiveNote());
    expect(plan.changes).toMatchObject([{ diffs: [{ path: ["tags", `k-${SECRET}`] }] }]);
  });
});

describe("the digest of a content", () => {
  const file = (content: string) =>
    changes.update("files.a", {
      before: { content },
      after: { content, imported: content },
      payload: content,
      diffs: [diff(["content"], content, content)],
    });

  test.each([SHA, OTHER_SHA])("is hidden everywhere unless the content was searched: %s", (content) => {
    const closed = concealedPlan(planOf([file(content)]), sensitiveNote(), NONE);
    expect(JSON.stringify(closed)).not.toContain(content);
    expect(concealedPlan(planOf([file(content)]), sensitiveNote(), new Set([content])).changes[0]).toEqual(
      file(content),
    );
    const { plan, diagnostics } = restoredPlan(JSON.parse(JSON.stringify(closed)), sensitiveNote());
    expect([plan.changes[0]?.action, diagnostics]).toMatchObject(["update", [{ code: "PLAN_STALE" }]]);
  });

  test("is shown in an unchanged resource whose content was searched, which needs no copy", () => {
    const values = { before: { content: SHA }, after: { content: SHA }, payload: SHA };
    const noop = changes.noop("files.a", values);
    const shown = (open: ReadonlySet<string>, change = noop) =>
      concealedPlan(planOf([change]), sensitiveNote(), open).changes[0];
    expect(shown(new Set([SHA]))).toBe(noop);
    expect(JSON.stringify(shown(NONE))).not.toContain(SHA);
    for (const one of [{ before: { content: SHA } }, { after: { imported: SHA } }])
      expect(JSON.stringify(shown(NONE, changes.noop("files.a", one)))).not.toContain(SHA);
    const other = changes.noop("files.a", { after: { content: "text" }, payload: SHA });
    expect(JSON.stringify(shown(NONE, other))).not.toContain(SHA);
    // The payload of a secret is a keyed digest, and nothing else has it.
    const secret = changes.noop("keys.a/k", { after: { value: "digest" }, payload: SHA });
    expect(shown(NONE, secret)).toBe(secret);
  });

  test.each([
    ["a reason", { reasons: [`is ${SECRET}`] }],
    ["a side effect", { consequences: [`is ${SECRET}`] }],
    ["a reference", { unresolved: [{ path: ["note"], parts: [SECRET] }] }],
  ])("is not all that is hidden in an unchanged resource: %s is, too", (_, more) => {
    const noop = changes.noop("boxes.b", more as never);
    const [shown] = concealedPlan(planOf([noop]), sensitiveNote(), NONE).changes;
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  test("is hidden in a deleted object, and shown in fields that have no content", () => {
    const head = { address: addressOf("files", "a"), kind: "files", name: "a", diffs: [] } as const;
    const gone: Drift = { ...head, what: "deleted", values: { content: SHA, note: SHA } };
    const [drift] = concealedPlan(planOf([], { drift: [gone] }), sensitiveNote(), NONE).drift;
    expect(withoutDigests(drift?.values)).toEqual({ content: "(sensitive)", note: SHA });
    const paths = [["note"], ["tags", "content"], ["content", "text"]];
    const update = changes.update("files.a", {
      diffs: paths.map((path) => diff(path, SHA, OTHER_SHA)) as never,
    });
    const [shown] = concealedPlan(planOf([update]), sensitiveNote(), NONE).changes;
    expect(shown).toMatchObject({ diffs: paths.map((path) => ({ path, before: SHA, after: OTHER_SHA })) });
  });

  test("is hidden in facts of drift, and any other string is shown", () => {
    const drift: Drift = {
      address: addressOf("files", "a"),
      kind: "files",
      name: "a",
      what: "changed",
      diffs: [{ ...diff(["content"], SHA, OTHER_SHA), cause: "drift" }],
      facts: { exported: SHA, size: "12 bytes", other: SHA.slice(1) },
    };
    const [shown] = concealedPlan(planOf([], { drift: [drift] }), sensitiveNote(), NONE).drift;
    expect(JSON.stringify(shown)).not.toContain(SHA);
    expect(shown?.facts).toMatchObject({ size: "12 bytes", other: SHA.slice(1) });
    expect(withoutDigests(shown?.facts)).toMatchObject({ exported: "(sensitive)" });
    const fields = changes.update("files.a", { before: { note: SHA }, after: { note: SHA } });
    expect(concealedPlan(planOf([fields]), sensitiveNote(), NONE).changes[0]).toMatchObject(bothSides(SHA));
  });
});

const bothSides = (note: string) => ({ before: { note }, after: { note } });

describe("drift, findings, and the rest of a plan", () => {
  const drift = (more: Partial<Drift>): Drift => ({
    address: A,
    kind: "boxes",
    name: "a",
    what: "changed",
    diffs: [],
    ...more,
  });

  test.each([
    ["differences", drift({ diffs: [{ ...NOTE, cause: "drift" }] })],
    ["a path", drift({ diffs: [{ ...diff(["tags", SECRET], "1", "2"), cause: "drift" }] })],
    ["values of a deleted object", drift({ what: "deleted", values: { note: SECRET, size: 2 } })],
    [
      "values of an object that appeared",
      drift({ what: "appeared", values: { tags: { t: `x ${SECRET}` } } }),
    ],
    ["facts", drift({ facts: { creator: SECRET } })],
    ["lines", drift({ content: { lines: [`- ${SECRET}`], added: 0, removed: 1 } })],
  ])("drift has no sensitive value in its %s", (_, item) => {
    const shown = concealedPlan(planOf([], { drift: [item] }), sensitiveNote(), NONE).drift;
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(withoutDigests(JSON.parse(JSON.stringify(shown)))).toEqual(
      JSON.parse(
        JSON.stringify([item]).replaceAll(SECRET, "(sensitive)").replaceAll('"old"', '"(sensitive)"'),
      ),
    );
  });

  test("drift without a content has none", () => {
    const [shown] = concealedPlan(planOf([], { drift: [drift({})] }), sensitiveNote(), NONE).drift;
    expect(shown?.content).toBeUndefined();
  });

  test("messages, guards, unmanaged objects, access, and likely renames show `(sensitive)`", () => {
    const plan = planOf([], {
      diagnostics: [warning("PLAN_UNKNOWN_NAME", `x ${SECRET}`, { address: A }), error("PLAN_STALE", SECRET)],
      guards: [{ diagnostic: error("GUARD_RULE", `rule ${SECRET}`), addresses: [A] }],
      unmanaged: [{ kind: "boxes", name: `n-${SECRET}`, id: "1" }],
      access: { note: SECRET } as never,
      renames: { note: SECRET } as never,
    });
    const shown = concealedPlan(plan, sensitiveNote(), NONE);
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(shown).toMatchObject({
      diagnostics: [{ message: "x (sensitive)" }, { message: "(sensitive)" }],
      guards: [{ diagnostic: { message: "rule (sensitive)" } }],
      unmanaged: [{ name: "n-(sensitive)" }],
    });
    expect(shown.split).toBeUndefined();
  });

  test("a message about a resource shows none of the values that the spec names as possible for it", () => {
    const sensitive = new SensitiveValues({ key: KEY, lineage: "l" });
    sensitive.texts.addPossibleValue("small");
    sensitive.declare(A, { note: "small" }, [["note"]]);
    const messages = [A, addressOf("boxes", "b"), undefined].map((address) =>
      warning("PLAN_UNKNOWN_NAME", "not small", address === undefined ? {} : { address }),
    );
    const shown = concealedPlan(planOf([], { diagnostics: messages }), sensitive, NONE).diagnostics;
    expect(shown.map(({ message }) => message)).toEqual(["not (sensitive)", "not small", "not small"]);
  });

  test("a plan that was split hides the changes of the base and its errors", () => {
    const resolved = [{ change: changes.create("boxes.a", { after: { note: SECRET } }), origin: "resolved" }];
    const split = { resolved, pendingErrors: [error("PLAN_STALE", SECRET)], base: "main" };
    const shown = concealedPlan(planOf([], { split: split as never }), sensitiveNote(), NONE);
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(shown.split).toMatchObject({
      base: "main",
      resolved: [{ origin: "resolved", change: { action: "create" } }],
      pendingErrors: [{ message: "(sensitive)" }],
    });
  });
});

describe("the message about another sensitive value", () => {
  test.each([
    [["note"] as Path, "boxes.a: note has another sensitive value than when the plan was made"],
    [[] as Path, "boxes.a has another sensitive value than when the plan was made"],
  ])("names the place %j", (path, message) => {
    expect(otherSensitiveValue(A, path)).toMatchObject({
      code: "PLAN_STALE",
      message,
      address: A,
      hint: "set the value that the plan was made with, or make a new plan",
    });
  });

  test("names the resource alone for a string next to a reference", () => {
    const reference = { path: ["note"], parts: [`is-${SECRET}`, { address: A, attribute: "box_id" }] };
    const change = { ...changes.update("boxes.b", { before: {}, after: {} }), unresolved: [reference] };
    const saved = JSON.parse(JSON.stringify(concealedPlan(planOf([change as never]), sensitiveNote(), NONE)));
    expect(restoredPlan(saved, sensitiveNote("another-value")).diagnostics).toMatchObject([
      { message: "boxes.b has another sensitive value than when the plan was made" },
    ]);
  });

  test("names the resource alone for a step of the plan", () => {
    const step = { operation: "set", detail: { secret: SECRET } };
    const change = changes.update("boxes.b", { before: {}, after: {}, steps: [step] });
    const saved = JSON.parse(JSON.stringify(concealedPlan(planOf([change]), sensitiveNote(), NONE)));
    expect(restoredPlan(saved, sensitiveNote("another-value")).diagnostics).toMatchObject([
      { message: "boxes.b has another sensitive value than when the plan was made" },
    ]);
  });
});
