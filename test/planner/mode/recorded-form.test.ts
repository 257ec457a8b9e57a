// Plans of untrusted specs: which values stand in the clear, which become tokens, and that a guess learns nothing from either.

import { describe, expect, test } from "vitest";
import { addressOf, remoteId } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Path } from "../../../src/core/pointer.ts";
import { hasDigest, withoutDigests } from "../../../src/core/sensitive/digests.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";
import {
  hideRecordedStrings,
  hidingMemberships,
  type RecordedResource,
  recordedForm,
  withRecordedTokens,
  withUnreadTokens,
} from "../../../src/planner/mode/recorded-form.ts";
import type { FieldTable, Values } from "../../../src/resource/field-schema.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Live } from "../../../src/resource/live.ts";
import type { PlanningRules } from "../../../src/resource/planning.ts";
import { registry as boxes } from "../kinds.ts";

const A = addressOf("boxes", "a");
const KEY = Buffer.alloc(32, 7);
const OPTIONS = { key: KEY, lineage: "l", ignoresIndexes: true };
const SECRET = "canary-77-secret";

const FIELDS: FieldTable = {
  note: { type: "string" },
  mode: { type: "string", enum: ["fast", "slow"] },
  zone: { type: "string", const: "eu" },
  tier: { type: ["string", "null"], default: "basic" },
  near: { type: "string", names: "boxes" },
  pool: { type: "string", refersTo: "boxes" },
  path: { type: "string", mentions: "boxes" } as never,
  id: { type: "string", identifies: "boxes" } as never,
  size: { type: "integer" },
  on: { type: "boolean" },
  tags: { type: "object", additionalProperties: { type: "string" } },
  args: { type: "array", list: "ordered", items: { type: "string" } },
  inner: { type: "object", properties: { note: { type: "string" } } },
};

/** The state of `boxes.a` after an apply of `values` with sensitive ones at `paths`, for a run that has them if `knows`. */
function recordedAfter(values: Values, paths: readonly Path[], { knows = true } = {}) {
  const earlier = new SensitiveValues(OPTIONS);
  earlier.declare(A, values, paths);
  const stored = earlier.conceal(A, values, "stored");
  const sensitive = new SensitiveValues(OPTIONS);
  if (knows) sensitive.learn(values);
  sensitive.record(A, stored);
  const revealed = sensitive.reveal(stored);
  const recorded: RecordedResource = { address: A, fields: FIELDS, stored, revealed, applied: stored };
  return { sensitive, recorded, stored };
}

/** `true` at each token. */
const tokens = (values: Values): unknown =>
  JSON.parse(JSON.stringify(withoutDigests(values)), (_, value) => (value === "(sensitive)" ? true : value));

describe("the values of a live object, for an untrusted spec", () => {
  const applied = {
    note: SECRET,
    size: 4321,
    tags: { open: "plain", shut: SECRET },
    args: ["a", SECRET, "b"],
  };
  const paths = [["note"], ["size"], ["tags", "shut"], ["args", 1]];

  test("have a token at each recorded digest, the same as the state, and the plain values that were declared", () => {
    const { sensitive, recorded } = recordedAfter(applied, paths);
    const form = recordedForm(sensitive, recorded, applied);
    expect(tokens(form)).toEqual({
      note: true,
      size: true,
      tags: { open: "plain", shut: true },
      args: ["a", true, "b"],
    });
    expect(recordedForm(sensitive, recorded, applied)).toEqual(form);
    expect(JSON.stringify(form)).not.toContain(SECRET);
  });

  test("have another token where another user changed a sensitive value, and the same in an entry that moved", () => {
    const { sensitive, recorded } = recordedAfter(applied, paths);
    const before = recordedForm(sensitive, recorded, applied);
    const changed = recordedForm(sensitive, recorded, {
      ...applied,
      note: "other",
      args: [SECRET, "b", "a"],
    });
    expect(tokens(changed)).toMatchObject({ note: true, args: [true, "b", "a"] });
    expect(changed.note).not.toBe(before.note);
    expect((changed.args as string[])[0]).toBe((before.args as string[])[1]);
  });

  test("have one token for each of two equal entries", () => {
    const twice = { args: [SECRET, SECRET] };
    const { sensitive, recorded } = recordedAfter(twice, [
      ["args", 0],
      ["args", 1],
    ]);
    expect(tokens(recordedForm(sensitive, recorded, twice))).toEqual({ args: [true, true] });
    expect(tokens(recordedForm(sensitive, recorded, { args: [SECRET, SECRET, "new"] }))).toEqual({
      args: [true, true, true],
    });
  });

  test.each([
    ["a string that the spec did not declare", { inner: { note: "by hand" } }, { inner: { note: true } }],
    ["a string of the schema's list", { mode: "fast" }, { mode: "fast" }],
    ["a string beside the schema's list", { mode: "odd" }, { mode: true }],
    ["a constant of the schema", { zone: "eu" }, { zone: "eu" }],
    ["a default of the schema", { tier: "basic" }, { tier: "basic" }],
    ["another value of a field with a default", { tier: "gold" }, { tier: true }],
    ["a name of an object", { near: "b" }, { near: "b" }],
    ["a reference", { pool: "b-1" }, { pool: "b-1" }],
    ["a mention", { path: "/b" }, { path: "/b" }],
    ["an ID", { id: "b-2" }, { id: "b-2" }],
    ["a number", { size: 5 }, { size: 5 }],
    ["a boolean", { on: true }, { on: true }],
    ["null", { tier: null }, { tier: null }],
  ] as readonly (readonly [string, JsonObject, JsonObject])[])(
    "show %s, or hide it: %j",
    (_, live, expected) => {
      const { sensitive, recorded } = recordedAfter({ note: SECRET }, [["note"]]);
      expect(JSON.parse(JSON.stringify(withoutDigests(recordedForm(sensitive, recorded, live))))).toEqual(
        JSON.parse(JSON.stringify(expected), (key, value) =>
          value === true && key !== "on" ? "(sensitive)" : value,
        ),
      );
    },
  );

  test("hide a key of a map only if it contains a sensitive text and the last apply did not declare it", () => {
    const { sensitive, recorded } = recordedAfter({ note: SECRET, tags: { plain: "x" } }, [["note"]]);
    sensitive.texts.addValue(SECRET);
    const live = { tags: { plain: "x", [`k-${SECRET}`]: "x", near: "y" } };
    const keys = Object.keys(recordedForm(sensitive, recorded, live).tags as JsonObject);
    expect(keys.map((key) => withoutDigests(key))).toEqual(["plain", "k-(sensitive)", "near"]);
    const declared = { ...recorded, applied: { tags: { [`k-${SECRET}`]: "x" } } };
    expect(Object.keys(recordedForm(sensitive, declared, live).tags as JsonObject)[1]).toBe(`k-${SECRET}`);
    expect(recordedForm(sensitive, recorded, { near: "b" })).toEqual({ near: "b" });
  });

  test("are the values themselves if the run has nothing to hide", () => {
    const sensitive = new SensitiveValues(OPTIONS);
    const values = { note: "x" };
    const recorded = { address: A, fields: FIELDS, stored: {}, revealed: {}, applied: {} };
    expect(recordedForm(sensitive, recorded, values)).toBe(values);
  });
});

test("strings and numbers at recorded places are hidden in other values, and no others", () => {
  const applied = { note: SECRET, size: 4321, mode: "fast", tags: { shut: "another-one" } };
  const { sensitive, recorded } = recordedAfter(applied, [["note"], ["size"], ["tags", "shut"]]);
  hideRecordedStrings(sensitive, recorded, { ...applied, note: "changed-by-hand", inner: { note: "plain" } });
  const { texts } = sensitive;
  expect(["changed-by-hand", "another-one", "4321"].map((text) => texts.isIn(text))).toEqual([
    true,
    true,
    true,
  ]);
  expect(["plain", "fast"].map((text) => texts.isIn(text))).toEqual([false, false]);
});

describe("the values of an untrusted spec", () => {
  const applied = { note: SECRET, tags: { shut: SECRET }, args: ["a", SECRET, "b", "second-secret"] };
  const paths = [["note"], ["tags", "shut"], ["args", 1], ["args", 3]];

  test("have the recorded token at each place that is sensitive in both, whatever they guess", () => {
    const { sensitive, recorded, stored } = recordedAfter(applied, paths);
    const form = recordedForm(sensitive, recorded, applied);
    const guess = { note: "guess", tags: { shut: "guess" }, args: ["guess-1", "x", "guess-2"], size: 1 };
    const resource = {
      address: A,
      values: guess,
      sensitive: [["note"], ["tags", "shut"], ["args", 2], ["args", 0], ["size"]],
    };
    const { values, replaced } = withRecordedTokens(sensitive, resource, { stored, form });
    const [, first, , second] = form.args as string[];
    expect(values).toEqual({
      note: form.note,
      tags: form.tags,
      args: [first, "x", second],
      size: 1,
    });
    expect(replaced).toEqual([["note"], ["tags", "shut"], ["args", 2], ["args", 0]]);
  });

  test("keep a sensitive entry that the state has no digest for, and a field that was plain", () => {
    const { sensitive, recorded, stored } = recordedAfter({ note: "plain", args: ["a"] }, []);
    const form = recordedForm(sensitive, recorded, { note: "plain", args: ["a"] });
    const values = { note: "guess", args: ["b"], inner: { note: "x" } };
    const resource = { address: A, values, sensitive: [["note"], ["args", 0], ["inner", "note"]] };
    expect(withRecordedTokens(sensitive, resource, { stored, form })).toEqual({ values, replaced: [] });
    expect(withRecordedTokens(sensitive, { address: A, values }, { stored, form })).toEqual({
      values,
      replaced: [],
    });
  });

  test("find a value that the state has in another form of its kind", () => {
    const moving = {
      ...OPTIONS,
      placeOf: (_: unknown, path: Path) =>
        path[0] === "inner"
          ? { holder: ["inner"], place: path.slice(1) }
          : { holder: [] as Path, place: path },
    };
    const earlier = new SensitiveValues(moving);
    earlier.declare(A, { tags: { n: "plain" }, inner: { note: SECRET } }, [["inner", "note"]]);
    const stored = earlier.conceal(A, { tags: { n: "plain" }, inner: { note: SECRET } }, "stored");
    const sensitive = new SensitiveValues(moving);
    sensitive.record(A, stored);
    const resource = { address: A, values: { note: "guess" }, sensitive: [["note"]] };
    const { values, replaced } = withRecordedTokens(sensitive, resource, { stored, form: stored });
    expect([values, replaced]).toEqual([{ note: (stored.inner as JsonObject).note }, [["note"]]]);
    const elsewhere = { address: A, values: { mode: "guess" }, sensitive: [["mode"]] };
    expect(withRecordedTokens(sensitive, elsewhere, { stored, form: stored }).replaced).toEqual([]);
  });

  test("have a token that equals nothing at each other sensitive place, unless the last apply had the same in the clear", () => {
    const { sensitive } = recordedAfter({ note: SECRET }, [["note"]]);
    const values = { note: "guess", mode: "fast", size: 7, inner: { note: "x" }, tags: {} };
    const resource = {
      address: A,
      values,
      sensitive: [["note"], ["mode"], ["size"], ["tags"], ["zone"]],
    };
    const made = withUnreadTokens(sensitive, resource, { mode: "fast", note: "other" });
    expect(tokens(made.values)).toEqual({
      note: true,
      mode: "fast",
      size: true,
      inner: { note: "x" },
      tags: {},
    });
    expect(made.replaced).toEqual([["note"], ["size"]]);
    const again = withUnreadTokens(sensitive, { ...resource, values: made.values }, {});
    expect(again.replaced).toEqual([["mode"]]);
    const other = withUnreadTokens(sensitive, { ...resource, values: { note: "guess-2" } }, {});
    expect(hasDigest(other.values.note) && other.values.note !== made.values.note).toBe(true);
    expect(withUnreadTokens(sensitive, { address: A, values }, {})).toEqual({ values, replaced: [] });
  });
});

describe("memberships that follow from a sensitive value", () => {
  const kind = (name: string, fields: FieldTable, planning: PlanningRules = {}) => ({
    ...boxes.get("boxes"),
    kind: name,
    nameField: undefined,
    fields,
    planning,
  });
  const listOf = (names: string): FieldTable[string] => ({
    type: "array",
    list: "set",
    items: { type: "string", names },
  });
  const users = kind("users", { groups: listOf("groups") });
  const groups = kind("groups", { members: listOf("users") });
  const roles = kind(
    "roles",
    { role: { type: "string" } },
    {
      impliedMembership: (name) => ({
        field: "role",
        group: { kind: "groups", name: "admins" },
        member: { kind: "users", name },
      }),
    },
  );
  const registry = registryOf([users, groups, roles]);
  const sensitive = new SensitiveValues(OPTIONS);
  sensitive.declare(addressOf("roles", "ada"), { role: SECRET }, [["role"]]);
  const token = sensitive.conceal(addressOf("roles", "ada"), { role: SECRET }, "shown");
  const object = (name: string, values: Values) => ({ id: remoteId(name), name, values, facts: {} });
  const live = (readable: boolean): Live =>
    new Map([
      [
        "roles",
        readable
          ? {
              readable,
              objects: [object("ada", token), object("bob", { role: "user" })],
              unreadableParents: new Map(),
            }
          : ({ readable, diagnostic: {} } as never),
      ],
    ]);
  const admins = object("admins", { members: ["ada", "bob", "eve"] });

  test("are as the last applied spec declares them, on both sides", () => {
    const hide = hidingMemberships(registry, live(true));
    expect(hide("groups", admins, {}).values).toEqual({ members: ["bob", "eve"] });
    expect(hide("groups", admins, { members: ["ada"] }).values).toEqual({ members: ["ada", "bob", "eve"] });
    const ada = object("ada", { groups: ["admins", "eng"] });
    expect(hide("users", ada, {}).values).toEqual({ groups: ["eng"] });
    expect(hide("users", ada, { groups: ["admins"] }).values).toEqual({ groups: ["admins", "eng"] });
  });

  test("stay where nothing sensitive decides them, or their kind was not read", () => {
    const other = object("eng", { members: ["ada"] });
    expect(hidingMemberships(registry, live(true))("groups", other, {})).toBe(other);
    const bob = object("bob", { groups: ["admins"] });
    expect(hidingMemberships(registry, live(true))("users", bob, {})).toBe(bob);
    expect(hidingMemberships(registry, live(false))("groups", admins, {})).toBe(admins);
  });
});
