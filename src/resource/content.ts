// Fields that are not written directly: secrets, whose value has a source, and contents, which come from a file.

import type { FieldSchema, FieldTable } from "./field-schema.ts";
import type { Kind } from "./kind.ts";

/** A value that a spec never holds: it is named by its source instead. */
export function isSecretValue(field: FieldSchema): boolean {
  return field.writeOnly === true && field.sensitive === true;
}

/** The most bytes that a secret holds (contract A 8). */
export const SECRET_BYTES = 128 << 10;

/** Cached, because each resource needs it several times. */
export function secretField({ fields }: Pick<Kind, "fields">): string | undefined {
  if (!secretFields.has(fields))
    secretFields.set(
      fields,
      Object.keys(fields).find((name) => isSecretValue(fields[name] ?? {})),
    );
  return secretFields.get(fields);
}

const secretFields = new WeakMap<FieldTable, string | undefined>();

/** Kinds whose payload is a file of the spec's folder: notebooks and files. */
export function hasContent(provider: Kind): boolean {
  return provider.fields.source?.source === true && secretField(provider) === undefined;
}

const CONTENT_FIELDS = new Set(["content", "imported"]);

/** The content of a file that has no other form to be compared in: `12 bytes, sha256 9f86…`. */
export function sizeAndDigest(size: number, sha256: string): string {
  return `${size} bytes, sha256 ${sha256}`;
}

/** Set from the file's bytes, never written. */
export function isContentField(provider: Kind, name: string): boolean {
  return CONTENT_FIELDS.has(name) && hasContent(provider);
}
