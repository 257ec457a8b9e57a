// Builders for the fields of a kind: JSON Schema with annotations. A field is optional unless it is made `required`.

import { defined, type Json } from "../../core/json.ts";
import type { Annotations, FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/kind.ts";

interface Common extends Annotations {
  readonly description: string;
  readonly default?: Json;
  readonly examples?: readonly Json[];
  readonly readOnly?: true;
  readonly writeOnly?: true;
  readonly deprecated?: true;
}

interface TextOptions extends Common {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

interface NumberOptions extends Common {
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ListOptions extends Common {
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface MapOptions extends Common {
  readonly maxProperties?: number;
  readonly keys?: { readonly pattern?: string; readonly minLength?: number; readonly maxLength?: number };
}

/** The mark is typebox's, for those who write kinds with it: a member that JSON does not show. */
const OPTIONAL = "~optional";

const optional = (field: FieldSchema): FieldSchema => Object.defineProperty(field, OPTIONAL, { value: true });

/** A field that a spec must set: a copy without the mark. */
export const required = (field: FieldSchema): FieldSchema => ({ ...field });

export const textField = (options: TextOptions): FieldSchema => optional({ type: "string", ...options });
export const flagField = (options: Common): FieldSchema => optional({ type: "boolean", ...options });

/** An INT32 of the contract. */
export const integerField = (options: NumberOptions): FieldSchema =>
  optional({ type: "integer", ...options, maximum: options.maximum ?? 2_147_483_647 });

export const numberField = (options: NumberOptions): FieldSchema => optional({ type: "number", ...options });

export const choiceField = (values: readonly string[], options: Common): FieldSchema =>
  optional({ type: "string", ...options, enum: [...values] });

export const listField = (items: FieldSchema, options: ListOptions): FieldSchema =>
  optional({ type: "array", items, list: "ordered", ...options });

export const groupField = (members: FieldTable, options: Common): FieldSchema => {
  const needed = Object.keys(members).filter((name) => !(OPTIONAL in (members[name] ?? {})));
  return optional({
    type: "object",
    ...(needed.length === 0 ? {} : { required: needed }),
    properties: members,
    ...options,
    additionalProperties: false,
  });
};

/** An object whose keys the user chooses. */
export const mapField = (values: FieldSchema, { keys, ...options }: MapOptions): FieldSchema =>
  optional({
    type: "object",
    ...options,
    additionalProperties: values,
    ...defined({ propertyNames: keys && { ...keys } }),
  });

/** A string, number, or boolean that is a string in requests. */
export const scalarField = (options: Common): FieldSchema =>
  optional({ type: ["string", "number", "boolean"], ...options });

/** Returns the kind unchanged; types the parameters of its operations. */
export function defineProvider(definition: Provider): Provider {
  return definition;
}

/** What a key may not begin with, in any case (facts 4.7). */
const RESERVED = ["azure", "microsoft", "windows"];

const anyCase = (word: string): string =>
  [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");

/** No `<>%*&+?\/`, at most 512 characters; a value has at most 256 (facts 4.7). Other clouds have other characters. */
const KEYS = {
  cloud: "azure",
  pattern: `^(?!${RESERVED.map(anyCase).join("|")})[^<>%*&+?\\\\/]+$`,
  minLength: 1,
  maxLength: 512,
  description: "A key cannot contain any of <>%*&+?\\/ or begin with azure, microsoft, or windows.",
} as const;

interface TagOptions extends Pick<Annotations, "dialect" | "whenAbsent" | "inPlaceIn"> {
  readonly most: number;
  readonly description: string;
  readonly onChange?: "replace";
}

/** The keys of a field in only one dialect are not restricted. */
export const tags = ({ most, ...options }: TagOptions): FieldSchema =>
  mapField(textField({ maxLength: 256, description: "Value of the tag." }), {
    severity: "other",
    ...options,
    maxProperties: most,
    keys: options.dialect === undefined ? KEYS : { minLength: 1 },
  });

export const sourceFields = (object: string): FieldTable => ({
  source: textField({
    source: true,
    minLength: 1,
    description: `File in the spec's folder that contains the ${object}.`,
  }),
  source_dir: textField({
    source: true,
    minLength: 1,
    description: `Folder in the spec's folder; every file below it becomes a ${object} below this path.`,
  }),
  include: listField(textField({ minLength: 1, description: "A glob pattern." }), {
    source: true,
    description: "Files of source_dir to include (default: all).",
  }),
  exclude: listField(textField({ minLength: 1, description: "A glob pattern." }), {
    source: true,
    description: "Files of source_dir to exclude.",
  }),
});
