// `workspace drift` shows what changed since the last apply, and `workspace drift acknowledge ADDRESS[.field]` accepts drift until a date.

import { Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { comparedIn, pendingMoves, recordedAddress } from "../../planner/diff/known-drift.ts";
import { registry } from "../../providers/index.ts";
import { DRIFT_FORMATS } from "../../report/formats.ts";
import { printable } from "../../report/text/printable.ts";
import { timeText } from "../../report/text/vocabulary.ts";
import { type DriftView, driftView } from "../../report/view/drift-view.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { thisProcess } from "../../state/backends/file/node-ports.ts";
import type { Acknowledgement, State } from "../../state/model/record.ts";
import {
  acknowledgedAt,
  acknowledgedPlace,
  acknowledgedReason,
  acknowledgedSubject,
  acknowledgedUntil,
  driftAt,
  rememberReported,
  withOrigins,
} from "../../workflow/drift/drift.ts";
import { placesIn } from "../../workflow/plan/located.ts";
import { planWorkspace } from "../../workflow/plan/plan.ts";
import { lockWait, withState, writeEntries } from "../../workflow/session/open-state.ts";
import { withSession } from "../../workflow/session/session.ts";
import { assertStateExists } from "../../workflow/session/state-warnings.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { flagOption, optionalChoiceOption, textOption } from "../command/option.ts";
import {
  CHOICE_OPTIONS,
  DRIFT_OUTPUT,
  HOST_OPTIONS,
  ONLY_OPTION,
  READ_TIMEOUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { driftFailureDocument } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";
import { acceptCommand } from "./drift-accept.ts";

export const acknowledgeCommand = defineCommand({
  name: "acknowledge",
  summary: "accept drift until a date",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...READ_TIMEOUT_OPTION,
    ...STATE_OPTIONS,
    until: textOption("--until <date>", "last day in UTC, such as 2026-12-31, or a time"),
    reason: textOption("--reason <text>", "reason, shown in each report"),
    list: flagOption("--list", "list the acknowledged drift"),
    remove: flagOption("--remove", "remove the acknowledgement of this address"),
  },
  args: [{ name: "[address]", description: "ADDRESS or ADDRESS.field", takes: "address" }],
  notes:
    "The acknowledgement ends on its date, or earlier: if an apply reverts the drift, or if the value changes again.",
  async run(context, options, [place]) {
    if (options.list)
      return withState(context, async (store) => {
        const { state } = await store.read();
        context.stdout.write(listText(state.acknowledged ?? [], Date.now()));
        return EXIT.ok;
      });
    if (place === undefined)
      throw failureOf("CLI_USAGE", "an address is missing", { hint: "name an address, or pass --list" });
    const wait = lockWait(context, options.lockTimeout);
    if (options.remove)
      return withState(context, async (store) => {
        const subject = (state: State) =>
          acknowledgedSubject(acknowledgedAt(state.acknowledged ?? [], place));
        subject((await store.read()).state);
        await writeEntries(store, wait, (lease) => [{ type: "unacknowledged", ...subject(lease.state()) }]);
        context.stdout.write(`Removed the acknowledgement of ${printable(place)}.\n`);
        return EXIT.ok;
      });
    const now = Date.now();
    const until = acknowledgedUntil(options.until, now);
    const reason = acknowledgedReason(options.reason);
    return withSession(context, { makesKey: true, secrets: "skip" }, async (session) => {
      // Under the lock: an apply that this command waited for may have reverted the drift.
      await writeEntries(session.store, wait, async (lease) => {
        if (hasErrors(lease.diagnostics)) throw new Failure(...lease.diagnostics);
        const state = lease.state();
        const { plan, input, recovered, callerEntries } = await planWorkspace(session, state, {
          writes: true,
        });
        const drift = driftAt(plan.drift, place, session.secretDigest);
        const address = recordedAddress(state, pendingMoves(recovered.entries), drift.address);
        const by = input.caller ?? thisProcess().user;
        const acknowledgement: Acknowledgement = { ...drift, address, until, reason, by, at: now };
        const expired = (state.acknowledged ?? []).filter((accepted) => accepted.until <= now);
        return [
          ...callerEntries,
          ...expired.map(
            (accepted) => ({ type: "unacknowledged", ...acknowledgedSubject(accepted) }) as const,
          ),
          { type: "acknowledged", acknowledgement },
        ];
      });
      context.stdout.write(`Acknowledged ${printable(place)} until ${timeText(until)}.\n`);
      return EXIT.ok;
    });
  },
});

function listText(all: readonly Acknowledgement[], now: number): string {
  if (all.length === 0) return "Nothing is acknowledged.\n";
  return all
    .map((acknowledgement) => {
      const ending = acknowledgement.until <= now ? "expired" : "until";
      return printable(
        `${acknowledgedPlace(acknowledgement)}  ${ending} ${timeText(acknowledgement.until)} by ${acknowledgement.by}: ${acknowledgement.reason}`,
      );
    })
    .join("\n")
    .concat("\n");
}

export const driftCommand = defineCommand({
  below: [acceptCommand, acknowledgeCommand],
  name: "drift",
  summary: "show drift since the last apply",
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
    "Exit codes: 0 no drift, 1 error, 2 drift. Acknowledged drift does not count. The command reads no secrets.",
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
          withOrigins(planned.plan.drift, planned.recovered.state, session.connection.reader),
        );
        const least = options.failOn ?? "other";
        const report = { ...planned.plan, drift, diagnostics: findings };
        const view = driftView(report, managed, registry, places, { sinceLast, least }, reports.choice);
        await reports.show<DriftView>(DRIFT_FORMATS, view, planned.plan);
        if (sinceLast) {
          const only = comparedIn(planned.input);
          const moves = pendingMoves(planned.recovered.entries);
          const compared = { drift: planned.plan.drift, live: planned.live, only, moves };
          const diagnostics = await rememberReported(session.store, state, compared, session.secretDigest);
          printDiagnostics(context, diagnostics);
        }
        return view.drift.some(({ open }) => open !== undefined) ? EXIT.changes : EXIT.ok;
      }),
    );
  },
});
