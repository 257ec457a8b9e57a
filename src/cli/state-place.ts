// Where a run keeps its state, and opens it: `.workspace/<target>` beside the spec unless --state says otherwise.

import { dirname, join, resolve } from "node:path";
import { openFileStore } from "../state/file/file-store.ts";
import { isDeadHere, nodeClock, nodeFiles, nodeRandom, thisProcess } from "../state/file/node-ports.ts";
import type { StoreOptions } from "../state/kept-store.ts";
import type { StateStore } from "../state/store.ts";
import { fromEnv, type HostOptions, leaseFromEnv } from "./config.ts";
import type { Context } from "./context.ts";
import { sharedState } from "./shared-state.ts";
import { type SpecOptions, specFile, targetOf } from "./spec.ts";

export type StateOptions = Pick<SpecOptions, "file" | "target"> &
  Partial<Pick<HostOptions, "host" | "profile">> & { readonly state: string | undefined };

/** The folder of everything that a spec's runs keep. */
function ownFolder(context: Context, options: Pick<SpecOptions, "file">): string {
  return join(dirname(specFile(context, options)), ".workspace");
}

export function embeddedFolder(context: Context, options: Pick<SpecOptions, "file">): string {
  return join(ownFolder(context, options), "embedded");
}

function stateFolder(context: Context, options: StateOptions, said: string | undefined): string {
  if (said === undefined) return join(ownFolder(context, options), targetFolder(targetOf(context, options)));
  return resolve(context.cwd, said);
}

/** A folder name that no target can use to lead elsewhere, nor to the embedded workspace's data. */
function targetFolder(target: string | undefined): string {
  if (target === undefined) return "default";
  const name = encodeURIComponent(target).replaceAll(".", "%2E");
  return name === "embedded" || name === "default" ? `target-${name}` : name;
}

/** Opened with its first use; whoever opens it closes it. */
export function openState(context: Context, options: StateOptions): StateStore {
  return openStateAt(context, options, options.state ?? fromEnv(context, "WORKSPACE_STATE"));
}

/** The state in a place that was named otherwise than by --state. */
export function openStateAt(
  context: Context,
  options: StateOptions,
  said: string | undefined,
  keys: Keys = keysOf(context),
): StateStore {
  const leaseMs = leaseFromEnv(context);
  const common = {
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
    isDead: isDeadHere,
    ...(leaseMs === undefined ? {} : { times: { leaseMs, requestMs: leaseMs } }),
    ...keys,
  };
  const shared =
    said === undefined
      ? undefined
      : sharedState(context, options, said, common, embeddedFolder(context, options));
  if (shared !== undefined) return shared;
  return openFileStore({ folder: stateFolder(context, options, said), fs: nodeFiles, ...common });
}

type Keys = Pick<StoreOptions, "keyText" | "oldKeyText">;

function keysOf(context: Context): Keys {
  const keyText = fromEnv(context, "WORKSPACE_STATE_KEY");
  return keyText === undefined ? {} : { keyText };
}

/** Opens the state, works with it, and closes it however that ends. */
export async function withState<T>(
  context: Context,
  options: StateOptions,
  work: (store: StateStore) => Promise<T>,
): Promise<T> {
  const store = openState(context, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
