// `workspace drift` shows what changed since the last apply.

import { Failure, hasErrors } from "../../../core/diagnostic.ts";
import { comparedIn, pendingMoves } from "../../../planner/diff/known-drift.ts";
import { registry } from "../../../providers/index.ts";
import { DRIFT_FORMATS } from "../../../report/formats.ts";
import { alertedDifferences, type DriftView, driftView } from "../../../report/view/drift-view.ts";
import { SEVERITIES } from "../../../resource/field-schema.ts";
import { rememberReported, withOrigins } from "../../../workflow/drift/drift.ts";
import { planWorkspace } from "../../../workflow/plan/plan.ts";
import { placesIn } from "../../../workflow/plan/saved-plan.ts";
import { assertStateExists } from "../../../workflow/session/check-state.ts";
import { withSession } from "../../../workflow/session/session.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { optionalChoiceOption } from "../../command/option.ts";
import {
  CHOICE_OPTIONS,
  DRIFT_OUTPUT,
  HOST_OPTIONS,
  ONLY_OPTION,
  READ_TIMEOUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { driftFailureDocument } from "../../output/failure-documents.ts";
import { withReports } from "../../output/reports.ts";
import { acceptCommand } from "./accept.ts";
import { acknowledgeCommand } from "./acknowledge.ts";

export const driftCommand = defineCommand({
  below: [acceptCommand, acknowledgeCommand],
  jsonSchema: "drift",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...READ_TIMEOUT_OPTION,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...DRIFT_OUTPUT,
    ...CHOICE_OPTIONS,
    since: optionalChoiceOption("--since <run>", "exit with 2 only for drift that no earlier run reported", [
      "last",
    ]),
    failOn: optionalChoiceOption(
      "--fail-on <severity>",
      "exit with 2 only for drift of at least this severity",
      SEVERITIES,
    ),
  },
  failureDocument: driftFailureDocument,
  notes:
    "Exit codes: 0 no drift, 1 error, 2 drift. Acknowledged drift does not count. Values of secrets are not needed; those that are set are hidden.",
  async run(context, options) {
    const sinceLast = options.since === "last";
    const requirements = { makesKey: sinceLast, secrets: "skip" } as const;
    return withReports(context, options, driftFailureDocument, (reports, invocation) =>
      withSession(invocation, requirements, async (session) => {
        const { state, diagnostics } = await session.readState();
        assertStateExists(session.store, state, "drift cannot be detected");
        const planned = await planWorkspace(session, state, {
          only: options.only,
          exclude: options.exclude,
        });
        // Problems of the spec do not concern drift; objects that could not be read do.
        const unread = planned.plan.diagnostics.filter((diagnostic) => diagnostic.code === "PLAN_UNREADABLE");
        const findings = [...diagnostics, ...planned.recovered.diagnostics, ...unread];
        if (hasErrors(findings)) throw new Failure(...findings);
        printDiagnostics(context, findings);
        const managed = planned.recovered.state.records.size;
        const places = placesIn(session.spec.resources);
        const drift = await session.readLimit.during(() =>
          withOrigins(
            planned.plan.drift,
            planned.recovered.state,
            session.connection.reader,
            planned.sensitive,
          ),
        );
        const least = options.failOn ?? "other";
        const report = { ...planned.plan, drift, diagnostics: findings };
        const view = driftView(report, managed, registry, {
          places,
          sinceLast,
          least,
          choice: reports.choice,
        });
        await reports.show<DriftView>(DRIFT_FORMATS, view, planned.plan);
        const code = view.drift.some(({ open }) => open !== undefined) ? EXIT.changes : EXIT.ok;
        if (sinceLast) {
          const only = comparedIn(planned.input);
          const moves = pendingMoves(planned.recovered.entries);
          // Drift that is in no report is new in the next run.
          const isDelivered =
            reports.save().length === 0 && ((await context.runObserver?.deliver?.(code)) ?? true);
          const alerted = isDelivered
            ? alertedDifferences(view, least)
            : new Map<string, readonly boolean[]>();
          const compared = { drift: planned.plan.drift, alerted, live: planned.live, only, moves };
          const diagnostics = await rememberReported(session, state, compared);
          printDiagnostics(context, diagnostics);
        }
        return code;
      }),
    );
  },
});
