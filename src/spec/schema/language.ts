// The schema of the spec's language: variables, targets, locals, modules, and entries about the state.

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

const PARAMETER: JsonSchema = closedMap(
  {
    type: {
      description: "Type of the value, or a list of allowed types.",
      type: ["string", "array"],
      examples: ["string", "integer", "number", "boolean", "array", "object"],
    },
    title: textSchema("Short name.", "Team"),
    description: textSchema("Purpose. Errors about the value show it.", "name of the team"),
    default: {
      description: "Value if no other source sets one. Without a default, a value is required.",
      examples: [10],
    },
    examples: { description: "Example values.", type: "array", examples: [["ads", "web"]] },
    deprecated: flagSchema("Whether it is deprecated."),
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
  [],
);

const INPUTS: JsonSchema = {
  description:
    "Inputs of the module, used as ${input.name}. Each is a JSON Schema, or its default; an input without a default is required.",
  type: ["object", "null"],
  propertyNames: NAME_SCHEMA,
  examples: [{ size: { type: "integer", minimum: 1, default: 10, description: "capacity of the pool" } }],
  additionalProperties: ifType("object", PARAMETER),
};

const OUTPUTS: JsonSchema = {
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

const EXPRESSION: JsonSchema = { type: "string", pattern: "\\$\\{" };
const ADDRESS: JsonSchema = {
  type: "string",
  pattern: "^[a-z_]+\\..+",
  examples: ["pools.shared", "pools.team/ads/shared"],
};

const INCLUDE: JsonSchema = {
  description: "More files of this spec: paths and patterns below the folder of this file.",
  examples: [["teams/*.yaml"]],
  type: ["string", "array", "null"],
  items: { type: "string" },
};

const VARIABLES: JsonSchema = {
  description:
    "Values for ${var.name}, set by --var, --var-file, WORKSPACE_VAR_name, the target, or the default. Each is a JSON Schema, or its default.",
  type: ["object", "null"],
  examples: [{ env: { type: "string", enum: ["dev", "prod"], default: "dev", description: "environment" } }],
  propertyNames: NAME_SCHEMA,
  additionalProperties: ifType("object", PARAMETER),
};

const TARGETS: JsonSchema = {
  description:
    "Named variants of the spec. The target that --target selects, or the default target, is merged over the rest of the spec.",
  type: ["object", "null"],
  examples: [{ dev: { default: true }, prod: { protected: true, variables: { env: "prod" } } }],
  additionalProperties: {
    description:
      "The same sections as in the spec. Maps merge, other values replace, and null removes. Under variables, it sets their values.",
    type: ["object", "null"],
    properties: {
      description: textSchema("Purpose of the target.", "production"),
      default: flagSchema("Use this target if --target is not given."),
      protected: flagSchema("Require a saved plan and an explicit --target for an apply."),
      host: textSchema(
        "Required host. A run on another host fails; this field does not select the host.",
        "https://prod.example.com",
      ),
      profile: textSchema(
        "Profile in ~/.workspacecfg to use, unless --profile or WORKSPACE_PROFILE names one.",
        "prod",
      ),
      state: textSchema(
        "Where the state is kept: a folder inside the spec's folder, or workspace:/folder.",
        "workspace:/Shared/state/prod",
      ),
    },
  },
};

const LOCALS: JsonSchema = {
  description: "Named values, used as ${local.name}. They can contain expressions and refer to other locals.",
  type: ["object", "null"],
  propertyNames: NAME_SCHEMA,
  examples: [{ prefix: "${var.team.lowerAscii()}-${target.name}" }],
};

/** Members of modules and of resources that decide how many of them there are. */
export const REPETITION: JsonSchema = {
  for_each: {
    description:
      "One for each key of a map, or each string of a list: ${each.key}, ${each.value}. The key of a resource contains ${each.key}.",
    examples: [{ ads: { capacity: 20 }, web: {} }, ["ads", "web"], "${local.teams}"],
    ...ifType("string", EXPRESSION, { type: ["object", "array", "null"] }),
  },
  when: {
    description: "If false, it is left out, as if the spec did not contain it.",
    examples: ['${target.name == "prod"}', true],
    ...ifType("string", EXPRESSION, { type: "boolean" }),
  },
};

const MODULES: JsonSchema = {
  description: "Modules that this spec uses. Addresses in them begin with KIND.MODULE/ or KIND.MODULE/KEY/.",
  type: ["object", "null"],
  propertyNames: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_-]*$" },
  examples: [
    { team: { source: "./modules/team", for_each: { ads: { size: 5 } }, with: { team: "${each.key}" } } },
  ],
  additionalProperties: closedMap(
    {
      source: {
        description: "The folder of the module, relative to this file. It contains a workspace.yaml.",
        type: "string",
        minLength: 1,
        examples: ["./modules/team"],
      },
      description: textSchema("Purpose of the module.", "one pool and one group for each team"),
      ...REPETITION,
      with: {
        description: "Values of the module's inputs.",
        examples: [{ team: "${each.key}", capacity: "${each.value.?capacity.orValue(5)}" }],
        ...ifType("string", EXPRESSION, { type: ["object", "null"] }),
      },
    },
    ["source"],
  ),
};

const listOf = (
  description: string,
  properties: JsonSchema,
  required: readonly string[],
  example: JsonSchema,
): JsonSchema => ({
  description,
  type: ["array", "null"],
  examples: [[example]],
  items: closedMap(properties, required),
});

const MOVED = listOf(
  "Resources whose address changed. Only their records in the state change.",
  {
    from: { ...ADDRESS, description: "The previous address, or modules.NAME for all resources of a module." },
    to: { ...ADDRESS, description: "The new address, of the same kind." },
  },
  ["from", "to"],
  { from: "pools.a", to: "pools.b" },
);

const REMOVED = listOf(
  "Resources that the spec no longer declares.",
  {
    address: { ...ADDRESS, description: "The address that was removed." },
    destroy: {
      ...flagSchema("If false, keep the object and remove it only from the state."),
      default: true,
    },
  },
  ["address"],
  { address: "pools.x", destroy: false },
);

const IMPORT = listOf(
  "Live objects that become resources of the spec.",
  {
    to: { ...ADDRESS, description: "The resource that the object becomes." },
    id: {
      description: "The ID of the object in the workspace, or its name if the key of the kind is the name.",
      type: ["string", "integer"],
      examples: ["0101-120000-abc"],
    },
  },
  ["to", "id"],
  { to: "clusters.c", id: "0101-120000-abc" },
);

/** The sections of a spec that belong to its language. */
export const LANGUAGE: JsonSchema = {
  include: INCLUDE,
  variables: VARIABLES,
  targets: TARGETS,
  locals: LOCALS,
  modules: MODULES,
  inputs: INPUTS,
  outputs: OUTPUTS,
  moved: MOVED,
  removed: REMOVED,
  import: IMPORT,
};
