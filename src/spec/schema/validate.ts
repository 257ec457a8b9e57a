// Validates values with ajv, which reports all problems at once. Only the schemas that a spec uses are compiled.

import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Json } from "../../core/json.ts";
import { type Path, pointerKeys } from "../../core/pointer.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { plain, type SpecNode, withoutBigint } from "../model/tree.ts";
import type { NamedSchema } from "./keywords.ts";

/** One error of the validator, with the path as keys. */
export interface SchemaError {
  readonly path: Path;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly schemaPath: string;
  /** The schema that contains the keyword. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

export type SpecValidator = (schema: NamedSchema, node: SpecNode) => readonly SchemaError[];

export type RegExpEngine = NonNullable<NonNullable<Options["code"]>["regExp"]>;

/** Compiling the schemas of all kinds takes about 0.4 s (decision 0030); `watch` and `test` validate many specs. */
const validators = new WeakMap<PlanningRegistry, SpecValidator>();

export function validatorOf(registry: PlanningRegistry): SpecValidator {
  const specValidator = validators.get(registry) ?? makeValidator();
  validators.set(registry, specValidator);
  return specValidator;
}

function makeValidator(): SpecValidator {
  const ajv = ajvForSpecs();
  const compiled = new Map<string, ValidateFunction>();
  return ({ name, schema }, node) => {
    const validate = compiled.get(name) ?? ajv.compile(withoutUnique(schema()) as object);
    compiled.set(name, validate);
    const value = plain(node, withoutBigint);
    return validate(value) ? [] : toSchemaErrors(validate.errors ?? [], value);
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
    code: regExp === undefined ? undefined : { regExp },
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
  for (const key of pointerKeys(pointer)) {
    const isList: boolean = Array.isArray(value);
    path.push(isList ? Number(key) : key);
    if (value !== null && value !== undefined && typeof value === "object")
      value = (value as { readonly [key: string]: Json })[key];
  }
  return path;
}
