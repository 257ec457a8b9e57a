// `workspace api OPERATION field=value …`: any operation of the API, with checked fields, through the one client.

import { resolve } from "node:path";
import { fileFailure } from "../../../config/files.ts";
import { error, Failure, hasErrors } from "../../../core/diagnostic.ts";
import { parseJson } from "../../../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { readRegularFile } from "../../../core/regular-file.ts";
import { operationsText, operationText } from "../../../report/inspect/operation-help.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { withConnection } from "../../../workflow/session/connect.ts";
import { isPaged } from "../../../workflow/session/paging.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, textOption } from "../../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { call, isWrite, remarks } from "./call.ts";
import { findOperation, type OperationCatalog, readOperationCatalog } from "./catalog.ts";
import { FORMS, inputOf, problemsOf } from "./input.ts";

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
      context.stdout.write(listText(catalog));
      return EXIT.ok;
    }
    const operation = findOperation(catalog, name);
    if (options.all && !isPaged(operation.name))
      throw new Failure(
        error("CLI_USAGE", `${operation.id} has no pages to follow`, { hint: "leave out --all" }),
      );
    const read = (path: string) => bytesOf(context, path);
    const whole = options.input === undefined ? {} : await objectOf(options.input, read);
    const input = await inputOf(catalog, operation, words, whole, read);
    const found = [
      ...(options.unchecked ? [] : problemsOf(catalog, operation, input)),
      ...remarks(words, input),
    ];
    if (hasErrors(found)) throw new Failure(...found);
    printDiagnostics(context, found);
    const answer = await withConnection(context, options, (connection) =>
      call(connection, operation, input, options.all),
    );
    if (isWrite(operation)) context.stderr.write(`${operation.id}: done. It is in no plan and no state.\n`);
    context.stdout.write(`${printableJson(answer, 2)}\n`);
    return EXIT.ok;
  },
});

function listText({ operations }: OperationCatalog): string {
  return operationsText(operations.map((one) => ({ ...one, writes: isWrite(one) })));
}

async function objectOf(path: string, read: (path: string) => Promise<Uint8Array>): Promise<JsonObject> {
  const value = parsed(new TextDecoder().decode(await read(path)));
  if (isObject(value)) return value;
  throw new Failure(error("CLI_USAGE", `${path} does not contain a JSON object`));
}

function parsed(content: string): Json | undefined {
  try {
    return parseJson(content);
  } catch {
    return undefined;
  }
}

async function bytesOf(context: ConsoleContext, path: string): Promise<Uint8Array> {
  if (path === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of context.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  }
  try {
    return readRegularFile(resolve(context.cwd, path));
  } catch (problem) {
    throw fileFailure(`${path} cannot be read`, problem);
  }
}
