// `workspace drift`: shows what changed in the workspace since the last apply. Writes only the reported drift, and only with `--since last`.

import { Failure, hasErrors } from "../../../core/diagnostic.ts";
import { pendingMoves } from "../../../planner/diff/known-drift.ts";
import { registry } from "../../../providers/index.ts";
import { DRIFT_FORMATS } from "../../../report/formats.ts";
import { type DriftView, driftView } from "../../../report/view/drift-view.ts";
import { SEVERITIES } from "../../../resource/field-schema.ts";
import { rememberReported, withOrigins } from "../../../workflow/drift/drift.ts";
import { restrictionOf } from "../../../workflow/plan/address-filter.ts";
import { placesIn } from "../../../workflow/plan/located.ts";
import { keyedBy, planSession, withSession } from "../../../workflow/session/session.ts";
import { assertStateExists } from "../../../workflow/session/state-warnings.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { optionalChoiceOption } from "../../command/option.ts";
import {
  DRIFT_OUTPUT,
  HOST_OPTIONS,
  ONLY_OPTION,
  READ_TIMEOUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { driftEnding } from "../../output/failure-documents.ts";
import { withReports } from "../../output/reports.ts";
import { acknowledgeCommand } from "./acknowledge.ts";

export const driftCommand = defineCommand({
  below: [acknowledgeCommand],
  name: "drift",
  summary: "show drift since the last apply",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...READ_TIMEOUT_OPTION,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...DRIFT_OUTPUT,
    since: optionalChoiceOption("--since <run>", "exit with 2 only for drift that no earlier run reported", [
      "last",
    ]),
    failOn: optionalChoiceOption(
      "--fail-on <severity>",
      "exit with 2 only for drift of at least this severity",
      SEVERITIES,
    ),
  },
  ending: driftEnding,
  notes:
    "Exit codes: 0 no drift, 1 error, 2 drift. Acknowledged drift does not count. The command reads no secrets.",
  async run(context, options) {
    const sinceLast = options.since === "last";
    const opening = { makesKey: sinceLast, secrets: "skip", ahead: true, only: options.only } as const;
    return withReports(context, options, driftEnding, (reports, seen) =>
      withSession(context, { ...options, seen }, opening, async (session) => {
        const { state, diagnostics } = await session.loaded();
        assertStateExists(session.store, state, "drift cannot be detected");
        const planned = await planSession(session, state, { only: options.only });
        // Problems of the spec do not concern drift; objects that could not be read do.
        const unread = planned.plan.diagnostics.filter((one) => one.code === "PLAN_UNREADABLE");
        const found = [...diagnostics, ...planned.recovered.diagnostics, ...unread];
        if (hasErrors(found)) throw new Failure(...found);
        printDiagnostics(context, found);
        const managed = planned.recovered.state.records.size;
        const places = placesIn(session.spec.resources);
        const drift = await session.readLimit.during(() =>
          withOrigins(planned.plan.drift, planned.recovered.state, session.connection.reader),
        );
        const least = options.failOn ?? "other";
        const view = driftView({ ...planned.plan, drift, diagnostics: found }, managed, registry, places, {
          sinceLast,
          least,
        });
        await reports.show<DriftView>(DRIFT_FORMATS, view, planned.plan);
        if (sinceLast) {
          const only = restrictionOf(options.only)?.only;
          const moves = pendingMoves(planned.recovered.entries);
          const compared = { drift: planned.plan.drift, live: planned.live, only, moves };
          const found = await rememberReported(session.store, state, compared, keyedBy(session));
          printDiagnostics(context, found);
        }
        return view.drift.some(({ open }) => open !== undefined) ? EXIT.changes : EXIT.ok;
      }),
    );
  },
});
