// `workspace state restore [VERSION]`: restores an earlier version, even of a damaged state. Without an argument, lists the versions.

import { failureOf } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { restoredText, stateVersionsJson, stateVersionsText } from "../../../report/inspect/history-text.ts";
import { printable } from "../../../report/text/printable.ts";
import { lockWait, withState } from "../../../workflow/session/open-state.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { choiceOption } from "../../command/option.ts";
import { printResult } from "../../output/diagnostics.ts";
import { STATE_WRITE_OPTIONS } from "./state-options.ts";

export const restoreCommand = defineCommand({
  name: "restore",
  summary: "restore an earlier state version, or list versions",
  options: {
    ...STATE_WRITE_OPTIONS,
    output: choiceOption("-o, --output <format>", "output format of the list", ["text", "json"]),
  },
  args: [{ name: "[version]", description: "serial of the version" }],
  notes:
    "The command changes only the state and keeps the previous one. Objects created since then are no longer recorded: run `workspace plan` next, and adopt them with --adopt.",
  async run(context, options, [version]) {
    await withState(context, options, async (store) => {
      if (version === undefined) {
        const versions = await store.generations();
        return printResult(context, options.output, stateVersionsJson(versions), () =>
          stateVersionsText(versions),
        );
      }
      const { state, before, aside } = await store.restore(
        serialOf(version),
        lockWait(context, options.lockTimeout),
      );
      context.stdout.write(
        `Restored version ${version} as serial ${state.serial}: ${count(state.records.size, "resource")}.\n`,
      );
      context.stdout.write(restoredText(state, before));
      context.stdout.write(`The previous state is kept: ${printable(aside)}\nNext: workspace plan\n`);
    });
    return EXIT.ok;
  },
});

function serialOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw failureOf("CLI_USAGE", `${text} is not a valid state version`, {
    hint: "to list the versions, run `workspace state restore`",
  });
}
