// Converts validator errors to messages: which field, what it must be, what it is, and a suggestion.

import type { Code } from "../../core/codes.ts";
import { isObject } from "../../core/json.ts";
import { type Path, toDottedPath } from "../../core/pointer.ts";
import { listed, shortened } from "../../core/sentences.ts";
import { didYouMean, type Suggest } from "../../core/suggest.ts";
import { otherPlaceHint } from "../../resource/dialect-view.ts";
import type { Kind } from "../../resource/kind.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import { keySpanOf, type SpecNode, spanOf } from "../model/tree.ts";
import type { SchemaError } from "./validate.ts";

interface SchemaMessage {
  readonly code: Code;
  /** The keyword of the schema that refuses the value. */
  readonly keyword: string;
  /** Begins with the field, or reads on from the resource: `has no field "max_size"`. */
  readonly message: string;
  /** Where the problem is, and whether at the key or at the value. */
  readonly path: Path;
  readonly onKey: boolean;
  /** The missing field, which has no place in the file. */
  readonly missing?: string;
  readonly hint?: string;
}

/** What a message may know of the owner of the values. */
export interface Owner {
  readonly name: string;
  readonly kind?: Kind;
  /** Keys that are allowed in addition to its fields. */
  readonly beside?: readonly string[];
}

/** One message for each problem. */
export function schemaMessages(
  errors: readonly SchemaError[],
  owner: Owner,
  suggest: Suggest,
): readonly SchemaMessage[] {
  return chosen(errors).map((error) => ({ keyword: error.keyword, ...words(error, owner, suggest) }));
}

/** Reports each error of a value at its place; `whole`: the place of errors that are about all of it. */
export function reportErrors(
  errors: readonly SchemaError[],
  owner: Owner,
  node: SpecNode,
  findings: Findings,
  whole: Span = node,
): void {
  for (const { code, message, path, onKey, hint } of schemaMessages(errors, owner, findings.suggest)) {
    const at = onKey ? keySpanOf(node, path) : spanOf(node, path);
    findings.error(code, message, path.length === 0 ? whole : at, { hint });
  }
}

type Words = Omit<SchemaMessage, "keyword">;

function words(error: SchemaError, owner: Owner, suggest: Suggest): Words {
  const { path } = error;
  const { name } = owner;
  const subject = path.length === 0 ? name : `${name}: ${toDottedPath(path)}`;
  switch (error.keyword) {
    case "additionalProperties":
    case "unevaluatedProperties":
      return unknownField(error, owner, suggest);
    case "required":
      return missingField(error, name);
    case "propertyNames":
      return {
        code: "SPEC_VALUE",
        message: `${subject} cannot have the key ${quoted(error.params.propertyName)}`,
        path: [...path, String(error.params.propertyName)],
        onKey: true,
        hint: (error.schema.propertyNames as { readonly description?: string }).description,
      };
    case "type":
      return { code: "SPEC_TYPE", path, onKey: false, ...wrongType(error, subject) };
    case "enum":
    case "const":
      return { code: "SPEC_VALUE", path, onKey: false, ...notAllowed(error, subject, suggest) };
    case "not":
    case "dependentRequired":
    case "oneOf":
    case "anyOf":
      return {
        code: "SPEC_COMBINATION",
        message: `${subject} has fields that cannot be used together`,
        path,
        onKey: false,
      };
    default:
      return { code: "SPEC_VALUE", message: `${subject} ${mustBe(error)}`, path, onKey: false };
  }
}

function unknownField(error: SchemaError, { name, kind, beside = [] }: Owner, suggest: Suggest): Words {
  const field = String(error.params.additionalProperty ?? error.params.unevaluatedProperty);
  const path = [...error.path, field];
  const fields = [
    ...Object.keys((error.schema.properties ?? {}) as object),
    ...(path.length === 1 ? beside : []),
  ];
  const elsewhere = kind === undefined ? undefined : otherPlaceHint(kind, path);
  return {
    code: "SPEC_UNKNOWN_FIELD",
    message: `${name} has no field ${quoted(toDottedPath(path))}`,
    path,
    onKey: true,
    ...(elsewhere === undefined
      ? didYouMean(
          suggest(field, fields, "words"),
          fields.length > 0 && fields.length <= 12 ? `known fields: ${listed(fields)}` : undefined,
        )
      : { hint: elsewhere }),
  };
}

function missingField(error: SchemaError, name: string): Words {
  const field = String(error.params.missingProperty);
  return {
    code: "SPEC_MISSING_FIELD",
    message: `${name} requires the field ${quoted(toDottedPath([...error.path, field]))}`,
    path: error.path,
    onKey: true,
    missing: field,
  };
}

function wrongType(error: SchemaError, subject: string): { message: string; hint?: string } {
  const types = [error.params.type].flat().map(String);
  const words = types.filter((type) => type !== "null").map((type) => TYPES[type] ?? type);
  const wanted = listed([...new Set(words)], "or");
  const value = typeof error.data === "string" ? `the string ${quoted(error.data)}` : shown(error.data);
  const message = `${subject} must be ${wanted}, not ${value}`;
  return { message, ...(keyedHint(types, error) ?? typeHint(types, error.data)) };
}

/** APIs have lists whose entries contain their key, such as the tasks of a job; a spec has maps. */
function keyedHint(types: readonly string[], { path, data }: SchemaError): { hint: string } | undefined {
  if (!types.includes("object") || !Array.isArray(data) || !isObject(data[0])) return undefined;
  const key = Object.keys(data[0]).find((field) => /(?:^|_)key$|^name$/.test(field));
  const example = `\`${String(path.at(-1))}: { KEY: … }\``;
  return key === undefined
    ? undefined
    : { hint: `write a map with the ${key} of each entry as its key: ${example}` };
}

const YES_NO = new Map([
  ["yes", true],
  ["on", true],
  ["no", false],
  ["off", false],
]);

function typeHint(types: readonly string[], data: unknown): { hint?: string } {
  if (types.includes("string") && (typeof data === "number" || typeof data === "boolean"))
    return { hint: "write it in quotes" };
  if (types.includes("array") && typeof data === "string")
    return { hint: `write a list: [${shortened(data, 40)}]` };
  if (typeof data !== "string") return {};
  const truth = YES_NO.get(data.toLowerCase());
  if (types.includes("boolean") && truth !== undefined) return { hint: `write ${truth}` };
  const isNumber = /^-?\d+(\.\d+)?$/.test(data);
  if (isNumber && (types.includes("integer") || types.includes("number")))
    return { hint: "write it without quotes" };
  if (types.includes("boolean") && /^(true|false)$/i.test(data)) return { hint: "write it without quotes" };
  return {};
}

function notAllowed(
  error: SchemaError,
  subject: string,
  suggest: Suggest,
): { message: string; hint?: string } {
  const allowed = [error.params.allowedValues ?? error.params.allowedValue].flat();
  const texts = allowed.map(String);
  const what = allowed.length === 1 ? String(texts[0]) : `one of ${listed(texts, "or")}`;
  const best = typeof error.data === "string" ? suggest(error.data, texts, "words") : undefined;
  return { message: `${subject} must be ${what}, not ${shown(error.data)}`, ...didYouMean(best) };
}

/** The end of the sentence for a value outside its limits. */
function mustBe(error: SchemaError): string {
  const { data, keyword, params } = error;
  const [limit, format] = [String(params.limit), String(params.format)];
  const bound = BOUNDS[keyword];
  if (bound !== undefined) return `must be ${bound} ${limit}, not ${shown(data)}`;
  if (/^min/.test(keyword) && limit === "1") return "must not be empty";
  switch (keyword) {
    case "multipleOf":
      return `must be a multiple of ${String(params.multipleOf)}, not ${shown(data)}`;
    case "minLength":
      return `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters, not ${[...String(data)].length}`;
    case "minItems":
    case "minProperties":
      return `must have at least ${limit} entries`;
    case "maxItems":
      return `must have at most ${entries(limit)}, not ${Array.isArray(data) ? data.length : "more"}`;
    case "maxProperties":
      return `must have at most ${entries(limit)}, not ${Object.keys(Object(data)).length}`;
    case "pattern":
      return patternWords(error);
    case "format":
      return `must be ${FORMATS[format] ?? `a ${format}`}, not ${shown(data)}`;
    default:
      return "is not allowed";
  }
}

const BOUNDS: Readonly<Record<string, string>> = {
  minimum: "at least",
  maximum: "at most",
  exclusiveMinimum: "more than",
  exclusiveMaximum: "less than",
};

const entries = (limit: string): string => (limit === "1" ? "1 entry" : `${limit} entries`);

/** An example is clearer than a regular expression. */
function patternWords({ schema, data, params }: SchemaError): string {
  const [example] = Array.isArray(schema.examples) ? schema.examples : [];
  const form = example === undefined ? `must match ${String(params.pattern)}` : `must look like ${example}`;
  return `${form}, but ${shown(data)} does not`;
}

const FORMATS: Readonly<Record<string, string>> = {
  email: "an e-mail address",
  uri: "a URI",
  "date-time": "a date and time",
};

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
};

function shown(data: unknown): string {
  if (Array.isArray(data)) return "a list";
  if (data === null) return "null";
  if (typeof data === "object") return "a map";
  return typeof data === "string" ? quoted(data) : String(data);
}

function quoted(data: unknown): string {
  return JSON.stringify(shortened(String(data), 60));
}

/** Drops the wrapper of a condition, the branches of a union, and further errors of a value with the wrong type. */
function chosen(errors: readonly SchemaError[]): readonly SchemaError[] {
  const mistyped = new Set(
    errors.filter(({ keyword }) => keyword === "type").map(({ path }) => toDottedPath(path)),
  );
  return errors.filter(({ keyword, schemaPath, path }) => {
    if (keyword === "if" || /\/(?:anyOf|oneOf|not|propertyNames)\//.test(schemaPath)) return false;
    return keyword === "type" || mistyped.size === 0 || !mistyped.has(toDottedPath(path));
  });
}
