// Plans a session: with its rules, its known drift, and the plan of its base.

import type { Budget } from "../../engine/observe/readers.ts";
import { knownDrift, withKnownDrift } from "../../planner/diff/known-drift.ts";
import { registry } from "../../providers/index.ts";
import type { State } from "../../state/model/record.ts";
import { checkRules } from "../rules/check-rules.ts";
import type { Session } from "../session/session.ts";
import type { BaseSpec } from "./base-spec.ts";
import { planWithBase } from "./compare-base.ts";
import { type PlanWorkspaceInput, planWorkspace, type WorkspacePlan } from "./plan.ts";

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
    progress: await session.invocation.observer.begin(),
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
    session.secretDigest,
  );
  const planned = { ...made, plan: marked };
  session.invocation.runObserver?.planned(planned.plan, planned.recovered.state, performance.now() - begun);
  return planned;
}
