// Validates values with ajv, which reports all problems at once. Only the schemas that a spec uses are compiled.

import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Json } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import { plain, type SpecNode } from "../model/tree.ts";
import { standaloneSchema } from "./json-schema.ts";
import type { JsonSchema } from "./json-schema-type.ts";
import { ruleSchema } from "./rule-schema.ts";
import { policySchema } from "./sections.ts";
import type { SchemaError, SpecValidator } from "./spec-validator.ts";

export type RegExpEngine = NonNullable<NonNullable<Options["code"]>["regExp"]>;

/** Compiling the schemas of all kinds takes about 0.4 s (decision 0030); `watch` and `test` validate many specs. */
const validators = new WeakMap<PlanningRegistry, SpecValidator>();

export function validatorOf(registry: PlanningRegistry): SpecValidator {
  const made = validators.get(registry) ?? makeValidator(registry);
  validators.set(registry, made);
  return made;
}

function makeValidator(registry: PlanningRegistry): SpecValidator {
  const ajv = ajvForSpecs();
  const compiled = new Map<string, ValidateFunction>();
  const check = (name: string, schema: () => JsonSchema, node: SpecNode): readonly SchemaError[] => {
    let validate = compiled.get(name);
    if (validate === undefined) {
      validate = ajv.compile(withoutUnique(schema()) as object);
      compiled.set(name, validate);
    }
    const value = measured(plain(node));
    return validate(value) ? [] : toSchemaErrors(validate.errors ?? [], value);
  };
  return {
    resource: (provider, node) => check(provider.kind, () => standaloneSchema(provider), node),
    policy: (node) => check("policy of the spec", () => policySchema(registry), node),
    rule: (node) => check("rule of the spec", () => ruleSchema(registry), node),
  };
}

/** The validator as the spec uses it: draft 2020-12, strict, every error. `regExp`: the engine of patterns. */
export function ajvForSpecs(regExp?: RegExpEngine): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictRequired: false,
    ...(regExp === undefined ? {} : { code: { regExp } }),
  });
  addFormats.default(ajv);
  return ajv;
}

/** Comparing members in pairs is quadratic; duplicates are found by their text instead (duplicates.ts). */
function withoutUnique(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutUnique);
  if (schema === null || typeof schema !== "object") return schema;
  const out: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(schema))
    if (key !== "uniqueItems") out[key] = withoutUnique(value);
  return out;
}

/** The validator does not support bigint; a number of about the same size is within the same limits. */
function measured(value: Json): Json {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(measured);
  if (value === null || typeof value !== "object") return value;
  const out: { [key: string]: Json } = {};
  for (const [key, one] of Object.entries(value)) out[key] = measured(one);
  return out;
}

export function toSchemaErrors(errors: readonly ErrorObject[], root: Json): readonly SchemaError[] {
  return errors.map((error) => ({
    path: pathOf(error.instancePath, root),
    keyword: error.keyword,
    params: error.params,
    schemaPath: error.schemaPath,
    schema: (error.parentSchema ?? {}) as Record<string, unknown>,
    data: error.data,
  }));
}

/** A JSON Pointer as keys; an index where the value at that place is a list. */
function pathOf(pointer: string, root: Json): Path {
  const path: (string | number)[] = [];
  let value: Json | undefined = root;
  for (const raw of pointer.split("/").slice(1)) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    const isList: boolean = Array.isArray(value);
    path.push(isList ? Number(key) : key);
    if (value !== null && value !== undefined && typeof value === "object")
      value = (value as { readonly [key: string]: Json })[key];
  }
  return path;
}
