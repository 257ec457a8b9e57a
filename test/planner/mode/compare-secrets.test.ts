import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { withRecordedSecrets } from "../../../src/planner/mode/compare-secrets.ts";
import { record, resource, spec, state } from "../build.ts";
import { registry } from "../kinds.ts";

describe("the secrets of a spec without values", () => {
  const known = state([record("keys.a/k", "k", { value: "digest" }), record("boxes.a", "b1", { note: "n" })]);
  const key = resource("keys.a/k", { values: {} });
  const given = (...resources: Parameters<typeof spec>[0]) => ({
    registry,
    state: known,
    spec: spec(resources),
  });

  test("have the recorded digest, unless a value is there or nothing is recorded", () => {
    const from = given(key, resource("keys.a/new"), resource("boxes.a"));
    const made = withRecordedSecrets(from);
    expect(made.resources.get(key.address)?.values).toEqual({ value: "digest" });
    expect([...made.resources.keys()]).toEqual([...from.spec.resources.keys()]);
    expect(made.resources.get("keys.a/new" as Address)).toBe(
      from.spec.resources.get("keys.a/new" as Address),
    );
    expect(made.policy).toBe(from.spec.policy);
  });

  test("are unchanged when none is recorded", () => {
    const valued = { ...key, payload: { digest: "d" } as never };
    for (const from of [given(valued), given(resource("boxes.a")), given(resource("keys.a/new"))])
      expect(withRecordedSecrets(from)).toEqual(from.spec);
  });
});
