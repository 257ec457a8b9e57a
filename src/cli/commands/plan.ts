// `workspace plan`: what an apply would do, and who objects. Writes nothing to the workspace and nothing to the state.

import { resolve } from "node:path";
import { keyedDigest } from "../../core/canonical.ts";
import { type Diagnostic, error, Failure, hasErrors, warning } from "../../core/diagnostic.ts";
import type { Budget } from "../../engine/observe/readers.ts";
import { changesAnything } from "../../planner/model/change.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { causedPart } from "../../planner/split-plan.ts";
import type { PlanFormat } from "../../report/formats.ts";
import type { SpecPlaces } from "../../report/plan/spec-places.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import { type BaseOptions, readBase } from "../../workflow/base/base-spec.ts";
import { withOrigins } from "../../workflow/drift/drift-origins.ts";
import { placesIn, withoutSensitive } from "../../workflow/reconcile/located.ts";
import { type PlanOrigin, savedText } from "../../workflow/reconcile/plan-file.ts";
import { planOffline } from "../../workflow/reconcile/plan-offline.ts";
import type { DigestFn } from "../../workflow/session/read-spec.ts";
import { planSession, type Session, withSession } from "../../workflow/session/session.ts";
import { ephemeralState } from "../../workflow/session/state-warnings.ts";
import { untrustedState } from "../../workflow/session/untrusted-state.ts";
import { writeWholeFile } from "../../workflow/transfer/write-file.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT, exitOf, exitOfPlan } from "../command/exit-codes.ts";
import { flagOption, integerOption, textOption } from "../command/option.ts";
import {
  BASE_OPTIONS,
  EXISTING_OPTIONS,
  HOST_OPTIONS,
  ONLY_OPTION,
  PLAN_OUTPUT,
  SPEC_OPTIONS,
  STATE_OPTIONS,
  UNENCRYPTED_OPTION,
} from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { planEnding } from "../output/failure-documents.ts";
import { showPlan } from "../output/plan.ts";
import { type Reports, withReports } from "../output/reports.ts";

export const planCommand = defineCommand({
  name: "plan",
  summary: "show the changes that apply would make",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...PLAN_OUTPUT,
    out: textOption("--out <file>", "save the plan for `workspace apply FILE`"),
    detailedExitcode: flagOption("--detailed-exitcode", "exit with 2 if there are changes"),
    ...EXISTING_OPTIONS,
    ...UNENCRYPTED_OPTION,
    destroy: flagOption("--destroy", "plan to delete all managed resources"),
    untrusted: flagOption(
      "--untrusted",
      "plan an untrusted spec: use no environment variables or secrets, show no unmanaged values",
    ),
    maxReads: integerOption(
      "--max-reads <number>",
      "maximum number of reads for an untrusted spec",
      1,
      1_000_000,
    ),
    ...BASE_OPTIONS,
    offline: flagOption("--offline", "compare with the state instead of the workspace"),
  },
  ending: planEnding,
  notes:
    "Exit codes: 0 success, 1 error, 2 changes (with --detailed-exitcode), 3 blocked by a guard or a policy.",
  async run(context, options) {
    assertFits(options);
    return withReports(context, options, planEnding, async (reports) => {
      if (options.offline) return shown(reports, options, await planOffline(context, options));
      const opening = {
        makesKey: options.out !== undefined,
        secrets: options.destroy || options.untrusted ? "skip" : "optional",
        untrusted: options.untrusted,
        ahead: true,
        only: options.only,
      } as const;
      return withSession(context, options, opening, async (session) => {
        const loaded = await session.loaded();
        const { state, diagnostics } = loaded;
        const origin = options.untrusted ? untrustedState(context, options, state) : [];
        const budget = options.untrusted ? { budget: budgetFor(state, options.maxReads) } : {};
        const base = await readBase(context, options, keyedBy(session, opening.secrets), options.untrusted);
        const planned = await planSession(session, state, {
          ...options,
          ...budget,
          base,
          mayLackSecrets: !options.destroy,
        });
        const doubts = [...origin, ...ephemeralState(context, options, session.settings.place, state)];
        const drift = options.untrusted
          ? planned.plan.drift
          : await withOrigins(planned.plan.drift, planned.recovered.state, session.connection.reader);
        const found = {
          plan: { ...planned.plan, drift },
          spec: session.spec,
          places: placesIn(session.spec.resources),
          diagnostics: [...diagnostics, ...planned.diagnostics, ...doubts],
          warnings: session.warnings,
        };
        const { out } = options;
        if (out === undefined) return shown(reports, options, found);
        const about = { run: await reports.origin, notes: [...found.warnings, ...found.diagnostics] };
        return shown(reports, options, found, () =>
          save(session, out, found.plan, { loaded, recovered: planned.recovered.state }, about),
        );
      });
    });
  },
});

/** The secrets of a base get their digests as those of the spec do, or none. */
function keyedBy({ key }: Session, secrets: "optional" | "skip"): DigestFn | undefined {
  return secrets === "skip" ? undefined : (bytes) => keyedDigest(key, bytes);
}

interface Found {
  readonly plan: Plan;
  readonly places: SpecPlaces;
  readonly spec: Pick<Spec, "sensitive">;
  readonly diagnostics: readonly Diagnostic[];
  /** What is doubtful about the spec; already written to stderr. */
  readonly warnings: readonly Diagnostic[];
}

interface Showing {
  readonly detailedExitcode: boolean;
  readonly exitcodeFor: "all" | "change";
  readonly out: string | undefined;
}

/** Writes the plan out; the exit code. `keep` saves a plan that nobody refuses. */
async function shown(
  reports: Reports<PlanFormat>,
  options: Showing,
  { plan: found, spec, places, diagnostics, warnings }: Found,
  keep: () => Kept = () => ({ trouble: [] }),
): Promise<number> {
  const { context } = reports;
  if (hasErrors(diagnostics)) throw new Failure(...diagnostics);
  printDiagnostics(context, diagnostics);
  const refused = exitOfPlan(found);
  const counted = options.exitcodeFor === "change" ? causedPart(found) : found;
  const code = exitOfPlan(counted);
  const kept = refused === EXIT.ok ? keep() : { trouble: code === EXIT.ok ? unsaved(options) : [] };
  const notes = [...warnings, ...diagnostics, ...kept.trouble];
  await showPlan(reports, {
    plan: withoutSensitive(spec, found),
    places,
    notes,
    exitcodeFor: options.exitcodeFor,
  });
  if (code !== EXIT.ok) return code;
  printDiagnostics(context, kept.trouble);
  if (hasErrors(kept.trouble)) return exitOf(kept.trouble);
  if (kept.said !== undefined) context.stderr.write(kept.said);
  return options.detailedExitcode && changesAnything(counted) ? EXIT.changes : exitOf(diagnostics);
}

/** The run ends well, and still leaves no plan file. */
function unsaved({ out }: Showing): readonly Diagnostic[] {
  if (out === undefined) return [];
  const hint = "clear what was pending first: a plan with a guard or an error cannot be applied";
  return [
    warning("PLAN_BASE", `the plan is not saved to ${out}, because what was pending blocks it`, { hint }),
  ];
}

interface Chosen extends BaseOptions {
  readonly destroy: boolean;
  readonly exitcodeFor: "all" | "change";
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
      error("CLI_USAGE", `${mode} and ${other} cannot be used together`, {
        hint: "a plan to apply must read the whole workspace; make it with a trusted spec",
      }),
    );
  const base = options.base ?? options.baseRef;
  if (options.destroy && base !== undefined)
    throw new Failure(error("CLI_USAGE", "--destroy cannot be used together with --base or --base-ref"));
  if (options.exitcodeFor === "change" && base === undefined)
    throw new Failure(error("CLI_USAGE", "--exitcode-for change needs --base or --base-ref"));
  if (options.maxReads !== undefined && !options.untrusted)
    throw new Failure(error("CLI_USAGE", "--max-reads goes with --untrusted"));
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
function save(
  session: Session,
  out: string,
  found: Plan,
  origin: PlanOrigin,
  about: Parameters<typeof savedText>[3],
): Kept {
  const text = savedText(session, found, origin, about);
  try {
    writeWholeFile(resolve(session.context.cwd, out), text, { over: true, mode: 0o600 });
  } catch (problem) {
    const cause = problem instanceof Error ? problem.message : String(problem);
    return { trouble: [error("CLI_FILE", `the plan cannot be saved to ${out}`, { cause })] };
  }
  return { trouble: [], said: `Saved to ${out}. To apply it, run \`workspace apply ${out}\`.\n` };
}
