// `workspace api OPERATION field=value …`: calls an operation of the API with validated fields.

import { readCommandInput } from "../../config/files.ts";
import { Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { printable, printableJson } from "../../report/text/printable.ts";
import { textTable } from "../../report/text/terminal.ts";
import {
  type CatalogOperation,
  call,
  findOperation,
  inputObject,
  inputOf,
  inputProblems,
  isWrite,
  type OperationCatalog,
  operationCatalog,
  remarks,
} from "../../workflow/operate/api-call.ts";
import { isPaged } from "../../workflow/operate/paging.ts";
import { withConnection } from "../../workflow/session/connect.ts";
import { defineCommand } from "../command/command.ts";
import { flagOption, textOption } from "../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS } from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";

const FORMS = `Fields:
  field=value       value of the field's type; repeat it for a list, or pass JSON
  outer.inner=value field of an object
  field:=JSON       value as JSON
  field=@FILE       content of a file (base64 if the field contains bytes); @- is stdin`;

export const apiCommand = defineCommand({
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
    const catalog = operationCatalog();
    return name === undefined ? "" : operationText(findOperation(catalog, name), catalog.follow);
  },
  async run(context, options, [name, ...words]) {
    const catalog = operationCatalog();
    if (name === undefined || options.list) {
      context.stdout.write(operationsText(catalog));
      return;
    }
    const operation = findOperation(catalog, name);
    if (options.all && !isPaged(operation.name))
      throw failureOf("CLI_USAGE", `${operation.id} does not return pages`, { hint: "remove --all" });
    const read = (path: string) => readCommandInput(context, path);
    const base = options.input !== undefined ? await inputObject(options.input, read) : {};
    const input = await inputOf(catalog, operation, words, base, read);
    const diagnostics = [
      ...(options.unchecked ? [] : inputProblems(catalog, operation, input)),
      ...remarks(words, input),
    ];
    if (hasErrors(diagnostics)) throw new Failure(...diagnostics);
    printDiagnostics(context, diagnostics);
    const answer = await withConnection(context, (connection) =>
      call(connection, operation, input, options.all),
    );
    if (isWrite(operation))
      context.stderr.write(`${operation.id}: done. The state does not track this change.\n`);
    context.stdout.write(`${printableJson(answer, 2)}\n`);
  },
});

function operationsText({ operations }: OperationCatalog): string {
  const lines = textTable(
    operations.map((operation) => [operation.id, isWrite(operation) ? "w" : " ", operation.summary]),
    { indent: "  " },
  );
  return `Operations of the API (w: changes something):\n\n${lines.join("\n")}\n\nFields of one: workspace api OPERATION --help\n`;
}

/** Nested fields are written `outer.inner`; lists and deeper values are JSON. */
function operationText(operation: CatalogOperation, follow: Follow): string {
  const rows = operation.fields.flatMap((field) => rowsOf(field.name, field.schema, field.required, follow));
  const head = [
    `${operation.id}: ${operation.summary}${operation.adminOnly ? " (administrators only)" : ""}`,
    `${operation.method} ${operation.path}`,
    ...(operation.description === "" ? [] : [operation.description]),
  ];
  if (rows.length === 0) return `${head.join("\n")}\n\nIt takes no fields.\n`;
  const lines = textTable(rows, { indent: "  " });
  return `${head.join("\n")}\n\nFields (* required):\n${lines.join("\n")}\n`;
}

type Row = readonly [string, string, string];
type Follow = OperationCatalog["follow"];

/** Deeper values are easier to pass as JSON. */
const DEPTH = 2;

function rowsOf(
  name: string,
  schema: JsonObject,
  required: boolean,
  follow: Follow,
  depth = 1,
): readonly Row[] {
  const row: Row = [`${name}${required ? "*" : ""}`, typeText(schema, follow), wordsText(schema)];
  if (depth >= DEPTH) return [row];
  const needed = listIn(schema.required);
  const inner = Object.entries(objectIn(schema.properties)).flatMap(([key, value]) =>
    rowsOf(`${name}.${key}`, follow(value as JsonObject), needed.includes(key), follow, depth + 1),
  );
  return [row, ...inner];
}

function typeText(schema: JsonObject, follow: Follow): string {
  const { type, format, items, additionalProperties } = schema;
  if (format === "byte") return "base64";
  if (type === "array") return `list of ${typeText(follow((items ?? {}) as JsonObject), follow)}`;
  if (type === "object" && typeof additionalProperties === "object") return "map";
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "JSON";
}

function wordsText({ description, enum: choices, default: value }: JsonObject): string {
  const words = [
    typeof description === "string" ? description : "",
    Array.isArray(choices) ? `One of ${choices.map(String).join(", ")}.` : "",
    value === undefined ? "" : `Default: ${JSON.stringify(value)}.`,
  ];
  return printable(words.filter((word) => word !== "").join(" "));
}
