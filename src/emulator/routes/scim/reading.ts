// What users and groups read alike out of a request: its schemas, immutable members, lists of values.

import type { JsonObject } from "../../../core/json.ts";
import { ScimError } from "../../errors.ts";
import { type Attribute, listOf } from "./patch.ts";

/** Throws invalidValue when the body does not name the schema that the call takes. */
export function checkSchemas(body: JsonObject, wanted: string): void {
  const { schemas } = body;
  if (!Array.isArray(schemas) || !schemas.includes(wanted)) {
    throw new ScimError(400, `schemas must name ${wanted}.`, "invalidValue");
  }
}

/** Throws mutability when the body gives an immutable attribute another value. */
export function checkUnchanged(body: JsonObject, name: string, value: string): void {
  const given = body[name];
  if (given !== undefined && given !== value) {
    throw new ScimError(400, `${name} cannot be changed.`, "mutability");
  }
}

/** The `value`s of a list attribute of the body, each once; [] when it is absent. */
export function texts(attribute: Attribute, body: JsonObject): string[] {
  const given = body[attribute.name];
  if (given === undefined) return [];
  return [...new Set(listOf(attribute, given).map((member) => String(member.value)))];
}
