// Calls an operation through the client, with its rules for retries.

import { OPERATIONS, type ReadName, type WriteName } from "../../api/contract/operations.ts";
import type { WriteInput } from "../../api/contract/reader.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { Sensitive } from "../../core/sensitive.ts";
import type { Connection } from "../session/connect.ts";
import { pages } from "../session/paging.ts";
import type { CatalogOperation } from "./catalog.ts";

/** Fields whose values no message may contain. */
const SECRETS = ["string_value", "bytes_value"] as const;

export function isWrite({ name }: CatalogOperation): boolean {
  return OPERATIONS[name].kind === "write";
}

export async function call(
  { direct }: Pick<Connection, "direct">,
  operation: CatalogOperation,
  input: JsonObject,
  all: boolean,
): Promise<JsonObject> {
  if (isWrite(operation)) return direct.write(operation.name as WriteName, guarded(input));
  const read = (page: JsonObject) => direct.read(operation.name as ReadName, page);
  return all ? pages(operation.name, input, read) : read(input);
}

function guarded(input: JsonObject): WriteInput {
  const out: { [field: string]: WriteInput[string] } = { ...input };
  const { string_value: text, bytes_value: base64 } = input;
  if (typeof text === "string") out.string_value = new Sensitive(new TextEncoder().encode(text));
  if (typeof base64 === "string") out.bytes_value = new Sensitive(Buffer.from(base64, "base64"));
  return out;
}

/** An error for an answer that is not JSON, and a warning for secrets in arguments. */
export function remarks(words: readonly string[], input: JsonObject): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  if (input.direct_download === true)
    found.push(
      error("CLI_USAGE", "direct_download returns the raw file, and this command prints JSON", {
        hint: "omit it; content then contains the file in base64",
      }),
    );
  for (const name of SECRETS)
    if (words.some((word) => word.startsWith(`${name}=`) && !word.startsWith(`${name}=@`)))
      found.push(
        warning("CLI_USAGE", `the value of ${name} is visible in the process list and in the shell history`, {
          hint: `read it from a file (${name}=@FILE) or from stdin (${name}=@-)`,
        }),
      );
  return found;
}
