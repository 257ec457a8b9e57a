// The schemas of a dialect with their references followed, each once: annotations, and the fields of an object.

import { isObject, type Json, type JsonObject, objectIn } from "../../../core/json.ts";

const COMPONENT = "#/components/schemas/";

export interface ResolvedSchema {
  /** The schema with the members of what it refers to; its own come first. */
  readonly marks: JsonObject;
  /** Undefined where any field may stand. */
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
export function renames(value: Json | undefined): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Readonly<Record<string, string>>) : {};
}

export function reversed(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).map(([here, there]) => [there, here]));
}
