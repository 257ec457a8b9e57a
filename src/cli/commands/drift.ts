// `workspace drift` shows what changed since the last apply; `accept` writes the live values into the spec, `acknowledge` silences drift until a date.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import { comparedIn, pendingMoves, recordedAddress } from "../../planner/diff/known-drift.ts";
import { registry } from "../../providers/index.ts";
import { DRIFT_FORMATS } from "../../report/formats.ts";
import { printable } from "../../report/text/printable.ts";
import { type Colors, valueText } from "../../report/text/terminal.ts";
import { timeText } from "../../report/text/vocabulary.ts";
import { alertedDifferences, type DriftView, driftView } from "../../report/view/drift-view.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import type { FileEdit } from "../../spec/edit/spec-edits.ts";
import { thisProcess } from "../../state/backends/file/node-ports.ts";
import { concealedEntry } from "../../state/model/digests-in-state.ts";
import type { Acknowledgement, State } from "../../state/model/record.ts";
import {
  acknowledgedAt,
  acknowledgedPlace,
  acknowledgedReason,
  acknowledgedSubject,
  acknowledgedUntil,
  driftAt,
  rememberReported,
} from "../../workflow/drift/drift.ts";
import { planWorkspace, reportedCaller } from "../../workflow/plan/plan.ts";
import { readDrift, reviewDrift } from "../../workflow/plan/plan-review.ts";
import { movesOfSpec } from "../../workflow/plan/record-entries.ts";
import { placesIn } from "../../workflow/plan/spec-places.ts";
import { lockWait, withState, writeEntries } from "../../workflow/session/open-state.ts";
import { withSession } from "../../workflow/session/session.ts";
import { type AcceptedSession, acceptInSession } from "../../workflow/transfer/accept-session.ts";
import type { AcceptedResource } from "../../workflow/transfer/accept-values.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT, exitOfDrift } from "../command/exit-codes.ts";
import { flagOption, optionalChoiceOption, textOption, textsOption } from "../command/option.ts";
import {
  CHOICE_OPTIONS,
  DRIFT_OUTPUT,
  FORM_OPTION,
  LIVE_OPTIONS,
  ONLY_OPTION,
  STATE_OPTIONS,
  UNENCRYPTED_OPTION,
} from "../command/shared-options.ts";
import { colorsOf, printDiagnostics, printResult } from "../output/diagnostics.ts";
import { driftFailureDocument } from "../output/failure-documents.ts";
import { fileDiff } from "../output/file-diff.ts";
import { withReports } from "../output/reports.ts";

const DRIFT_LOCK_TIMEOUT: typeof STATE_OPTIONS.lockTimeout = {
  ...STATE_OPTIONS.lockTimeout,
  description: "wait this long for another run that writes the state (default: 0s)",
};

export const acceptCommand = defineCommand({
  name: "accept",
  summary: "write drift into the spec",
  jsonSchema: "drift-accept",
  options: {
    ...LIVE_OPTIONS,
    lockTimeout: DRIFT_LOCK_TIMEOUT,
    into: textOption(
      "--into <file>",
      "existing file of the spec for new entries (default: the spec's main file)",
    ),
    shared: flagOption("--shared", "also write values that decide other resources or targets"),
    inTarget: flagOption("--in-target", "write changed values under the selected target alone"),
    keepGoing: flagOption("--keep-going", "leave out what cannot be accepted"),
    dryRun: flagOption("--dry-run", "write nothing; show the differences of the files"),
    ...FORM_OPTION,
  },
  args: [
    {
      name: "<addresses...>",
      description: "ADDRESS, ADDRESS.field, or an address glob such as '*'",
      takes: "address",
    },
  ],
  notes:
    "The command writes files of the spec only, all of them or none. Afterwards, a plan has no changes at these addresses. An address without drift is not an error. Sensitive values are never written. Exit codes: 0 all accepted, 1 error, 2 some left out with --keep-going.",
  async run(context, options, places) {
    if (places.length === 0)
      throw failureOf("CLI_USAGE", "an address is missing", {
        hint: "name an address, or pass '*' for all drift",
      });
    if (options.shared && options.inTarget)
      throw failureOf("CLI_USAGE", "--shared and --in-target cannot be used together");
    return withSession(context, { makesKey: false, secrets: "skip" }, async (session) => {
      const wait = lockWait(context, options.lockTimeout);
      const { loaded, read: accepted } = await readDrift(session, wait, ({ state }) =>
        acceptInSession(session, state, { ...options, places }),
      );
      printDiagnostics(context, loaded.diagnostics);
      printDiagnostics(context, [
        ...accepted.notes,
        ...accepted.refused.map((refusal) => ({ ...refusal, severity: "warning" as const })),
      ]);
      if (!options.dryRun) accepted.write();
      printResult(context, options.output, acceptedJson(accepted, options.dryRun), () =>
        accepted.masked(acceptedText(accepted, options.dryRun, colorsOf(context, context.stdout))),
      );
      return accepted.refused.length > 0 ? EXIT.changes : EXIT.ok;
    });
  },
});

function acceptedText(accepted: AcceptedSession, isDryRun: boolean, colors: Colors): string {
  const { resources, files, withoutDrift, shown } = accepted;
  const isChanged = ({ before, after }: FileEdit): boolean => !Buffer.from(before).equals(after);
  const changed = files.filter(isChanged);
  if (isDryRun && changed.length > 0)
    return changed.map((file) => fileDiff(shown(file.path), file, "accepted", colors)).join("");
  const unchanged = withoutDrift.map((address) => `No drift at ${printable(address)}.`);
  if (resources.length === 0) {
    const nothing = accepted.refused.length > 0 ? ["Nothing was accepted."] : [];
    const lines = [...unchanged, ...nothing];
    return `${(lines.length > 0 ? lines : ["No drift to accept. Acknowledged drift is accepted by its address."]).join("\n")}\n`;
  }
  const lines = [...resources.flatMap((resource) => resourceLines(resource, shown)), ...unchanged];
  const names = changed.map(({ path }) => printable(shown(path)));
  const ending =
    names.length === 0 ? "The spec already has the live values." : `Wrote ${listed(names, "and", 10)}.`;
  return `${[...lines, ending].join("\n")}\n`;
}

function resourceLines(
  { address, what, fields, content }: AcceptedResource,
  shown: AcceptedSession["shown"],
): readonly string[] {
  const name = printable(address);
  if (what === "deleted") return [`${name}: removed, because the object was deleted`];
  if (what === "appeared") return [`${name}: added`];
  return [
    ...fields.map(({ path, declared, live, at }) => {
      const change = `${valueText(declared)} → ${valueText(live)}`;
      return `${name}: ${printable(toDottedPath(path))} ${change} (${printable(at.file)}:${at.line})`;
    }),
    ...(content === undefined ? [] : [`${name}: content → ${printable(shown(content))}`]),
  ];
}

function acceptedJson(accepted: AcceptedSession, isDryRun: boolean) {
  const { resources, files, notes, refused, withoutDrift, shown } = accepted;
  const diagnosticsJson = (diagnostics: readonly Diagnostic[]) =>
    diagnostics.map(({ code, message, address, hint }) => ({ code, message, address, hint }));
  return {
    dry_run: isDryRun,
    accepted: resources.map(({ address, what, fields, content }) => ({
      address,
      what,
      fields: fields.map(({ path, declared, live, at }) => ({
        path,
        before: declared ?? null,
        after: live ?? null,
        at: { file: at.file, line: at.line, column: at.column },
      })),
      content: content === undefined ? undefined : shown(content),
    })),
    without_drift: withoutDrift,
    files: files.map(({ path, patch }) => ({ path: shown(path), patch })),
    notes: diagnosticsJson(notes),
    refused: diagnosticsJson(refused),
  };
}

export const acknowledgeCommand = defineCommand({
  name: "acknowledge",
  summary: "silence drift until a date",
  jsonSchema: "drift-acknowledge",
  options: {
    ...LIVE_OPTIONS,
    lockTimeout: STATE_OPTIONS.lockTimeout,
    ...UNENCRYPTED_OPTION,
    until: textOption(
      "--until <date>",
      "last day in UTC (2026-12-31), a time, or a duration such as 5d (required)",
    ),
    reason: textOption("--reason <text>", "reason, shown in each report (required)"),
    list: flagOption("--list", "list the acknowledged drift; needs no address"),
    remove: flagOption("--remove", "remove the acknowledgement of this address; needs no date and no reason"),
    ...FORM_OPTION,
  },
  args: [{ name: "[address]", description: "ADDRESS or ADDRESS.field", takes: "address" }],
  notes:
    "The acknowledgement ends on its date, or earlier: if an apply reverts the drift, or if the value changes again.",
  async run(context, options, [place]) {
    if (options.list)
      return withState(context, async (store) => {
        const { acknowledged = [] } = (await store.read()).state;
        const json = { acknowledged: acknowledged.map(acknowledgementJson) };
        printResult(context, options.output, json, () => listText(acknowledged, Date.now()));
      });
    if (place === undefined)
      throw failureOf("CLI_USAGE", "an address is missing", { hint: "name an address, or pass --list" });
    const wait = lockWait(context, options.lockTimeout);
    if (options.remove)
      return withState(context, async (store) => {
        const { state } = await store.read();
        const moves = await movesOfSpec(context, state);
        const subject = ({ acknowledged = [] }: State) =>
          acknowledgedSubject(acknowledgedAt(acknowledged, place, moves));
        let removed = subject(state);
        await writeEntries(store, wait, (lease) => {
          removed = subject(lease.state());
          return [{ type: "unacknowledged", ...removed }];
        });
        printResult(
          context,
          options.output,
          { acknowledged: [], removed: [removed] },
          () => `Removed the acknowledgement of ${printable(place)}.\n`,
        );
      });
    const now = Date.now();
    const until = acknowledgedUntil(options.until, now);
    const reason = acknowledgedReason(options.reason);
    return withSession(context, { makesKey: true, secrets: "skip" }, async (session) => {
      const acknowledged: Acknowledgement[] = [];
      // Under the lock: an apply that this command waited for may have reverted the drift.
      await writeEntries(session.store, wait, async (lease) => {
        const state = lease.state();
        const { plan, input, recovered, callerEntries, sensitive } = await planWorkspace(session, state, {
          recordsCaller: true,
        });
        const isAddress = (text: string): boolean =>
          session.spec.resources.has(text as Address) || input.state.records.has(text as Address);
        const moves = pendingMoves(recovered.entries);
        const drift = driftAt(plan.drift, place, session.secretDigest, { isAddress, moves });
        const address = recordedAddress(state, moves, drift.address);
        const by = input.caller ?? thisProcess().user;
        const acknowledgement: Acknowledgement = { ...drift, address, until, reason, by, at: now };
        acknowledged.push(acknowledgement);
        const expired = (state.acknowledged ?? []).filter((accepted) => accepted.until <= now);
        return [
          ...callerEntries,
          ...expired.map(
            (accepted) => ({ type: "unacknowledged", ...acknowledgedSubject(accepted) }) as const,
          ),
          concealedEntry({ type: "acknowledged", acknowledgement }, sensitive),
        ];
      });
      printResult(
        context,
        options.output,
        { acknowledged: acknowledged.map(acknowledgementJson) },
        () => `Acknowledged ${printable(place)} until ${timeText(until)}.\n`,
      );
    });
  },
});

function acknowledgementJson({ address, field, until, by, reason, at, differences }: Acknowledgement) {
  return {
    address,
    field,
    until: timeText(until),
    by,
    reason,
    acknowledged_at: timeText(at),
    differences: differences.length,
  };
}

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
  jsonSchema: "drift",
  options: {
    ...LIVE_OPTIONS,
    lockTimeout: DRIFT_LOCK_TIMEOUT,
    only: ONLY_OPTION.only,
    exclude: textsOption("--exclude <address-glob>", "leave out these addresses; repeatable"),
    ...DRIFT_OUTPUT,
    ...CHOICE_OPTIONS,
    ...UNENCRYPTED_OPTION,
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
    "Exit codes: 0 no drift, 1 error, 2 drift. Drift that is acknowledged, or that the spec has already, does not count. Values of secrets are not needed; those that are set are hidden.",
  async run(context, options) {
    const sinceLast = options.since === "last";
    const requirements = { makesKey: sinceLast, secrets: "skip" } as const;
    return withReports(context, options, driftFailureDocument, (reports, invocation) =>
      withSession(invocation, requirements, async (session) => {
        const { only, exclude } = options;
        const wait = lockWait(context, options.lockTimeout);
        const {
          state,
          planned,
          findings,
          ignoredFields,
          drift: read,
        } = await reviewDrift(session, wait, { only, exclude });
        if (hasErrors(findings)) throw new Failure(...findings);
        printDiagnostics(context, findings, { isWhole: false });
        const managed = planned.recovered.state.records.size;
        const places = placesIn(session.spec.resources);
        const drift = await read();
        const least = options.failOn ?? "other";
        const report = { ...planned.plan, drift, diagnostics: findings };
        const view = driftView(report, managed, registry, {
          places,
          ignoredFields,
          sinceLast,
          least,
          choice: reports.choice,
        });
        const caller = reportedCaller(planned);
        await reports.show<DriftView>(DRIFT_FORMATS, view, { ...planned.plan, caller });
        const code = exitOfDrift(view);
        if (sinceLast) {
          const moves = pendingMoves(planned.recovered.entries);
          // Drift that is in no report is new in the next run.
          const isDelivered =
            reports.save().length === 0 && ((await context.figures?.deliver?.(code)) ?? true);
          const alerted = isDelivered
            ? alertedDifferences(view, least)
            : new Map<string, readonly boolean[]>();
          const { plan, live, input } = planned;
          const compared = { drift: plan.drift, alerted, live, only: comparedIn(input, plan.changes), moves };
          printDiagnostics(context, await rememberReported(session, state, compared, wait));
        }
        return code;
      }),
    );
  },
});
