// `workspace api OPERATION field=value …`: calls an operation of the API with validated fields.

import { readCommandInput } from "../../../config/files.ts";
import { Failure, failureOf, hasErrors } from "../../../core/diagnostic.ts";
import { printableJson } from "../../../report/text/printable.ts";
import {
  call,
  findOperation,
  isWrite,
  readOperationCatalog,
  remarks,
} from "../../../workflow/api/catalog.ts";
import { inputObject, inputOf, inputProblems } from "../../../workflow/api/input.ts";
import { withConnection } from "../../../workflow/session/connect.ts";
import { isPaged } from "../../../workflow/session/paging.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, textOption } from "../../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS } from "../../command/shared-options.ts";
import { operationsText, operationText } from "../../help/operation-help.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";

const FORMS = `Fields:
  field=value       value of the field's type; repeat it for a list, or pass JSON
  outer.inner=value field of an object
  field:=JSON       value as JSON
  field=@FILE       content of a file (base64 if the field contains bytes); @- is stdin`;

export const apiCommand = defineCommand({
  name: "api",
  summary: "call an API operation directly",
  options: {
    list: flagOption("--list", "list the operations"),
    all: flagOption("--all", "read all pages"),
    input: textOption(
      "--input <file>",
      "read fields from a JSON file (`-` is stdin); fields on the command line take precedence",
    ),
    unchecked: flagOption("--unchecked", "skip the validation of fields"),
    file: SPEC_OPTIONS.file,
    ...HOST_OPTIONS,
  },
  args: [
    { name: "[operation]", description: "operation, such as clusters/list" },
    { name: "[fields...]", description: "field=value" },
  ],
  notes: `${FORMS}

The state does not record changes made by this command, so the next plan shows them as drift. The answer is JSON.
To show the fields of an operation, run \`workspace api OPERATION --help\`.`,
  async moreHelp([name]) {
    const catalog = readOperationCatalog();
    return name === undefined ? "" : operationText(findOperation(catalog, name), catalog.follow);
  },
  async run(context, options, [name, ...words]) {
    const catalog = readOperationCatalog();
    if (name === undefined || options.list) {
      context.stdout.write(operationsText(catalog));
      return EXIT.ok;
    }
    const operation = findOperation(catalog, name);
    if (options.all && !isPaged(operation.name))
      throw failureOf("CLI_USAGE", `${operation.id} does not return pages`, { hint: "remove --all" });
    const read = (path: string) => readCommandInput(context, path);
    const base = options.input === undefined ? {} : await inputObject(options.input, read);
    const input = await inputOf(catalog, operation, words, base, read);
    const found = [
      ...(options.unchecked ? [] : inputProblems(catalog, operation, input)),
      ...remarks(words, input),
    ];
    if (hasErrors(found)) throw new Failure(...found);
    printDiagnostics(context, found);
    const answer = await withConnection(context, options, (connection) =>
      call(connection, operation, input, options.all),
    );
    if (isWrite(operation))
      context.stderr.write(`${operation.id}: done. The state does not track this change.\n`);
    context.stdout.write(`${printableJson(answer, 2)}\n`);
    return EXIT.ok;
  },
});
