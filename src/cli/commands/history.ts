// `workspace history [ADDRESS]`: lists recorded applies, or those that changed one resource. Reads only the state.

import { parseAddress } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { HISTORY_FORMATS } from "../../report/formats.ts";
import { type HistoryView, historyView } from "../../report/inspect/history-text.ts";
import { withState } from "../../workflow/session/open-state.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { flagOption, textOption } from "../command/option.ts";
import { HISTORY_OUTPUT, RUN_CHOICE_OPTIONS, STATE_LOCATION_OPTIONS } from "../command/shared-options.ts";
import { noteMissingState, printDiagnostics } from "../output/diagnostics.ts";
import { historyFailureDocument } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";

export const historyCommand = defineCommand({
  jsonSchema: "history",
  options: {
    ...STATE_LOCATION_OPTIONS,
    diff: flagOption("--diff", "show field by field what each run changed"),
    by: textOption("--by <person>", "limit to applies of this person, or of this user of the service"),
    commit: textOption("--commit <commit>", "limit to applies of this commit, or of its first characters"),
    ...RUN_CHOICE_OPTIONS,
    ...HISTORY_OUTPUT,
  },
  args: [
    {
      name: "[run-or-address]",
      description:
        "a run (`last`, 1 for the newest, or the start of its plan), or an address that runs changed",
      takes: "address",
    },
  ],
  notes:
    "The state records the last 100 applies and destroys, each with up to 100 changed addresses, and the changed fields of the last 20, up to 16 KB each. Sensitive values are not recorded.",
  failureDocument: historyFailureDocument,
  async run(context, options, [text]) {
    const isRun = text !== undefined && /^(?:last|\d{1,3}|[0-9a-f]{4,64})$/.test(text);
    const address = text === undefined || isRun ? undefined : parseAddress(text);
    if (text !== undefined && !isRun && address === undefined)
      throw failureOf("CLI_USAGE", `${text} is neither a run nor an address`, {
        hint: "write a run as last, a number, or the start of its plan; an address as kind.key, such as pools.shared",
      });
    const filter = { address, run: isRun ? text : undefined, by: options.by, commit: options.commit };
    const { output, show, hide, diff } = options;
    return withReports(
      context,
      { output, show, hide },
      historyFailureDocument,
      async (reports, invocation) => {
        const state = await withState(invocation, async (store) => {
          const loaded = await store.read();
          printDiagnostics(context, loaded.diagnostics);
          noteMissingState(context, store.location, loaded.state);
          return loaded.state;
        });
        const view = historyView(state.history ?? [], registry, filter, reports.choice, diff);
        await reports.show<HistoryView>(HISTORY_FORMATS, view, { host: state.host });
        return EXIT.ok;
      },
    );
  },
});
