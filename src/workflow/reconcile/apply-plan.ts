// Carries out a plan under the lock: what recovery found goes into the journal first, events go to progress and output.

import type { OutcomeReports } from "../../cli/output/plan.ts";
import { progressFor } from "../../cli/output/progress.ts";
import { ciActor } from "../../config/ci-run.ts";
import type { CommandContext } from "../../config/environment.ts";
import { fromEnv, timeFromEnv } from "../../config/settings.ts";
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
  readonly reports: OutcomeReports;
  readonly signal: AbortSignal;
  readonly command: ApplyOrigin["command"];
}

export async function executePlan(session: Session, what: ExecuteInput): Promise<ApplyOutcome> {
  await recordRecovery(what.lease, what.entries);
  const origin = await originOf(session, what);
  const progress = await progressFor(session.context);
  const tellEvent = what.reports.asJson ? await jsonEvents(what.reports) : () => undefined;
  try {
    const outcome = await applyPlan({
      plan: what.plan,
      registry,
      resources: what.resources,
      live: what.live,
      writer: session.connection.writer,
      lease: what.lease,
      clock: nodeClock,
      random: nodeRandom,
      parallelism: session.settings.parallelism,
      onEvent: (event) => {
        progress.apply(event);
        tellEvent(withoutSensitive(session.spec, locatedEvent(event, what.resources)));
      },
      signal: what.signal,
      origin,
    });
    session.options.observer?.applied(what.plan, what.lease.state(), outcome);
    return withoutSensitive(session.spec, locatedOutcome(outcome, what.resources));
  } finally {
    await progress.stop();
  }
}

/** Who applies, for the history of the state. */
async function originOf(
  { context }: Session,
  { command, reports, plan }: ExecuteInput,
): Promise<ApplyOrigin> {
  const { user, host } = thisProcess();
  const { commit, runUrl: url } = await reports.info(plan);
  return {
    command,
    actor: ciActor(context) ?? `${user}@${host}`,
    ...(commit === undefined ? {} : { commit }),
    ...(url === undefined ? {} : { run_url: url }),
  };
}

async function jsonEvents(reports: OutcomeReports): Promise<(event: ApplyEvent) => void> {
  const { eventJson } = await import("../../report/outcome/outcome-json.ts");
  return (event) => reports.line(eventJson(event));
}

/** Options that a pipeline may set once for all its runs. */
export function approval(
  context: CommandContext,
  options: { readonly autoApprove: boolean; readonly noInput: boolean },
) {
  return {
    autoApprove: options.autoApprove,
    noInput: options.noInput || fromEnv(context, "WORKSPACE_NO_INPUT") !== undefined,
  };
}
