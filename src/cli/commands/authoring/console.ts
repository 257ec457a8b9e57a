// `workspace console`: evaluates expressions with the variables, locals, and modules of a spec. Sends no request.

import { createInterface } from "node:readline";
import type { CommandContext } from "../../../config/environment.ts";
import { failureOf, hasErrors } from "../../../core/diagnostic.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { yamlValue } from "../../../report/text/yaml.ts";
import type { EvaluatedText, ExpressionScope } from "../../../spec/evaluate-text.ts";
import { expressionScope } from "../../../workflow/session/read-spec.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT, exitOf } from "../../command/exit-codes.ts";
import { choiceOption, oneFormat } from "../../command/option.ts";
import { DIALECT_OPTIONS, SPEC_OPTIONS } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";

export const consoleCommand = defineCommand({
  jsonSchema: "console",
  options: {
    ...SPEC_OPTIONS,
    ...DIALECT_OPTIONS,
    output: oneFormat(choiceOption("-o, --output <format>", "output format", ["yaml", "json"])),
  },
  args: [
    {
      name: "[expression]",
      description:
        "such as `local.tags` or `var.env.lowerAscii()` (default: a prompt, or the lines of stdin)",
    },
  ],
  notes: "Sensitive values are not shown. A reference to another resource stays a reference.",
  async run(context, { output }, [expression]) {
    const scope = await expressionScope(context);
    const show = (text: string): number => shown(context, scope.evaluate(text), output);
    if (expression === undefined && context.stdin.isTTY === true)
      return promptExpressions(context, scope, show);
    const code = expression === undefined ? await ofLines(context, show) : show(expression);
    return scope.hasErrors ? EXIT.error : code;
  },
});

function shown(
  context: ConsoleContext,
  { value, diagnostics }: EvaluatedText,
  output: "yaml" | "json",
): number {
  printDiagnostics(context, diagnostics);
  if (value === undefined) return hasErrors(diagnostics) ? exitOf(diagnostics) : EXIT.error;
  context.stdout.write(output === "json" ? jsonDocument({ value }) : yamlValue(value));
  return EXIT.ok;
}

const LONGEST_INPUT = 1 << 20;

async function ofLines({ stdin }: ConsoleContext, show: (text: string) => number): Promise<number> {
  let code: number = EXIT.ok;
  let size = 0;
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    size += line.length;
    if (size > LONGEST_INPUT)
      throw failureOf("SPEC_TOO_LARGE", `stdin has more than ${LONGEST_INPUT} characters`);
    if (line.trim() !== "") code = Math.max(code, show(line));
  }
  return code;
}

const HELP =
  'Type an expression, such as local.tags or var.env.lowerAscii(). Tab completes names; "exit" or Ctrl-D ends.\n';

/** Ends with 0; an error of an expression was shown with it. */
async function promptExpressions(
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
