// `workspace drift accept ADDRESS…`: writes the live values into the spec, where they are declared.

import { failureOf } from "../../../core/diagnostic.ts";
import { toDottedPath, toPointer } from "../../../core/pointer.ts";
import { listed } from "../../../core/sentences.ts";
import { printable } from "../../../report/text/printable.ts";
import { type Colors, valueText } from "../../../report/text/terminal.ts";
import type { FileEdit } from "../../../spec/edit/spec-edits.ts";
import { assertStateExists } from "../../../workflow/session/check-state.ts";
import { withSession } from "../../../workflow/session/session.ts";
import type { AcceptedResource } from "../../../workflow/transfer/accept.ts";
import { type AcceptedSession, acceptInSession } from "../../../workflow/transfer/accept-session.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, textOption } from "../../command/option.ts";
import {
  FORM_OPTION,
  HOST_OPTIONS,
  READ_TIMEOUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../../command/shared-options.ts";
import { colorsOf, printDiagnostics, printResult } from "../../output/diagnostics.ts";
import { fileDiff } from "../../output/file-diff.ts";

export const acceptCommand = defineCommand({
  name: "accept",
  summary: "write drift into the spec",
  jsonSchema: "drift-accept",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...READ_TIMEOUT_OPTION,
    state: STATE_OPTIONS.state,
    into: textOption("--into <file>", "file of the spec for new entries (default: the spec's main file)"),
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
      const { state, diagnostics } = await session.readState();
      assertStateExists(session.store, state, "drift cannot be detected");
      printDiagnostics(context, diagnostics);
      const accepted = await acceptInSession(session, state, { ...options, places });
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
    return `${(lines.length > 0 ? lines : ["No drift."]).join("\n")}\n`;
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
  if (what === "gone") return [`${name}: removed, because the object was deleted`];
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
  const { resources, files, refused, withoutDrift, shown } = accepted;
  return {
    dry_run: isDryRun,
    accepted: resources.map(({ address, what, fields, content }) => ({
      address,
      what,
      fields: fields.map(({ path, declared, live, at }) => ({
        path: toPointer(path),
        before: declared ?? null,
        after: live ?? null,
        at: { file: at.file, line: at.line, column: at.column },
      })),
      content: content === undefined ? undefined : shown(content),
    })),
    without_drift: withoutDrift,
    files: files.map(({ path, patch }) => ({ path: shown(path), patch })),
    refused: refused.map(({ code, message, address, hint }) => ({ code, message, address, hint })),
  };
}
