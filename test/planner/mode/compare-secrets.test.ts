// Secrets whose values are not known when a plan is made.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import {
  withoutSecretValues,
  withRecordedSecrets,
  withSecretValues,
} from "../../../src/planner/mode/compare-secrets.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { plan, record, resource, spec, state } from "../build.ts";
import { compare, create, noop, remove, update } from "../changes.ts";
import { registry } from "../kinds.ts";

const KEY = "keys.a/k" as Address;
const known = state([
  record(KEY, "k", { value: "digest", other: 1 }),
  record("boxes.a", "b1", { note: "n" }),
]);
const given = (...resources: readonly Resource[]) => ({ registry, state: known, spec: spec(resources) });
const key = resource(KEY, { values: {} });
const valued = (digest: string, of = key): Resource => ({ ...of, payload: { digest } }) as never;

describe("the secrets of a spec without values", () => {
  test("have the recorded digest, unless a value is there or nothing is recorded", () => {
    const from = given(key, resource("keys.a/new"), resource("boxes.a"));
    const made = withRecordedSecrets(from);
    expect(made.resources.get(KEY)?.values).toEqual({ value: "digest" });
    expect(made.resources.get(KEY)?.locate([])).toEqual(key.at);
    expect([...made.resources.keys()]).toEqual([...from.spec.resources.keys()]);
    expect(made.resources.get("keys.a/new" as Address)).toBe(
      from.spec.resources.get("keys.a/new" as Address),
    );
    expect(made.policy).toBe(from.spec.policy);
  });

  test("are unchanged when none is recorded", () => {
    for (const from of [given(valued("d")), given(resource("boxes.a")), given(resource("keys.a/new"))])
      expect(withRecordedSecrets(from)).toBe(from.spec);
  });

  test("keep which fields are sensitive, and which were not read", () => {
    const marked = { ...key, values: { more: 1 }, sensitive: ["more"], unread: "env K" } as never;
    expect(withRecordedSecrets(given(marked)).resources.get(KEY)).toMatchObject({
      ...{ values: { more: 1, value: "digest" }, sensitive: ["more"], unread: "env K" },
    });
    expect(withRecordedSecrets(given(marked)).resources.get(KEY)).not.toHaveProperty("payload");
  });

  test("are not checked in a plan that reads no values, which says so", () => {
    const { spec: made, notes } = withoutSecretValues(given(valued("d"), resource("boxes.a")));
    expect(made.resources.get(KEY)?.values).toEqual({ value: "digest" });
    expect(made.resources.get(KEY)).not.toHaveProperty("payload");
    expect(notes).toEqual([
      {
        severity: "warning",
        code: "PLAN_MODE",
        message: "secret values were not read, so changes to them are not checked: keys.a/k",
      },
    ]);
    expect(withoutSecretValues(given(resource("boxes.a"))).notes).toEqual([]);
  });
});

describe("a plan that is applied with the values of its secrets", () => {
  const changesOf = (changes: readonly Change[], ...resources: readonly Resource[]) => {
    const made = { ...plan({ spec: spec([]) }), changes };
    const result = withSecretValues(made, spec(resources), registry);
    expect({ ...result, changes }).toEqual(made);
    return result.changes;
  };
  const compared = compare(KEY, { after: { value: "digest", more: 1 } });

  test("writes no secret that has the recorded digest", () => {
    const { fingerprint: _fingerprint, steps: _steps, source: _source, ...rest } = compared;
    expect(changesOf([compared], valued("digest"))).toEqual([
      { ...rest, action: "noop", after: { value: "digest", more: 1 }, payload: "digest", compared: true },
    ]);
  });

  test("writes a secret that has another value", () => {
    const { source: _, ...rest } = compared;
    expect(changesOf([compared], valued("new"))).toEqual([
      {
        ...rest,
        action: "update",
        after: { value: "new", more: 1 },
        payload: "new",
        diffs: [{ path: ["value"], before: "digest", after: "new", cause: "spec", replaces: false }],
      },
    ]);
  });

  test.each<readonly [string, Change]>([
    ["creation", create(KEY, { after: { more: 1 } })],
    ["update", update(KEY, { after: { more: 1 } })],
  ])("has the value in a %s that lacked it, and keeps one that was there", (_, change) => {
    const after = { more: 1, value: "new" };
    expect(changesOf([change], valued("new"))).toEqual([{ ...change, payload: "new", after }]);
    const full = { ...change, payload: "old" } as Change;
    expect(changesOf([full], valued("new"))[0]).toBe(full);
  });

  test("keeps every other change", () => {
    const others = [noop(KEY), remove(KEY), compared, create("boxes.a"), create("keys.a/new")];
    expect(changesOf(others, key, valued("new", resource("boxes.a")))).toEqual(others);
    expect(changesOf([noop(KEY), remove(KEY)], valued("new"))).toEqual([noop(KEY), remove(KEY)]);
  });
});
