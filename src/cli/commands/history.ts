// `workspace history [ADDRESS]`: lists recorded applies, or those that changed one resource. Reads only the state.

import { parseAddress } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { historyJson, historyText, historyView } from "../../report/inspect/history-text.ts";
import { withState } from "../../workflow/session/open-state.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { FORM_OPTION, RUN_CHOICE_OPTIONS, STATE_LOCATION_OPTIONS } from "../command/shared-options.ts";
import { noteMissingState, printDiagnostics, printResult } from "../output/diagnostics.ts";
import { choiceOf } from "../output/reports.ts";

export const historyCommand = defineCommand({
  name: "history",
  summary: "show who applied what and when",
  jsonSchema: "history",
  options: { ...STATE_LOCATION_OPTIONS, ...RUN_CHOICE_OPTIONS, ...FORM_OPTION },
  args: [{ name: "[address]", description: "limit to applies that changed this resource", takes: "address" }],
  notes: "The state records the last 100 applies and destroys, each with up to 100 changed addresses.",
  async run(context, options, [text]) {
    const choice = choiceOf(options);
    const address = text === undefined ? undefined : parseAddress(text);
    if (text !== undefined && address === undefined)
      throw failureOf("CLI_USAGE", `${text} is not an address`, {
        hint: "write it as kind.key, such as pools.shared",
      });
    const state = await withState(context, async (store) => {
      const loaded = await store.read();
      printDiagnostics(context, loaded.diagnostics);
      noteMissingState(context, store.location, loaded.state);
      return loaded.state;
    });
    const view = historyView(state.history ?? [], address, choice);
    printResult(context, options.output, historyJson(view), () => historyText(view));
    return EXIT.ok;
  },
});
