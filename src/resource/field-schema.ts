// Annotations of a field in addition to JSON Schema: comparison, changes, secrecy, and references.

import type { Json, JsonObject } from "../core/json.ts";
import type { Path } from "../core/pointer.ts";
import type { CatalogName } from "./compute.ts";

/** How much a difference matters, the most severe first. */
export const SEVERITIES = ["security", "cost", "availability", "other"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** How two arrays compare: by position, as sets, or by a member's key. Maps compare key by key. */
export type ListRule = "ordered" | "set" | { readonly key: string };

/** What decides which fields a spec may have. */
export interface FieldDialect {
  readonly dialect: "contract" | "databricks";
  readonly cloud: "azure" | "aws" | "gcp";
}

/** The annotations: keywords in the JSON Schema of a field. */
export interface Annotations {
  /** What a changed value requires: an update in place, or a replacement. Default: as the group around it, else in place. */
  readonly onChange?: "update" | "replace";
  /** The dialect that updates the field in place, whatever `onChange` says for the others. */
  readonly inPlaceIn?: FieldDialect["dialect"];
  readonly list?: ListRule;
  /** Unset means "the server decides": the value first seen is recorded, and a later change of it is drift. */
  readonly serverDefault?: true;
  /** If unset, the field is unmanaged: no default, no drift. */
  readonly whenAbsent?: "unmanaged";
  /** Masked in every output. */
  readonly sensitive?: true;
  /** A credential that the service never returns: a spec takes it from a sensitive variable. */
  readonly secret?: true;
  /** Holds the remote id of a resource of this kind; written as a reference. */
  readonly refersTo?: string;
  /** The natural name of an object of this kind in a spec, its ID in the API. A dependency if that object is managed. */
  readonly names?: string;
  /** Each element of the list is written to the object that it names: those that cannot be managed stay, and are not shown. */
  readonly writtenToNamed?: true;
  /** Read and written by requests of their own, after those of the object: access lists. */
  readonly separateRequest?: true;
  /** A string that may be the name of an object of these kinds. A dependency if that object is managed. */
  readonly mentions?: readonly string[];
  /** With `mentions` of one kind: what is not declared should be in the workspace. A plan that sends it looks it up. */
  readonly shouldExist?: true;
  /** One of the values that a catalog of the service lists. A plan that sends it looks it up. */
  readonly catalog?: CatalogName;
  /** A value that the service never returns: it counts as unchanged while this read-only field of the live object stays as recorded. */
  readonly witness?: string;
  /** With `writeOnly`: how the service carries out a request, not a value of the object. An adopted object does not need it written. */
  readonly requestOption?: true;
  /** A fact of the live object that is present if the service itself gave the field its value, and says why: no drift then. */
  readonly changedByService?: string;
  /** The value of an object that nothing runs on. A saved plan that deletes or replaces the object accepts it in place of another. */
  readonly atRest?: string;
  /** Facts of the live object from which the value can be told: they are hidden with it. */
  readonly shownBy?: readonly string[];
  /** Members of a map that the service may add. If the spec does not set them, these values do not count as a difference. */
  readonly addedByService?: Readonly<Record<string, Json>>;
  /** Strings that differ only in case are equal. */
  readonly ignoreCase?: true;
  /** Only the spec knows it: it shapes how a resource is loaded, and is never compared, sent or recorded. */
  readonly source?: true;
  /** The only dialect that has the field. */
  readonly dialect?: FieldDialect["dialect"];
  /** The only cloud that has the field. */
  readonly cloud?: FieldDialect["cloud"];
  /** A URI of a file of the workspace: its scheme is that of the dialect. */
  readonly fileUri?: true;
  /** Lists and keys of other objects name this one by the value, such as the application ID of a service principal. */
  readonly identifies?: true;
  /** A key of a map of the same resource, such as that of a task. */
  readonly isKey?: true;
  /** Words of the Databricks dialect, by the word that this program uses. */
  readonly words?: Readonly<Record<string, string>>;
  /** How much a difference matters, here and inside; unset, as the field around it, or the kind. */
  readonly severity?: Severity;
}

/** A field's JSON Schema with its annotations, as read by everything that walks a schema. */
export interface FieldSchema extends Annotations {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
  /** The service or this program will remove it; a spec that sets it gets a warning. */
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly additionalProperties?: boolean | FieldSchema;
  /** The rule for the keys of a map; `cloud` names the only cloud that has it. */
  readonly propertyNames?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly [keyword: string]: unknown;
}

export type FieldTable = Readonly<Record<string, FieldSchema>>;

const NOTHING: FieldSchema = {};

/** The schema of a member of an object or map; an empty one where the table says nothing. */
export function memberSchema({ properties, additionalProperties }: FieldSchema, key: string): FieldSchema {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key] ?? NOTHING;
  return typeof additionalProperties === "object" ? additionalProperties : NOTHING;
}

export function itemSchema(schema: FieldSchema): FieldSchema {
  return schema.items ?? NOTHING;
}

/** The schema of a value in a resource; empty if the table has none. */
export function schemaAt(fields: FieldTable, path: Path): FieldSchema {
  let schema: FieldSchema = { properties: fields };
  for (const key of path) schema = typeof key === "number" ? itemSchema(schema) : memberSchema(schema, key);
  return schema;
}

/** The fields whose values name an object of the kind in lists and keys of others. */
export const identifyingFields = (fields: FieldTable): readonly string[] =>
  Object.keys(fields).filter((field) => fields[field]?.identifies === true);

/** The keywords that ajv must accept in a schema. */
export const ANNOTATION_KEYWORDS = [
  "onChange",
  "inPlaceIn",
  "list",
  "serverDefault",
  "whenAbsent",
  "sensitive",
  "secret",
  "refersTo",
  "names",
  "writtenToNamed",
  "separateRequest",
  "mentions",
  "shouldExist",
  "catalog",
  "witness",
  "requestOption",
  "changedByService",
  "atRest",
  "shownBy",
  "addedByService",
  "ignoreCase",
  "source",
  "dialect",
  "cloud",
  "fileUri",
  "identifies",
  "isKey",
  "words",
  "severity",
] as const satisfies readonly (keyof Annotations)[];

/** Values of a resource in spec form: service field names, secrets as digests, references as text. */
export type Values = JsonObject;
