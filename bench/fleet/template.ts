// One workspace of 200 resources, applied once: its spec, its state, and its world, from which the farm makes copies.

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../../src/emulator/app.ts";
import { contractFile } from "../../src/emulator/http/contract.ts";
import { Store } from "../../src/emulator/store/store.ts";
import { EmulatorClock } from "../../src/emulator/world/clock.ts";
import { openFileStore } from "../../src/state/backends/file/file-backend.ts";
import { nodeClock, nodeFiles, nodeRandom, thisProcess } from "../../src/state/backends/file/node-ports.ts";
import { resourcesOf, type Sizes } from "../sizes.ts";
import { SECRET_VARIABLE, writeSpec } from "../spec.ts";
import { worldOf } from "../world.ts";

export const SIZES: Sizes = {
  users: 85,
  groups: 10,
  memberships: 190,
  scopes: 4,
  secrets: 40,
  acls: 10,
  pools: 2,
  clusters: 9,
  jobs: 40,
  directories: 0,
  notebooks: 0,
  files: 0,
};
export const RESOURCES = resourcesOf(SIZES);

export const TOKEN = "farm-0123456789abcdef";
export const ADMIN = "admin@example.com";
export const SECRETS = { [SECRET_VARIABLE]: "a secret of the farm" };
const contract = contractFile(undefined);

/** A service over a separate world. Worlds that come from one dump share its rows: a write replaces a row and changes none. */
export function serviceOver(store: Store) {
  return createApp({ store, contract, clock: new EmulatorClock(Date.now), token: TOKEN, admin: ADMIN });
}

export function copyOf(world: Store, key: Uint8Array): Store {
  const store = new Store({ key });
  store.transact(Date.now(), () => store.replace(world.dump(), new Map()));
  return store;
}

export function writeTemplateSpec(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeSpec(folder, worldOf(SIZES));
}

/** Copies the state of the template for another host. */
export async function copyState(template: string, folder: string, host: string): Promise<void> {
  cpSync(template, folder, { recursive: true });
  const store = openFileStore({
    folder,
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
  });
  const lease = await store.lock({ timeoutMs: 0 });
  await lease.append({ type: "host", host });
  await lease.release();
  await store.close();
}

export interface FleetFileOptions {
  readonly folder: string;
  readonly urls: readonly string[];
  readonly timeout: string;
}

export const nameOf = (at: number): string => `ws-${String(at).padStart(5, "0")}`;

export function writeFleetFile({ folder, urls, timeout }: FleetFileOptions): void {
  const workspaces = Object.fromEntries(urls.map((host, at) => [nameOf(at), { host }]));
  const defaults = { spec: "spec", timeout, environment: { WORKSPACE_TOKEN: "FARM_TOKEN" } };
  writeFileSync(join(folder, "fleet.yaml"), JSON.stringify({ defaults, workspaces }));
}
