// `workspace console`: evaluates expressions with the variables, locals, and modules of a spec. Sends no request.

import { createInterface } from "node:readline";
import { failureOf, hasErrors } from "../../../core/diagnostic.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { yamlValue } from "../../../report/text/yaml.ts";
import type { EvaluatedText } from "../../../spec/evaluate-text.ts";
import { expressionScope } from "../../../workflow/authoring/render.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT, exitOf } from "../../command/exit-codes.ts";
import { choiceOption, oneFormat } from "../../command/option.ts";
import { DIALECT_OPTIONS, SPEC_OPTIONS } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { promptExpressions } from "./prompt-expressions.ts";

export const consoleCommand = defineCommand({
  name: "console",
  summary: "evaluate expressions of the spec",
  options: {
    ...SPEC_OPTIONS,
    ...DIALECT_OPTIONS,
    output: oneFormat(choiceOption("-o, --output <format>", "output format", ["yaml", "json"])),
  },
  args: [
    {
      name: "[expression]",
      description: "such as `local.tags` or `lower(var.env)` (default: a prompt, or the lines of stdin)",
    },
  ],
  notes: "Sensitive values are not shown. A reference to another resource stays a reference.",
  async run(context, { output, ...options }, [expression]) {
    const scope = await expressionScope(context, options);
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
  context.stdout.write(output === "json" ? `${printableJson(value)}\n` : yamlValue(value));
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
