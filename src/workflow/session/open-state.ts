// Locates and opens the state of a run: `.workspace/<target>` next to the spec unless --state is set.

import { dirname, join, resolve } from "node:path";
import { ciRunUrl } from "../../config/ci-run.ts";
import type { ProcessContext } from "../../config/environment.ts";
import { fromEnv, type HostOptions, leaseFromEnv } from "../../config/settings.ts";
import { openFileStore } from "../../state/backends/file/file-backend.ts";
import {
  isDeadHere,
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../state/backends/file/node-ports.ts";
import { isPostgresUrl } from "../../state/backends/postgres/url.ts";
import type { StateStore } from "../../state/model/store.ts";
import type { StoreOptions } from "../../state/store/state-store.ts";
import { specFile, stateOfTarget, type TargetOptions, targetOf } from "../target/target.ts";
import type { SpecOptions } from "./read-spec.ts";
import { isInWorkspace, sharedState } from "./shared-state.ts";

export type StateOptions = Pick<SpecOptions, "file" | "target"> &
  Partial<Pick<HostOptions, "host" | "profile" | "caFile" | "dialect" | "cloud" | "untrusted">> & {
    readonly state: string | undefined;
  };

/** The folder of everything that a spec's runs keep. */
function ownFolder(context: ProcessContext, options: Pick<SpecOptions, "file">): string {
  return join(dirname(specFile(context, options)), ".workspace");
}

export function embeddedFolder(context: ProcessContext, options: Pick<SpecOptions, "file">): string {
  return join(ownFolder(context, options), "embedded");
}

function stateFolder(context: ProcessContext, options: StateOptions, said: string | undefined): string {
  if (said === undefined) return join(ownFolder(context, options), targetFolder(targetOf(context, options)));
  return resolve(context.cwd, said);
}

/** A folder name that no target can use to lead elsewhere, nor to the embedded workspace's data. */
function targetFolder(target: string | undefined): string {
  if (target === undefined) return "default";
  const name = encodeURIComponent(target).replaceAll(".", "%2E");
  return name === "embedded" || name === "default" ? `target-${name}` : name;
}

/** The configured location; undefined for the default. */
export function explicitStateLocation(
  context: ProcessContext,
  options: Pick<StateOptions, "state"> & TargetOptions,
): string | undefined {
  return options.state ?? fromEnv(context, "WORKSPACE_STATE") ?? stateOfTarget(context, options);
}

/** The absolute folder of the state; undefined where it is kept in PostgreSQL or in the workspace. */
export function stateFolderOf(context: ProcessContext, options: StateOptions): string | undefined {
  const said = explicitStateLocation(context, options);
  if (said !== undefined && (isPostgresUrl(said) || isInWorkspace(said))) return undefined;
  return stateFolder(context, options, said);
}

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
