// The schema of a module's interface: typed inputs, and outputs.

import { closedMap, flagSchema, ifType, type JsonSchema, NAME_SCHEMA, textSchema } from "./keywords.ts";

const count = (description: string): JsonSchema => ({
  description,
  type: "integer",
  minimum: 0,
  examples: [1],
});
const number = (description: string): JsonSchema => ({ description, type: "number", examples: [1] });
const schema = (description: string): JsonSchema => ({
  description,
  type: "object",
  examples: [{ type: "string" }],
});

export const INPUTS: JsonSchema = {
  description:
    "Inputs of the module, used as ${input.name}. Each is a JSON Schema; an input without a default is required.",
  type: ["object", "null"],
  propertyNames: NAME_SCHEMA,
  examples: [{ size: { type: "integer", minimum: 1, default: 10, description: "capacity of the pool" } }],
  additionalProperties: {
    type: ["object", "null"],
    properties: {
      type: {
        description: "Type of the value, or a list of allowed types.",
        type: ["string", "array"],
        examples: ["string", "integer", "number", "boolean", "array", "object"],
      },
      title: textSchema("Short name of the input.", "Team"),
      description: textSchema("Purpose of the input. Errors about its value show it.", "name of the team"),
      default: { description: "Value to use if the module's user sets none.", examples: [10] },
      examples: { description: "Example values.", type: "array", examples: [["ads", "web"]] },
      deprecated: flagSchema("Whether the input is deprecated."),
      sensitive: flagSchema("Show the value in no output. The type must be string."),
      enum: { description: "Allowed values.", type: "array", examples: [["S", "L"]] },
      const: { description: "The only allowed value.", examples: ["ads"] },
      pattern: textSchema(
        "A regular expression that a string must match, without lookahead and backreferences.",
        "^[a-z-]+$",
      ),
      minLength: count("Minimum number of characters in a string."),
      maxLength: count("Maximum number of characters in a string."),
      minimum: number("Minimum of a number."),
      maximum: number("Maximum of a number."),
      exclusiveMinimum: number("Exclusive minimum of a number."),
      exclusiveMaximum: number("Exclusive maximum of a number."),
      multipleOf: number("Number that the value must be a multiple of."),
      items: schema("The schema of each entry of a list."),
      minItems: count("Minimum number of entries in a list."),
      maxItems: count("Maximum number of entries in a list."),
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
        description: "Whether a map can have other members, or the schema of those members.",
        type: ["boolean", "object"],
        examples: [false],
      },
      propertyNames: schema("The schema of each key of a map."),
      minProperties: count("Minimum number of members in a map."),
      maxProperties: count("Maximum number of members in a map."),
    },
    additionalProperties: false,
  },
};

export const OUTPUTS: JsonSchema = {
  description: "Outputs of the module, used as ${modules.NAME.OUTPUT} or ${modules.NAME/KEY.OUTPUT}.",
  type: ["object", "null"],
  propertyNames: NAME_SCHEMA,
  examples: [{ pool_id: { value: "${pools.shared.instance_pool_id}", description: "ID of the pool" } }],
  additionalProperties: ifType(
    "object",
    closedMap(
      {
        value: {
          description: "Value of any type; it can contain expressions and references.",
          examples: ["${pools.shared.instance_pool_id}"],
        },
        description: textSchema("Purpose of the output.", "ID of the pool"),
      },
      ["value"],
    ),
  ),
};
