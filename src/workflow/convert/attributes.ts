// Attributes of a Terraform resource: which of them are set, and their values as the fields of a kind.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type Path, setMember, valueAt } from "../../core/pointer.ts";
import { plainTreePath } from "../../providers/kit/names.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";

export interface ResourceType {
  readonly kind: string;
  id(attributes: JsonObject): string | undefined;
  name(attributes: JsonObject): string | undefined;
  /** Attributes with the names of fields; what is left out here is reported by the second value. */
  fields?(attributes: JsonObject): {
    readonly attributes: JsonObject;
    readonly left?: readonly OmittedAttribute[];
    /** Why no resource can be this object. */
    readonly unmanageable?: string;
  };
  /** Attributes that the service computes, or that only steer the provider. */
  readonly computed: readonly string[];
}

export const blocks = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export const textAttribute = (attributes: JsonObject, name: string): string | undefined => {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
};

export const text =
  (name: string) =>
  (attributes: JsonObject): string | undefined =>
    textAttribute(attributes, name);

/** The path of an object in the workspace tree, as a spec writes it. */
export function treePath(attributes: JsonObject): string | undefined {
  const path = textAttribute(attributes, "path");
  return path === undefined ? undefined : plainTreePath(path);
}

const ENTITLEMENTS: Readonly<Record<string, string>> = {
  allow_cluster_create: "allow-cluster-create",
  allow_instance_pool_create: "allow-instance-pool-create",
  databricks_sql_access: "databricks-sql-access",
  workspace_access: "workspace-access",
  workspace_consume: "workspace-consume",
};

export const entitlementsIn = (attributes: JsonObject): readonly string[] =>
  Object.entries(ENTITLEMENTS).flatMap(([flag, name]) => (attributes[flag] === true ? [name] : []));

export function principal(attributes: JsonObject, names: Readonly<Record<string, string>>) {
  const entitlements = entitlementsIn(attributes);
  const { external_id: external, ...rest } = attributes;
  const own = Object.fromEntries(Object.entries(rest).filter(([name]) => !Object.hasOwn(ENTITLEMENTS, name)));
  const reason = "the identity provider sets it, so the spec does not manage it";
  return {
    attributes: { ...renamed(own, names), ...(entitlements.length === 0 ? {} : { entitlements }) },
    left: isUnset(external) ? [] : [{ path: ["external_id"], reason }],
  };
}

export const OF_PRINCIPAL = [
  "id",
  "acl_principal_id",
  "force",
  "force_delete_repos",
  "force_delete_home_dir",
  "disable_as_user_deletion",
  "home",
  "repos",
  "url",
];
/** An attribute that is not in the spec, and why. Its value may be a secret, so it is not kept. */
export interface OmittedAttribute {
  readonly path: Path;
  readonly reason: string;
}

export interface ConvertedAttributes {
  readonly values: Values;
  readonly left: readonly OmittedAttribute[];
}

const NO_FIELD = "the kind has no such field";
export const IS_SENSITIVE = "Terraform marks it as sensitive; set it with a sensitive variable";

/** `marked`: values of the state that are in no spec, wherever the conversion puts them. */
export function convertAttributes(
  fields: FieldTable,
  attributes: JsonObject,
  sensitive: readonly Path[] = [],
  marked: ReadonlySet<string | number> = new Set(),
): ConvertedAttributes {
  const reader = new AttributeReader(sensitive, marked);
  return { values: reader.members({ properties: fields }, attributes, []), left: reader.left };
}

/** The values that Terraform marks as sensitive; of base64, also what it decodes to. A conversion may move, split, or decode them. */
export function markedValues(values: JsonObject, sensitive: readonly Path[]): ReadonlySet<string | number> {
  const marked = new Set<string | number>();
  const add = (value: Json | undefined): void => {
    if (Array.isArray(value)) for (const item of value as readonly Json[]) add(item);
    else if (isObject(value)) for (const member of Object.values(value)) add(member);
    else if (typeof value === "number") marked.add(value);
    else if (typeof value === "string" && value !== "")
      marked.add(value).add(Buffer.from(value, "base64").toString("utf8"));
  };
  for (const path of sensitive) add(valueAt(values, path));
  marked.delete("");
  return marked;
}

/** Whether an attribute is unset: a provider writes null, zero, or an empty list or string for that. */
export function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.every(isUnset);
  return isObject(value) && Object.values(value).every(isUnset);
}

/** Fields whose zero or false differs from their absence, and which the provider does not write for what is not set. */
const MEANT_EMPTY: ReadonlySet<string> = new Set([
  "idle_instance_autotermination_minutes",
  "enable_serverless_compute",
]);

/** Attributes with JSON as text, in which zero and false are values. */
const PARSED: ReadonlySet<string> = new Set(["definition", "policy_family_definition_overrides"]);

/** Whether zero or false is the value of a field; elsewhere, a provider writes them for what is not set. */
function isMeantEmpty(name: string, schema: FieldSchema, { autoscale }: JsonObject, at: Path): boolean {
  if (name === "num_workers") return isUnset(autoscale);
  // A service returns it for each cluster and pool, but not for the cluster of a job that does not set it.
  if (name === "enable_elastic_disk") return !at.includes("new_cluster");
  return MEANT_EMPTY.has(name) || PARSED.has(String(at[0])) || schema.required?.includes(name) === true;
}

/** A shorter text occurs in others by chance. */
const SHORTEST_PART = 4;

class AttributeReader {
  readonly left: OmittedAttribute[] = [];
  readonly #sensitive: ReadonlySet<string>;
  readonly #marked: ReadonlySet<string | number>;

  constructor(sensitive: readonly Path[], marked: ReadonlySet<string | number>) {
    this.#marked = marked;
    this.#sensitive = new Set(sensitive.map((path) => JSON.stringify(path)));
  }

  members(schema: FieldSchema, object: JsonObject, at: Path): { readonly [field: string]: Json } {
    const out: { [field: string]: Json } = {};
    for (const [name, value] of Object.entries(object)) {
      const path = [...at, name];
      const isField = schema.properties === undefined || Object.hasOwn(schema.properties, name);
      if (!isField) {
        if (!isUnset(value)) this.left.push({ path, reason: NO_FIELD });
        continue;
      }
      const isMeant = schema.properties === undefined || isMeantEmpty(name, schema, object, at);
      const converted = this.#value(memberSchema(schema, name), value, path, isMeant);
      if (converted !== undefined) setMember(out, name, converted);
    }
    return out;
  }

  #value(schema: FieldSchema, value: Json, path: Path, meant: boolean): Json | undefined {
    if (value === null) return undefined;
    if (this.#sensitive.has(JSON.stringify(path))) return this.#leave(path, IS_SENSITIVE);
    if (schema.properties !== undefined) return this.#block(schema, value, path);
    if (typeof schema.additionalProperties === "object")
      return isObject(value) ? nonEmpty(this.members(schema, value, path)) : this.#unexpected(value, path);
    if (schema.items !== undefined) return this.#items(schema.items, value, path);
    if (typeof value === "object") return this.#unexpected(value, path);
    if (!meant && schema.default === undefined && isUnset(value)) return undefined;
    if (schema.enum !== undefined && !isAllowed(schema, value))
      return isUnset(value) ? undefined : this.#leave(path, "its value is unknown to this version");
    return this.#isMarked(value) ? this.#leave(path, IS_SENSITIVE) : value;
  }

  #isMarked(value: Json): boolean {
    if (typeof value === "number") return this.#marked.has(value);
    if (typeof value !== "string") return false;
    const isInside = (text: string | number): boolean =>
      typeof text === "string" && text.length >= SHORTEST_PART && value.includes(text);
    return this.#marked.has(value) || [...this.#marked].some(isInside);
  }

  #block(schema: FieldSchema, value: Json, path: Path): Json | undefined {
    const blocks: readonly Json[] = Array.isArray(value) ? value : [value];
    const [only, ...more] = blocks;
    if (more.length > 0) return this.#leave(path, "it has more than one block");
    if (only === undefined || only === null) return undefined;
    const inside = Array.isArray(value) ? [...path, 0] : path;
    if (this.#sensitive.has(JSON.stringify(inside))) return this.#leave(path, IS_SENSITIVE);
    return isObject(only) ? nonEmpty(this.members(schema, only, inside)) : this.#unexpected(value, path);
  }

  #items(schema: FieldSchema, value: Json, path: Path): Json | undefined {
    if (!Array.isArray(value)) return this.#unexpected(value, path);
    const items = value.flatMap(
      (value: Json, index) => this.#value(schema, value, [...path, index], true) ?? [],
    );
    return items.length === 0 ? undefined : items;
  }

  #unexpected(value: Json, path: Path): undefined {
    return isUnset(value) ? undefined : this.#leave(path, "its type differs from that of the field");
  }

  #leave(path: Path, reason: string): undefined {
    this.left.push({ path, reason });
  }
}

const nonEmpty = (value: JsonObject): JsonObject | undefined =>
  Object.keys(value).length === 0 ? undefined : value;

/** In the words of the dialect or of this program. */
function isAllowed({ enum: values = [], words = {} }: FieldSchema, value: Json): boolean {
  return values.includes(value) || (typeof value === "string" && Object.hasOwn(words, value));
}

export function renamed(attributes: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      Object.hasOwn(names, name) ? names[name] : name,
      value,
    ]),
  );
}
