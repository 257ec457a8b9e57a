// What plan, apply, drift and destroy share: settings, spec, state and connection, opened in that order and closed again.

import { keyedDigest } from "../core/canonical.ts";
import type { Budget } from "../engine/budget.ts";
import type { Spec } from "../spec/spec.ts";
import type { State } from "../state/record.ts";
import type { Loaded, StateStore } from "../state/store.ts";
import { begunAhead, turn } from "./ahead.ts";
import { type HostOptions, type Settings, settingsOf } from "./config.ts";
import { type Connection, connect } from "./connection.ts";
import type { Context } from "./context.ts";
import { progressFor } from "./progress.ts";
import { type Looked, look } from "./session.ts";
import { readSpec, type SpecOptions } from "./spec.ts";
import { embeddedFolder, type StateOptions, withState } from "./state-place.ts";
import { tell } from "./trouble.ts";

export type RunOptions = SpecOptions & HostOptions & StateOptions;

export interface Run {
  readonly context: Context;
  readonly options: RunOptions;
  readonly settings: Settings;
  readonly store: StateStore;
  readonly key: Uint8Array;
  readonly spec: Spec;
  readonly connection: Connection;
  /** The state, for runs without the lock: as it was before the first request. */
  loaded(): Promise<Loaded>;
}

export interface Opening {
  /** Whether the state's key is made where there is none: whoever writes needs one that stays. */
  readonly makesKey: boolean;
  readonly secrets: "resolve" | "skip";
  /** The spec may come from a stranger: it gets no environment, and tighter limits. */
  readonly untrusted?: boolean;
  /** The workspace may be read while the spec is: for runs without the lock, which read the state through `loaded`. */
  readonly ahead?: boolean;
  /** Runs as soon as the state's key is known, before the spec is read; what it throws ends the run. */
  readonly unlocked?: (key: Uint8Array) => void;
  readonly signal?: AbortSignal;
}

/** Opens what a run needs, gives it to `work`, and closes it however that ends. */
export async function withRun<T>(
  context: Context,
  options: RunOptions,
  opening: Opening,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  return withState(context, options, (store) => withRunOn(store, context, options, opening, work));
}

async function withRunOn<T>(
  store: StateStore,
  context: Context,
  options: RunOptions,
  opening: Opening,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const settings = settingsOf(context, options);
  tell(context, settings.warnings);
  const key = await store.key({ make: opening.makesKey });
  opening.unlocked?.(key);
  const keyed = (bytes: Uint8Array) => keyedDigest(key, bytes);
  const connected = (signal: AbortSignal | undefined): Promise<Connection> =>
    connect({
      settings,
      embeddedFolder: embeddedFolder(context, options),
      waits: (sentence) => context.stderr.write(`${sentence}\n`),
      ...(signal === undefined ? {} : { signal }),
    });
  const early = opening.ahead === true && opening.untrusted !== true;
  const ahead = early ? await begunAhead(store, settings, connected) : undefined;
  const spec = await readSpec(
    context,
    options,
    opening.secrets === "skip" ? undefined : keyed,
    opening.untrusted,
    ahead === undefined ? undefined : turn,
  ).catch((wrong: unknown) => {
    ahead?.drop();
    throw wrong;
  });
  const connection = ahead?.connection ?? (await connected(opening.signal));
  const loaded = (): Promise<Loaded> => (ahead === undefined ? store.read() : Promise.resolve(ahead.loaded));
  try {
    return await work({ context, options, settings, store, key, spec, connection, loaded });
  } finally {
    await connection.close();
  }
}

export interface Wish {
  readonly adopt?: boolean;
  readonly destroy?: boolean;
  readonly only?: readonly string[];
  readonly writes?: boolean;
  /** For a plan of an untrusted spec: how much of the workspace it may have read. */
  readonly budget?: Budget;
}

/** Reads the workspace and plans. */
export async function lookAround(run: Run, state: State, wish: Wish = {}): Promise<Looked> {
  return look({
    spec: run.spec,
    state,
    reader: run.connection.reader,
    host: run.connection.host,
    settings: run.settings,
    key: run.key,
    progress: await progressFor(run.context),
    adopt: wish.adopt ?? false,
    destroy: wish.destroy ?? false,
    only: wish.only ?? [],
    writes: wish.writes ?? false,
    ...(wish.budget === undefined ? {} : { budget: wish.budget }),
  });
}
