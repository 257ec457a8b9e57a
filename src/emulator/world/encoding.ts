// Validates and normalizes base64 fields and paths.

import { type ApiError, invalidValue, malformed } from "./errors.ts";

export function notBase64(field: string): ApiError {
  return malformed(`Could not parse request object: Expected base64 text for field '${field}'`);
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

/** The segments of an absolute path; none for the root. A slash at the end adds none. Throws INVALID_PARAMETER_VALUE. */
export function segmentsOf(path: string): readonly string[] {
  if (!path.startsWith("/")) throw invalid(path, "doesn't start with '/'");
  if (path.includes("\0")) throw invalid(path.replaceAll("\0", "\\0"), "contains a NUL character");
  if (path === "/") return [];
  const segments = path.slice(1, path.endsWith("/") ? -1 : undefined).split("/");
  if (segments.includes("")) throw invalid(path, "has an empty segment");
  if (segments.includes(".") || segments.includes("..")) throw invalid(path, "contains a relative segment");
  return segments;
}

export const pathOfSegments = (segments: readonly string[]): string => `/${segments.join("/")}`;

export const childPath = (folder: string, name: string): string =>
  folder === "/" ? `/${name}` : `${folder}/${name}`;

function invalid(path: string, why: string): ApiError {
  return invalidValue(`Path (${path}) ${why}`);
}
