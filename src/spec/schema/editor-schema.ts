// The JSON Schema for editors, which see a spec before its expressions are evaluated.

import { isObject, type Json } from "../../core/json.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { REFERENCE_PATTERN, specSchema } from "./json-schema.ts";
import type { JsonSchema } from "./keywords.ts";

/** The schema of a spec, in which an expression can replace each value of a kind and of the policy. */
export function editorSchema(registry: PlanningRegistry): JsonSchema {
  const { properties, $defs, ...whole } = specSchema(registry);
  const sections = new Set(["policy", ...registry.kinds.map(({ kind }) => kind)]);
  return {
    ...whole,
    properties: mapped(properties, (value, name) => (sections.has(name) ? withExpressions(value) : value)),
    $defs: mapped($defs, withExpressions),
  };
}

function mapped(schemas: Json | undefined, change: (value: Json, name: string) => Json): Json {
  return Object.fromEntries(
    Object.entries((schemas ?? {}) as JsonSchema).map(([name, value]) => [name, change(value, name)]),
  );
}

/** What a schema says about a value in an editor; the rest checks the value. */
const OUTER = ["title", "description", "default", "deprecated", "examples"];

function withExpressions(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const whole = inside(schema);
  if (takesExpressions(whole)) return whole;
  const isOuter = ([name]: readonly [string, Json]): boolean => OUTER.includes(name);
  const entries = Object.entries(whole);
  return {
    ...Object.fromEntries(entries.filter(isOuter)),
    if: { type: "string", pattern: REFERENCE_PATTERN },
    else: Object.fromEntries(entries.filter((entry) => !isOuter(entry))),
  };
}

function takesExpressions({ type, if: condition, pattern, enum: values, $ref }: JsonSchema): boolean {
  if (condition !== undefined) return isObject(condition) && condition.pattern === REFERENCE_PATTERN;
  const isAnyString = [type].flat().includes("string") && pattern === undefined && values === undefined;
  return $ref !== undefined || type === undefined || isAnyString;
}

/** The schema with expressions in its members, entries, and branches. */
function inside(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === "properties" || keyword === "patternProperties")
        return [keyword, mapped(value, withExpressions)];
      if (keyword === "additionalProperties" || keyword === "items") return [keyword, withExpressions(value)];
      const isBranch = (keyword === "then" || keyword === "else") && isObject(value);
      return [keyword, isBranch ? inside(value) : value];
    }),
  );
}
