// BYTES fields: base64 text in JSON.

import { ApiError } from "./errors.ts";

export function notBase64(field: string): ApiError {
  return new ApiError(
    "MALFORMED_REQUEST",
    `Could not parse request object: Expected base64 text for field '${field}'`,
  );
}

/** The bytes of a BYTES field whose alphabet was checked by the schema. Throws MALFORMED_REQUEST when its length is none. */
export function decodeBase64(field: string, text: string): Uint8Array {
  const characters = text.length - (text.match(/[\s=]/g)?.length ?? 0);
  if (characters % 4 === 1) throw notBase64(field);
  const bytes = Buffer.from(text, "base64");
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
