// Short forms of the schemas that the language of a spec repeats.

import { defined, type Json } from "../../core/json.ts";

/** A JSON Schema as data. */
export type JsonSchema = { [keyword: string]: Json };

/** A schema that values are checked against. Its name is unique: that of a kind, or of a section. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: () => JsonSchema;
}

/** What a spec calls a variable, a local, an input, or an output. */
export const NAME_SCHEMA: JsonSchema = { pattern: "^[A-Za-z_][A-Za-z0-9_-]*$" };

export const textSchema = (description: string, example: string): JsonSchema => ({
  description,
  type: "string",
  examples: [example],
});

export const flagSchema = (description: string): JsonSchema => ({ description, type: "boolean" });

export const enumSchema = (description: string, values: readonly string[]): JsonSchema => ({
  description,
  type: "string",
  enum: values,
});

/** A map with these members only. */
export const closedMap = (properties: JsonSchema, required?: readonly string[]): JsonSchema => ({
  type: "object",
  properties,
  ...defined({ required }),
  additionalProperties: false,
});

/** One schema for values of a type, and another for all other values. */
export const ifType = (type: string, then: JsonSchema, otherwise?: JsonSchema): JsonSchema => ({
  if: { type },
  then,
  ...defined({ else: otherwise }),
});
