// The way of apply and destroy: lock, look, show, ask, carry out, tell.

import { error, Failure, hasErrors } from "../core/diagnostic.ts";
import { changesAnything } from "../report/summary.ts";
import type { Lease } from "../state/store.ts";
import { approval, carryOut, showOutcome, withLock } from "./apply-plan.ts";
import { confirmed } from "./confirm.ts";
import type { Context } from "./context.ts";
import { applyEnding, diagnosticEvents } from "./ending.ts";
import { EXIT, exitOfOutcome, exitOfPlan } from "./exit.ts";
import { lookAround, type Run, type RunOptions, type Wish, withRun } from "./run.ts";
import { type Form, showPlan, showRefusal } from "./show-plan.ts";
import { tell } from "./trouble.ts";

export type MakingOptions = RunOptions & {
  readonly output: Form;
  readonly autoApprove: boolean;
  readonly noInput: boolean;
  readonly lockTimeout: number | undefined;
};

export interface Making {
  readonly wish: Wish;
  readonly question: string;
}

export function makeSo(context: Context, options: MakingOptions, making: Making): Promise<number> {
  const secrets = making.wish.destroy === true ? "skip" : "resolve";
  return context.signals.during((signal) =>
    withRun(context, options, { makesKey: true, secrets, signal }, (run) =>
      withLock(run, options.lockTimeout, signal, (lease) =>
        planAndApply(run, lease, options, making, signal),
      ),
    ),
  );
}

async function planAndApply(
  run: Run,
  lease: Lease,
  options: MakingOptions,
  making: Making,
  signal: AbortSignal,
): Promise<number> {
  const { context } = run;
  const looked = await lookAround(run, lease.state(), { ...making.wish, writes: true });
  assertGoingOn(signal);
  const found = [...lease.diagnostics, ...looked.diagnostics];
  if (hasErrors(found)) throw new Failure(...found);
  tell(context, found);
  const machine = options.output === "json";
  if (machine) await diagnosticEvents(context, found);
  const entries = [...looked.recovered.entries, ...looked.learnt];
  const refused = exitOfPlan(looked.plan);
  if (options.output === "text" || options.output === "markdown")
    await showPlan(context, looked.plan, options.output);
  else if (refused !== EXIT.ok) await showRefusal(context, looked.plan, options.output);
  if (refused !== EXIT.ok) {
    context.stderr.write("Nothing was changed.\n");
    return refused;
  }
  if (
    changesAnything(looked.plan) &&
    !(await confirmed(context, approval(context, options), making.question, signal))
  ) {
    assertGoingOn(signal);
    const declined = error("CLI_CONFIRMATION", "the plan was not approved, so nothing was changed");
    await applyEnding(context, options.output, [declined]);
    context.stderr.write("Nothing was changed.\n");
    return EXIT.error;
  }
  const { plan, live } = looked;
  const resources = making.wish.destroy === true ? new Map() : run.spec.resources;
  const outcome = await carryOut(run, {
    lease,
    plan,
    live,
    resources,
    entries,
    output: options.output,
    signal,
  });
  if (changesAnything(plan) || options.output !== "text") await showOutcome(context, outcome, options.output);
  return exitOfOutcome(outcome);
}

/** A signal before the first change: nothing was written, so nothing has to be finished. */
export function assertGoingOn(signal: AbortSignal): void {
  if (signal.aborted)
    throw new Failure(
      error("APPLY_INTERRUPTED", "stopped before anything was changed", { hint: "run the command again" }),
    );
}
