// Validates an input against its schema, strictly: without coercion, and with an error code for each kind of failure.

import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import type { Json, JsonObject } from "../../core/json.ts";
import { notBase64 } from "../world/encoding.ts";
import { ApiError, invalidValue } from "../world/errors.ts";
import type { Contract, OperationSpec } from "./contract.ts";

/** Throws ApiError when the input is not what the operation takes. A schema is compiled when it is first needed. */
export type InputValidator = (spec: OperationSpec, input: Json) => void;

export function makeValidator({ operations, schemas }: Contract): InputValidator {
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false, validateSchema: false });
  ajv.addFormat("int32", { type: "number", validate: (value: number) => Math.abs(value + 0.5) <= 2 ** 31 });
  // A longer integer was checked as the bigint that it is, see `plain`; as a number (1e30, or with a fraction) it is not exact.
  ajv.addFormat("int64", { type: "number", validate: Number.isSafeInteger });
  ajv.addFormat("byte", { type: "string", validate: isBase64 });
  for (const format of ["float", "double"])
    ajv.addFormat(format, { type: "number", validate: Number.isFinite });
  const inputs = Object.fromEntries(operations.map(({ id, input }) => [id, input]));
  ajv.addSchema({ components: { schemas }, inputs }, "api");

  return ({ id }, input) => {
    const check = ajv.getSchema(`api#/inputs/${id.replaceAll("/", "~1")}`);
    if (check === undefined) throw new Error(`openapi.yaml has no operation ${id}`);
    if (check(plain(input, "")) !== true) throw refusal(deepest(check.errors ?? []), input);
  };
}

const INT64_LIMIT = 2n ** 63n;

/** The input as ajv can check it: a bigint that fits 64 bits becomes the largest number that is exact, on its side of zero. */
function plain(value: Json, path: string): Json {
  if (typeof value === "bigint") {
    if (value >= INT64_LIMIT || value < -INT64_LIMIT) throw malformed(path, "a 64-bit integer", value);
    return value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  }
  if (value === null || typeof value !== "object") return value;
  if (!holdsBigint(value)) return value;
  if (Array.isArray(value)) return value.map((member, index) => plain(member, `${path}/${index}`));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, plain(member, `${path}/${key}`)]),
  );
}

function holdsBigint(value: Json): boolean {
  if (typeof value === "bigint") return true;
  return value !== null && typeof value === "object" && Object.values(value).some(holdsBigint);
}

const NOT_BASE64 = /[^A-Za-z0-9+/\-_=\s]/;
const PADDING = /^=\s*(?:=\s*)?$/;

/** Both alphabets, with line breaks. No expression here goes over the text more than once: it may be 10 MB long. */
function isBase64(text: string): boolean {
  const padding = text.indexOf("=");
  return !NOT_BASE64.test(text) && (padding < 0 || PADDING.test(text.slice(padding)));
}

/** Of a value that may have several forms, the error of the form that it comes closest to. */
function deepest(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const depth = ({ instancePath }: ErrorObject): number => instancePath.split("/").length;
  return errors.toSorted((a, b) => depth(b) - depth(a))[0];
}

const NUMBERS: Readonly<Record<string, string>> = {
  int32: "a 32-bit integer",
  int64: "a 64-bit integer",
  float: "a finite number",
  double: "a finite number",
};

function refusal(error: ErrorObject | undefined, input: Json): ApiError {
  if (error === undefined) return invalidValue("The request is not valid.");
  const path = error.instancePath;
  const params = error.params as Readonly<Record<string, unknown>>;
  if (error.keyword === "required")
    return invalidValue(`Missing required field: ${dotted(path, String(params.missingProperty))}`);
  if (error.keyword === "type")
    return malformed(path, [params.type].flat().join(" or "), valueAt(input, path));
  if (params.format === "byte") return notBase64(dotted(path));
  const number = NUMBERS[String(params.format)];
  if (number !== undefined) return malformed(path, number, valueAt(input, path));
  return invalidValue(`Invalid value for field '${dotted(path)}': it ${demandOf(error.keyword, params)}`);
}

/** What a schema asks of a value of the right type, in words. */
function demandOf(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const { limit } = params;
  const counted = (what: string) => `${String(limit)} ${what}${limit === 1 ? "" : "s"}`;
  switch (keyword) {
    case "enum":
      return `must be one of ${(params.allowedValues as readonly unknown[]).join(", ")}`;
    case "minimum":
      return `must be at least ${String(limit)}`;
    case "maximum":
      return `must be at most ${String(limit)}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${counted("character")}`;
    case "maxLength":
      return `must have at most ${counted("character")}`;
    case "minItems":
      return limit === 1 ? "must not be empty" : `must have at least ${counted("element")}`;
    case "maxItems":
      return `must have at most ${counted("element")}`;
    case "pattern":
      return `must match ${String(params.pattern)}`;
    default:
      return "is not valid";
  }
}

function malformed(path: string, expected: string, value: Json | undefined): ApiError {
  const where = path === "" ? "the request" : `field '${dotted(path)}'`;
  return new ApiError(
    "MALFORMED_REQUEST",
    `Could not parse request object: Expected ${expected} for ${where}, found ${nameOf(value)}`,
  );
}

function nameOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "NULL";
  if (Array.isArray(value)) return "ARRAY";
  return typeof value === "bigint" ? "NUMBER" : (typeof value).toUpperCase();
}

const stepsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

const dotted = (pointer: string, ...last: readonly string[]): string =>
  [...stepsOf(pointer), ...last].join(".");

function valueAt(input: Json, pointer: string): Json | undefined {
  let value: Json | undefined = input;
  for (const step of stepsOf(pointer))
    value = value !== null && typeof value === "object" ? (value as JsonObject)[step] : undefined;
  return value;
}
