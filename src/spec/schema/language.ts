// The schema of the spec's language: targets, locals, modules, and entries about the state.

import type { JsonSchema } from "./json-schema-type.ts";

const EXPRESSION: JsonSchema = { type: "string", pattern: "\\$\\{" };
const SEGMENT = "^[A-Za-z0-9_][A-Za-z0-9_-]*$";
const NAME = "^[A-Za-z_][A-Za-z0-9_-]*$";
const ADDRESS: JsonSchema = {
  type: "string",
  pattern: "^[a-z_]+\\..+",
  examples: ["pools.shared", "pools.team/ads/shared"],
};

export function targetsSchema(): JsonSchema {
  return {
    description:
      "Named variants of the spec. The target that --target selects, or the default target, is merged over the rest of the spec.",
    type: ["object", "null"],
    examples: [{ dev: { default: true }, prod: { protected: true, variables: { env: "prod" } } }],
    additionalProperties: {
      description:
        "The same sections as in the spec. Maps merge, other values replace, and null removes. Under variables, it sets their values.",
      type: ["object", "null"],
      properties: {
        description: { description: "Purpose of the target.", type: "string", examples: ["production"] },
        default: { description: "Use this target if --target is not given.", type: "boolean" },
        protected: {
          description: "Require a saved plan and an explicit --target for an apply.",
          type: "boolean",
        },
        host: {
          description: "Required host. A run on another host fails; this field does not select the host.",
          type: "string",
          examples: ["https://prod.example.com"],
        },
        profile: {
          description: "Profile in ~/.workspacecfg to use, unless --profile or WORKSPACE_PROFILE names one.",
          type: "string",
          examples: ["prod"],
        },
        state: {
          description: "Where the state is kept: a folder inside the spec's folder, or workspace:/folder.",
          type: "string",
          examples: ["workspace:/Shared/state/prod"],
        },
      },
    },
  };
}

export function localsSchema(): JsonSchema {
  return {
    description:
      "Named values, used as ${local.name}. They can contain expressions and refer to other locals.",
    type: ["object", "null"],
    propertyNames: { pattern: NAME },
    examples: [{ prefix: "${lower(var.team)}-${target.name}" }],
  };
}

export function modulesSchema(): JsonSchema {
  return {
    description:
      "Modules that this spec uses. Addresses in them begin with KIND.MODULE/ or KIND.MODULE/KEY/.",
    type: ["object", "null"],
    propertyNames: { pattern: SEGMENT },
    examples: [
      { team: { source: "./modules/team", for_each: { ads: { size: 5 } }, with: { team: "${each.key}" } } },
    ],
    additionalProperties: {
      type: "object",
      properties: {
        source: {
          description: "The folder of the module, relative to this file. It contains a workspace.yaml.",
          type: "string",
          minLength: 1,
          examples: ["./modules/team"],
        },
        description: {
          description: "Purpose of the module.",
          type: "string",
          examples: ["one pool and one group for each team"],
        },
        for_each: {
          description:
            "One instance for each key of a map, or each string of a list: ${each.key}, ${each.value}.",
          examples: [{ ads: { capacity: 20 }, web: {} }, ["ads", "web"], "${local.teams}"],
          if: { type: "string" },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: EXPRESSION,
          else: { type: ["object", "array", "null"] },
        },
        with: {
          description: "Values of the module's inputs.",
          examples: [{ team: "${each.key}", capacity: "${default(each.value.capacity, 5)}" }],
          if: { type: "string" },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: EXPRESSION,
          else: { type: ["object", "null"] },
        },
      },
      required: ["source"],
      additionalProperties: false,
    },
  };
}

/** `moved`, `removed`, and `import`. */
export function stateEntrySchemas(): JsonSchema {
  return {
    moved: listOf(
      "Resources whose address changed. Only their records in the state change.",
      {
        from: {
          ...ADDRESS,
          description: "The previous address, or modules.NAME for all resources of a module.",
        },
        to: { ...ADDRESS, description: "The new address, of the same kind." },
      },
      ["from", "to"],
      [{ from: "pools.a", to: "pools.b" }],
    ),
    removed: listOf(
      "Resources that the spec no longer declares.",
      {
        address: { ...ADDRESS, description: "The address that was removed." },
        destroy: {
          description: "If false, keep the object and remove it only from the state.",
          type: "boolean",
          default: true,
        },
      },
      ["address"],
      [{ address: "pools.x", destroy: false }],
    ),
    import: listOf(
      "Live objects that become resources of the spec.",
      {
        to: { ...ADDRESS, description: "The resource that the object becomes." },
        id: {
          description:
            "The ID of the object in the workspace, or its name if the key of the kind is the name.",
          type: ["string", "integer"],
          examples: ["0101-120000-abc"],
        },
      },
      ["to", "id"],
      [{ to: "clusters.c", id: "0101-120000-abc" }],
    ),
  };
}

function listOf(
  description: string,
  properties: JsonSchema,
  required: string[],
  example: JsonSchema[],
): JsonSchema {
  return {
    description,
    type: ["array", "null"],
    examples: [example],
    items: { type: "object", properties, required, additionalProperties: false },
  };
}
