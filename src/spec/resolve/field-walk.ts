// Walks values together with the schema of their fields, so that annotations are known at every depth.

import { ownMember } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import { type FieldSchema, memberSchema } from "../../resource/field-schema.ts";
import { isSecretValue, type PlannedKind } from "../../resource/kind.ts";
import { type MembersOf, tableSchema, visitValue } from "../../resource/walk.ts";
import { type MapNode, nodeAt, type SpecNode } from "../model/tree.ts";

export function fieldOf(provider: PlannedKind, name: string): FieldSchema {
  return memberSchema({ properties: provider.fields }, name);
}

/** Calls `visit` for every value in fields that are entered (see `anyField`), lists and maps before what is in them. */
export function walkFields(
  provider: PlannedKind,
  fields: MapNode,
  entered: (schema: FieldSchema) => boolean,
  visit: (node: SpecNode, path: Path, schema: FieldSchema) => void,
): void {
  const isEntered = (schema: FieldSchema, node: SpecNode, path: Path): boolean => {
    if (path.length > 0 && !entered(schema)) return false;
    if (path.length > 0) visit(node, path, schema);
    return true;
  };
  visitValue(tableSchema(provider.fields), fields, isEntered, nodesIn);
}

/** The entries of a map or list of the spec. */
export const nodesIn: MembersOf<SpecNode> = (node, enter) => {
  if (node.kind === "list") node.items.forEach((item, at) => void enter(at, item));
  if (node.kind === "map") for (const [key, { value }] of node.members) enter(key, value);
};

/** Whether a path leads to something that a kind's resources can have. Entries of lists have no paths: they move. */
export function hasPath(provider: PlannedKind, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (first === undefined || !Object.hasOwn(provider.fields, first)) return false;
  let schema: FieldSchema | undefined = provider.fields[first];
  for (const key of rest) {
    if (schema === undefined) return false;
    schema = stepInto(schema, key);
  }
  return schema !== undefined;
}

function stepInto(schema: FieldSchema, key: string): FieldSchema | undefined {
  if (schema.properties !== undefined)
    return Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  return schema.type === "object" || typeof schema.additionalProperties === "object"
    ? memberSchema(schema, key)
    : undefined;
}

/** The members of a list of strings at a path, with their places. */
export function textsAt(fields: MapNode, path: readonly string[]): readonly SpecNode[] | undefined {
  const node = nodeAt(fields, path);
  return node?.kind === "list" ? node.items : undefined;
}

/** The attributes that a reference to this kind may use: its ID, and every field that is not secret. */
export function attributesOf(provider: PlannedKind): readonly string[] {
  const fields = Object.keys(provider.fields).filter((name) => hasAttribute(provider, name));
  return [...new Set([provider.idAttribute, ...fields])];
}

export function hasAttribute({ fields, idAttribute }: PlannedKind, name: string): boolean {
  if (name === idAttribute) return true;
  const field = ownMember(fields, name);
  return field !== undefined && !isSecretValue(field) && field.source !== true;
}
