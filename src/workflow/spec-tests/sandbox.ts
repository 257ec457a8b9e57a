// The sandbox of one test: the emulator in memory, the state in a temporary folder, and a client. It reads no host, token,
// profile, or variable, so a test cannot reach anything else.

import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../api/client.ts";
import { dialectTable } from "../../config/dialect.ts";
import { EMBEDDED, type Settings } from "../../config/settings.ts";
import { keyedDigest } from "../../core/digest.ts";
import { openInMemory } from "../../emulator/embedded.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { Registry } from "../../resource/kind.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { TestSetup } from "../../spec/testing/read-tests.ts";
import { openFileStore } from "../../state/backends/file/file-backend.ts";
import { nodeClock, nodeFiles, nodeRandom, thisProcess } from "../../state/backends/file/node-ports.ts";
import type { Clock, FileSystem, StateStore } from "../../state/model/store.ts";
import { resolveInvocation, SILENT_OBSERVER } from "../invocation/invocation.ts";
import { type Connection, readLimitOf, transportTo } from "../session/connect.ts";
import type { Session } from "../session/session.ts";

const START = Date.UTC(2026, 0, 1);
const PARALLELISM = 10;

interface RunOptions {
  /** Another state, which nothing else knows. */
  readonly store?: StateStore;
  /** The list of prices. */
  readonly prices?: string;
}

export interface Sandbox {
  readonly registry: Registry;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Lets timers and other tests run. Throws after the end of the test. */
  yieldToEventLoop(): Promise<void>;
  readonly state: StateStore;
  /** Another state, which nothing else reads. */
  newState(): StateStore;
  keyed(value: string | Uint8Array): string;
  /** A run of a spec. */
  session(spec: Spec, options?: RunOptions): Promise<Session>;
  close(): Promise<void>;
}

export async function openSandbox(setup: TestSetup, cwd: string, signal: AbortSignal): Promise<Sandbox> {
  const dialect = { dialect: setup.dialect, cloud: setup.cloud };
  const clock = virtualClock(START);
  const service = openInMemory({ ...dialect, time: clock.now, random: countedBytes() });
  const turns = turnsUnder(signal);
  const connection = connectionTo(service, dialect, { clock, turns, signal });
  const settings: Settings = {
    endpoint: { embedded: true, identity: EMBEDDED, ...dialect },
    dialect,
    user: undefined,
    parallelism: PARALLELISM,
    requestMs: undefined,
    warnings: [],
  };
  const folder = mkdtempSync(join(tmpdir(), "workspace-test-"));
  const newState = newStatesIn(folder);
  const state = newState();
  const key = await state.key({ make: true });
  const secretDigest = (value: string | Uint8Array): string => keyedDigest(key, value);
  const context = { env: {}, cwd, home: folder, observer: SILENT_OBSERVER };
  const invocation = resolveInvocation(context, { host: EMBEDDED, state: folder, ...dialect });
  return {
    registry: registryIn(registry, dialect),
    connection,
    clock,
    signal,
    yieldToEventLoop: () => turns.take(),
    state,
    newState,
    keyed: secretDigest,
    session: async (spec, { store = state, prices } = {}) => ({
      invocation: invocation.with({ prices }),
      settings,
      store,
      key,
      secretDigest,
      spec,
      base: undefined,
      warnings: [],
      connection,
      readLimit: readLimitOf(invocation.readTimeoutMs()),
      clock,
      readState: () => store.read(),
    }),
    close: async () => {
      await state.close();
      service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type SandboxDialect = Pick<TestSetup, "dialect" | "cloud">;

function connectionTo(
  { app, token }: ReturnType<typeof openInMemory>,
  dialect: SandboxDialect,
  { clock, turns, signal }: { readonly clock: Clock; readonly turns: Turns; readonly signal: AbortSignal },
): Connection {
  const transport = transportTo(app);
  const client = createClient({
    transport: async (request) => {
      await turns.take();
      return transport(request);
    },
    host: EMBEDDED,
    token,
    dialect: dialectTable(dialect),
    parallelism: PARALLELISM,
    clock: clock.now,
    sleep: clock.sleep,
    random: () => 0.5,
    signal,
  });
  return { ...client, host: EMBEDDED, close: () => Promise.resolve() };
}

function newStatesIn(folder: string): () => StateStore {
  let states = 0;
  return () =>
    openFileStore({
      folder: join(folder, String(states++)),
      fs: UNSYNCED_FILES,
      clock: nodeClock,
      random: nodeRandom,
      owner: thisProcess(),
    });
}

const LONGEST_TURN_MS = 20;

interface Turns {
  take(): Promise<void>;
}

/** Work in memory never waits, so a timer would not run before the work is done. */
function turnsUnder(signal: AbortSignal): Turns {
  let began = performance.now();
  return {
    async take() {
      signal.throwIfAborted();
      if (performance.now() - began < LONGEST_TURN_MS) return;
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
      signal.throwIfAborted();
    },
  };
}

/** A state lasts no longer than its test, so it is not forced to the disk. */
const UNSYNCED_FILES: FileSystem = {
  ...nodeFiles,
  open: async (path, how) => ({ ...(await nodeFiles.open(path, how)), sync: async () => undefined }),
  syncFolder: async () => undefined,
};

/** The same bytes in every run, so that IDs of objects are the same, too. */
function countedBytes(): (count: number) => Uint8Array {
  let block = 0;
  return (count) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < count; length += 32)
      blocks.push(Buffer.from(hash("sha256", `spec test ${block++}`, "hex"), "hex"));
    return new Uint8Array(Buffer.concat(blocks).subarray(0, count));
  };
}

interface Pause {
  readonly end: number;
  readonly resume: () => void;
}

/** `start`: epoch milliseconds. */
function virtualClock(start: number): Clock {
  const pauses: Pause[] = [];
  let now = start;
  const next = (): void => {
    pauses.sort((a, b) => a.end - b.end);
    const first = pauses.shift();
    if (first === undefined) return;
    now = Math.max(now, first.end);
    first.resume();
    if (pauses.length > 0) setImmediate(next);
  };
  return {
    now: () => now,
    elapsed: () => now,
    sleep: (ms, signal) =>
      new Promise((resume) => {
        if (signal?.aborted === true) return resume();
        pauses.push({ end: now + ms, resume });
        if (pauses.length === 1) setImmediate(next);
      }),
  };
}
