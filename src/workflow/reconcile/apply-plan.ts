// Executes a plan under the lock: what recovery found is recorded first, events go to the observers.

import { ciActor } from "../../config/ci-run.ts";
import { timeFromEnv } from "../../config/settings.ts";
import type { ApplyOrigin } from "../../core/past-run.ts";
import { applyPlan } from "../../engine/apply/apply.ts";
import { recordRecovery } from "../../engine/recover/recover.ts";
import type { ApplyEvent, ApplyOutcome, Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { nodeClock, nodeRandom, thisProcess } from "../../state/backends/file/node-ports.ts";
import type { JournalEntry } from "../../state/model/journal-entry.ts";
import type { Lease } from "../../state/model/store.ts";
import type { Session } from "../session/session.ts";
import { locatedEvent, locatedOutcome, withoutSensitive } from "./located.ts";

/** Acquires the lock, runs the work, and always releases the lock. */
export async function withLock<T>(
  session: Session,
  lockTimeout: number | undefined,
  signal: AbortSignal,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const timeoutMs = lockTimeout ?? timeFromEnv(session.context, "WORKSPACE_LOCK_TIMEOUT") ?? 0;
  const lease = await session.store.lock({ timeoutMs, signal });
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

export interface ExecuteInput {
  readonly lease: Lease;
  readonly plan: Plan;
  readonly live: Live;
  readonly resources: Spec["resources"];
  /** What has to be known before the first change. */
  readonly entries: readonly JournalEntry[];
  readonly signal: AbortSignal;
  readonly origin: Omit<ApplyOrigin, "actor">;
  readonly changed: (event: ApplyEvent) => void;
}

export async function executePlan(session: Session, what: ExecuteInput): Promise<ApplyOutcome> {
  await recordRecovery(what.lease, what.entries);
  const { user, host } = thisProcess();
  const actor = ciActor(session.context) ?? `${user}@${host}`;
  const activity = await session.context.observer.begin();
  try {
    const outcome = await applyPlan({
      plan: what.plan,
      registry,
      resources: what.resources,
      live: what.live,
      writer: session.connection.writer,
      lease: what.lease,
      clock: session.clock ?? nodeClock,
      random: nodeRandom,
      parallelism: session.settings.parallelism,
      onEvent: (event) => {
        activity.apply(event);
        what.changed(withoutSensitive(session.spec, locatedEvent(event, what.resources)));
      },
      signal: what.signal,
      origin: { ...what.origin, actor },
    });
    session.options.observer?.applied(what.plan, what.lease.state(), outcome);
    return withoutSensitive(session.spec, locatedOutcome(outcome, what.resources));
  } finally {
    await activity.stop();
  }
}
