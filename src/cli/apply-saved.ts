// `workspace apply PLANFILE`: exactly the saved plan, or nothing.

import { isAbsolute, relative, resolve } from "node:path";
import { error, Failure, hasErrors } from "../core/diagnostic.ts";
import { movedSince, otherRecords } from "../planner/saved.ts";
import { registry } from "../providers/index.ts";
import type { Lease } from "../state/store.ts";
import { carryOut, showOutcome, withLock } from "./apply-plan.ts";
import type { Context } from "./context.ts";
import { EXIT, exitOfOutcome, exitOfPlan } from "./exit.ts";
import { assertGoingOn, type MakingOptions } from "./make-so.ts";
import { lookAround, type Run, type Wish, withRun } from "./run.ts";
import { checkedPlan, planFile, sealCheck } from "./saved-plan.ts";
import { showRefusal } from "./show-plan.ts";

/** A saved plan was looked at when it was made: nobody is asked. */
export function applySaved(context: Context, options: MakingOptions & Wish, file: string): Promise<number> {
  refuseOwnWishes(options);
  const { text, claims } = planFile(context, file);
  if (options.file === undefined) assertBelow(context, claims.file);
  const chosen = {
    ...options,
    file: options.file ?? claims.file,
    target: claims.target,
    var: claims.var,
    varFile: claims.varFile,
  };
  return context.signals.during((signal) => {
    const opening = { makesKey: false, secrets: "resolve", signal, unlocked: sealCheck(text) } as const;
    return withRun(context, chosen, opening, (run) =>
      withLock(run, options.lockTimeout, signal, (lease) => applyChecked(run, lease, options, text, signal)),
    );
  });
}

/** The key that a plan is sealed with lies beside its spec: a plan from elsewhere must not bring both along. */
function assertBelow(context: Context, file: string | undefined): void {
  const path = file === undefined ? "" : relative(context.cwd, resolve(context.cwd, file));
  if (!isAbsolute(path) && path !== ".." && !/^\.\.[\\/]/.test(path)) return;
  throw new Failure(
    error("PLAN_FILE", `the plan is for a spec outside this folder: ${path}`, {
      hint: "if that is the spec that you mean, name it with --file",
    }),
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
    await showRefusal(run.context, saved.plan, options.output);
    return refused;
  }
  // The world is looked at again for names and ids; what is done is what the file says.
  const { live, learnt, recovered } = await lookAround(run, lease.state(), { writes: true });
  assertGoingOn(signal);
  if (hasErrors(recovered.diagnostics)) throw new Failure(...recovered.diagnostics);
  const moved = [...otherRecords(saved, recovered.state), ...movedSince(saved.plan, live, registry)];
  if (hasErrors(moved)) throw new Failure(...moved);
  const entries = [...recovered.entries, ...learnt, { type: "nonce", nonce: saved.nonce } as const];
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
