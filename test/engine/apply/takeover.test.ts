import { describe, expect, test } from "vitest";
import { addressOf, remoteId } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { recordFromLive } from "../../../src/engine/apply/record-values.ts";
import { diffResource } from "../../../src/planner/diff/diff.ts";
import { registry } from "../../../src/providers/index.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";

function resource(kind: string, key: string, values: JsonObject): Resource {
  const at = { file: "workspace.yaml", line: 1, column: 1 };
  return {
    address: addressOf(kind, key),
    kind,
    key,
    name: key,
    values,
    references: [],
    dependsOn: [addressOf("pools", "p")],
    owns: [],
    lifecycle: { prevent_destroy: false, ignore_changes: [] },
    at,
    locate: () => at,
  };
}

function taken(kind: string, declared: JsonObject, values: JsonObject, facts: JsonObject = {}) {
  const provider = registry.get(kind);
  const live = { id: remoteId("id-1"), name: "live", values, facts };
  const record = recordFromLive(provider, resource(kind, "key", declared), live);
  if (record.status !== "ready") throw new Error("a record of what is there is ready");
  const diffs = diffResource(provider.fields, declared, live, record);
  return { record, causes: diffs.map((diff) => [diff.path.join("."), diff.cause] as const) };
}

describe("an adopted object", () => {
  test("is recorded under its id and its live name, with what it depends on", () => {
    const { record } = taken("pools", {}, { node_type_id: "n" });
    expect(record).toMatchObject({ address: "pools.key", id: "id-1", name: "live", depends_on: ["pools.p"] });
  });

  test("differs from the spec by the spec's own doing, never by drift", () => {
    const live = { node_type_id: "n", max_capacity: 5, min_idle_instances: 3, custom_tags: { a: "1" } };
    const { causes } = taken("pools", { node_type_id: "n", max_capacity: 20 }, live);
    expect(causes).toEqual([
      ["min_idle_instances", "spec"],
      ["max_capacity", "spec"],
      ["custom_tags", "spec"],
    ]);
  });

  test("leaves to the server what the spec leaves to it", () => {
    const live = { node_type_id: "n", idle_instance_autotermination_minutes: 15, enable_elastic_disk: false };
    const { record, causes } = taken("pools", { node_type_id: "n" }, live);
    expect(causes).toEqual([]);
    expect(record.seen).toEqual({ idle_instance_autotermination_minutes: 15, enable_elastic_disk: false });
  });

  test("records only the fields of the spec if a kind's other fields are optional to manage", () => {
    const members = { users: ["ada"], groups: ["ops"] };
    expect(taken("groups", {}, { displayName: "g", members }).record.applied).toEqual({ displayName: "g" });
    const declared = { members: { users: ["ada", "bo"] } };
    expect(taken("groups", declared, { displayName: "g", members }).record.applied).toEqual({
      displayName: "g",
      members: { users: ["ada"] },
    });
  });

  test("a secret's value is not known to be the spec's, so the next plan writes it", () => {
    const { record, causes } = taken("secrets", { value: "digest" }, {}, { last_updated_timestamp: "7" });
    expect(record.applied).toEqual({});
    expect(record.seen).toEqual({ last_updated_timestamp: "7" });
    expect(causes).toEqual([["value", "spec"]]);
  });

  test("a format that is never read back counts as the spec's", () => {
    const values = { language: "PYTHON", content: "c" };
    const { causes } = taken("notebooks", { ...values, format: "SOURCE" }, values);
    expect(causes).toEqual([]);
  });
});
