// Writes the measured workspace as a spec, the way people write one.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { Content } from "./contents.ts";
import { JOB_CLUSTER, type World } from "./world.ts";

/** Every secret has the same value, which comes from this variable. */
export const SECRET_VARIABLE = "BENCH_SECRET";

/** Returns how many lines it has. */
export function writeSpec(folder: string, world: World): number {
  for (const { source, bytes } of [...world.notebooks, ...world.files]) {
    const path = join(folder, source);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes());
  }
  const text = stringify(specOf(world), { aliasDuplicateObjects: false, lineWidth: 0 });
  writeFileSync(join(folder, "workspace.yaml"), text);
  return text.split("\n").length - 1;
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
    directories: Object.fromEntries(world.directories.map((path) => [path, {}])),
    notebooks: sources(world.notebooks),
    files: sources(world.files),
  };
}

function sources(contents: readonly Content[]) {
  return Object.fromEntries(contents.map(({ path, source }) => [path, { source }]));
}

function idOfPool(name: string): string {
  return `\${pools.${name}.instance_pool_id}`;
}

function each<T, U>(things: Readonly<Record<string, T>>, turn: (thing: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(things).map(([name, thing]) => [name, turn(thing)]));
}
