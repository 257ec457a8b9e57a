// Filters of the SCIM lists and of PATCH paths: `<attribute> <operator> <value>` with and, or, parentheses (contract A 4.1).

import { type Compare, type Filter, parse } from "scim2-parse-filter";
import { isObject, type Json } from "../../../core/json.ts";
import { ScimError } from "../../world/errors.ts";

/** The values of an attribute of a resource; undefined if the attribute does not exist. */
type ScimLookup = (attribute: string) => readonly Json[] | undefined;

/** A filter that was understood. `exactly` is the one name that it asks for, if that is all that it does. */
interface ScimFilter {
  matches(lookup: ScimLookup): boolean;
  readonly exactly: { readonly attribute: string; readonly value: string } | undefined;
}

const OPERATORS = new Set(["eq", "ne", "co", "sw"]);

/** Attributes whose values are the same in upper and lower case (facts 4.3). */
const CASELESS = new Set(["username", "emails", "emails.value"]);

/** Throws 400 invalidFilter when the text is not a filter of the contract. */
export function parseFilter(text: string): ScimFilter {
  let filter: Filter;
  try {
    filter = parse(withQuotes(text));
  } catch {
    throw badFilter(text, "it must be <attribute> <operator> <value>, or several of those with and, or");
  }
  checkOperators(filter, text);
  return { matches: (lookup) => holds(filter, lookup, text), exactly: exactName(filter) };
}

function badFilter(text: string, why: string): ScimError {
  return new ScimError(400, `The filter '${text}' is not valid: ${why}.`, "invalidFilter");
}

const PIECE = /"(?:[^"\\]|\\.)*"|[()[\]]|[^\s()[\]"]+|\s+|"/g;

/** The contract writes values without quotes; the parser wants them as JSON strings. */
function withQuotes(text: string): string {
  let out = "";
  let afterOperator = false;
  let value: string | undefined;
  let open = 0;
  const flush = () => {
    if (value !== undefined) out += JSON.stringify(value);
    value = undefined;
    open = 0;
  };
  for (const [piece] of text.matchAll(PIECE)) {
    if (value !== undefined) {
      // A bare value ends at a blank, or at a parenthesis that it did not open itself.
      if (piece.trim() === "" || piece === "]" || (piece === ")" && open === 0)) flush();
      else {
        open += piece === "(" ? 1 : piece === ")" ? -1 : 0;
        value += piece;
        continue;
      }
    } else if (afterOperator && piece.trim() !== "" && !piece.startsWith('"')) {
      value = piece;
      open = piece === "(" ? 1 : 0;
      afterOperator = false;
      continue;
    }
    if (piece.trim() !== "")
      afterOperator = !piece.startsWith('"') && COMPARISON.test(piece) && !afterOperator;
    out += piece;
  }
  flush();
  return out;
}

const COMPARISON = /^(eq|ne|co|sw|ew|gt|ge|lt|le)$/i;

function checkOperators(filter: Filter, text: string): void {
  switch (filter.op) {
    case "and":
    case "or":
      for (const part of filter.filters) checkOperators(part, text);
      return;
    default:
      if (!OPERATORS.has(filter.op))
        throw badFilter(text, `the operators are eq, ne, co, sw, and, or; not ${filter.op}`);
  }
}

function holds(filter: Filter, lookup: ScimLookup, text: string): boolean {
  if (filter.op === "and") return filter.filters.every((part) => holds(part, lookup, text));
  if (filter.op === "or") return filter.filters.some((part) => holds(part, lookup, text));
  return compares(filter as Compare, lookup, text);
}

function compares(filter: Compare, lookup: ScimLookup, text: string): boolean {
  const attribute = scimAttribute(filter.attrPath);
  const values = lookup(attribute);
  if (values === undefined) throw badFilter(text, `attribute ${filter.attrPath} does not exist`);
  const fold = (value: Json) => (CASELESS.has(attribute) ? String(value).toLowerCase() : String(value));
  const wanted = fold(filter.compValue);
  const folded = values.map(fold);
  switch (filter.op) {
    case "eq":
      return folded.includes(wanted);
    case "ne":
      return !folded.includes(wanted);
    case "co":
      return folded.some((value) => value.includes(wanted));
    case "sw":
      return folded.some((value) => value.startsWith(wanted));
    default:
      return false;
  }
}

function exactName(filter: Filter): ScimFilter["exactly"] {
  if (filter.op !== "eq") return undefined;
  return { attribute: scimAttribute(filter.attrPath), value: String(filter.compValue) };
}

const SCHEMA_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/;

/** Attribute names are the same in upper and lower case, and may carry their schema (RFC 7644, section 3.10). */
export function scimAttribute(path: string): string {
  return path.toLowerCase().replace(SCHEMA_PREFIX, "");
}

/** Finds attributes in the answer of a resource: `a`, `a.b`, and for lists of objects their `value`. */
export function lookupIn(resource: Json, attributes: ReadonlySet<string>): ScimLookup {
  return (attribute) => {
    if (!attributes.has(attribute)) return undefined;
    const [name = "", sub] = attribute.split(".");
    const top = memberOf(resource, name);
    const values = top === undefined ? [] : Array.isArray(top) ? top : [top];
    return values.flatMap((value) =>
      value === null || typeof value !== "object" ? [value] : (memberOf(value, sub ?? "value") ?? []),
    );
  };
}

function memberOf(value: Json, name: string): Json | undefined {
  if (!isObject(value)) return undefined;
  return Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1];
}
