// `workspace drift`: what changed in the workspace since the last apply, apart from what the spec has changed since. Writes at most, with `--since last`, what it reported.

import { type Diagnostic, error, Failure, hasErrors } from "../../core/diagnostic.ts";
import { stateExists } from "../../planner/check/state-exists.ts";
import { registry } from "../../providers/index.ts";
import { DRIFT_FORMATS } from "../../report/formats.ts";
import { type DriftView, driftView } from "../../report/plan/drift-view.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { isAtLeast } from "../../resource/severity.ts";
import { withOrigins } from "../../workflow/reconcile/drift-origins.ts";
import { placesIn } from "../../workflow/reconcile/located.ts";
import { knownDrift, rememberReported } from "../../workflow/reconcile/remember-drift.ts";
import { restrictionOf } from "../../workflow/session/address-filter.ts";
import { lookAround, withRun } from "../../workflow/session/session.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { choiceIfGiven } from "../command/option.ts";
import {
  DRIFT_OUTPUT,
  HOST_OPTIONS,
  ONLY_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../command/shared-options.ts";
import { tell } from "../output/diagnostics.ts";
import { driftEnding } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";
import { acknowledge } from "./drift/acknowledge.ts";

export const drift = defineCommand({
  below: [acknowledge],
  name: "drift",
  summary: "show what changed outside since the last apply",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...DRIFT_OUTPUT,
    since: choiceIfGiven("--since <run>", "exit 2 only for drift that no earlier run reported", ["last"]),
    failOn: choiceIfGiven("--fail-on <severity>", "exit 2 only for drift at least this severe", SEVERITIES),
  },
  ending: driftEnding,
  notes:
    "Exit codes: 0 no drift, 1 error, 2 drift (with --fail-on: drift of that severity or a worse one). Acknowledged drift does not count. No secret is read.\nTo accept drift for a time: workspace drift acknowledge --help",
  async run(context, options) {
    const opening = { makesKey: false, secrets: "skip", ahead: true, only: options.only } as const;
    return withReports(context, options, driftEnding, (reports) =>
      withRun(context, options, opening, async (run) => {
        const { state, diagnostics } = await run.loaded();
        if (!stateExists(state)) throw new Failure(noState(run.store.place));
        const looked = await lookAround(run, state, { only: options.only });
        // What the spec asks for now is no business of drift; what could not be read is.
        const unread = looked.plan.diagnostics.filter((one) => one.code === "PLAN_UNREADABLE");
        const found = [...diagnostics, ...looked.recovered.diagnostics, ...unread];
        if (hasErrors(found)) throw new Failure(...found);
        tell(context, found);
        const managed = looked.recovered.state.records.size;
        const places = placesIn(run.spec.resources);
        const seen = await withOrigins(looked.plan.drift, looked.recovered.state, run.connection.reader);
        const sinceLast = options.since === "last";
        const known = { ...knownDrift(state, Date.now()), sinceLast };
        const view = driftView(
          { ...looked.plan, drift: seen, diagnostics: found },
          managed,
          registry,
          places,
          known,
        );
        await reports.show<DriftView>(DRIFT_FORMATS, view, looked.plan);
        const least = options.failOn ?? "other";
        if (sinceLast) {
          const covers = restrictionOf(options.only)?.only ?? (() => true);
          tell(context, await rememberReported(run.store, state, looked.plan.drift, covers));
        }
        const open = view.drift.some((one) => one.open !== undefined && isAtLeast(one.open, least));
        return open ? EXIT.changes : EXIT.ok;
      }),
    );
  },
});

function noState(place: string): Diagnostic {
  return error("STATE_NOT_FOUND", `no state exists at ${place}, so drift cannot be detected`, {
    hint: "check --state, WORKSPACE_STATE and --target, or restore the lost state; if nothing has been applied yet, run `workspace apply`; runners that delete folders need a shared state: `--state workspace:/FOLDER` or PostgreSQL",
  });
}
