// The session that plan, apply, drift, and destroy share: opens settings, spec, state, and connection, and closes them.

import type { ReadTimeLimit } from "../../api/retry/read-time-limit.ts";
import type { Settings } from "../../config/settings.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { type KeyedDigest, keyedDigest } from "../../core/digest.ts";
import { maskedFailure, maskingFailures } from "../../core/request-failure.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import type { Clock, Loaded, StateStore } from "../../state/model/store.ts";
import { assertInCheckout } from "../invocation/checkout.ts";
import { type Invocation, reportOrThrow } from "../invocation/invocation.ts";
import { type BaseOptions, type BaseSpec, readBase } from "./base-spec.ts";
import { exposedState } from "./check-state.ts";
import { type Connection, connect, readLimitOf } from "./connect.ts";
import { withState } from "./open-state.ts";
import { preferLessMemoryForFile, readSpec } from "./read-spec.ts";

/** A spec and its state: all that a plan without network access needs. */
export interface SpecSession {
  readonly invocation: Invocation;
  readonly store: StateStore;
  readonly key: Uint8Array;
  /** The digest of a secret, of contents, or of a difference, with the key of the state: who lacks the key cannot test a guess. */
  readonly secretDigest: KeyedDigest;
  readonly spec: Spec;
  /** The spec before a change: a plan is compared with the plan of it. */
  readonly base: BaseSpec | undefined;
  /** Warnings about the settings and the spec; the observer has them already. */
  readonly warnings: readonly Diagnostic[];
  /** For what is read to plan. */
  readonly readLimit: ReadTimeLimit;
  /** The time of the whole run. */
  readonly clock: Clock;
  /** For runs without the lock, before the first request: with a newer state than the live values, objects would look deleted. */
  readState(): Promise<Loaded>;
}

export interface Session extends SpecSession {
  readonly settings: Settings;
  readonly connection: Connection;
}

interface SessionRequirements {
  /** Whether to create the state's key if it does not exist: writers need a permanent one. */
  readonly makesKey: boolean;
  /** Neither this run nor an apply of its plan writes digests of the spec's values, so a state that readers can test them in is only a warning. */
  readonly writesNoDigests?: boolean;
  /** `optional`: values that are not there are warnings. `skip`: values are only hidden, if they are there. */
  readonly secrets: "resolve" | "optional" | "skip";
  readonly base?: BaseOptions;
  /** Runs as soon as the state's key is known, before the spec is read; what it throws ends the run. */
  readonly onKeyKnown?: (key: Uint8Array) => void;
  readonly signal?: AbortSignal;
}

/** Opens what a run needs, gives it to `work`, and closes it however that ends. */
export function withSession<T>(
  invocation: Invocation,
  requirements: SessionRequirements,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return withStateAndLimit(invocation, async (store, readLimit) => {
    const settings = invocation.settings();
    invocation.observer.report(settings.warnings);
    const opened = await openSpec(invocation, requirements, store, readLimit);
    const { signal } = requirements;
    const connection = await connect({ ...invocation, settings, readLimit, signal });
    const session: Session = {
      ...opened,
      warnings: [...settings.warnings, ...opened.warnings],
      settings,
      connection,
    };
    try {
      return await maskingFailures(opened.spec.sensitive, () => work(session));
    } finally {
      await connection.close();
    }
  });
}

/** A session without a connection. */
export function withSpecSession<T>(
  invocation: Invocation,
  requirements: SessionRequirements,
  work: (session: SpecSession) => Promise<T>,
): Promise<T> {
  return withStateAndLimit(invocation, async (store, readLimit) => {
    const opened = await openSpec(invocation, requirements, store, readLimit);
    return maskingFailures(opened.spec.sensitive, () => work(opened));
  });
}

function withStateAndLimit<T>(
  invocation: Invocation,
  work: (store: StateStore, readLimit: ReadTimeLimit) => Promise<T>,
): Promise<T> {
  // The state may be next to the spec, so the folder is checked first.
  if (invocation.untrusted) assertInCheckout(invocation, invocation.file);
  preferLessMemoryForFile(invocation.file);
  const readLimit = readLimitOf(invocation.readTimeoutMs());
  return withState(invocation, (store) => work(store, readLimit), { readLimit });
}

/** For a failure before the spec is read: the service that has the state can answer with what it knows of other objects. */
async function withoutValuesOfSpec(problem: unknown, invocation: Invocation): Promise<unknown> {
  try {
    const { spec } = await readSpec(invocation, { digest: undefined, mayLackSecrets: true });
    return spec.sensitive === undefined ? problem : maskedFailure(problem, spec.sensitive);
  } catch {
    return problem;
  }
}

async function openSpec(
  invocation: Invocation,
  { makesKey, writesNoDigests = false, secrets, base, onKeyKnown }: SessionRequirements,
  store: StateStore,
  readLimit: ReadTimeLimit,
): Promise<SpecSession> {
  const key = await readLimit
    .during(() => store.key({ make: makesKey }))
    .catch(async (problem: unknown) => {
      throw await withoutValuesOfSpec(problem, invocation);
    });
  onKeyKnown?.(key);
  const secretDigest: KeyedDigest = (value) => keyedDigest(key, value);
  const digest = secrets === "skip" ? undefined : secretDigest;
  const { spec, warnings } = await readSpec(invocation, { digest, mayLackSecrets: secrets !== "resolve" });
  const writesDigests = !writesNoDigests && (makesKey || digest !== undefined);
  const exposed = exposedState(invocation, spec, { writesDigests });
  reportOrThrow(invocation.observer, exposed);
  return {
    invocation,
    store,
    key,
    secretDigest,
    spec,
    base: base && (await readBase(invocation, base, digest)),
    warnings: [...warnings, ...exposed],
    readLimit,
    clock: nodeClock,
    readState: () => readLimit.during(() => store.read()),
  };
}
