// Opens the state of a run: in a folder, in PostgreSQL, or in the workspace. Shared backends are loaded on use.

import { isConflict, isMissing } from "../../api/contract/refusals.ts";
import { ciRunUrl, fromEnv, type ProcessContext } from "../../config/environment.ts";
import { authoritiesOf } from "../../config/network.ts";
import { leaseFromEnv, timeFromEnv } from "../../config/settings.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { openFileStore } from "../../state/backends/file/file-backend.ts";
import {
  isCrashedLocally,
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../state/backends/file/node-ports.ts";
import { isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/database.ts";
import type { JournalEntry } from "../../state/model/record.ts";
import type { Lease, LockOptions, StateStore } from "../../state/model/store.ts";
import type { StoreOptions } from "../../state/store/state-store.ts";
import {
  embeddedFolder,
  explicitStateLocation,
  isInWorkspace,
  type StateOptions,
  stateFolder,
} from "../invocation/state-location.ts";
import { IN_WORKSPACE, settingsForTarget, targetOf } from "../invocation/target.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";

/** Opened on first use; the opener closes it. */
export function openState(context: ProcessContext, options: StateOptions): StateStore {
  return openStateAt(context, options, explicitStateLocation(context, options));
}

/** The state at a location that was not set with --state. */
export function openStateAt(
  context: ProcessContext,
  options: StateOptions,
  said: string | undefined,
  keys: Keys = defined({ keyText: fromEnv(context, "WORKSPACE_STATE_KEY") }),
): StateStore {
  const leaseMs = leaseFromEnv(context);
  const common = {
    clock: nodeClock,
    random: nodeRandom,
    owner: { ...thisProcess(), ...defined({ run_url: ciRunUrl(context) }) },
    isCrashed: isCrashedLocally,
    ...(leaseMs === undefined ? {} : { times: { leaseMs, requestMs: leaseMs } }),
    ...keys,
  };
  const shared = said === undefined ? undefined : sharedState(context, options, said, common);
  if (shared !== undefined) return shared;
  return openFileStore({ folder: stateFolder(context, options, said), fs: nodeFiles, ...common });
}

/** How a command waits for the state lock. `timeoutMs`: of --lock-timeout. */
export function lockWait(
  context: WorkflowContext,
  timeoutMs: number | undefined,
): Pick<LockOptions, "timeoutMs" | "onWait"> {
  return {
    timeoutMs: timeoutMs ?? timeFromEnv(context, "WORKSPACE_LOCK_TIMEOUT") ?? 0,
    onWait: (wait) => context.observer.waitingForLock(wait),
  };
}

type Keys = Pick<StoreOptions, "keyText" | "oldKeyText">;

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

export async function writeEntries(
  store: StateStore,
  wait: LockOptions,
  entries: (lease: Lease) => readonly JournalEntry[] | Promise<readonly JournalEntry[]>,
): Promise<void> {
  const lease = await store.lock(wait);
  try {
    for (const entry of await entries(lease)) await lease.append(entry);
    await lease.publish();
  } finally {
    await lease.release();
  }
}

/** Few concurrent requests for a state, so that an apply never waits for them. */
const PARALLELISM = 8;

/** Undefined if `said` is a folder. Throws CLI_USAGE; no message repeats a possible password. */
function sharedState(
  context: ProcessContext,
  options: StateOptions,
  said: string,
  common: StoreOptions,
): StateStore | undefined {
  if (isPostgresUrl(said)) {
    const url = parsePostgresUrl(said, targetOf(context, options) ?? "default", context.env);
    return lazyStore(url.shown, async () => {
      const authorities = authoritiesOf(context, options.caFile);
      const { openPostgresStore } = await import("../../state/backends/postgres/pg-database.ts");
      return openPostgresStore({ ...common, url, ...defined({ authorities }) });
    });
  }
  if (isInWorkspace(said)) return inWorkspace(context, options, said, common);
  // A URL that kept the quotes or spaces around it is not a folder either.
  if (/^["'\s]*[a-z][a-z0-9+.-]+:/i.test(said) || said.includes("://"))
    throw failureOf("CLI_USAGE", "--state is not a supported state location", {
      hint: "use a folder, postgres://user@host/database, or workspace:/folder",
    });
  return undefined;
}

/** Connects on first use. */
function lazyStore(place: string, open: () => Promise<StateStore>): StateStore {
  let opened: Promise<StateStore> | undefined;
  const store = (): Promise<StateStore> => {
    opened ??= open();
    return opened;
  };
  return {
    place,
    read: async (options) => (await store()).read(options),
    lock: async (options) => (await store()).lock(options),
    holder: async () => (await store()).holder(),
    unlock: async (how) => (await store()).unlock(how),
    key: async (options) => (await store()).key(options),
    generations: async () => (await store()).generations(),
    restore: async (serial, options) => (await store()).restore(serial, options),
    replace: async (incoming, options) => (await store()).replace(incoming, options),
    rekey: async (options) => (await store()).rekey(options),
    close: async () => {
      if (opened !== undefined) await (await opened).close();
    },
  };
}

function inWorkspace(
  context: ProcessContext,
  options: StateOptions,
  said: string,
  common: StoreOptions,
): StateStore {
  const folder = said.slice(IN_WORKSPACE.length);
  const { readLimit } = options;
  if (!/^(\/[^/]+)+$/.test(folder) || folder.split("/").some((name) => name === "." || name === ".."))
    throw failureOf("CLI_USAGE", `--state ${said} is not a folder in the workspace's file system`, {
      hint: "write it as workspace:/folder/of/the/state",
    });
  return lazyStore(said, async () => {
    const { host, profile } = options;
    const settings = settingsForTarget(context, { ...options, host, profile, parallelism: PARALLELISM });
    const { connect } = await import("./connect.ts");
    const { openWorkspaceStore } = await import("../../state/backends/workspace-file/workspace-backend.ts");
    // Apart from the run's own client: the end of a run is still written after a signal stopped that one.
    const { abandoned } = context;
    const folderOfEmbedded = embeddedFolder(context, options);
    const connection = await connect({ settings, embeddedFolder: folderOfEmbedded, abandoned, readLimit });
    const tell = { isMissing, isConflict };
    const close = () => connection.close();
    return openWorkspaceStore({ ...common, api: connection.writer, tell, folder, close });
  });
}
