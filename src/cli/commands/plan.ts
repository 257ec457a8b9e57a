// `workspace plan`: what an apply would do, and who objects. Writes nothing to the workspace and nothing to the state.

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { error, Failure, hasErrors } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/plan.ts";
import { changesAnything } from "../../report/summary.ts";
import type { State } from "../../state/record.ts";
import { defineCommand } from "../command.ts";
import { EXIT, exitOf, exitOfPlan } from "../exit.ts";
import { flag, text } from "../option.ts";
import { HOST_OPTIONS, ONLY_OPTION, OUTPUT_OPTION, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { lookAround, type Run, withRun } from "../run.ts";
import { savedText } from "../saved-plan.ts";
import { showPlan } from "../show-plan.ts";
import { tell } from "../trouble.ts";

export const plan = defineCommand({
  name: "plan",
  summary: "show what apply would change; writes nothing",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...OUTPUT_OPTION,
    out: text("--out <file>", "save the plan, to be applied as it is"),
    detailedExitcode: flag("--detailed-exitcode", "exit 2 when there are changes"),
    adopt: flag("--adopt", "take over what exists under the names of the spec"),
    destroy: flag("--destroy", "plan the deletion of everything managed"),
  },
  notes: "Exit codes: 0 done, 1 error, 2 changes (with --detailed-exitcode), 3 refused by a guard or policy.",
  async run(context, options) {
    const opening = {
      makesKey: options.out !== undefined,
      secrets: options.destroy ? "skip" : "resolve",
    } as const;
    return withRun(context, options, opening, async (run) => {
      const { state, diagnostics } = await run.store.read();
      const looked = await lookAround(run, state, options);
      const found = [...diagnostics, ...looked.diagnostics];
      if (hasErrors(found)) throw new Failure(...found);
      tell(context, found);
      await showPlan(context, looked.plan, options.output);
      const refused = exitOfPlan(looked.plan);
      if (refused !== EXIT.ok) return refused;
      if (options.out !== undefined) save(run, options.out, looked.plan, state);
      return options.detailedExitcode && changesAnything(looked.plan) ? EXIT.changes : exitOf(found);
    });
  },
});

function save(run: Run, out: string, found: Plan, state: State): void {
  const path = resolve(run.context.cwd, out);
  try {
    writeFileSync(path, savedText(run, found, state), { mode: 0o600 });
  } catch (problem) {
    const cause = problem instanceof Error ? problem.message : String(problem);
    throw new Failure(error("CLI_FILE", `the plan cannot be saved to ${out}`, { cause }));
  }
  run.context.stderr.write(`Saved to ${out}; apply it with: workspace apply ${out}\n`);
}
