// Cluster policies in plans: rules that a cluster violates, and values of a policy that do not count as a difference.

import { describe, expect, onTestFinished, test } from "vitest";
import { stringifyJson } from "../../../src/core/exact-json.ts";
import { doing, results, Site } from "../../engine/site.ts";

async function start(): Promise<Site> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  return site;
}

const planned = async (site: Site, spec: string) => site.drive(site.process().plan(await site.spec(spec)));
const guards = async (site: Site, spec: string) =>
  (await planned(site, spec)).guards.map(({ diagnostic }) => `${diagnostic.code} ${diagnostic.message}`);

const specWith = (rules: string, cluster: string) => `
cluster_policies: { small: { name: Small clusters, definition: ${rules} } }
clusters:
  c: { spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, policy_id: "\${cluster_policies.small.policy_id}", ${cluster} }
`;

const BY = "by the cluster policy Small clusters";

describe("a cluster that its policy does not allow is blocked", () => {
  test.each([
    ["{ num_workers: { type: fixed, value: 2 } }", "num_workers: 4", "num_workers must be 2"],
    [
      "{ num_workers: { type: range, minValue: 1, maxValue: 3 } }",
      "num_workers: 4",
      "num_workers must be at most 3",
    ],
    ["{ num_workers: { type: range, minValue: 5 } }", "num_workers: 4", "num_workers must be at least 5"],
    [
      "{ spark_conf.spark.x.y: { type: forbidden } }",
      "num_workers: 1, spark_conf: { spark.x.y: a }",
      "spark_conf.spark.x.y is forbidden",
    ],
    [
      "{ node_type_id: { type: allowlist, values: [Standard_DS4_v2, Standard_DS5_v2] } }",
      "num_workers: 1",
      "node_type_id must be one of Standard_DS4_v2 or Standard_DS5_v2",
    ],
    [
      "{ node_type_id: { type: blocklist, values: [Standard_DS3_v2] } }",
      "num_workers: 1",
      "node_type_id must not be Standard_DS3_v2",
    ],
    [
      '{ spark_version: { type: regex, pattern: "16\\\\..*" } }',
      "num_workers: 1",
      "spark_version must match 16\\..*",
    ],
    [
      "{ autotermination_minutes: { type: range, maxValue: 60 } }",
      "num_workers: 1",
      "autotermination_minutes is required",
    ],
    [
      "{ autotermination_minutes: { type: range, maxValue: 60, defaultValue: 30 } }",
      "num_workers: 1",
      "autotermination_minutes is required (the default 30 needs apply_policy_default_values: true)",
    ],
    [
      '{ init_scripts.*.workspace.destination: { type: regex, pattern: "/Shared/.*" } }',
      "num_workers: 1, init_scripts: [{ workspace: { destination: /Shared/a.sh } }, { workspace: { destination: /b.sh } }]",
      "init_scripts[1].workspace.destination must match /Shared/.*",
    ],
    ["{ cluster_type: { type: fixed, value: job } }", "num_workers: 1", 'cluster_type must be "job"'],
  ])("%s with %s", async (rules, cluster, problem) => {
    const [guard] = await guards(await start(), specWith(rules, cluster));
    expect(guard?.replace(/spark_conf\S*/, "spark_conf.spark.x.y")).toBe(
      `GUARD_CLUSTER_POLICY clusters.c: ${problem}, ${BY}`,
    );
  });
});

describe("a cluster that its policy allows is not blocked", () => {
  test.each([
    ["{ num_workers: { type: fixed, value: 2 } }", "num_workers: 2"],
    ["{ spark_conf.spark.x: { type: fixed, value: a } }", "num_workers: 1"],
    [
      "{ autotermination_minutes: { type: range, maxValue: 60, defaultValue: 30 } }",
      "num_workers: 1, apply_policy_default_values: true",
    ],
    ["{ num_workers: { type: fixed, value: 2 } }", "custom_tags: { a: b }"],
    [
      "{ autoscale.min_workers: { type: fixed, value: 1 }, autoscale.max_workers: { type: unlimited, defaultValue: 4 } }",
      "apply_policy_default_values: true",
    ],
    [
      '{ init_scripts.*.workspace.destination: { type: regex, pattern: "/Shared/.*" }, init_scripts.1.workspace.destination: { type: fixed, value: /other.sh } }',
      "num_workers: 1, init_scripts: [{ workspace: { destination: /Shared/a.sh } }, { workspace: { destination: /other.sh } }]",
    ],
    ["{ autotermination_minutes: { type: range, maxValue: 60, isOptional: true } }", "num_workers: 1"],
    ["{ num_workers: { type: unlimited, defaultValue: 9 } }", "num_workers: 30"],
    [
      "{ dbus_per_hour: { type: range, maxValue: 1 }, cluster_type: { type: fixed, value: all-purpose } }",
      "num_workers: 1",
    ],
    ['{ spark_version: { type: regex, pattern: "(a+)+$" } }', "num_workers: 1"],
  ])("%s with %s", async (rules, cluster) => {
    expect(await guards(await start(), specWith(rules, cluster))).toEqual([]);
  });
});

test("a task's cluster is checked against a live policy that the spec names by its ID", async () => {
  const site = await start();
  const { body } = await site.world.post("policies/clusters/create", {
    name: "live",
    definition: JSON.stringify({ num_workers: { type: "range", maxValue: 2 } }),
  });
  const spec = `jobs: { j: { new_cluster: { spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 8, policy_id: ${body.policy_id} }, notebook_task: { notebook_path: /a } } }\n`;
  expect(await guards(site, spec)).toEqual([
    "GUARD_CLUSTER_POLICY jobs.j: new_cluster.num_workers must be at most 2, by the cluster policy live",
  ]);
});

test("values that a policy gives to a cluster do not count as a difference, and others do", async () => {
  const site = await start();
  const rules = {
    "spark_conf.spark.fixed": { type: "fixed", value: "f" },
    "custom_tags.team": { type: "unlimited", defaultValue: "data" },
  };
  const { body } = await site.world.post("policies/clusters/create", {
    name: "live",
    definition: JSON.stringify(rules),
  });
  const head = { spark_version: "15.4.x-scala2.12", node_type_id: "Standard_DS3_v2", num_workers: 1 };
  const cluster = { ...head, policy_id: body.policy_id, cluster_name: "c" };
  const given = { spark_conf: { "spark.fixed": "f" }, custom_tags: { team: "data" } };
  const made = await site.world.post("clusters/create", { ...cluster, ...given });
  const spec = `import: [{ to: clusters.c, id: ${made.body.cluster_id} }]\nclusters: { c: ${JSON.stringify({ ...cluster, cluster_name: undefined })} }\n`;
  expect(doing(await planned(site, spec))).toEqual(["import clusters.c"]);
  await site.world.advance(600_000);
  await site.world.post("clusters/edit", {
    ...cluster,
    cluster_id: made.body.cluster_id,
    ...given,
    custom_tags: { team: "other" },
  });
  expect(doing(await planned(site, spec))).toEqual(["update clusters.c"]);
});

test("a cluster without a size that its policy does not set is blocked", async () => {
  expect(
    await guards(
      await start(),
      specWith("{ spark_conf.a: { type: fixed, value: b } }", "custom_tags: { a: b }"),
    ),
  ).toEqual([
    "GUARD_CLUSTER_POLICY clusters.c: needs num_workers or autoscale, which its cluster policy does not set",
  ]);
});

const POLICY = {
  num_workers: { type: "fixed", value: 2 },
  autotermination_minutes: { type: "fixed", value: 30 },
  "custom_tags.team": { type: "fixed", value: "data" },
  "azure_attributes.availability": { type: "unlimited", defaultValue: "SPOT_AZURE", isOptional: true },
};

const applied = async (site: Site, yaml: string) => {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
  return results(outcome);
};

test("clusters, tasks, and shared clusters of jobs have the values of their policies, which leave no difference", async () => {
  const site = await start();
  const cluster = `{ spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, policy_id: "\${cluster_policies.p.policy_id}", apply_policy_default_values: true }`;
  const yaml = (more = "") => `
cluster_policies: { p: { definition: ${JSON.stringify(POLICY)} } }
clusters: { c: ${cluster} }
jobs:
  one: { new_cluster: ${cluster}, notebook_task: { notebook_path: /a }${more} }
  two:
    job_clusters: { shared: { new_cluster: ${cluster} } }
    tasks: { a: { job_cluster_key: shared, notebook_task: { notebook_path: /a } }, b: { new_cluster: ${cluster}, notebook_task: { notebook_path: /b } } }
`;
  expect(await applied(site, yaml())).toHaveLength(4);
  const { body } = await site.world.get("clusters/list");
  expect(body.clusters[0]).toMatchObject({
    num_workers: 2,
    autotermination_minutes: 30,
    custom_tags: { team: "data" },
    azure_attributes: { availability: "SPOT_AZURE" },
  });
  const again = await planned(site, yaml());
  expect([doing(again), again.drift]).toEqual([[], []]);
  expect(await applied(site, yaml(", max_concurrent_runs: 2"))).toEqual(["applied update jobs.one"]);
  expect(doing(await planned(site, yaml(", max_concurrent_runs: 2")))).toEqual([]);
});

describe("one apply that changes a policy and the clusters that have its values", () => {
  const policed = (team: string, value: string) => {
    const cluster = `{ spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, policy_id: "\${cluster_policies.p.policy_id}", num_workers: 1, spark_env_vars: { A: ${value} } }`;
    return `
cluster_policies: { p: { definition: { custom_tags.team: { type: fixed, value: ${team} } } } }
clusters: { c: ${cluster} }
jobs: { j: { new_cluster: ${cluster}, notebook_task: { notebook_path: /a } } }
`;
  };
  const edited = async (site: Site, tags: Record<string, string>) => {
    const { body } = await site.world.get("clusters/list");
    const { cluster_id, cluster_name, spark_version, node_type_id, policy_id, ...rest } = body.clusters[0];
    const { num_workers, spark_env_vars, custom_tags } = rest;
    const same = { cluster_id, cluster_name, spark_version, node_type_id, policy_id, num_workers };
    return site.world.post("clusters/edit", {
      ...same,
      spark_env_vars,
      custom_tags: { ...custom_tags, ...tags },
    });
  };
  /** The results, with `act` right after the edit of the policy. */
  const applying = async (site: Site, yaml: string, act: () => Promise<unknown> = async () => undefined) => {
    const process = site.process({
      transport: async (request, send) => {
        const response = await send(request);
        if (request.path.includes("policies/clusters/edit")) await act();
        return response;
      },
    });
    const { outcome } = await site.drive(process.apply(await site.spec(yaml)));
    const codes = outcome.changes.flatMap(({ diagnostic }) => diagnostic?.code ?? []);
    return [...results(outcome), ...codes].sort();
  };

  test("changes all of them, and the next plan is empty", async () => {
    const site = await start();
    expect(await applied(site, policed("data", "before"))).toHaveLength(3);
    await site.world.advance(600_000);
    expect(await applying(site, policed("other", "after"))).toEqual([
      "applied update cluster_policies.p",
      "applied update clusters.c",
      "applied update jobs.j",
    ]);
    const { body } = await site.world.get("clusters/list");
    expect(body.clusters[0]).toMatchObject({
      spark_env_vars: { A: "after" },
      custom_tags: { team: "other" },
    });
    const next = await planned(site, policed("other", "after"));
    expect([doing(next), next.drift]).toEqual([[], []]);
  });

  test("does not change a cluster that another client changed meanwhile", async () => {
    const site = await start();
    await applied(site, policed("data", "before"));
    await site.world.advance(600_000);
    expect(
      await applying(site, policed("other", "after"), async () => {
        expect(await edited(site, { team: "other", by: "hand" })).toMatchObject({ status: 200 });
      }),
    ).toEqual([
      "PLAN_LIVE_MOVED",
      "applied update cluster_policies.p",
      "applied update jobs.j",
      "skipped update clusters.c",
    ]);
  });
});

const GIVEN_VALUES = [
  ["custom_tags.team", "data", "other"],
  ["spark_conf.spark.x", "a", "b"],
  ["num_workers", 2, 3],
  ["autotermination_minutes", 30, 60],
  ["azure_attributes.availability", "SPOT_AZURE", "ON_DEMAND_AZURE"],
  ["driver_node_type_id", "Standard_DS3_v2", "Standard_DS4_v2"],
] as const;
const RULES = [
  ["fixed value", "type: fixed, value", ""],
  ["default", "type: unlimited, defaultValue", "apply_policy_default_values: true, "],
] as const;

describe.each(
  RULES.flatMap(([what, rule, asks]) => GIVEN_VALUES.map((given) => [what, ...given, rule, asks] as const)),
)("after an apply that only changes the %s of %s", (what, field, before, after, rule, asks) => {
  const policed = (value: unknown, more = "") => {
    const size = (field === "num_workers" ? "" : "num_workers: 1, ") + asks;
    const cluster = `{ ${size}${more}spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, policy_id: "\${cluster_policies.p.policy_id}" }`;
    return `
cluster_policies: { p: { definition: { ${field}: { ${rule}: ${value} } } } }
clusters: { c: ${cluster} }
jobs: { j: { new_cluster: ${cluster}, notebook_task: { notebook_path: /a } } }
`;
  };

  test("clusters and jobs have no drift and no changes, and a later edit gives them the new value", async () => {
    const site = await start();
    await applied(site, policed(before));
    await site.world.advance(600_000);
    const change = await planned(site, policed(after));
    expect(doing(change)).toEqual(["update cluster_policies.p"]);
    const former = `clusters with this policy keep the former value of ${field} until they are edited: c`;
    expect(change.changes.flatMap((item) => ("consequences" in item ? item.consequences : []))).toEqual(
      what === "default" ? [] : [former],
    );
    expect(await applied(site, policed(after))).toEqual(["applied update cluster_policies.p"]);
    const next = await planned(site, policed(after));
    expect([doing(next), next.drift, next.guards]).toEqual([[], [], []]);
    const edit = policed(after, "spark_env_vars: { A: b }, ");
    expect(await applied(site, edit)).toEqual(["applied update clusters.c", "applied update jobs.j"]);
    const { body } = await site.world.get("clusters/list");
    expect(stringifyJson(body.clusters[0])).toContain(JSON.stringify(after));
    const last = await planned(site, edit);
    expect([doing(last), last.drift]).toEqual([[], []]);
  });
});

test("the emulator refuses clusters that violate a policy, in the words of the service", async () => {
  const site = await start();
  const definition = JSON.stringify({
    num_workers: { type: "fixed", value: 2 },
    "custom_tags.team": { type: "unlimited" },
    "ssh_public_keys.*": { type: "forbidden" },
  });
  const { body } = await site.world.post("policies/clusters/create", { name: "p", definition });
  const cluster = {
    spark_version: "15.4.x-scala2.12",
    node_type_id: "Standard_DS3_v2",
    policy_id: body.policy_id,
  };
  const wrong = { ...cluster, num_workers: 3, ssh_public_keys: ["k"] };
  const message =
    'Cluster validation error: Validation failed for num_workers, the value must be 2 (is "3"); ' +
    "Validation failed for custom_tags.team, the value must be present; " +
    "Validation failed for ssh_public_keys.*, the value must not be present";
  const refusal = { status: 400, body: { error_code: "INVALID_PARAMETER_VALUE", message } };
  expect(await site.world.post("clusters/create", wrong)).toMatchObject(refusal);
  const job = { name: "j", new_cluster: wrong, notebook_task: { notebook_path: "/a" } };
  expect(await site.world.post("jobs/create", job)).toMatchObject(refusal);
  const right = { ...cluster, custom_tags: { team: "data" } };
  const made = await site.world.post("clusters/create", right);
  expect(made.status).toBe(200);
  const edit = await site.world.post("clusters/edit", { ...wrong, cluster_id: made.body.cluster_id });
  expect(edit).toMatchObject(refusal);
});

test("a value whose rule leaves the policy is a difference, which the next apply removes", async () => {
  const policed = (rule: string) => `
cluster_policies: { p: { definition: { ${rule}num_workers: { type: range, minValue: 1 } } } }
clusters: { c: { num_workers: 1, spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, policy_id: "\${cluster_policies.p.policy_id}" } }
`;
  const site = await start();
  await applied(site, policed("custom_tags.team: { type: fixed, value: data }, "));
  await site.world.advance(600_000);
  expect(await applied(site, policed(""))).toEqual(["applied update cluster_policies.p"]);
  expect(await applied(site, policed(""))).toEqual(["applied update clusters.c"]);
  const next = await planned(site, policed(""));
  expect([doing(next), next.drift]).toEqual([[], []]);
});

describe("a pool that a policy gives to clusters and jobs", () => {
  const inPool = (pools: string, pool: string) => `
policy: { on_immutable_change: replace, max_deletes: 100% }
pools: { ${pools} }
cluster_policies: { p: { definition: { instance_pool_id: { type: fixed, value: "\${pools.${pool}.instance_pool_id}" } } } }
clusters: { c: { spark_version: 15.4.x-scala2.12, num_workers: 1, policy_id: "\${cluster_policies.p.policy_id}" } }
jobs:
  j:
    new_cluster: { spark_version: 15.4.x-scala2.12, num_workers: 1, policy_id: "\${cluster_policies.p.policy_id}" }
    spark_python_task: { python_file: "dbfs:/a.py" }
`;

  test("is kept when it is replaced, because they are in it", async () => {
    const site = await start();
    await applied(site, inPool("w: { node_type_id: Standard_DS3_v2 }", "w"));
    const next = inPool("w: { node_type_id: Standard_DS4_v2 }", "w");
    const plan = await planned(site, next);
    expect(plan.changes.find(({ action }) => action === "replace")).toMatchObject({
      keepsOld: true,
      consequences: expect.arrayContaining([
        "the old pool is kept under another name while it is in use: cluster c and job j",
      ]),
    });
    await applied(site, next);
    const pools = (await site.world.get("instance-pools/list")).body.instance_pools;
    const [cluster] = (await site.world.get("clusters/list")).body.clusters;
    expect(pools).toHaveLength(2);
    expect(pools.map(({ instance_pool_id: id }: { instance_pool_id: string }) => id)).toContain(
      cluster.instance_pool_id,
    );
    const edited = next.replaceAll("num_workers: 1", "num_workers: 1, custom_tags: { a: b }");
    await applied(site, edited);
    await applied(site, edited);
    expect((await site.world.get("instance-pools/list")).body.instance_pools).toHaveLength(1);
    expect(doing(await planned(site, edited))).toEqual([]);
  });

  test("names them when it is deleted", async () => {
    const site = await start();
    await applied(site, inPool("w: { node_type_id: Standard_DS3_v2 }", "w"));
    const plan = await planned(site, inPool("v: { node_type_id: Standard_DS4_v2 }", "v"));
    const deletion = plan.changes.find(({ action }) => action === "delete");
    expect(deletion).toMatchObject({
      address: "pools.w",
      harms: ["cluster c loses its pool", "job j loses its pool"],
      consequences: [
        "running clusters cannot grow until they leave the pool: c",
        "jobs cannot create their clusters in it: j",
      ],
    });
  });
});

describe("a job whose cluster has values that its policy gives, too", () => {
  const CLUSTER =
    'spark_version: 15.4.x-scala2.12, node_type_id: Standard_DS3_v2, num_workers: 1, policy_id: "${cluster_policies.p.policy_id}"';
  const RUNS = 'spark_python_task: { python_file: "dbfs:/a.py" }';
  const FORMS: Readonly<Record<string, (cluster: string) => string>> = {
    flat: (cluster) => `new_cluster: { ${cluster} }, ${RUNS}`,
    "one task": (cluster) => `tasks: { t: { new_cluster: { ${cluster} }, ${RUNS} } }`,
    "two tasks": (cluster) =>
      `tasks: { t: { new_cluster: { ${cluster} }, ${RUNS} }, u: { new_cluster: { ${cluster} }, ${RUNS} } }`,
    "a shared cluster": (cluster) =>
      `job_clusters: { k: { new_cluster: { ${cluster} } } }, tasks: { t: { job_cluster_key: k, ${RUNS} } }`,
  };
  const VALUES = {
    stated: "spark_conf: { spark.a: one }, custom_tags: { team: x }, apply_policy_default_values: true",
    "left out": "apply_policy_default_values: true",
  };
  const policyWith = (value: string) =>
    `cluster_policies: { p: { definition: { spark_conf.spark.a: { type: fixed, value: ${value} }, custom_tags.team: { type: unlimited, defaultValue: ${value === "one" ? "x" : "y"} } } } }\n`;

  test.each(
    Object.keys(FORMS).flatMap((form) => Object.keys(VALUES).map((values) => [form, values] as const)),
  )("in the form %s, and %s, has no change and no drift after an apply", async (form, values) => {
    const site = await start();
    const job = FORMS[form]?.(`${CLUSTER}, ${VALUES[values as keyof typeof VALUES]}`) ?? "";
    const spec = (value: string) => `${policyWith(value)}jobs: { j: { ${job} } }\n`;
    await applied(site, spec("one"));
    const after = await planned(site, spec("one"));
    expect([doing(after), after.drift]).toEqual([[], []]);
    if (values === "stated") return;
    await applied(site, spec("two"));
    const changed = await planned(site, spec("two"));
    expect([doing(changed), changed.drift]).toEqual([[], []]);
  });
});
