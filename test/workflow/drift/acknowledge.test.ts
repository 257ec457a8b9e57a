import { describe, expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { Failure } from "../../../src/core/diagnostic.ts";
import type { Path } from "../../../src/core/pointer.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import { acknowledgedAt, acknowledgedUntil, driftAt } from "../../../src/workflow/drift/drift.ts";

const NOW = Date.UTC(2026, 10, 23);

describe("the end of an acknowledgement", () => {
  test.each([
    ["2027-02-28", "2027-02-28T23:59:59.000Z"],
    ["2028-02-29", "2028-02-29T23:59:59.000Z"],
    ["2027-01-01T08:30Z", "2027-01-01T08:30:00.000Z"],
    ["2027-01-01T08:30:15.250Z", "2027-01-01T08:30:15.250Z"],
    ["2027-01-01T08:30:00+02:00", "2027-01-01T06:30:00.000Z"],
    ["5d", "2026-11-28T00:00:00.000Z"],
    ["12h", "2026-11-23T12:00:00.000Z"],
  ])("%s is %s", (given, until) => {
    expect(new Date(acknowledgedUntil(given, NOW)).toISOString()).toBe(until);
  });

  test.each([
    "2027-02-30",
    "2027-02-29",
    "2027-13-01",
    "2027-04-31T08:00Z",
    "99999-01-01",
    "tomorrow",
    "2027",
    "999999999d",
  ])("is refused when %s is not in the calendar", (given) => {
    expect(() => acknowledgedUntil(given, NOW)).toThrow(`--until ${given} is not a date`);
  });
});

describe("the drift that an address or a field names", () => {
  const drifted = (name: string, ...paths: readonly Path[]): Drift => ({
    address: addressOf("clusters", name),
    kind: "clusters",
    name,
    what: "changed",
    diffs: paths.map((path) => ({ path, before: "1", after: "2", cause: "drift", replaces: false })),
  });
  const drift = [
    drifted("a", ["spark_conf", "spark.sql"], ["spark_conf", "spark.sql.shuffle"], ["num_workers"]),
    drifted("a.spark_conf", ["num_workers"]),
    drifted("ab", ["num_workers"]),
  ];
  const at = (location: string) => {
    const { address, field, differences } = driftAt(drift, location, String);
    return [address, field, differences.map((text) => JSON.parse(text)[1])];
  };
  const conf = ["/spark_conf/spark.sql", "/spark_conf/spark.sql.shuffle"];

  test("is every difference of the resource, or those of the field", () => {
    expect(at("clusters.a")).toEqual(["clusters.a", undefined, [...conf, "/num_workers"]]);
    expect(at("clusters.ab")).toEqual(["clusters.ab", undefined, ["/num_workers"]]);
    expect(at("clusters.a.num_workers")).toEqual(["clusters.a", "num_workers", ["/num_workers"]]);
    expect(at('clusters.a.spark_conf["spark.sql"]')).toEqual([
      "clusters.a",
      'spark_conf["spark.sql"]',
      ["/spark_conf/spark.sql"],
    ]);
  });

  test("is that of a whole address if a field has the same name", () => {
    expect(at("clusters.a.spark_conf")).toEqual(["clusters.a.spark_conf", undefined, ["/num_workers"]]);
    const [first] = drift as [Drift];
    expect(driftAt([first], "clusters.a.spark_conf", String).differences).toHaveLength(2);
  });

  test("is none of another resource if an address of the spec or the state has no drift", () => {
    const [first] = drift as [Drift];
    const isAddress = (text: string) => text === "clusters.a.spark_conf";
    expect(() => driftAt([first], "clusters.a.spark_conf", String, { isAddress, moves: new Map() })).toThrow(
      "no drift exists at clusters.a.spark_conf",
    );
  });

  test("is acknowledged for a whole address if a field has the same name", () => {
    const ending = { until: NOW, reason: "r", by: "b", at: NOW, differences: [] };
    const [a, dotted] = [addressOf("clusters", "a"), addressOf("clusters", "a.spark_conf")];
    const all = [
      { address: a, field: "spark_conf", ...ending },
      { address: dotted, ...ending },
    ];
    expect(acknowledgedAt(all, "clusters.a.spark_conf").address).toBe(dotted);
  });

  test.each(["clusters.a.num", "clusters.a.spark", "clusters.a.num_workers_x", "clusters.", "clusters.abc"])(
    "does not exist at %s, which only begins alike",
    (location) => {
      expect(() => driftAt(drift, location, String)).toThrow(Failure);
    },
  );
});
