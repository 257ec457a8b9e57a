// The schemas of the sections of a spec other than kinds: variables, targets, locals, modules, entries about the state, lifecycle, policy, and rules.

import { SEVERITIES } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import {
  closedMap,
  enumSchema,
  flagSchema,
  ifType,
  type JsonSchema,
  NAME_SCHEMA,
  type NamedSchema,
  textSchema,
} from "./keywords.ts";

const ON_IMMUTABLE = ["error", "replace"];
const IMMUTABLE = enumSchema(
  "What a plan does if a field that cannot be changed in place changes.",
  ON_IMMUTABLE,
);

export const LIFECYCLE: JsonSchema = {
  title: "lifecycle",
  description: "How a plan treats changes of this resource.",
  ...closedMap({
    prevent_destroy: { ...flagSchema("Reject every plan that would delete or replace it."), default: false },
    ignore_changes: {
      description: "Fields that are set at creation and never updated.",
      type: "array",
      examples: [["custom_tags"]],
      items: { type: "string", minLength: 1 },
    },
    on_immutable_change: IMMUTABLE,
  }),
};

export const schemaOfPolicy = (registry: PlanningRegistry): NamedSchema => ({
  name: "policy of the spec",
  schema: () => policySchema(registry),
});

export function policySchema(registry: PlanningRegistry): JsonSchema {
  const kinds = registry.kinds.map(({ kind }) => kind);
  const top = registry.kinds.filter(({ nested }) => nested === undefined).map(({ kind }) => kind);
  const byKind = Object.fromEntries(kinds.map((kind) => [kind, IMMUTABLE]));
  return {
    description: "What a plan may do.",
    type: ["object", "null"],
    examples: [{ max_deletes: "10%", on_immutable_change: "replace" }],
    properties: {
      on_immutable_change: {
        description:
          "What a plan does if a field that cannot be changed in place changes: for all kinds, or by kind.",
        default: "error",
        examples: ["replace", { default: "error", clusters: "replace" }],
        ...ifType("object", closedMap({ default: IMMUTABLE, ...byKind }), {
          type: "string",
          enum: ON_IMMUTABLE,
        }),
      },
      max_deletes: {
        description:
          "Limit on deletions in a plan: a number, or a share of the managed resources, which counts if more than 10 are managed. A share also limits deletions of unmanaged objects, for each kind. A share below 100% also blocks a plan that deletes every managed resource, and deletions with an empty spec.",
        default: "30%",
        examples: ["10%", 5],
        ...ifType(
          "string",
          { type: "string", pattern: "^(100|[0-9]{1,2})(\\.[0-9]+)?%$", examples: ["30%"] },
          { type: "integer", minimum: 0 },
        ),
      },
      authoritative: {
        description:
          "Kinds whose live objects are deleted if the spec does not declare them; of directories, notebooks, and files, those next to declared or recorded ones.",
        type: "array",
        default: [],
        examples: [["pools", "groups"]],
        items: { type: "string", enum: top },
      },
      duplicate_names: {
        ...enumSchema(
          "Whether a plan may create a cluster or job with the name of an unmanaged one if no state exists: error or allow.",
          ["error", "allow"],
        ),
        default: "error",
      },
    },
    additionalProperties: false,
  };
}

const LONGEST_EXPRESSION = 5_000;

export const schemaOfRule = (registry: PlanningRegistry): NamedSchema => ({
  name: "rule of the spec",
  schema: () => ruleSchema(registry),
});

function ruleSchema(registry: PlanningRegistry): JsonSchema {
  return closedMap(
    {
      name: {
        description: "Name of the rule in every report.",
        type: "string",
        pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$",
        examples: ["clusters-autoterminate"],
      },
      description: textSchema("Purpose of the rule.", "An idle cluster costs as much as a busy one."),
      kinds: {
        description: "Kinds that the rule checks (default: all).",
        type: "array",
        minItems: 1,
        items: { type: "string", enum: registry.kinds.map(({ kind }) => kind) },
        examples: [["clusters", "pools"]],
      },
      when: {
        description:
          "CEL expression that selects the changes to check (default: every change that creates, updates, replaces, adopts, imports, or moves).",
        type: "string",
        minLength: 1,
        maxLength: LONGEST_EXPRESSION,
        examples: ['change.action == "delete"'],
      },
      assert: {
        description:
          "CEL expression that must be true. Variables: change (action, cause, before, after), address, kind, name, plan.summary, target.",
        type: "string",
        minLength: 1,
        maxLength: LONGEST_EXPRESSION,
        examples: ["has(change.after.autotermination_minutes)"],
      },
      message: {
        description: "The problem and what to do. {{EXPRESSION}} inserts the value of a CEL expression.",
        type: "string",
        maxLength: LONGEST_EXPRESSION,
        examples: ["set autotermination_minutes, not {{change.after.autotermination_minutes}}"],
      },
      severity: { ...enumSchema("Severity of a violation in reports.", SEVERITIES), default: "other" },
      enforcement: {
        ...enumSchema("error: a violation blocks the plan. warn: a violation is a warning.", [
          "error",
          "warn",
        ]),
        default: "error",
      },
    },
    ["name", "assert"],
  );
}

export function rulesSchema(registry: PlanningRegistry): JsonSchema {
  return {
    description: "Rules that every plan must follow.",
    type: ["array", "null"],
    items: ruleSchema(registry),
    examples: [
      [
        {
          name: "pools-have-a-team",
          kinds: ["pools"],
          assert: 'has(change.after.custom_tags) && "team" in change.after.custom_tags',
          message: "add the tag team to custom_tags",
          enforcement: "warn",
        },
      ],
    ],
  };
}

/** What the value of a keyword must be, and its schema. */
type Keyword = readonly [is: string, schema: JsonSchema];

const text = (description: string, example: string): Keyword => ["text", textSchema(description, example)];
const flag = (description: string): Keyword => ["flag", flagSchema(description)];
const count = (description: string): Keyword => [
  "count",
  { description, type: "integer", minimum: 0, examples: [1] },
];
const number = (description: string): Keyword => ["number", { description, type: "number", examples: [1] }];
const schema = (description: string): Keyword => [
  "schema",
  { description, type: "object", examples: [{ type: "string" }] },
];

/** The keywords of variables and inputs. */
export const PARAMETER_KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: [
    "type",
    {
      description: "Type of the value, or a list of allowed types.",
      type: ["string", "array"],
      examples: ["string", "integer", "number", "boolean", "array", "object"],
    },
  ],
  title: text("Short name.", "Team"),
  description: text("Purpose. Errors about the value show it.", "name of the team"),
  default: [
    "any",
    {
      description: "Value if no other source sets one. Without a default, a value is required.",
      examples: [10],
    },
  ],
  examples: ["list", { description: "Example values.", type: "array", examples: [["ads", "web"]] }],
  deprecated: flag("Whether it is deprecated."),
  sensitive: flag("Show the value in no output. The type must be string."),
  enum: ["list", { description: "Allowed values.", type: "array", examples: [["S", "L"]] }],
  const: ["any", { description: "The only allowed value.", examples: ["ads"] }],
  pattern: text(
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
  properties: [
    "schemas",
    {
      description: "The schemas of the members of a map, by key.",
      type: "object",
      examples: [{ size: { type: "integer" } }],
    },
  ],
  required: [
    "texts",
    {
      description: "Members that a map must have.",
      type: "array",
      items: { type: "string" },
      examples: [["size"]],
    },
  ],
  additionalProperties: [
    "schema",
    {
      description: "Whether a map can have other members, or the schema of those members.",
      type: ["boolean", "object"],
      examples: [false],
    },
  ],
  propertyNames: schema("The schema of each key of a map."),
  minProperties: count("Minimum number of members in a map."),
  maxProperties: count("Maximum number of members in a map."),
};

const PARAMETER: JsonSchema = closedMap(
  Object.fromEntries(Object.entries(PARAMETER_KEYWORDS).map(([keyword, [, schema]]) => [keyword, schema])),
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
    destroy: { ...flagSchema("If false, keep the object and remove it only from the state."), default: true },
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
