// `workspace convert --from terraform`: a Terraform state as a spec with import entries. Reads no workspace.

import { join } from "node:path";
import { CLOUDS } from "../../config/dialect.ts";
import { DEFAULT_FILE } from "../../config/files.ts";
import { VERSION } from "../../config/version.ts";
import { SCHEMA_LINES } from "../../config/write-file.ts";
import { count, shellWord } from "../../core/sentences.ts";
import { type ConversionView, conversionJson, conversionText } from "../../report/inspect/conversion-text.ts";
import { jsonDocument, printable } from "../../report/text/printable.ts";
import { yamlText } from "../../report/text/yaml.ts";
import { type ConvertedFile, convertFile } from "../../workflow/convert/convert.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
import { EXIT, exitOf } from "../command/exit-codes.ts";
import { choiceOption, flagOption, optionalChoiceOption, outOption, textOption } from "../command/option.ts";
import { FORM_OPTION } from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";

const OPTIONS = {
  from: choiceOption("--from <format>", "format of the file", ["terraform"]),
  out: outOption(
    "--out <folder>",
    "write workspace.yaml and its content files to this folder (default: stdout)",
  ),
  sources: textOption(
    "--sources <folder>",
    "folder of the Terraform configuration, for content files (default: the folder of the state)",
  ),
  force: flagOption("--force", "overwrite existing files"),
  cloud: optionalChoiceOption(
    "--cloud <name>",
    "cloud of the workspace (default: inferred from the state)",
    CLOUDS,
  ),
  ...FORM_OPTION,
} as const;

export const convertCommand = defineCommand({
  jsonSchema: "convert",
  options: OPTIONS,
  args: [
    { name: "<file>", description: "terraform.tfstate, or output of `terraform show -json`; `-` is stdin" },
  ],
  notes:
    "The spec has an import entry for each object, so the first plan adopts the objects. Values of secrets, and values that Terraform marks as sensitive, are never written.\nThe report lists each resource and value that is not in the spec, with the reason.\nExit codes: 0 everything is in the spec, 1 error, 2 the spec lacks resources or values.",
  async run(context, options, [file = "-"]) {
    const { out, output } = options;
    const head = [`Converted from Terraform by workspace ${VERSION}.`];
    const done = await convertFile(context, file, options, ({ document }) =>
      yamlText(document, out === undefined ? head : [...head, ...SCHEMA_LINES]),
    );
    if (output === "json") {
      const view = { ...viewOf(done), ...(out === undefined ? { spec: done.yaml } : {}) };
      context.stdout.write(jsonDocument(conversionJson(view), 2));
    } else show(context, done, out);
    printDiagnostics(context, done.diagnostics);
    const { resources, attributes } = done.conversion.log;
    const isWhole = resources.length === 0 && attributes.length === 0;
    return exitOf(done.diagnostics) || (isWhole ? EXIT.ok : EXIT.changes);
  },
});

function viewOf({ conversion, written }: ConvertedFile): ConversionView {
  const { log, files, ...rest } = conversion;
  const { resources: left, attributes, notes } = log;
  return { ...rest, left, attributes, notes, written, unwritten: written.length === 0 ? files.length : 0 };
}

/** Without a folder, the spec is the output, and the report goes to stderr. */
function show(context: ConsoleContext, done: ConvertedFile, out: string | undefined): void {
  const report = conversionText(viewOf(done));
  if (out === undefined) {
    context.stdout.write(done.yaml);
    context.stderr.write(report);
    return;
  }
  const beside = done.written.length - 1;
  const more = beside === 0 ? "" : ` and ${count(beside, "file")} next to it`;
  context.stdout.write(`${report}Wrote ${printable(join(out, DEFAULT_FILE))}${more}.\n`);
  context.stdout.write(`Next: ${out === "." ? "" : `cd ${shellWord(printable(out))}; `}workspace plan\n`);
}
