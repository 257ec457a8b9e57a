// How much each field of each kind matters: every field has a severity, and those that people are called at night for are named.

import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import type { Path } from "../../src/core/pointer.ts";
import { registry as everyKind } from "../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../src/resource/dialect-view.ts";
import { type FieldSchema, SEVERITIES, type Severity } from "../../src/resource/field-schema.ts";
import type { FieldDiff } from "../../src/resource/planning.ts";
import { isAtLeast, mostSevere, severityOfDiff, severityOfObject } from "../../src/resource/severity.ts";

const registry = registryIn(everyKind, CONTRACT_FIELDS);
const kinds = registry.kinds.map((provider) => [provider.kind, provider] as const);

function pathsIn(schema: FieldSchema, path: Path): readonly Path[] {
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    pathsIn(member, [...path, name]),
  );
  const items = schema.items === undefined ? [] : pathsIn(schema.items, [...path, 0]);
  const members =
    typeof schema.additionalProperties === "object"
      ? pathsIn(schema.additionalProperties, [...path, "any"])
      : [];
  return [...(path.length === 0 ? [] : [path]), ...inside, ...items, ...members];
}

/** Severities of the fields at the top of a kind, by severity. */
function fieldsBySeverity(kind: string): Partial<Record<Severity, readonly string[]>> {
  const provider = registry.of(`${kind}.x` as never);
  const names = Object.keys(provider.fields).filter((name) => provider.fields[name]?.source !== true);
  return Object.fromEntries(
    SEVERITIES.map((one) => [
      one,
      names.filter((name) => severityOfDiff(provider, diff([name])) === one),
    ]).filter(([, all]) => (all ?? []).length > 0),
  );
}

const diff = (path: Path, before?: Json, after?: Json): FieldDiff => ({
  path,
  before,
  after,
  cause: "drift",
  replaces: false,
});

describe.each(kinds)("%s", (_kind, provider) => {
  test("names the severity of its objects, and each field has one", () => {
    expect(SEVERITIES).toContain(provider.severity);
    for (const path of pathsIn({ properties: provider.fields }, []))
      expect(SEVERITIES, path.join(".")).toContain(severityOfDiff(provider, diff(path)));
  });
});

test.each(["acls", "groups", "scopes", "secrets"])("every field of %s is about security", (kind) => {
  expect(Object.keys(fieldsBySeverity(kind))).toEqual(["security"]);
});

test("a user's rights and groups are about security, and names are not", () => {
  expect(fieldsBySeverity("users")).toEqual({
    security: ["userName", "entitlements", "groups", "externalId", "active"],
    other: ["displayName", "name", "emails"],
  });
});

test("sizes, idle machines and automatic termination are about cost", () => {
  expect(fieldsBySeverity("pools")).toEqual({
    cost: [
      "node_type_id",
      "min_idle_instances",
      "max_capacity",
      "idle_instance_autotermination_minutes",
      "enable_elastic_disk",
      "disk_spec",
    ],
    availability: ["preloaded_spark_versions"],
    other: ["instance_pool_name", "custom_tags"],
  });
  expect(fieldsBySeverity("clusters")).toEqual({
    security: ["init_scripts", "ssh_public_keys"],
    cost: [
      "node_type_id",
      "driver_node_type_id",
      "num_workers",
      "autoscale",
      "instance_pool_id",
      "autotermination_minutes",
      "enable_elastic_disk",
    ],
    availability: ["spark_version", "pinned", "run_state"],
    other: ["cluster_name", "spark_conf", "spark_env_vars", "custom_tags", "cluster_log_conf"],
  });
});

test("fields that decide whether a job runs have the category availability", () => {
  const { availability, other } = fieldsBySeverity("jobs");
  expect(availability).toEqual(
    expect.arrayContaining(["existing_cluster_id", "schedule", "max_retries", "timeout_seconds"]),
  );
  expect(other).toEqual(["name", "email_notifications"]);
});

describe("the severity of a difference", () => {
  const jobs = registry.of("jobs.x" as never);
  const groups = registry.of("groups.x" as never);
  const directories = registry.of("directories.x" as never);

  test("is that of the innermost field that names one", () => {
    expect(severityOfDiff(jobs, diff(["new_cluster", "num_workers"], 1, 2))).toBe("cost");
    expect(severityOfDiff(jobs, diff(["new_cluster", "spark_conf", "a"], "1", "2"))).toBe("other");
    expect(severityOfDiff(groups, diff(["members", "users"], [], ["ada"]))).toBe("security");
  });

  test("is that of the most severe member when a whole object comes or goes", () => {
    const cluster = { spark_version: "6.4", num_workers: 2, ssh_public_keys: ["key"] };
    expect(severityOfDiff(jobs, diff(["new_cluster"], undefined, cluster))).toBe("security");
    expect(severityOfDiff(jobs, diff(["new_cluster"], { num_workers: 2 }, undefined))).toBe("cost");
    expect(severityOfDiff(jobs, diff(["new_cluster"], undefined, {}))).toBe("availability");
  });

  test("is the kind's when an object comes or goes", () => {
    expect(severityOfObject(directories)).toBe("availability");
    expect(severityOfObject(groups)).toBe("security");
  });
});

test("security is more severe than cost, cost than availability, and that than other", () => {
  expect(mostSevere(["other", "cost", "availability"])).toBe("cost");
  expect(mostSevere([])).toBeUndefined();
  expect(SEVERITIES.filter((one) => isAtLeast(one, "availability"))).toEqual([
    "security",
    "cost",
    "availability",
  ]);
});
