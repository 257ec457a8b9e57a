// Writes the measured workspace as a spec, the way people write one.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { JOB_CLUSTER, type World } from "./world.ts";

/** Every secret has the same value, which comes from this variable. */
export const SECRET_VARIABLE = "BENCH_SECRET";

/** Returns the path of the file, and how many lines it has. */
export function writeSpec(folder: string, world: World): { readonly path: string; readonly lines: number } {
  const path = join(folder, "workspace.yaml");
  const text = stringify(specOf(world), { aliasDuplicateObjects: false, lineWidth: 0 });
  writeFileSync(path, text);
  return { path, lines: text.split("\n").length - 1 };
}

function specOf(world: World) {
  return {
    users: world.users,
    groups: world.groups,
    scopes: each(world.scopes, ({ acls, secrets }) => ({
      acls,
      secrets: Object.fromEntries(secrets.map((key) => [key, { env: SECRET_VARIABLE }])),
    })),
    pools: world.pools,
    clusters: each(world.clusters, ({ pool, fields }) => ({
      ...fields,
      ...(pool === undefined ? {} : { instance_pool_id: idOfPool(pool) }),
    })),
    jobs: each(world.jobs, ({ cluster, pool, fields }) => ({
      ...fields,
      ...(cluster === undefined ? {} : { existing_cluster_id: `\${clusters.${cluster}.cluster_id}` }),
      ...(pool === undefined ? {} : { new_cluster: { ...JOB_CLUSTER, instance_pool_id: idOfPool(pool) } }),
    })),
  };
}

function idOfPool(name: string): string {
  return `\${pools.${name}.instance_pool_id}`;
}

function each<T, U>(things: Readonly<Record<string, T>>, turn: (thing: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(things).map(([name, thing]) => [name, turn(thing)]));
}
