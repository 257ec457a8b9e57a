// `workspace state pull`: writes the state as JSON, for inspection, backup, or a push elsewhere.

import { resolve } from "node:path";
import { fileFailure } from "../../../config/files.ts";
import { printable, printableQuoted } from "../../../report/text/printable.ts";
import { stateToJson } from "../../../state/format/state-json.ts";
import { withState } from "../../../workflow/session/open-state.ts";
import { writeWholeFile } from "../../../workflow/transfer/write-file.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { textOption } from "../../command/option.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { STATE_LOCATION_OPTIONS } from "./state-options.ts";

export const pullCommand = defineCommand({
  name: "pull",
  summary: "print the state as JSON",
  options: {
    ...STATE_LOCATION_OPTIONS,
    out: textOption("--out <file>", "write to a file that only you can read"),
  },
  notes: "The output is not encrypted. It contains digests of secrets, but no secret values.",
  async run(context, options) {
    const loaded = await withState(context, options, (store) => store.read());
    printDiagnostics(context, loaded.diagnostics);
    const json = stateToJson(loaded);
    if (options.out === undefined) {
      context.stdout.write(printableQuoted(json));
      return EXIT.ok;
    }
    try {
      writeWholeFile(resolve(context.cwd, options.out), json, { over: true, mode: 0o600 });
    } catch (problem) {
      throw fileFailure(`the state cannot be written to ${options.out}`, problem);
    }
    context.stdout.write(`Wrote serial ${loaded.state.serial} to ${printable(options.out)}.\n`);
    return EXIT.ok;
  },
});
