// The media types of SCIM: what a request has to say of its body and of the answer that it takes (contract A 4.1).

import { ScimError } from "../world/errors.ts";
import type { OperationSpec } from "./contract.ts";
import type { AppRequest } from "./message.ts";

/** SCIM's own type is what the contract requires; RFC 7644 (section 3.8) has servers take the general one too. */
const TYPES = ["application/scim+json", "application/json"];
const RANGES = new Set([...TYPES, "application/*", "*/*"]);

/** Throws 415 for a body, and 406 for a read, that does not name SCIM's media type. Other calls take any headers. */
export function checkMedia(spec: OperationSpec, { headers }: AppRequest): void {
  if (!spec.scim) return;
  if (spec.method === "GET") {
    if (!takes(headers.accept ?? ""))
      throw new ScimError(406, `A read needs the header Accept: ${TYPES[0]}.`);
  } else if (spec.method !== "DELETE" && !TYPES.includes(typeOf(headers["content-type"] ?? ""))) {
    throw new ScimError(415, `A write needs the header Content-Type: ${TYPES[0]}.`);
  }
}

function takes(accept: string): boolean {
  return accept
    .split(",")
    .some((range) => RANGES.has(typeOf(range)) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
}

/** The type without its parameters. */
function typeOf(text: string): string {
  return (text.split(";", 1)[0] ?? "").trim().toLowerCase();
}
