// `workspace apply PLANFILE`: exactly the saved plan, or nothing.

import { error, Failure, hasErrors } from "../core/diagnostic.ts";
import { movedSince } from "../planner/saved.ts";
import { registry } from "../providers/index.ts";
import type { Lease } from "../state/store.ts";
import { carryOut, showOutcome, withLock } from "./apply-plan.ts";
import type { Context } from "./context.ts";
import { EXIT, exitOfOutcome, exitOfPlan } from "./exit.ts";
import { assertGoingOn, type MakingOptions } from "./make-so.ts";
import { lookAround, type Run, type Wish, withRun } from "./run.ts";
import { checkedPlan, planFile } from "./saved-plan.ts";
import { showPlan } from "./show-plan.ts";

/** A saved plan was looked at when it was made: nobody is asked. */
export function applySaved(context: Context, options: MakingOptions & Wish, file: string): Promise<number> {
  refuseOwnWishes(options);
  const { text, claims } = planFile(context, file);
  const chosen = {
    ...options,
    file: options.file ?? claims.file,
    target: claims.target,
    var: claims.var,
    varFile: claims.varFile,
  };
  return context.signals.during((signal) =>
    withRun(context, chosen, { makesKey: false, secrets: "resolve", signal }, (run) =>
      withLock(run, options.lockTimeout, signal, (lease) => applyChecked(run, lease, options, text, signal)),
    ),
  );
}

/** What shaped the plan is in its file; what would shape another one is not quietly left out. */
function refuseOwnWishes(options: MakingOptions & Wish): void {
  const given = [
    ...(options.target === undefined ? [] : ["--target"]),
    ...(options.var.length === 0 ? [] : ["--var"]),
    ...(options.varFile.length === 0 ? [] : ["--var-file"]),
    ...((options.only ?? []).length === 0 ? [] : ["--only"]),
    ...(options.adopt === true ? ["--adopt"] : []),
  ];
  if (given.length === 0) return;
  throw new Failure(
    error("CLI_USAGE", `a saved plan is applied as it is, so ${given.join(", ")} cannot be given`, {
      hint: "leave it away, or make a new plan with it",
    }),
  );
}

async function applyChecked(
  run: Run,
  lease: Lease,
  options: MakingOptions,
  text: string,
  signal: AbortSignal,
): Promise<number> {
  const saved = checkedPlan(run, text, lease.state());
  const refused = exitOfPlan(saved.plan);
  if (refused !== EXIT.ok) {
    await showPlan(run.context, saved.plan, options.output);
    return refused;
  }
  // The world is looked at again for names and ids; what is done is what the file says.
  const { live, learnt } = await lookAround(run, lease.state(), { writes: true });
  assertGoingOn(signal);
  const moved = movedSince(saved.plan, live, registry);
  if (hasErrors(moved)) throw new Failure(...moved);
  const entries = [...learnt, { type: "nonce", nonce: saved.nonce } as const];
  const resources = run.spec.resources;
  const outcome = await carryOut(run, {
    lease,
    plan: saved.plan,
    live,
    resources,
    entries,
    output: options.output,
    signal,
  });
  await showOutcome(run.context, outcome, options.output);
  return exitOfOutcome(outcome);
}
