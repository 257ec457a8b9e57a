// `workspace api OPERATION field=value …`: any operation of the API, with checked fields, through the one client.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { OPERATIONS, type ReadName, type WriteName } from "../../api/operations.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { parseJson } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { operationsText, operationText } from "../../report/operation-text.ts";
import { printableJson } from "../../report/printable.ts";
import { defineCommand } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { checkInput, findOperation, inputOf, type Operation, readOperations } from "../operations.ts";
import { flag, text } from "../option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS } from "../options.ts";
import { pages } from "../pages.ts";

export const api = defineCommand({
  name: "api",
  summary: "call an operation of the API; without one, list them all",
  options: {
    file: SPEC_OPTIONS.file,
    ...HOST_OPTIONS,
    body: text("--body <json>", "fields as a JSON object; `@PATH` reads a file, `@-` standard input"),
    all: flag("--all", "follow paging to the end"),
  },
  args: [
    { name: "[operation]", description: "such as clusters/list" },
    { name: "[fields...]", description: "field=value; lists and objects as JSON" },
  ],
  async moreHelp([name]) {
    const operations = readOperations();
    return name === undefined
      ? operationsText(operations.all)
      : operationText(findOperation(operations, name));
  },
  async run(context, options, [name, ...words]) {
    const operations = readOperations();
    if (name === undefined) {
      context.stdout.write(operationsText(operations.all));
      return EXIT.ok;
    }
    const operation = findOperation(operations, name);
    const input = inputOf(operation, words, await bodyOf(context, options.body));
    checkInput(operations, operation, input);
    const answer = await withConnection(context, options, (connection) =>
      call(connection, operation, input, options.all),
    );
    context.stdout.write(`${printableJson(answer, 2)}\n`);
    return EXIT.ok;
  },
});

async function call(
  connection: Connection,
  { name }: Operation,
  input: JsonObject,
  all: boolean,
): Promise<JsonObject> {
  if (OPERATIONS[name].kind === "write") return connection.writer.write(name as WriteName, input);
  const read = (page: JsonObject) => connection.reader.read(name as ReadName, page);
  return all ? pages(name, input, read) : read(input);
}

async function bodyOf(context: Context, given: string | undefined): Promise<JsonObject> {
  if (given === undefined) return {};
  const value = parsed(given.startsWith("@") ? await contentOf(context, given.slice(1)) : given);
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as JsonObject;
  throw new Failure(
    error("CLI_USAGE", "--body is not a JSON object", { hint: `write --body '{"field": "value"}'` }),
  );
}

async function contentOf(context: Context, path: string): Promise<string> {
  if (path === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of context.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString("utf8");
  }
  try {
    return readFileSync(resolve(context.cwd, path), "utf8");
  } catch (problem) {
    const cause = problem instanceof Error ? problem.message : String(problem);
    throw new Failure(error("CLI_FILE", `${path} cannot be read`, { cause }));
  }
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw new Failure(
      error("CLI_USAGE", "--body is not JSON", { hint: `write --body '{"field": "value"}'` }),
    );
  }
}
