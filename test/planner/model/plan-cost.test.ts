// The cost of changes: ranges, what is always on, pools, and what is unknown.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { firingsPerMonth } from "../../../src/core/quartz.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { type Prices, planCapacity, planCost } from "../../../src/planner/model/plan-cost.ts";
import { registry } from "../../../src/providers/index.ts";
import { costSentences, totalCostText } from "../../../src/report/view/cost-view.ts";

const prices: Prices = {
  currency: "USD",
  node_types: { small: { per_hour: 0.3, dbu_per_hour: 1 }, large: { per_hour: 1 } },
  warehouse_sizes: { Small: { per_hour: 2, dbu_per_hour: 10 } },
  dbu_rates: { all_purpose: 0.2 },
};

function created(address: string, after: JsonObject): Change {
  const kind = address.slice(0, address.indexOf("."));
  const common = {
    address: address as Address,
    kind,
    name: address,
    cause: "spec",
    reasons: [],
    consequences: [],
  };
  return { ...common, action: "create", after, unresolved: [], dependsOn: [] } as unknown as Change;
}

const costs = (...changes: readonly Change[]) => {
  const sentences = costSentences({ cost: planCost(changes, registry, prices) });
  return [...sentences].map(([address, sentence]) => `${address}: ${sentence}`);
};

describe("the cost of a new resource", () => {
  test("has commas in thousands", () => {
    const cluster = { node_type_id: "small", autoscale: { min_workers: 1, max_workers: 4_111 } };
    expect(costs(created("clusters.c", { ...cluster, autotermination_minutes: 30 }))).toEqual([
      "clusters.c: +1.00 to +2,056.00 USD per hour while running",
    ]);
  });

  test("of a cluster is its driver and its workers, with DBU, from the smallest to the largest size", () => {
    const cluster = { node_type_id: "small", autoscale: { min_workers: 1, max_workers: 3 } };
    expect(costs(created("clusters.c", { ...cluster, autotermination_minutes: 30 }))).toEqual([
      "clusters.c: +1.00 to +2.00 USD per hour while running",
    ]);
  });

  test("of a cluster that never terminates is always on at its smallest size", () => {
    const cluster = { node_type_id: "small", autoscale: { min_workers: 1, max_workers: 3 } };
    expect(costs(created("clusters.c", { ...cluster, autotermination_minutes: 0 }))).toEqual([
      "clusters.c: +1.00 to +2.00 USD per hour while running, +1.00 of it always",
    ]);
  });

  test("of a pool is its idle instances, and a member has the machines of the pool", () => {
    const pool = created("pools.p", { node_type_id: "small", min_idle_instances: 2 });
    const member = {
      instance_pool_id: "${pools.p.instance_pool_id}",
      num_workers: 1,
      autotermination_minutes: 9,
    };
    expect(costs(pool, created("clusters.c", member))).toEqual([
      "pools.p: +0.60 USD per hour, always",
      "clusters.c: +1.00 USD per hour while running",
    ]);
  });

  test("of a job is the clusters that it creates, without the rate of other compute, and its schedule", () => {
    const job = {
      new_cluster: { node_type_id: "small", num_workers: 3 },
      schedule: { quartz_cron_expression: "0 0 0/6 * * ?", timezone_id: "UTC" },
    };
    expect(costs(created("jobs.j", job))).toEqual([
      "jobs.j: +1.20 USD per hour while running; 122 runs per month",
    ]);
  });

  test("is unknown, and says why, without a price, DBU, a pool, or a size", () => {
    const unknown = (values: JsonObject) => costs(created("clusters.c", { num_workers: 1, ...values }))[0];
    expect(unknown({ node_type_id: "huge" })).toContain("the price of huge");
    expect(unknown({ node_type_id: "large" })).toContain("the DBU of large");
    expect(unknown({ instance_pool_id: "0101-pool" })).toContain("the machine type of its pool");
    expect(unknown({ node_type_id: "small", num_workers: "(sensitive)" })).toContain(
      "the number of machines",
    );
    expect(unknown({ node_type_id: "__proto__" })).toContain("the price of __proto__");
  });

  test("is summed up without the unknown parts, which are named", () => {
    const changes = [
      created("clusters.known", { node_type_id: "small", num_workers: 1, autotermination_minutes: 9 }),
      created("clusters.other", { node_type_id: "huge", num_workers: 1 }),
      created("pools.p", { node_type_id: "large", min_idle_instances: 1 }),
    ];
    expect(totalCostText({ cost: planCost(changes, registry, prices) })).toBe(
      "+2.00 USD per hour while running, +1.00 of it always; unknown for clusters.other.",
    );
  });
});

describe("the cost of a changed resource", () => {
  const changed = (address: string, before: JsonObject, after: JsonObject): Change => {
    const names = Object.keys(after).filter((name) => before[name] !== after[name]);
    const diffs = names.map((name) => ({ path: [name], before: before[name], after: after[name] }));
    return { ...created(address, after), action: "update", id: "1", before, diffs } as unknown as Change;
  };
  const total = (...changes: readonly Change[]) =>
    totalCostText({ cost: planCost(changes, registry, prices) });
  const cluster = { node_type_id: "small", num_workers: 1, autotermination_minutes: 9 };
  const job = { new_cluster: { node_type_id: "small", num_workers: 3 } };
  const schedule = { quartz_cron_expression: "0 0 0/6 * * ?", timezone_id: "UTC" };

  test("has no sentence and no total if it is the same as before", () => {
    const renamed = changed("clusters.c", cluster, { ...cluster, cluster_name: "d" });
    expect([costs(renamed), total(renamed)]).toEqual([[], undefined]);
  });

  test("is not unknown if its machines stay, also without their price, and does not count its runs", () => {
    const huge = { ...cluster, node_type_id: "huge" };
    const newer = changed("clusters.c", huge, { ...huge, spark_version: "new" });
    const patched = changed("jobs.j", { ...job, schedule }, { ...job, schedule, max_retries: 2 });
    expect([costs(newer, patched), total(newer, patched)]).toEqual([[], undefined]);
    const grown = changed("clusters.d", huge, { ...huge, num_workers: 2 });
    expect(costs(grown)).toEqual([
      "clusters.d: unknown, because the prices do not contain the price of huge",
    ]);
    expect(total(newer, patched, grown)).toBe("unknown for clusters.d.");
    const hidden = changed(
      "clusters.e",
      { ...huge, num_workers: "(sensitive)" },
      { ...huge, num_workers: "(sensitive)" },
    );
    expect(costs(hidden)).toHaveLength(1);
  });

  test("names only the parts that change", () => {
    const grown = changed("clusters.c", cluster, { ...cluster, num_workers: 2 });
    expect(costs(grown)).toEqual(["clusters.c: +0.50 USD per hour while running (1.00 before)"]);
    expect(total(grown)).toBe("+0.50 USD per hour while running.");
    const kept = changed("clusters.c", cluster, { ...cluster, autotermination_minutes: 0 });
    expect(costs(kept)).toEqual([
      "clusters.c: no change while running, +1.00 USD per hour always (1.00 before)",
    ]);
    const scheduled = changed("jobs.j", job, { ...job, schedule });
    expect(costs(scheduled)).toEqual(["jobs.j: no change while running (1.20 before); 122 runs per month"]);
    expect(total(scheduled)).toBe("122 scheduled runs per month.");
  });

  test("names the end of a range that starts at no change", () => {
    const scaling = (max_workers: number) => ({
      ...{ node_type_id: "small", autotermination_minutes: 9 },
      autoscale: { min_workers: 1, max_workers },
    });
    const [one, three] = [scaling(1), scaling(3)];
    expect(costs(changed("clusters.c", one, three))).toEqual([
      "clusters.c: up to +1.00 USD per hour while running (1.00 before)",
    ]);
    expect(costs(changed("clusters.c", three, one))).toEqual([
      "clusters.c: up to -1.00 USD per hour while running (1.00 to 2.00 before)",
    ]);
  });
});

describe("the parts of the cost of a plan", () => {
  const change = (address: string, more: object): Change => ({ ...created(address, {}), ...more }) as never;
  const cost = (...changes: readonly Change[]) => planCost(changes, registry, prices);
  const ranges = (costs: ReturnType<typeof cost>["changes"]) =>
    costs.map(({ address, before, after }) => [address, before?.range, after?.range]);
  const pooled = { instance_pool_id: "p1", num_workers: 0, autotermination_minutes: 9 };
  const small = { node_type_id: "small", num_workers: 0, autotermination_minutes: 9 };
  const half = { min: 0.5, max: 0.5 };

  test("are those of changes, apart from those of what stays, and not of what is not managed", () => {
    const existing = { before: small, after: small, id: "c1" };
    const made = cost(
      change("clusters.changed", { action: "update", ...existing, diffs: [] }),
      change("clusters.same", { action: "noop", ...existing }),
      change("clusters.forgotten", { action: "forget", id: "c2" }),
      change("clusters.reported", { action: "report", ...existing }),
      created("users.ada@x", { userName: "ada@x" }),
    );
    expect(ranges(made.changes)).toEqual([["clusters.changed", half, half]]);
    expect(ranges(made.unchanged)).toEqual([["clusters.same", half, half]]);
    expect(made.currency).toBe("USD");
    expect(cost()).toMatchObject({
      changes: [],
      unchanged: [],
      before: { unknown: [] },
      after: { unknown: [] },
    });
  });

  test("of a member of a pool are by the machines of the pool, before and after, by its reference and its ID", () => {
    const pool = change("pools.p", {
      ...{ action: "update", id: "p1", diffs: [{ path: ["node_type_id"], before: "small", after: "quick" }] },
      before: { node_type_id: "small", min_idle_instances: 0 },
      after: { node_type_id: "quick", min_idle_instances: 0 },
    });
    const quick = {
      ...prices,
      node_types: { ...prices.node_types, quick: { per_hour: 4, dbu_per_hour: 10 } },
    };
    const members = ["p1", "${pools.p.instance_pool_id}"].map((instance_pool_id, at) =>
      change(`clusters.c${at}`, {
        ...{ action: "update", id: `c${at}`, diffs: [] },
        ...{ before: { ...pooled, instance_pool_id }, after: { ...pooled, instance_pool_id } },
      }),
    );
    const made = planCost([pool, ...members], registry, quick);
    // 4 per hour and 10 DBU at 0.2.
    const expected = [half, { min: 6, max: 6 }];
    expect(ranges(made.changes)).toEqual([
      ["clusters.c0", ...expected],
      ["clusters.c1", ...expected],
    ]);
    expect(made.changes.map(({ isUnchanged }) => isUnchanged)).toEqual([undefined, undefined]);
    expect(made.before.range).toEqual({ min: 1, max: 1 });
    expect(made.after.range).toEqual({ min: 12, max: 12 });
  });

  test("of a pool without a machine type are unknown before or after", () => {
    const pool = (before: JsonObject, after: JsonObject) =>
      change("pools.p", {
        ...{ action: "update", id: "p1", before, after },
        diffs: [{ path: ["node_type_id"], before: before.node_type_id, after: after.node_type_id }],
      });
    const member = change("clusters.c", { action: "noop", id: "c", before: pooled, after: pooled });
    const known = (...types: readonly JsonObject[]) =>
      ranges(cost(pool(types[0] ?? {}, types[1] ?? {}), member).unchanged);
    expect(known({ node_type_id: "small" }, {})).toEqual([["clusters.c", half, undefined]]);
    expect(known({}, { node_type_id: "small" })).toEqual([["clusters.c", undefined, half]]);
  });

  test("are summed up with all runs and every unknown part once", () => {
    const schedule = { quartz_cron_expression: "0 0 6 1 * ?", timezone_id: "UTC" };
    const job = (name: string, node_type_id: string) =>
      created(`jobs.${name}`, { new_cluster: { node_type_id, num_workers: 1 }, schedule });
    const made = cost(
      job("a", "small"),
      job("b", "odd"),
      job("c", "huge"),
      job("d", "odd"),
      created("clusters.e", small),
    );
    expect(made.after).toMatchObject({
      ...{ range: { min: 1.1, max: 1.1 }, runsPerMonth: 4 },
      unknown: ["the price of odd", "the price of huge"],
    });
    expect(made.before).toEqual({ range: { min: 0, max: 0 }, always: 0, runsPerMonth: 0, unknown: [] });
  });

  test("are nothing for no machines, whatever their price, and unknown for an unknown end of a range", () => {
    expect(cost(created("pools.p", { node_type_id: "huge", min_idle_instances: 0 })).changes).toEqual([]);
    const scaling = (max_workers: unknown, min_workers: unknown = 1n) =>
      cost(created("clusters.c", { ...small, autoscale: { min_workers, max_workers } as JsonObject }))
        .changes[0]?.after;
    expect(scaling(3n)).toMatchObject({ range: { min: 1, max: 2 }, unknown: [] });
    expect(scaling("(sensitive)")).toMatchObject({ range: undefined, unknown: ["the number of machines"] });
    expect(scaling(3n, "(sensitive)")).toMatchObject({
      range: undefined,
      unknown: ["the number of machines"],
    });
  });

  test("are without DBU if the prices have no rate for the kind of compute", () => {
    const warehouse = created("warehouses.w", { cluster_size: "Small", max_num_clusters: 1 });
    expect(cost(warehouse).changes[0]?.after?.range).toEqual({ min: 2, max: 2 });
    const rated = { ...prices, dbu_rates: { sql: 0.5 } };
    expect(planCost([warehouse], registry, rated).changes[0]?.after?.range).toEqual({ min: 7, max: 7 });
  });
});

describe("the cores and the memory of a change", () => {
  const sizes = new Map([
    ["small", { cores: 4, memoryMb: 14_336 }],
    ["large", { cores: 16, memoryMb: 57_856 }],
  ]);
  const capacity = (...changes: readonly Change[]) => ({ capacity: planCapacity(changes, registry, sizes) });
  const sentences = (...changes: readonly Change[]) => [...costSentences(capacity(...changes)).values()];
  const cluster = (name: string, more: JsonObject): Change =>
    created(`clusters.${name}`, {
      node_type_id: "small",
      num_workers: 1,
      autotermination_minutes: 9,
      ...more,
    });

  test("are those of its machines, before and after", () => {
    const before = { node_type_id: "small", num_workers: 1, autotermination_minutes: 9 };
    const after = { ...before, num_workers: 5 };
    const diffs = [{ path: ["num_workers"], before: 1, after: 5 }];
    const update = {
      ...cluster("c", {}),
      action: "update",
      id: "c1",
      before,
      after,
      diffs,
    } as unknown as Change;
    expect(sentences(update)).toEqual(["+16 cores, +56 GB while running (8 cores, 28 GB before)"]);
  });

  test("are a range for a cluster that scales, with what is always on", () => {
    const scaling = { autoscale: { min_workers: 1, max_workers: 3 } };
    expect(sentences(cluster("c", { ...scaling, autotermination_minutes: 0 }))).toEqual([
      "+8 to +16 cores, +28 to +56 GB while running, +8 cores, +28 GB of it always",
    ]);
  });

  test("show a fraction of a GB only if there is one", () => {
    expect(sentences(created("pools.p", { node_type_id: "large", min_idle_instances: 1 }))).toEqual([
      "+16 cores, +56.5 GB, always",
    ]);
  });

  test("are unknown, and say why, for a machine that the workspace does not list, and for a warehouse", () => {
    const warehouse = created("warehouses.w", { cluster_size: "Small" });
    expect(sentences(cluster("c", { node_type_id: "huge" }), warehouse)).toEqual([
      "unknown, because the list of node types does not contain huge",
      "unknown, because the list of node types does not contain warehouses of the size Small",
    ]);
  });

  test("are summed up", () => {
    const pool = created("pools.p", { node_type_id: "small", min_idle_instances: 2 });
    expect(totalCostText(capacity(cluster("c", {}), pool))).toBe(
      "+16 cores, +56 GB while running, +8 cores, +28 GB of it always.",
    );
  });

  test("give way to prices in the text", () => {
    const change = cluster("c", {});
    const both = { ...capacity(change), cost: planCost([change], registry, prices) };
    expect([...costSentences(both).values()]).toEqual(["+1.00 USD per hour while running"]);
  });
});

test("a sensitive machine type and size are not shown", () => {
  const text = costs(
    created("clusters.c", {
      node_type_id: "(sensitive 0123456789abcdef-0123456789abcdef0123456789abcdef)",
      num_workers: 1,
    }),
  ).join();
  expect(text).not.toContain("0123456789abcdef");
});

test.each([
  ["0 30 2 * * ?", 365 / 12],
  ["0 15 * * * ?", (24 * 365) / 12],
  ["0 0/30 6-20 ? * MON-FRI", (2 * 15 * 261) / 12],
  ["0 0 6 1 * ?", 1],
  ["0 0 22-2 * * ?", (5 * 365) / 12],
])("%s fires %d times per month", (expression, times) => {
  expect(firingsPerMonth(expression)).toBeCloseTo(times);
});
