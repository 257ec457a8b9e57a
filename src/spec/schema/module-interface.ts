// The schema of what a module shows to its users: typed inputs, and outputs.

import type { JsonSchema } from "./json-schema-type.ts";

const NAME = "^[A-Za-z_][A-Za-z0-9_-]*$";

const text = (description: string, example: string): JsonSchema => ({
  description,
  type: "string",
  examples: [example],
});
const count = (description: string): JsonSchema => ({
  description,
  type: "integer",
  minimum: 0,
  examples: [1],
});
const number = (description: string): JsonSchema => ({ description, type: "number", examples: [1] });
const flag = (description: string): JsonSchema => ({ description, type: "boolean" });
const schema = (description: string): JsonSchema => ({
  description,
  type: "object",
  examples: [{ type: "string" }],
});

export function inputsSchema(): JsonSchema {
  return {
    description:
      "In a module: its typed inputs, used as ${input.name}. Each is a JSON Schema; without a default it is required.",
    type: ["object", "null"],
    propertyNames: { pattern: NAME },
    examples: [{ size: { type: "integer", minimum: 1, default: 10, description: "capacity of the pool" } }],
    additionalProperties: {
      type: ["object", "null"],
      properties: {
        type: {
          description: "What a value must be: one type, or a list of types.",
          type: ["string", "array"],
          examples: ["string", "integer", "number", "boolean", "array", "object"],
        },
        title: text("Short name of the input.", "Team"),
        description: text("Purpose of the input. Shown if a value is missing or wrong.", "name of the team"),
        default: { description: "The value if the user gives none.", examples: [10] },
        examples: { description: "Values that show the use.", type: "array", examples: [["ads", "web"]] },
        deprecated: flag("Users should no longer set it."),
        sensitive: flag("Show the value nowhere. The type must be string."),
        enum: { description: "The only values that are allowed.", type: "array", examples: [["S", "L"]] },
        const: { description: "The only value that is allowed.", examples: ["ads"] },
        pattern: text(
          "A regular expression that a string must match, without lookahead and backreferences.",
          "^[a-z-]+$",
        ),
        minLength: count("The fewest characters of a string."),
        maxLength: count("The most characters of a string."),
        minimum: number("The smallest number."),
        maximum: number("The largest number."),
        exclusiveMinimum: number("A number must be greater."),
        exclusiveMaximum: number("A number must be smaller."),
        multipleOf: number("A number must be a multiple of it."),
        items: schema("The schema of each entry of a list."),
        minItems: count("The fewest entries of a list."),
        maxItems: count("The most entries of a list."),
        properties: {
          description: "The schemas of the members of a map, by key.",
          type: "object",
          examples: [{ size: { type: "integer" } }],
        },
        required: {
          description: "Members that a map must have.",
          type: "array",
          items: { type: "string" },
          examples: [["size"]],
        },
        additionalProperties: {
          description: "Whether a map may have other members, or their schema.",
          type: ["boolean", "object"],
          examples: [false],
        },
        propertyNames: schema("The schema of each key of a map."),
        minProperties: count("The fewest members of a map."),
        maxProperties: count("The most members of a map."),
      },
      additionalProperties: false,
    },
  };
}

export function outputsSchema(): JsonSchema {
  return {
    description: "In a module: values for its user, as ${modules.NAME.OUTPUT} or ${modules.NAME/KEY.OUTPUT}.",
    type: ["object", "null"],
    propertyNames: { pattern: NAME },
    examples: [{ pool_id: { value: "${pools.shared.instance_pool_id}", description: "ID of the pool" } }],
    additionalProperties: {
      if: { type: "object" },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {
        type: "object",
        properties: {
          value: {
            description: "The value: of any type, with expressions and references.",
            examples: ["${pools.shared.instance_pool_id}"],
          },
          description: text("Purpose of the output.", "ID of the pool"),
        },
        required: ["value"],
        additionalProperties: false,
      },
    },
  };
}
