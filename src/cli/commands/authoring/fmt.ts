// `workspace fmt`: formats the files of a spec. Only spaces and line breaks change.

import { type InputLimits, readCommandInput } from "../../../config/files.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { printable } from "../../../report/text/printable.ts";
import { LIMITS } from "../../../spec/model/limits.ts";
import { type Formatting, formatFiles, formatText } from "../../../workflow/authoring/format-files.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT, exitOf } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { SPEC_OPTIONS } from "../../command/shared-options.ts";
import { colorsOf, printDiagnostics } from "../../output/diagnostics.ts";
import { unifiedDiff } from "../../output/file-diff.ts";

export const fmtCommand = defineCommand({
  options: {
    file: SPEC_OPTIONS.file,
    check: flagOption("--check", "change nothing; exit with 2 if a file is not formatted"),
    diff: flagOption("--diff", "change nothing; show the differences"),
  },
  args: [
    {
      name: "[files...]",
      description: "YAML files; `-` is stdin (default: the spec, its includes, and its modules)",
    },
  ],
  notes:
    "Only spaces, line breaks, and empty lines change. Files with syntax errors are reported and left unchanged.",
  async run(context, options, files) {
    const changesNothing = options.check || options.diff;
    const formatting = files.includes("-")
      ? await ofInput(context, files)
      : formatFiles(context, files, !changesNothing);
    if (files.includes("-") && !changesNothing) context.stdout.write(formatting.unformatted[0]?.after ?? "");
    else if (options.diff)
      for (const change of formatting.unformatted.filter(isDifferent)) {
        const colors = colorsOf(context, context.stdout);
        context.stdout.write(unifiedDiff(change.file, change, "formatted", colors, 3));
      }
    else for (const { file } of formatting.unformatted) context.stdout.write(`${printable(file)}\n`);
    printDiagnostics(context, formatting.diagnostics);
    const code = exitOf(formatting.diagnostics);
    if (code === EXIT.ok && !files.includes("-"))
      context.stderr.write(`${sentence(formatting, changesNothing)}\n`);
    return code === EXIT.ok && options.check && formatting.unformatted.some(isDifferent)
      ? EXIT.changes
      : code;
  },
});

const STDIN_LIMITS: InputLimits = { maxBytes: LIMITS.fileBytes, tooLarge: "SPEC_TOO_LARGE" };

async function ofInput(context: ConsoleContext, files: readonly string[]): Promise<Formatting> {
  if (files.length > 1) throw failureOf("CLI_USAGE", "stdin and files cannot be formatted together");
  return formatText("stdin", await readCommandInput(context, "-", STDIN_LIMITS));
}

const isDifferent = ({ before, after }: Formatting["unformatted"][number]): boolean => before !== after;

function sentence({ checked, unformatted }: Formatting, changesNothing: boolean): string {
  if (unformatted.length === 0) return `Already formatted: ${count(checked, "file")}.`;
  const files = `${unformatted.length} of ${count(checked, "file")}`;
  return changesNothing ? `Not formatted: ${files}.` : `Formatted ${files}.`;
}
