// The measured workspace as data: what the spec declares, and what a bare client sends to build the same.

import { type Contents, contentsOf } from "./contents.ts";
import type { Sizes } from "./sizes.ts";

const NODE_TYPE = "Standard_DS3_v2";
const SPARK_VERSION = "6.4.x-scala2.11";

type Fields = Readonly<Record<string, unknown>>;
type Named = Readonly<Record<string, Fields>>;

export interface World extends Contents {
  readonly users: Named;
  readonly groups: Readonly<Record<string, { readonly members: { readonly users: readonly string[] } }>>;
  readonly scopes: Readonly<
    Record<string, { readonly secrets: readonly string[]; readonly acls: Readonly<Record<string, string>> }>
  >;
  readonly pools: Named;
  /** With the name of their pool instead of its id; some have none. */
  readonly clusters: Readonly<Record<string, { readonly pool?: string; readonly fields: Fields }>>;
  /** With the name of the cluster they run on, or of the pool that theirs is made from. */
  readonly jobs: Readonly<
    Record<string, { readonly cluster?: string; readonly pool?: string; readonly fields: Fields }>
  >;
}

export function worldOf(sizes: Sizes): World {
  const users = namesOf("person", sizes.users, (n) => `${n}@example.com`);
  const groups = namesOf("team", sizes.groups);
  const pools = namesOf("pool", sizes.pools);
  const clusters = namesOf("cluster", sizes.clusters);
  const perGroup = Math.floor(sizes.memberships / sizes.groups);
  return {
    ...contentsOf(sizes),
    users: record(users, (_, n) => (n % 5 === 0 ? { entitlements: ["allow-cluster-create"] } : {})),
    groups: record(groups, (_, n) => ({
      members: { users: range(perGroup).map((m) => pick(users, n * perGroup + m)) },
    })),
    scopes: record(namesOf("scope", sizes.scopes), (_, n) => ({
      secrets: share(sizes.secrets, sizes.scopes, n).map((secret) => `secret-${secret}`),
      acls: record(
        share(sizes.acls, sizes.scopes, n).map((acl) => pick(groups, acl)),
        (_group, m) => ["READ", "WRITE", "MANAGE"][m % 3] ?? "READ",
      ),
    })),
    pools: record(pools, () => ({
      node_type_id: NODE_TYPE,
      min_idle_instances: 0,
      max_capacity: 50,
      custom_tags: { team: "bench" },
    })),
    clusters: record(clusters, (_, n) => ({
      ...(n % 3 === 0 ? {} : { pool: pick(pools, n) }),
      fields: { ...(n % 3 === 0 ? { node_type_id: NODE_TYPE } : {}), ...clusterFields(n) },
    })),
    jobs: record(namesOf("job", sizes.jobs), (name, n) => ({
      ...(n % 4 === 0 ? { pool: pick(pools, n) } : { cluster: pick(clusters, n) }),
      fields: jobFields(name, n),
    })),
  };
}

function clusterFields(n: number): Fields {
  return {
    spark_version: SPARK_VERSION,
    ...(n % 2 === 0 ? { autoscale: { min_workers: 1, max_workers: 4 } } : { num_workers: 2 }),
    spark_conf: { "spark.speculation": "true", "spark.sql.shuffle.partitions": `${100 + n}` },
    spark_env_vars: { TEAM: `team-${n}` },
    autotermination_minutes: 60,
  };
}

function jobFields(name: string, n: number): Fields {
  // Once a year, so that no run begins while we measure.
  const schedule = { quartz_cron_expression: `0 ${n % 60} 3 1 1 ?`, timezone_id: "Europe/Paris" };
  return {
    notebook_task: { notebook_path: `/Shared/${name}`, base_parameters: { day: "today", step: `${n}` } },
    libraries: [
      { jar: `fs:/libraries/${name}.jar` },
      { maven: { coordinates: `com.example:part-${n % 20}:1.0.0` } },
    ],
    email_notifications: { on_failure: [`team-${n % 20}@example.com`] },
    timeout_seconds: 3_600,
    max_retries: 1,
    ...(n % 2 === 0 ? { schedule } : {}),
  };
}

/** The cluster that a job makes from a pool, which has the type of the nodes. */
export const JOB_CLUSTER: Fields = { spark_version: SPARK_VERSION, num_workers: 2 };

function namesOf(stem: string, count: number, shape: (name: string) => string = (name) => name): string[] {
  return range(count).map((n) => shape(`${stem}-${n}`));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** The share of `count` numbered objects that belongs to the `n`-th of `owners`. */
function share(count: number, owners: number, n: number): number[] {
  return range(Math.max(0, Math.ceil((count - n) / owners))).map((at) => n + at * owners);
}

function pick(names: readonly string[], n: number): string {
  return names[n % names.length] ?? "";
}

function record<T>(names: readonly string[], make: (name: string, n: number) => T): Record<string, T> {
  return Object.fromEntries(names.map((name, n) => [name, make(name, n)]));
}
