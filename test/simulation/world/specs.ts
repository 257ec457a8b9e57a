// Specs at random: any part of a small cast of resources, each with some of its fields; always one that validates.

import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json.ts";

const some = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const subset = <T>(...items: readonly T[]) => fc.subarray([...items]);
const pick = <T>(...items: readonly T[]) => fc.constantFrom(...items);

const RUNTIME = { spark_version: "6.4.x-scala2.11" };
const NODE = { node_type_id: "Standard_DS3_v2" };

/** A module that the specs use: resources of each kind with a prefix, and one of a kind without. */
export const TEAM_MODULE = `inputs:
  team: { type: string }
  workers: { type: integer }
  capacity: { type: integer, default: 9 }
  pool: { type: string, default: "" }
  tags: { type: object, default: {} }
outputs:
  cluster_id: \${clusters.own.cluster_id}
locals:
  name: team-\${input.team}
groups: { "\${local.name}": {} }
pools:
  own: { instance_pool_name: "\${local.name}", node_type_id: Standard_DS3_v2, max_capacity: "\${input.capacity}" }
clusters:
  own:
    cluster_name: \${local.name}
    spark_version: 6.4.x-scala2.11
    instance_pool_id: \${pools.own.instance_pool_id}
    num_workers: \${input.workers}
    custom_tags: \${input.tags}
scopes: { "\${local.name}": { acls: { "\${local.name}": READ } } }
`;

const raw = fc.record({
  users: subset("ada@example.com", "bo@example.com", "cy@example.com"),
  rights: subset("allow-cluster-create", "allow-instance-pool-create"),
  title: some(pick("Ada", "Countess")),
  groups: subset("red", "blue"),
  members: some(subset("ada@example.com", "bo@example.com", "cy@example.com")),
  inner: fc.boolean(),
  scopes: subset("etl", "vault"),
  permission: some(pick("READ", "WRITE", "MANAGE")),
  secrets: subset("a", "b"),
  source: pick("DB_PASSWORD", "OTHER_PASSWORD"),
  pools: subset("warm", "cold"),
  machine: pick("Standard_DS3_v2", "Standard_DS4_v2"),
  capacity: some(fc.integer({ min: 5, max: 7 })),
  idle: some(fc.integer({ min: 0, max: 2 })),
  clusters: subset("one", "two"),
  workers: fc.integer({ min: 1, max: 3 }),
  scale: fc.boolean(),
  pinned: some(fc.boolean()),
  run: some(pick("RUNNING", "TERMINATED")),
  tags: some(fc.dictionary(pick("team", "cost"), pick("x", "y"))),
  jobs: subset("nightly", "packed"),
  main: pick("org.example.A", "org.example.B"),
  at: some(pick("0 30 2 1 1 ?", "0 45 2 1 1 ?")),
  runs: some(fc.integer({ min: 1, max: 3 })),
  folders: subset("/Shared/etl", "/Shared/other"),
  notebooks: subset("/Shared/etl/nightly", "/Shared/other/query"),
  cells: pick("nightly.py", "nightly2.py"),
  files: subset("/init/install.sh", "/init/more.sh"),
  teams: subset("ads", "web"),
  script: pick("install.sh", "install2.sh"),
});
type Raw = typeof raw extends fc.Arbitrary<infer T> ? T : never;

const keyed = <T>(names: readonly string[], value: (name: string, at: number) => T): Record<string, T> =>
  Object.fromEntries(names.map((name, at) => [name, value(name, at)]));

function specOf(from: Raw): JsonObject {
  const { users, groups, pools, clusters, folders } = from;
  const [pool] = pools;
  const [cluster] = clusters;
  const [team] = from.teams;
  const inPool = pool === undefined ? NODE : { instance_pool_id: `\${pools.${pool}.instance_pool_id}` };
  const size = from.scale
    ? { autoscale: { min_workers: 1, max_workers: 3 + from.workers } }
    : { num_workers: from.workers };
  const members = from.members?.filter((name) => users.includes(name));
  const spec = {
    policy: { on_immutable_change: "replace", max_deletes: "100%" },
    users: keyed(users, (_, at) => ({
      entitlements: from.rights.slice(at),
      displayName: at === 0 ? from.title : undefined,
    })),
    groups: keyed(groups, (_, at) => ({
      members:
        members === undefined
          ? undefined
          : { users: members, groups: at === 0 && from.inner ? groups.slice(1) : [] },
    })),
    scopes: keyed(from.scopes, () => ({
      acls: from.permission === undefined ? undefined : keyed(groups, () => from.permission),
      secrets: keyed(from.secrets, () => ({ env: from.source })),
    })),
    pools: keyed(pools, (_, at) => ({
      node_type_id: at === 0 ? from.machine : "Standard_DS3_v2",
      max_capacity: from.capacity,
      min_idle_instances: from.idle,
      custom_tags: from.tags,
    })),
    clusters: keyed(clusters, (_, at) => ({
      ...RUNTIME,
      ...(at === 0 ? NODE : inPool),
      ...size,
      pinned: from.pinned,
      run_state: from.run,
      custom_tags: from.tags,
    })),
    jobs: keyed(from.jobs, (_, at) => ({
      ...(at === 0 && (cluster !== undefined || team !== undefined)
        ? {
            existing_cluster_id:
              team === undefined
                ? `\${clusters.${cluster}.cluster_id}`
                : `\${modules.team/${team}.cluster_id}`,
          }
        : { new_cluster: { ...RUNTIME, ...inPool, num_workers: from.workers } }),
      spark_jar_task: { main_class_name: from.main },
      schedule:
        from.at === undefined ? undefined : { quartz_cron_expression: from.at, timezone_id: "Europe/Paris" },
      max_concurrent_runs: from.runs,
    })),
    ...(from.teams.length === 0
      ? {}
      : {
          modules: {
            team: {
              source: "./team",
              for_each: keyed(from.teams, (_, at) => ({ workers: at + from.workers })),
              with: {
                team: "${each.key}",
                workers: "${each.value.workers}",
                capacity: from.capacity,
                tags: from.tags,
              },
            },
          },
        }),
    directories: keyed(folders, () => ({})),
    notebooks: keyed(
      from.notebooks.filter((path) => folders.some((folder) => path.startsWith(folder))),
      () => ({ source: from.cells }),
    ),
    files: keyed(from.files, () => ({ source: from.script })),
  };
  return JSON.parse(JSON.stringify(spec)) as JsonObject;
}

export const specs: fc.Arbitrary<JsonObject> = raw.map(specOf);

/** The fate of the state between two applies: unchanged, an older version, or without these parts of its records. */
export type Fate =
  | { readonly kind: "kept" }
  | { readonly kind: "stale" }
  | { readonly kind: "partial"; readonly keep: readonly boolean[] };

export interface Story {
  readonly first: JsonObject;
  readonly second: JsonObject;
  readonly last: JsonObject;
  readonly fate: Fate;
  readonly parallelism: number;
  /** The managed objects that are deleted outside the spec, as shares of their number. */
  readonly gone: readonly number[];
}

export const stories: fc.Arbitrary<Story> = fc.record({
  first: specs,
  second: specs,
  last: specs,
  fate: fc.oneof(
    fc.constant({ kind: "kept" as const }),
    fc.constant({ kind: "stale" as const }),
    fc
      .array(fc.boolean(), { minLength: 4, maxLength: 12 })
      .map((keep) => ({ kind: "partial" as const, keep })),
  ),
  parallelism: fc.integer({ min: 1, max: 16 }),
  gone: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: 2 }),
});

/** The same value with the members of every object, and the items of lists that are sets, in another order. */
export function reordered(value: JsonObject): JsonObject {
  const turn = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(turn).reverse();
    if (item === null || typeof item !== "object") return item;
    return Object.fromEntries(
      Object.entries(item)
        .reverse()
        .map(([key, inner]) => [key, turn(inner)]),
    );
  };
  return turn(value) as JsonObject;
}
