// Opens the state of a run: in a folder, in PostgreSQL, or in the workspace. Shared backends are loaded on use.

import { join, resolve } from "node:path";
import type { ReadTimeLimit } from "../../api/retry/read-time-limit.ts";
import { ciActor, ciRunUrl } from "../../config/environment.ts";
import { authoritiesOf } from "../../config/network.ts";
import { leaseFromEnv, timeFromEnv } from "../../config/settings.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { lazily } from "../../core/lazily.ts";
import { SensitiveValues, type SensitiveValuesOptions } from "../../core/sensitive/values.ts";
import { registry } from "../../providers/index.ts";
import { schemaAt } from "../../resource/field-schema.ts";
import { visitSchema } from "../../resource/walk.ts";
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
import type { Invocation, WorkflowContext } from "../invocation/invocation.ts";
import { IN_WORKSPACE, isInWorkspace, requiredTarget } from "../invocation/target.ts";
import { preferLessMemoryForFile } from "./read-spec.ts";

interface StateOptions {
  /** Another state than that of the invocation. */
  readonly location?: string;
  readonly keys?: Pick<StoreOptions, "keyText" | "oldKeyText">;
  /** Of the plan for which a state in the workspace is read. */
  readonly readLimit?: ReadTimeLimit;
}

/** The person that the CI service names, else the user of this machine. */
export function actorOf(invocation: Invocation): string {
  const { user, host } = thisProcess();
  return ciActor(invocation) ?? `${user}@${host}`;
}

/** Opened on first use; the opener closes it. */
export function openState(invocation: Invocation, options: StateOptions = {}): StateStore {
  const leaseMs = leaseFromEnv(invocation);
  const common = {
    clock: nodeClock,
    random: nodeRandom,
    owner: { ...thisProcess(), ...defined({ run_url: ciRunUrl(invocation) }) },
    isCrashed: isCrashedLocally,
    times: leaseMs === undefined ? undefined : { leaseMs, requestMs: leaseMs },
    ...(options.keys ?? { keyText: invocation.stateKey }),
  };
  const { location } = options;
  const { text, folder = "" } =
    location === undefined
      ? invocation.stateLocation()
      : { text: location, folder: resolve(invocation.cwd, location) };
  const shared = text === undefined ? undefined : sharedState(invocation, text, common, options.readLimit);
  if (shared !== undefined) return shared;
  preferLessMemoryForFile(join(folder, "state.json"), "state");
  return openFileStore({ folder, fs: nodeFiles, ...common });
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

export async function withState<T>(
  invocation: Invocation,
  work: (store: StateStore) => Promise<T>,
  options?: StateOptions,
): Promise<T> {
  const store = openState(invocation, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export async function withLock<T>(
  store: StateStore,
  wait: LockOptions,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const lease = await store.lock(wait);
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

export function writeEntries(
  store: StateStore,
  wait: LockOptions,
  entries: (lease: Lease) => readonly JournalEntry[] | Promise<readonly JournalEntry[]>,
): Promise<void> {
  return withLock(store, wait, async (lease) => {
    for (const entry of await entries(lease)) await lease.append(entry);
    await lease.publish();
  });
}

/** Few concurrent requests for a state, so that an apply never waits for them. */
const PARALLELISM = 8;

/** Undefined for a folder. Throws CLI_USAGE; no message repeats a possible password. */
function sharedState(
  invocation: Invocation,
  location: string,
  common: StoreOptions,
  readLimit: ReadTimeLimit | undefined,
): StateStore | undefined {
  if (isPostgresUrl(location)) {
    const url = parsePostgresUrl(location, requiredTarget(invocation) ?? "default", invocation.env);
    return lazyStore(url.shown, async () => {
      const authorities = authoritiesOf(invocation, invocation.caFile);
      const { openPostgresStore } = await import("../../state/backends/postgres/pg-database.ts");
      return openPostgresStore({ ...common, url, authorities });
    });
  }
  if (isInWorkspace(location)) return inWorkspace(invocation, location, common, readLimit);
  // A URL that kept the quotes or spaces around it is not a folder either, nor are settings of libpq, such as `host=db password=…`.
  const isUrl = /^["'\s]*[a-z][a-z0-9+.-]+:/i.test(location) || location.includes("://");
  const areSettings = /(?:^|\s)\w*pass\w*\s*=/i.test(location) || /^\s*\w+\s*=.*\s\w+\s*=/.test(location);
  if (isUrl || areSettings)
    throw failureOf("CLI_USAGE", "--state is not a supported state location", {
      hint: "use a folder, postgres://user@host/database, or workspace:/folder",
    });
  return undefined;
}

/** Connects on first use. */
function lazyStore(location: string, open: () => Promise<StateStore>): StateStore {
  let opened: Promise<StateStore> | undefined;
  const store = (): Promise<StateStore> => {
    opened ??= open();
    return opened;
  };
  return {
    location,
    read: async (options) => (await store()).read(options),
    lock: async (options) => (await store()).lock(options),
    lastLock: async () => (await store()).lastLock(),
    unlock: async (how) => (await store()).unlock(how),
    key: async (options) => (await store()).key(options),
    generations: async () => (await store()).generations(),
    restore: async (serial, options, check) => (await store()).restore(serial, options, check),
    replace: async (incoming, options) => (await store()).replace(incoming, options),
    rekey: async (options, check) => (await store()).rekey(options, check),
    close: async () => {
      if (opened !== undefined) await (await opened).close();
    },
  };
}

function inWorkspace(
  invocation: Invocation,
  location: string,
  common: StoreOptions,
  readLimit: ReadTimeLimit | undefined,
): StateStore {
  const folder = location.slice(IN_WORKSPACE.length);
  if (!/^(\/[^/]+)+$/.test(folder) || folder.split("/").some((name) => name === "." || name === ".."))
    throw failureOf("CLI_USAGE", `--state ${location} is not a folder in the workspace's file system`, {
      hint: "write it as workspace:/folder/of/the/state",
    });
  return lazyStore(location, async () => {
    const { abandoned, embeddedFolder } = invocation;
    const settings = { ...invocation.settings(), parallelism: PARALLELISM };
    const { connect } = await import("./connect.ts");
    const { openWorkspaceStore } = await import("../../state/backends/workspace-file/workspace-backend.ts");
    // Apart from the run's own client: the end of a run is still written after a signal stopped that one.
    const connection = await connect({ settings, embeddedFolder, abandoned, readLimit });
    const close = () => connection.close();
    return openWorkspaceStore({ ...common, api: connection.writer, folder, close });
  });
}

/** Sensitive values that are found in every form of their kind. */
export function sensitiveValuesOf(
  options: Omit<SensitiveValuesOptions, "placeOf" | "isField" | "isFieldName">,
): SensitiveValues {
  return new SensitiveValues({
    ...options,
    placeOf: (address, path) => registry.of(address).planning.placeOf?.(path) ?? { place: path },
    isField: (address, path) =>
      Object.hasOwn(
        schemaAt(registry.of(address).fields, path.slice(0, -1)).properties ?? {},
        String(path.at(-1)),
      ),
    isFieldName: (word) => fieldNames().has(word),
  });
}

const fieldNames = lazily(() => {
  const names = new Set<string>();
  for (const { fields } of registry.kinds)
    visitSchema({ properties: fields }, (_, path) => {
      for (const name of path) names.add(name);
    });
  return names;
});
