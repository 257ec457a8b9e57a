// The session that plan, apply, drift, and destroy share: opens settings, spec, state, and connection, and closes them.

import type { ReadLimit } from "../../api/retry/read-limit.ts";
import type { HostOptions, Settings } from "../../config/settings.ts";
import { type Diagnostic, Failure, hasErrors } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";
import type { Budget } from "../../engine/observe/readers.ts";
import { type Keyed, knownDrift, withKnownDrift } from "../../planner/diff/known-drift.ts";
import { registry } from "../../providers/index.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import type { Clock, Loaded, StateStore } from "../../state/model/store.ts";
import { embeddedFolder, type StateOptions } from "../invocation/state-location.ts";
import { assertInCheckout, settingsForTarget, specFile } from "../invocation/target.ts";
import type { RunObserver, WorkflowContext } from "../invocation/workflow-context.ts";
import type { BaseSpec } from "../plan/base-spec.ts";
import { planWithBase } from "../plan/compare-base.ts";
import { type PlanWorkspaceInput, planWorkspace, type WorkspacePlan } from "../plan/plan.ts";
import { checkRules } from "../rules/check-rules.ts";
import { type Connection, connect, readLimitOf } from "./connect.ts";
import { withState } from "./open-state.ts";
import { prepareForLargeFile, readSpec, type SpecOptions } from "./read-spec.ts";
import { type AllowedExposure, exposedState } from "./state-warnings.ts";

export type SessionOptions = SpecOptions &
  HostOptions &
  StateOptions &
  AllowedExposure & { readonly observer?: RunObserver };

export interface Session {
  readonly context: WorkflowContext;
  readonly options: SessionOptions;
  readonly settings: Settings;
  readonly store: StateStore;
  readonly key: Uint8Array;
  readonly spec: Spec;
  /** Warnings about the settings and the spec; the observer has them already. */
  readonly warnings: readonly Diagnostic[];
  readonly connection: Connection;
  /** For what is read to plan. */
  readonly readLimit: ReadLimit;
  readonly clock?: Clock;
  /** For runs without the lock, before the first request: with a newer state than the live values, objects would look deleted. */
  readState(): Promise<Loaded>;
}

interface SessionRequirements {
  /** Whether to create the state's key if it does not exist: writers need a permanent one. */
  readonly makesKey: boolean;
  /** `optional`: values that are not there are warnings. */
  readonly secrets: "resolve" | "optional" | "skip";
  /** The spec may be untrusted: no environment, and lower limits. */
  readonly untrusted?: boolean;
  /** Runs as soon as the state's key is known, before the spec is read; what it throws ends the run. */
  readonly unlocked?: (key: Uint8Array) => void;
  readonly signal?: AbortSignal;
}

/** Opens what a run needs, gives it to `work`, and closes it however that ends. */
export async function withSession<T>(
  context: WorkflowContext,
  options: SessionOptions,
  opening: SessionRequirements,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const file = specFile(context, options);
  // The state may be next to the spec, so the folder is checked first.
  if (opening.untrusted === true) assertInCheckout(context, file);
  prepareForLargeFile(file);
  const untrusted = opening.untrusted === true;
  const readLimit = readLimitOf(context, { ...options, untrusted });
  return withState(context, { ...options, readLimit }, async (store) => {
    const settings = settingsForTarget(context, { ...options, untrusted });
    context.observer.found(settings.warnings);
    const key = await readLimit.during(() => store.key({ make: opening.makesKey }));
    opening.unlocked?.(key);
    const keyed = (bytes: Uint8Array) => keyedDigest(key, bytes);
    const { signal } = opening;
    const connected = (): Promise<Connection> =>
      connect({
        settings,
        embeddedFolder: embeddedFolder(context, options),
        abandoned: context.abandoned,
        readLimit,
        retrying: (event) => context.observer.retrying(event),
        ...(signal === undefined ? {} : { signal }),
        requested: (event) => options.observer?.requested(event),
      });
    const { spec, warnings } = await readSpec(
      context,
      { ...options, mayLackSecrets: opening.secrets === "optional" },
      opening.secrets === "skip" ? undefined : keyed,
      opening.untrusted,
    );
    const digests = opening.secrets !== "skip";
    const exposed = exposedState(context, options, spec, { digests });
    if (hasErrors(exposed)) throw new Failure(...exposed);
    context.observer.found(exposed);
    const connection = await connected();
    try {
      return await work({
        context,
        options,
        settings,
        store,
        key,
        spec,
        warnings: [...settings.warnings, ...warnings, ...exposed],
        connection,
        readLimit,
        readState: () => readLimit.during(() => store.read()),
      });
    } finally {
      await connection.close();
    }
  });
}

export interface PlanOptions {
  readonly adopt?: boolean;
  readonly allowDuplicates?: boolean;
  readonly destroy?: boolean;
  readonly only?: readonly string[];
  readonly writes?: boolean;
  /** Secrets without a value count as unchanged; else the spec has them all. */
  readonly mayLackSecrets?: boolean;
  /** For a plan of an untrusted spec: how much of the workspace it may have read. */
  readonly budget?: Budget;
  /** The spec before a change: the plan is compared with its plan. */
  readonly base?: BaseSpec | undefined;
  readonly checksRules?: boolean;
}

export function planSession(
  session: Session,
  state: State,
  options: PlanOptions = {},
): Promise<WorkspacePlan> {
  return session.readLimit.during(() => planWithinLimit(session, state, options));
}

async function planWithinLimit(session: Session, state: State, options: PlanOptions): Promise<WorkspacePlan> {
  const begun = performance.now();
  const input: PlanWorkspaceInput = {
    spec: session.spec,
    state,
    reader: session.connection.reader,
    host: session.connection.host,
    settings: session.settings,
    key: session.key,
    progress: await session.context.observer.begin(),
    adopt: options.adopt ?? false,
    allowDuplicates: options.allowDuplicates ?? false,
    destroy: options.destroy ?? false,
    only: options.only ?? [],
    writes: options.writes ?? false,
    mayLackSecrets: options.mayLackSecrets ?? false,
    ...(options.budget === undefined ? {} : { budget: options.budget }),
  };
  const made = await (options.base === undefined ? planWorkspace(input) : planWithBase(input, options.base));
  const untrusted = options.budget !== undefined;
  const plan =
    options.checksRules === true ? await checkRules(made.plan, { spec: session.spec, untrusted }) : made.plan;
  const marked = withKnownDrift(
    plan,
    registry,
    knownDrift(made.recovered.state, Date.now()),
    keyedBy(session),
  );
  const planned = { ...made, plan: marked };
  session.options.observer?.planned(planned.plan, planned.recovered.state, performance.now() - begun);
  return planned;
}

/** The digests of differences in the state. */
export const keyedBy =
  ({ key }: Pick<Session, "key">): Keyed =>
  (text) =>
    keyedDigest(key, text);
