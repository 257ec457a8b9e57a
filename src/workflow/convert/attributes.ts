// Attributes of a Terraform resource: which of them are set, and their values as the fields of a kind.

import { isObject, type Json, type JsonObject, membersWhere, ownMember } from "../../core/json.ts";
import { type Path, setMember, toDottedPath } from "../../core/pointer.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { type FieldSchema, type FieldTable, memberSchema, type Values } from "../../resource/field-schema.ts";
import { plainTreePath } from "../../resource/names.ts";
import { roleOfSensitive } from "../../spec/resolve/secrets.ts";
import {
  hasMark,
  isMarkOfEntry,
  isMarkOfZero,
  JSON_ATTRIBUTES,
  markOfExpression,
  whySensitive,
} from "./terraform-state.ts";

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
  const value = ownMember(attributes, name);
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
  const { external_id: external, ...rest } = attributes;
  // A list with only a part of them would remove the others.
  const isMarked = Object.keys(ENTITLEMENTS).some((flag) => hasMark(attributes[flag]));
  const entitlements = isMarked ? [] : entitlementsIn(attributes);
  const own = membersWhere(rest, (name) => !Object.hasOwn(ENTITLEMENTS, name));
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

interface ConvertedAttributes {
  readonly values: Values;
  readonly left: readonly OmittedAttribute[];
  /** Why no resource can be this object. */
  readonly unmanageable: string | undefined;
}

const NO_FIELD = "the kind has no such field";
/** A key cannot come from a variable. */
const IN_SENSITIVE_MAP =
  "Terraform marks the map as sensitive; set the value with a sensitive variable, and check that the key is not sensitive";
export const whyVariable = (text: string): string =>
  `${whySensitive(text, "it")}; set it with a sensitive variable`;

/** `variableOf`: the name of a sensitive variable for the attribute at a path. `secrets`: no value may contain one. */
export function convertAttributes(
  fields: FieldTable,
  attributes: JsonObject,
  variableOf: (path: Path) => string,
  secrets: SensitiveTexts,
): ConvertedAttributes {
  const reader = new AttributeReader(variableOf, secrets);
  const values = reader.members({ properties: fields }, attributes, []);
  return { values, left: reader.left, unmanageable: reader.unmanageable };
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

/** Whether zero or false is the value of a field; elsewhere, a provider writes them for what is not set. */
function isMeantEmpty(name: string, schema: FieldSchema, { autoscale }: JsonObject, at: Path): boolean {
  if (name === "num_workers") return isUnset(autoscale);
  // A service returns it for each cluster and pool, but not for the cluster of a job that does not set it.
  if (name === "enable_elastic_disk") return !at.includes("new_cluster");
  return (
    MEANT_EMPTY.has(name) || JSON_ATTRIBUTES.has(String(at[0])) || schema.required?.includes(name) === true
  );
}

class AttributeReader {
  readonly left: OmittedAttribute[] = [];
  unmanageable: string | undefined;
  readonly #variableOf: (path: Path) => string;
  readonly #secrets: SensitiveTexts;

  constructor(variableOf: (path: Path) => string, secrets: SensitiveTexts) {
    this.#variableOf = variableOf;
    this.#secrets = secrets;
  }

  members(schema: FieldSchema, object: JsonObject, at: Path): { readonly [field: string]: Json } {
    const out: { [field: string]: Json } = {};
    for (const [name, value] of Object.entries(object)) {
      const path = [...at, name];
      if (hasMark(name) || (schema.properties === undefined && this.#secrets.isIn(name))) {
        this.unmanageable = whySensitive(name, `a key of ${toDottedPath(at)}`);
        continue;
      }
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
    const isMeant = meant || schema.default !== undefined;
    if (typeof value === "string" && this.#isSensitive(value, isMeant))
      return this.#marked(schema, value, path);
    if (schema.properties !== undefined) return this.#block(schema, value, path);
    if (typeof schema.additionalProperties === "object")
      return isObject(value) ? nonEmpty(this.members(schema, value, path)) : this.#unexpected(value, path);
    if (schema.items !== undefined) return this.#items(schema.items, value, path);
    if (typeof value === "object") return this.#unexpected(value, path);
    if (!isMeant && (isUnset(value) || isMarkOfZero(value))) return undefined;
    if (schema.enum !== undefined && !isAllowed(schema, value))
      return isUnset(value) ? undefined : this.#leave(path, "its value is unknown to this version");
    return value;
  }

  /** A string that was encoded has no mark. */
  #isSensitive(value: string, isMeant: boolean): boolean {
    return hasMark(value) ? isMeant || !isMarkOfZero(value) : this.#secrets.isIn(value);
  }

  /** A name, a path, or a reference cannot come from a sensitive variable, and a resource is incomplete without it. */
  #marked(schema: FieldSchema, value: string, path: Path): Json | undefined {
    const role = roleOfSensitive(schema);
    if (role !== undefined) this.unmanageable = `${whySensitive(value, toDottedPath(path))}; it is ${role}`;
    const isScalar = (schema.properties ?? schema.additionalProperties ?? schema.items) === undefined;
    this.#leave(path, isMarkOfEntry(value) ? IN_SENSITIVE_MAP : whyVariable(value));
    if (role !== undefined || !isScalar) return undefined;
    return markOfExpression(this.#variableOf(path), schema.type);
  }

  #block(schema: FieldSchema, value: Json, path: Path): Json | undefined {
    const blocks: readonly Json[] = Array.isArray(value) ? value : [value];
    const [only, ...more] = blocks;
    if (more.length > 0) return this.#leave(path, "it has more than one block");
    if (only === undefined || only === null) return undefined;
    const inside = Array.isArray(value) ? [...path, 0] : path;
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
