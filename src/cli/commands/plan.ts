// `workspace plan`: what an apply would do, and who objects. Writes nothing to the workspace and nothing to the state.

import { resolve } from "node:path";
import { type Diagnostic, error, Failure, hasErrors, warning } from "../../core/diagnostic.ts";
import type { Budget } from "../../engine/budget.ts";
import type { Plan } from "../../planner/plan.ts";
import { changesAnything } from "../../report/summary.ts";
import type { State } from "../../state/record.ts";
import { defineCommand } from "../command.ts";
import { fromEnv } from "../config.ts";
import type { Context } from "../context.ts";
import { planEnding } from "../ending.ts";
import { EXIT, exitOf, exitOfPlan } from "../exit.ts";
import { planOffline } from "../offline.ts";
import { flag, text, whole } from "../option.ts";
import { HOST_OPTIONS, ONLY_OPTION, REPORT_OPTION, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { lookAround, type Run, withRun } from "../run.ts";
import { type Origin, savedText } from "../saved-plan.ts";
import { type ReportForm, showPlan } from "../show-plan.ts";
import type { StateOptions } from "../state-place.ts";
import { tell } from "../trouble.ts";
import { writeWholeFile } from "../whole-file.ts";

export const plan = defineCommand({
  name: "plan",
  summary: "show what apply would change; writes nothing",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...REPORT_OPTION,
    out: text("--out <file>", "save the plan, to be applied as it is"),
    detailedExitcode: flag("--detailed-exitcode", "exit 2 when there are changes"),
    adopt: flag("--adopt", "take over what exists under the names of the spec"),
    destroy: flag("--destroy", "plan the deletion of everything managed"),
    untrusted: flag(
      "--untrusted",
      "the spec may come from a stranger: no environment, no secrets, no foreign values",
    ),
    maxReads: whole("--max-reads <number>", "reads that an untrusted spec may cause", 1, 1_000_000),
    offline: flag("--offline", "compare with what the state recorded; no request is sent"),
  },
  ending: planEnding,
  notes: "Exit codes: 0 done, 1 error, 2 changes (with --detailed-exitcode), 3 refused by a guard or policy.",
  async run(context, options) {
    assertFits(options);
    if (options.offline) return shown(context, options, await planOffline(context, options));
    const opening = {
      makesKey: options.out !== undefined,
      secrets: options.destroy || options.untrusted ? "skip" : "resolve",
      untrusted: options.untrusted,
      ahead: true,
    } as const;
    return withRun(context, options, opening, async (run) => {
      const loaded = await run.loaded();
      const { state, diagnostics } = loaded;
      const budget = options.untrusted ? { budget: budgetFor(state, options.maxReads) } : {};
      const looked = await lookAround(run, state, { ...options, ...budget });
      const origin = options.untrusted ? stateOrigin(context, options) : [];
      const found = { plan: looked.plan, diagnostics: [...diagnostics, ...looked.diagnostics, ...origin] };
      const { out } = options;
      if (out === undefined) return shown(context, options, found);
      return shown(context, options, found, () =>
        save(run, out, looked.plan, { loaded, recovered: looked.recovered.state }),
      );
    });
  },
});

interface Found {
  readonly plan: Plan;
  readonly diagnostics: readonly Diagnostic[];
}

interface Showing {
  readonly output: ReportForm;
  readonly detailedExitcode: boolean;
}

/** Writes the plan out; the exit code. `keep` saves a plan that nobody refuses. */
async function shown(
  context: Context,
  options: Showing,
  { plan: found, diagnostics }: Found,
  keep: () => Kept = () => ({ trouble: [] }),
): Promise<number> {
  if (hasErrors(diagnostics)) throw new Failure(...diagnostics);
  tell(context, diagnostics);
  const refused = exitOfPlan(found);
  const kept = refused === EXIT.ok ? keep() : { trouble: [] };
  await showPlan(context, found, options.output, [...diagnostics, ...kept.trouble]);
  if (refused !== EXIT.ok) return refused;
  tell(context, kept.trouble);
  if (hasErrors(kept.trouble)) return exitOf(kept.trouble);
  if (kept.said !== undefined) context.stderr.write(kept.said);
  return options.detailedExitcode && changesAnything(found) ? EXIT.changes : exitOf(diagnostics);
}

interface Chosen {
  readonly untrusted: boolean;
  readonly offline: boolean;
  readonly adopt: boolean;
  readonly out: string | undefined;
  readonly maxReads: number | undefined;
}

/** A plan that did not look at everything is neither kept to be applied nor takes anything over. */
function assertFits(options: Chosen): void {
  const mode = options.untrusted ? "--untrusted" : options.offline ? "--offline" : undefined;
  const other = options.out !== undefined ? "--out" : options.adopt ? "--adopt" : undefined;
  if (mode !== undefined && other !== undefined)
    throw new Failure(
      error("CLI_USAGE", `${mode} and ${other} exclude each other`, {
        hint: "a plan that is to be applied looks at the whole workspace; make it where the spec is trusted",
      }),
    );
  if (options.maxReads !== undefined && !options.untrusted)
    throw new Failure(error("CLI_USAGE", "--max-reads goes with --untrusted"));
}

/** A state beside a stranger's spec may be the stranger's as well, and would say that everything is managed. */
function stateOrigin(context: Context, options: StateOptions): readonly Diagnostic[] {
  const sealed = fromEnv(context, "WORKSPACE_STATE_KEY") !== undefined;
  const elsewhere = options.state !== undefined || fromEnv(context, "WORKSPACE_STATE") !== undefined;
  if (sealed || elsewhere) return [];
  return [
    warning("PLAN_MODE", "the state lies beside the untrusted spec, and may come from the same stranger", {
      hint: "keep the state elsewhere (--state), or sealed with WORKSPACE_STATE_KEY, where others' pull requests are planned",
    }),
  ];
}

/** What the state manages is read anyway; a spec may add so much to it. */
function budgetFor(state: State, said: number | undefined): Budget {
  const reads = said ?? 500 + 5 * state.records.size;
  return { reads, characters: 64 * 1024 * 1024 + reads * 64 * 1024 };
}

interface Kept {
  readonly said?: string;
  readonly trouble: readonly Diagnostic[];
}

/** A plan that cannot be saved is shown all the same, with what went wrong. */
function save(run: Run, out: string, found: Plan, origin: Origin): Kept {
  const text = savedText(run, found, origin);
  try {
    writeWholeFile(resolve(run.context.cwd, out), text, { over: true, mode: 0o600 });
  } catch (problem) {
    const cause = problem instanceof Error ? problem.message : String(problem);
    return { trouble: [error("CLI_FILE", `the plan cannot be saved to ${out}`, { cause })] };
  }
  return { trouble: [], said: `Saved to ${out}; apply it with: workspace apply ${out}\n` };
}
