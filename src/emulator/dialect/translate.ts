// Translates between a dialect and the contract by the annotations of the dialect's schemas: names, values, URIs, maps, and added fields.

import { isObject, type Json, type JsonObject, objectIn, ownMember } from "../../core/json.ts";
import { numberInText } from "../http/input.ts";
import { invalidValue } from "../world/errors.ts";
import { EXTRA } from "../world/world.ts";

const COMPONENT = "#/components/schemas/";

interface ResolvedSchema {
  /** The schema with the members of the schemas that it refers to; its own take precedence. */
  readonly marks: JsonObject;
  /** Undefined if every field is allowed. */
  readonly fields: ReadonlyMap<string, JsonObject> | undefined;
}

export type Cloud = "azure" | "aws" | "gcp";

export class DialectSchemas {
  readonly cloud: Cloud;
  readonly #components: JsonObject;
  readonly #followed = new WeakMap<JsonObject, ResolvedSchema>();

  constructor(components: JsonObject, cloud: Cloud) {
    this.#components = components;
    this.cloud = cloud;
  }

  follow(schema: JsonObject): ResolvedSchema {
    let followed = this.#followed.get(schema);
    if (followed === undefined) {
      followed = this.#read(schema);
      this.#followed.set(schema, followed);
    }
    return followed;
  }

  /** Whether the cloud has a field with this schema. */
  isHere({ marks }: ResolvedSchema): boolean {
    return marks["x-cloud"] === undefined || marks["x-cloud"] === this.cloud;
  }

  #read(schema: JsonObject): ResolvedSchema {
    const { $ref: ref, allOf, properties } = schema;
    const target = typeof ref === "string" ? [objectIn(this.#components[ref.slice(COMPONENT.length)])] : [];
    const parts = [...target, ...(Array.isArray(allOf) ? allOf.map(objectIn) : [])].map((part) =>
      this.follow(part),
    );
    const own = Object.entries(objectIn(properties)).map(([name, field]) => [name, objectIn(field)] as const);
    const fields = new Map([...parts.flatMap((part) => [...(part.fields ?? [])]), ...own]);
    return {
      marks: Object.assign({}, ...parts.map((part) => part.marks), schema) as JsonObject,
      fields: fields.size === 0 ? undefined : fields,
    };
  }
}

/** A map of strings in an annotation, and the same from right to left. */
function renames(value: Json | undefined): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Readonly<Record<string, string>>) : {};
}

function reversed(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).map(([here, there]) => [there, here]));
}

/** A value in two parts: the fields of the contract in its form, and the fields that only the dialect has in the dialect's form. */
interface Parts {
  readonly contract?: Json;
  readonly extra?: Json;
}

export const toContract = (schemas: DialectSchemas, schema: JsonObject, input: JsonObject): JsonObject =>
  objectIn(partsOf(schemas, schema, input).contract);

function partsOf(schemas: DialectSchemas, schema: JsonObject, value: Json): Parts {
  const followed = schemas.follow(schema);
  if (typeof value === "string") return { contract: textInContract(followed.marks, value) };
  if (Array.isArray(value)) return partsOfList(schemas, followed, value);
  return isObject(value) ? partsOfObject(schemas, followed, value) : { contract: value };
}

/** A list with an added field anywhere in it is kept whole; the contract sees the elements that it knows. */
function partsOfList(schemas: DialectSchemas, { marks }: ResolvedSchema, list: readonly Json[]): Parts {
  const parts = list.map((member) => partsOf(schemas, objectIn(marks.items), member));
  const values = parts.flatMap((part) => (part.contract === undefined ? [] : [part.contract]));
  return parts.every((part) => part.extra === undefined)
    ? { contract: values }
    : { contract: values, extra: list };
}

function partsOfObject(schemas: DialectSchemas, { marks, fields }: ResolvedSchema, value: JsonObject): Parts {
  if (fields === undefined) return { contract: value };
  const contract: Record<string, Json> = {};
  const extra: Record<string, Json> = {};
  for (const [name, member] of Object.entries(value)) {
    const field = fields.get(name);
    const followed = field === undefined ? undefined : schemas.follow(field);
    // Unknown fields, and those of another cloud, are ignored.
    if (field === undefined || followed === undefined || !schemas.isHere(followed)) continue;
    if (followed.marks["x-added"] === true) {
      extra[name] = member;
      continue;
    }
    const parts = partsOf(schemas, field, member);
    if (parts.contract !== undefined)
      contract[String(followed.marks["x-contract-name"] ?? name)] = parts.contract;
    if (parts.extra !== undefined) extra[name] = parts.extra;
  }
  const added = Object.keys(extra).length > 0;
  if (added && marks["x-keeps"] === true)
    return { contract: Object.assign({}, contract, { [EXTRA]: extra }) };
  const shown = marks["x-variants"] === true && Object.keys(contract).length === 0 ? {} : { contract };
  return added ? { ...shown, extra } : shown;
}

const CONTRACT_SCHEME = /^fs:/;
const SCHEME = /^dbfs:/;

function textInContract(marks: JsonObject, text: string): Json {
  const value = ownMember(renames(marks["x-values"]), text);
  if (value !== undefined) return value;
  if (marks["x-uri"] !== true && marks["x-path"] !== true) return text;
  if (CONTRACT_SCHEME.test(text))
    throw invalidValue(`Unsupported scheme in '${text.slice(0, 100)}': use dbfs:/`);
  return text.replace(SCHEME, "fs:");
}

/** The value for strict validation; other values are not changed, and validation refuses them. */
export function lenient(schemas: DialectSchemas, schema: JsonObject, value: Json): Json {
  const { marks, fields } = schemas.follow(schema);
  if (typeof value === "string") return numberInText(marks.type, value) ?? value;
  if (Array.isArray(value)) {
    const items = objectIn(marks.items);
    const list = marks["x-drop-empty"] === true ? value.filter(hasValue) : value;
    return list.map((member) => lenient(schemas, items, member));
  }
  if (!isObject(value)) return value;
  const rest = objectIn(marks.additionalProperties);
  const read = (name: string, member: Json) => lenient(schemas, fields?.get(name) ?? rest, member);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, read(name, member)]));
}

/** `[{}]` and `[{"value": ""}]` say that a list is empty. */
export function hasValue(member: Json): boolean {
  return !isObject(member) || (member.value !== undefined && member.value !== "");
}

export const fromContract = (schemas: DialectSchemas, schema: JsonObject, json: JsonObject): JsonObject =>
  objectIn(valueInDialect(schemas, schema, json));

function valueInDialect(schemas: DialectSchemas, schema: JsonObject, value: Json): Json {
  const followed = schemas.follow(schema);
  const { marks } = followed;
  if (typeof value === "string") return textInDialect(marks, value);
  if (marks["x-tags"] === true || marks["x-keys"] !== undefined) return mapInDialect(marks, value);
  if (Array.isArray(value))
    return value.map((member) => valueInDialect(schemas, objectIn(marks.items), member));
  return isObject(value) ? objectInDialect(schemas, followed, value) : value;
}

function objectInDialect(
  schemas: DialectSchemas,
  { marks, fields }: ResolvedSchema,
  value: JsonObject,
): Json {
  if (fields === undefined) return value;
  const { extra, ...members } = value;
  const keeps = marks["x-keeps"] === true;
  const names = namesInDialect(schemas, fields);
  const own = Object.entries(keeps ? members : value).map(([contractName, member]): [string, Json] => {
    const name = names.get(contractName) ?? contractName;
    const field = fields.get(name);
    return [name, field === undefined ? member : valueInDialect(schemas, field, member)];
  });
  return withAdded(Object.fromEntries(own), keeps ? extra : undefined);
}

/** From the contract's name of a field to the one here. */
function namesInDialect(
  schemas: DialectSchemas,
  fields: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, field] of fields) {
    const followed = schemas.follow(field);
    const contractName = followed.marks["x-contract-name"];
    if (typeof contractName === "string" && schemas.isHere(followed)) names.set(contractName, name);
  }
  return names;
}

/** Objects member by member; anything else that was kept counts. */
function withAdded(value: Json, extra: Json | undefined): Json {
  if (extra === undefined) return value;
  if (!isObject(value) || !isObject(extra)) return extra;
  const merged = Object.entries(extra).map(([name, member]): [string, Json] => [
    name,
    Object.hasOwn(value, name) ? withAdded(value[name] ?? null, member) : member,
  ]);
  return { ...value, ...Object.fromEntries(merged) };
}

function textInDialect(marks: JsonObject, text: string): Json {
  const value = ownMember(reversed(renames(marks["x-values"])), text);
  if (value !== undefined) return value;
  if (marks["x-lower"] === true) return text.toLowerCase();
  return marks["x-uri"] === true ? text.replace(/^fs:/, "dbfs:") : text;
}

function mapInDialect(marks: JsonObject, value: Json): Json {
  const map = Array.isArray(value)
    ? Object.fromEntries(value.map(objectIn).map(({ key, value: text }) => [String(key), text ?? ""]))
    : objectIn(value);
  const names = reversed(renames(marks["x-keys"]));
  const constants = objectIn(marks["x-constants"]);
  const dropped = Array.isArray(marks["x-drop"]) ? marks["x-drop"] : [];
  return Object.fromEntries(
    Object.entries(map)
      .filter(([key]) => !dropped.includes(key))
      .map(([key, text]) => [ownMember(names, key) ?? key, ownMember(constants, key) ?? text]),
  );
}
