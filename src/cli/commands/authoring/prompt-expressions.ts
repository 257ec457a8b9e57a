// The prompt of `workspace console`: reads expressions until the input ends. The history is kept in memory only.

import { createInterface } from "node:readline";
import type { CommandContext } from "../../../config/environment.ts";
import type { ExpressionScope } from "../../../spec/evaluate-text.ts";
import { EXIT } from "../../command/exit-codes.ts";

const HELP =
  'Type an expression, such as local.tags or lower(var.env). Tab completes names; "exit" or Ctrl-D ends.\n';

/** Ends with 0; an error of an expression was shown with it. */
export async function promptExpressions(
  context: CommandContext,
  { names }: Pick<ExpressionScope, "names">,
  show: (text: string) => number,
): Promise<number> {
  context.stderr.write(HELP);
  const dialog = createInterface({
    input: context.stdin,
    output: context.stdout.stream,
    prompt: "> ",
    completer: (line: string) => completed(line, names),
  });
  // On a terminal in this mode Ctrl-C is a key, not a signal. The first clears what is typed.
  dialog.on("SIGINT", () => {
    if (dialog.line === "") {
      dialog.close();
      context.signals.receive("SIGINT");
      return;
    }
    dialog.write(null, { ctrl: true, name: "e" });
    dialog.write(null, { ctrl: true, name: "u" });
    dialog.prompt();
  });
  let isOpen = true;
  dialog.once("close", () => {
    isOpen = false;
  });
  dialog.prompt();
  for await (const line of dialog) {
    const text = line.trim();
    if (text === "exit" || text === "quit") break;
    if (text === "help") context.stderr.write(HELP);
    else if (text !== "") show(line);
    if (isOpen) dialog.prompt();
  }
  dialog.close();
  context.stderr.write("\n");
  return EXIT.ok;
}

export function completed(line: string, names: readonly string[]): [string[], string] {
  const word = /[\w.-]*$/.exec(line)?.[0] ?? "";
  return [names.filter((name) => name.startsWith(word)), word];
}
