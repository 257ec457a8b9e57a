// Carries out a plan under the lock: what recovery found goes into the journal first, events go to progress and output.

import { applyPlan } from "../engine/apply.ts";
import { recordRecovery } from "../engine/recover.ts";
import type { ApplyEvent, Outcome } from "../planner/outcome.ts";
import type { Plan } from "../planner/plan.ts";
import { registry } from "../providers/index.ts";
import { printableJson } from "../report/printable.ts";
import type { Live } from "../resource/live.ts";
import type { Spec } from "../spec/spec.ts";
import type { Entry } from "../state/entry.ts";
import { nodeClock, nodeRandom } from "../state/file/node-ports.ts";
import type { Lease } from "../state/store.ts";
import { colorsOf } from "./colors.ts";
import { fromEnv, timeFromEnv } from "./config.ts";
import type { Context } from "./context.ts";
import { diagnosticEvents } from "./ending.ts";
import { locatedEvent, locatedOutcome } from "./located.ts";
import { progressFor } from "./progress.ts";
import type { Run } from "./run.ts";
import type { Form } from "./show-plan.ts";

/** Takes the lock, works, and gives it back however that ends. */
export async function withLock<T>(
  run: Run,
  lockTimeout: number | undefined,
  signal: AbortSignal,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const timeoutMs = lockTimeout ?? timeFromEnv(run.context, "WORKSPACE_LOCK_TIMEOUT") ?? 0;
  const lease = await run.store.lock({ timeoutMs, signal });
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

export interface Carrying {
  readonly lease: Lease;
  readonly plan: Plan;
  readonly live: Live;
  readonly resources: Spec["resources"];
  /** What has to be known before the first change. */
  readonly entries: readonly Entry[];
  readonly output: Form;
  readonly signal: AbortSignal;
}

export async function carryOut(run: Run, what: Carrying): Promise<Outcome> {
  await recordRecovery(what.lease, what.entries);
  const progress = await progressFor(run.context);
  const tellEvent = what.output === "json" ? await jsonEvents(run.context) : () => undefined;
  try {
    const outcome = await applyPlan({
      plan: what.plan,
      registry,
      resources: what.resources,
      live: what.live,
      writer: run.connection.writer,
      lease: what.lease,
      clock: nodeClock,
      random: nodeRandom,
      parallelism: run.settings.parallelism,
      onEvent: (event) => {
        progress.apply(event);
        tellEvent(locatedEvent(event, what.resources));
      },
      signal: what.signal,
    });
    return locatedOutcome(outcome, what.resources);
  } finally {
    await progress.stop();
  }
}

async function jsonEvents(context: Context): Promise<(event: ApplyEvent) => void> {
  const { eventJson } = await import("../report/outcome-json.ts");
  return (event) => context.stdout.write(`${printableJson(eventJson(event))}\n`);
}

export async function showOutcome(context: Context, outcome: Outcome, form: Form): Promise<void> {
  switch (form) {
    case "text": {
      const { outcomeText } = await import("../report/outcome-text.ts");
      context.stdout.write(outcomeText(outcome, colorsOf(context, context.stdout)));
      return;
    }
    case "json": {
      const { outcomeJson } = await import("../report/outcome-json.ts");
      await diagnosticEvents(context, outcome.diagnostics);
      context.stdout.write(`${printableJson(outcomeJson(outcome))}\n`);
      return;
    }
    case "markdown": {
      const { outcomeMarkdown } = await import("../report/outcome-markdown.ts");
      context.stdout.write(outcomeMarkdown(outcome));
      return;
    }
    case "junit": {
      const { outcomeJunit } = await import("../report/junit.ts");
      context.stdout.write(outcomeJunit(outcome));
      return;
    }
  }
  form satisfies never;
}

/** Options that a pipeline may set once for all its runs. */
export function approval(
  context: Context,
  options: { readonly autoApprove: boolean; readonly noInput: boolean },
) {
  return {
    autoApprove: options.autoApprove,
    noInput: options.noInput || fromEnv(context, "WORKSPACE_NO_INPUT") !== undefined,
  };
}
