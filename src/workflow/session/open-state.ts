// Opens the state of a run at its location.

import { ciRunUrl } from "../../config/ci-run.ts";
import type { ProcessContext } from "../../config/environment.ts";
import { fromEnv, leaseFromEnv } from "../../config/settings.ts";
import { openFileStore } from "../../state/backends/file/file-backend.ts";
import {
  isDeadHere,
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../state/backends/file/node-ports.ts";
import type { StateStore } from "../../state/model/store.ts";
import type { StoreOptions } from "../../state/store/state-store.ts";
import { sharedState } from "./shared-state.ts";
import { embeddedFolder, explicitStateLocation, type StateOptions, stateFolder } from "./state-location.ts";

/** Opened on first use; the opener closes it. */
export function openState(context: ProcessContext, options: StateOptions): StateStore {
  return openStateAt(context, options, explicitStateLocation(context, options));
}

/** The state at a location that was not set with --state. */
export function openStateAt(
  context: ProcessContext,
  options: StateOptions,
  said: string | undefined,
  keys: Keys = keysOf(context),
): StateStore {
  const leaseMs = leaseFromEnv(context);
  const run = ciRunUrl(context);
  const common = {
    clock: nodeClock,
    random: nodeRandom,
    owner: { ...thisProcess(), ...(run === undefined ? {} : { run_url: run }) },
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

function keysOf(context: ProcessContext): Keys {
  const keyText = fromEnv(context, "WORKSPACE_STATE_KEY");
  return keyText === undefined ? {} : { keyText };
}

/** Opens the state, works with it, and closes it however that ends. */
export async function withState<T>(
  context: ProcessContext,
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
