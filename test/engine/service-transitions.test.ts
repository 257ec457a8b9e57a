// Transitions by the service are not drift; changes of the same field by people are.

import { expect, onTestFinished, test } from "vitest";
import { Site } from "./site.ts";

const SIZE = "spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1";
const cluster = (more = "") => `clusters:\n  k: { ${SIZE}${more} }\n`;
const STOPPED = ", run_state: TERMINATED";
const UP = ", run_state: RUNNING, autotermination_minutes: 10";
const MINUTE = 60_000;

async function siteWith(yaml: string): Promise<Site> {
  const site = await Site.start();
  onTestFinished(() => site.close());
  await apply(site, yaml);
  return site;
}

async function apply(site: Site, yaml: string): Promise<void> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
  expect(outcome.changes.map((one) => one.result)).toEqual(outcome.changes.map(() => "applied"));
}

async function planned(site: Site, yaml: string) {
  return site.drive(site.process().plan(await site.spec(yaml)));
}

async function idOf(site: Site): Promise<string> {
  return [...(await site.state()).records.values()].map((one) => String(one.id))[0] ?? "";
}

/** The field differences of a plan with their causes, and what it calls drift. */
function told(plan: Awaited<ReturnType<typeof planned>>) {
  return {
    changes: plan.changes.flatMap((one) =>
      one.action === "update"
        ? one.diffs.map((diff) => `${diff.path.join(".")} ${diff.before} → ${diff.after}: ${diff.cause}`)
        : [],
    ),
    drift: plan.drift.flatMap((one) => one.diffs.map((diff) => `${diff.path.join(".")} ${diff.before}`)),
  };
}

test("a cluster that went from PENDING to RUNNING is not drift when run_state: TERMINATED enters the spec", async () => {
  const site = await siteWith(cluster());
  await site.world.advance(10 * MINUTE);
  expect(told(await planned(site, cluster(STOPPED)))).toEqual({
    changes: ["run_state RUNNING → TERMINATED: spec"],
    drift: [],
  });
});

test("neither starting nor stopping of a cluster is drift while it lasts, and nothing is planned", async () => {
  for (const run of [STOPPED, UP]) {
    const site = await siteWith(cluster(run));
    for (const wait of [0, 1000, 10_000, MINUTE, 5 * MINUTE]) {
      await site.world.advance(wait);
      expect(told(await planned(site, cluster(run)))).toEqual({ changes: [], drift: [] });
    }
  }
});

test("a cluster that the service terminated for inactivity is not drift, and the plan starts it with the reason", async () => {
  const site = await siteWith(cluster(UP));
  await site.world.advance(60 * MINUTE);
  const plan = await planned(site, cluster(UP));
  expect(told(plan)).toEqual({ changes: ["run_state TERMINATED → RUNNING: spec"], drift: [] });
  expect(plan.changes.map((one) => [one.cause, one.reasons])).toEqual([
    ["spec", ["the service set run_state to TERMINATED (INACTIVITY)"]],
  ]);
  expect(told(await planned(site, cluster(`${STOPPED}, autotermination_minutes: 10`)))).toEqual({
    changes: [],
    drift: [],
  });
});

test("a cluster that a person ended or started is drift", async () => {
  const site = await siteWith(cluster(UP));
  await site.world.post("clusters/delete", { cluster_id: await idOf(site) });
  const ended = await planned(site, cluster(UP));
  expect(told(ended)).toEqual({
    changes: ["run_state TERMINATED → RUNNING: drift"],
    drift: ["run_state TERMINATED"],
  });
  expect(ended.changes.flatMap((one) => one.reasons)).toEqual([]);

  const other = await siteWith(cluster(STOPPED));
  await other.world.advance(10 * MINUTE);
  await other.world.post("clusters/start", { cluster_id: await idOf(other) });
  expect(told(await planned(other, cluster(STOPPED)))).toEqual({
    changes: ["run_state RUNNING → TERMINATED: drift"],
    drift: ["run_state RUNNING"],
  });
});

/** Applies an empty spec; `between` happens after the plan is made and before its delete reads the cluster again. */
async function deletes(site: Site, between: () => Promise<unknown>): Promise<readonly string[]> {
  let planned = false;
  let moved = false;
  const process = site.process({
    onPlan: () => {
      planned = true;
    },
    transport: async (request, send) => {
      if (planned && !moved) {
        moved = true;
        await between();
      }
      return send(request);
    },
  });
  const { outcome } = await site.drive(
    process.apply(await site.spec("policy: { max_deletes: 100% }\nclusters: {}\n")),
  );
  return outcome.changes.map((one) => one.diagnostic?.code ?? one.result);
}

test("a cluster that the service terminates between plan and apply is deleted", async () => {
  const site = await siteWith(cluster(", autotermination_minutes: 10"));
  await site.world.advance(5 * MINUTE);
  expect(await deletes(site, () => site.world.advance(60 * MINUTE))).toEqual(["applied"]);
});

test("a cluster that a person starts or edits between plan and apply is not deleted; one that a person stops is", async () => {
  const stopped = await siteWith(cluster(", autotermination_minutes: 10"));
  await stopped.world.advance(60 * MINUTE);
  const id = { cluster_id: await idOf(stopped) };
  expect(await deletes(stopped, () => stopped.world.post("clusters/start", id))).toEqual(["PLAN_LIVE_MOVED"]);

  const running = await siteWith(cluster());
  await running.world.advance(5 * MINUTE);
  const other = { cluster_id: await idOf(running) };
  expect(await deletes(running, () => running.world.post("clusters/delete", other))).toEqual(["applied"]);

  const edited = await siteWith(cluster(", autotermination_minutes: 10"));
  await edited.world.advance(5 * MINUTE);
  const size = { cluster_id: await idOf(edited), num_workers: 3 };
  const edit = async () => {
    await edited.world.post("clusters/resize", size);
    await edited.world.advance(60 * MINUTE);
  };
  expect(await deletes(edited, edit)).toEqual(["PLAN_LIVE_MOVED"]);
});

test("a field that was unmanaged at the last apply is not drift when the spec begins to manage it", async () => {
  const site = await siteWith("groups: { red: {} }\nusers: { ada@example.com: {} }\n");
  const { body } = await site.world.get("preview/scim/v2/Users", {});
  const ada = (body.Resources as { id: string; userName: string }[]).find(
    (one) => one.userName === "ada@example.com",
  );
  await site.world.post("groups/add-member", { user_name: "ada@example.com", parent_name: "red" });
  expect(ada).toBeDefined();
  const plan = await planned(
    site,
    "groups: { red: { members: { users: [] } } }\nusers: { ada@example.com: {} }\n",
  );
  expect(plan.changes.filter((one) => one.action === "update").map((one) => one.cause)).toEqual(["spec"]);
  expect(plan.drift).toEqual([]);
});

test("idle instances, runs, starts, and scaling by the service are not drift of any kind", async () => {
  const yaml = `
pools: { warm: { node_type_id: Standard_DS3_v2, min_idle_instances: 2 } }
clusters:
  grows: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, autoscale: { min_workers: 1, max_workers: 4 } }
  inside: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.warm.instance_pool_id}", num_workers: 1 }
jobs:
  nightly:
    existing_cluster_id: "\${clusters.grows.cluster_id}"
    spark_jar_task: { main_class_name: org.example.Main }
    schedule: { quartz_cron_expression: "0 0/10 * * * ?", timezone_id: UTC }
`;
  const site = await siteWith(yaml);
  for (let hours = 0; hours < 3; hours++) {
    await site.world.advance(60 * MINUTE);
    const plan = await planned(site, yaml);
    expect(told(plan)).toEqual({ changes: [], drift: [] });
    expect(plan.drift).toEqual([]);
  }
});
