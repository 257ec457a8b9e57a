// Builders for the fields of a kind: JSON Schema with annotations, tags, and sources of contents.

import type { Json } from "../../core/json.ts";
import type { Annotations, FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/provider.ts";

interface Common extends Annotations {
  readonly description: string;
  readonly default?: Json;
  readonly examples?: readonly Json[];
  readonly readOnly?: true;
  readonly writeOnly?: true;
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

/** A field of a table; required unless it is made `optional`. */
type Field = FieldSchema;

/** The mark is typebox's, for those who write kinds with it: a member that JSON does not show. */
const OPTIONAL = "~optional";

export const optional = (field: Field): Field =>
  Object.defineProperty({ ...field }, OPTIONAL, { value: true });

export const textField = (options: TextOptions): Field => ({ type: "string", ...options });
export const flagField = (options: Common): Field => ({ type: "boolean", ...options });

/** An INT32 of the contract. */
export const integerField = (options: NumberOptions): Field => ({
  type: "integer",
  ...options,
  maximum: options.maximum ?? 2_147_483_647,
});

export const numberField = (options: NumberOptions): Field => ({ type: "number", ...options });

export const choiceField = (values: readonly string[], options: Common): Field => ({
  type: "string",
  ...options,
  enum: [...values],
});

export const listField = (items: Field, options: ListOptions): Field => ({
  type: "array",
  items,
  list: "ordered",
  ...options,
});

export const groupField = (members: FieldTable, options: Common): Field => {
  const required = Object.keys(members).filter((name) => !(OPTIONAL in (members[name] ?? {})));
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties: members,
    ...options,
    additionalProperties: false,
  };
};

/** An object whose keys the user chooses. */
export const mapField = (values: Field, options: MapOptions): Field => {
  const { keys, ...rest } = options;
  return {
    type: "object",
    ...rest,
    additionalProperties: values,
    ...(keys === undefined ? {} : { propertyNames: { ...keys } }),
  };
};

/** A string, number, or boolean that is a string in requests. */
export const scalarField = (options: Common): Field => ({
  type: ["string", "number", "boolean"],
  ...options,
});

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
export const tags = ({ most, ...options }: TagOptions): Field =>
  optional(
    mapField(textField({ maxLength: 256, description: "Value of the tag." }), {
      severity: "other",
      ...options,
      maxProperties: most,
      keys: options.dialect === undefined ? KEYS : { minLength: 1 },
    }),
  );

export const sourceFields = (one: string): FieldTable => ({
  source: optional(
    textField({
      source: true,
      minLength: 1,
      description: `File in the spec's folder that contains the ${one}.`,
    }),
  ),
  source_dir: optional(
    textField({
      source: true,
      minLength: 1,
      description: `Folder in the spec's folder; every file below it becomes a ${one} below this path.`,
    }),
  ),
  include: optional(
    listField(textField({ minLength: 1, description: "A glob pattern." }), {
      source: true,
      description: "Files of source_dir to include (default: all).",
    }),
  ),
  exclude: optional(
    listField(textField({ minLength: 1, description: "A glob pattern." }), {
      source: true,
      description: "Files of source_dir to exclude.",
    }),
  ),
});
