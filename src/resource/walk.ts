// The one walk over a value together with the schema of its fields, so that annotations are known at every depth.

import { isObject, type Json } from "../core/json.ts";
import { type Path, setMember } from "../core/pointer.ts";
import { type FieldSchema, type FieldTable, itemSchema, memberSchema, type Values } from "./field-schema.ts";

/** Called for a value before the values in it. `false` leaves out what is in it. */
type ValueVisitor<T> = (schema: FieldSchema, value: T, path: Path) => unknown;

/** Calls `enter` for the members of an object or the items of a list, with their keys; not for a scalar. */
export type MembersOf<T> = (value: T, enter: (key: string | number, member: T) => void) => void;

/** Calls `visit` for a value and for everything in it. `membersOf` serves trees other than JSON. */
export function visitValue(
  schema: FieldSchema,
  value: Json,
  visit: ValueVisitor<Json>,
  membersOf?: MembersOf<Json>,
): void;
export function visitValue<T>(
  schema: FieldSchema,
  value: T,
  visit: ValueVisitor<T>,
  membersOf: MembersOf<T>,
): void;
export function visitValue<T>(
  schema: FieldSchema,
  value: T,
  visit: ValueVisitor<T>,
  membersOf: MembersOf<T> = jsonMembers as unknown as MembersOf<T>,
): void {
  const enter = (schema: FieldSchema, value: T, path: Path): void => {
    if (visit(schema, value, path) === false) return;
    membersOf(value, (key, member) => enter(schemaInside(schema, key), member, [...path, key]));
  };
  enter(schema, value, []);
}

const jsonMembers: MembersOf<Json> = (value, enter) => {
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) enter(at, value[at]);
  else if (isObject(value)) for (const key of Object.keys(value)) enter(key, value[key] ?? null);
};

/** The schema of a member, by its key, or of an item, by its position. A list that names objects names them by its items. */
export function schemaInside(schema: FieldSchema, key: string | number): FieldSchema {
  if (typeof key === "string") return memberSchema(schema, key);
  if (schema.names === undefined && schema.refersTo === undefined) return itemSchema(schema);
  const cached = itemsOfNaming.get(schema);
  if (cached !== undefined) return cached;
  const items = { names: schema.names, refersTo: schema.refersTo, ...itemSchema(schema) };
  itemsOfNaming.set(schema, items);
  return items;
}

const itemsOfNaming = new WeakMap<FieldSchema, FieldSchema>();

/**
 * Returns the other form of a value; undefined leaves it out of the object or list around it. `inside()` is the value
 * with its members or items mapped. `key` is that of the value in the object or list around it; undefined for the outermost.
 */
export type ValueMap = (
  schema: FieldSchema,
  value: Json,
  inside: () => Json,
  key: string | number | undefined,
) => Json | undefined;

/** A copy of a value in which each value is in its other form. */
export function mapValue(schema: FieldSchema, value: Json, map: ValueMap): Json | undefined {
  const mapped = (schema: FieldSchema, value: Json, key: string | number | undefined): Json | undefined =>
    map(schema, value, () => inside(schema, value), key);
  const inside = (schema: FieldSchema, value: Json): Json => {
    if (Array.isArray(value)) {
      const items = schemaInside(schema, 0);
      return value.map((item: Json, at) => mapped(items, item, at)).filter((item) => item !== undefined);
    }
    if (!isObject(value)) return value;
    const out: { [key: string]: Json } = {};
    for (const key of Object.keys(value)) {
      const member = value[key];
      const other = member === undefined ? undefined : mapped(memberSchema(schema, key), member, key);
      if (other !== undefined) setMember(out, key, other);
    }
    return out;
  };
  return mapped(schema, value, undefined);
}

/** The values of a resource, each in its other form. */
export function mapValues(fields: FieldTable, values: Values, map: ValueMap): Values {
  const mapped = mapValue(tableSchema(fields), values, (schema, value, inside, key) =>
    key === undefined ? inside() : map(schema, value, inside, key),
  );
  return isObject(mapped) ? mapped : {};
}

const tableSchemas = new WeakMap<FieldTable, FieldSchema>();

/** The fields of a resource as one schema, the same for the same table. */
export function tableSchema(fields: FieldTable): FieldSchema {
  const schema = tableSchemas.get(fields) ?? { properties: fields };
  tableSchemas.set(fields, schema);
  return schema;
}

/** Whether `is` holds for a field or a field inside it. Walks leave out the others; each field is checked once. */
export function anyField(is: (field: FieldSchema) => boolean): (field: FieldSchema) => boolean {
  const answers = new WeakMap<FieldSchema, boolean>();
  const holdsWithin = (field: FieldSchema): boolean => {
    const before = answers.get(field);
    if (before !== undefined) return before;
    const holds = is(field) || schemasInside(field).some(holdsWithin);
    answers.set(field, holds);
    return holds;
  };
  return holdsWithin;
}

/** Calls `visit` for a field and for every field inside it. */
export function visitSchema(
  schema: FieldSchema,
  visit: (field: FieldSchema, path: readonly string[]) => void,
): void {
  const enter = (schema: FieldSchema, path: readonly string[]): void => {
    visit(schema, path);
    for (const [name, field] of Object.entries(schema.properties ?? {})) enter(field, [...path, name]);
    for (const field of [schema.items, schema.additionalProperties])
      if (typeof field === "object") enter(field, path);
  };
  enter(schema, []);
}

/** The schemas of items, members, and values of a map. */
function schemasInside({ items, properties, additionalProperties }: FieldSchema): FieldSchema[] {
  return [
    ...(items === undefined ? [] : [items]),
    ...Object.values(properties ?? {}),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
  ];
}

interface FieldText {
  readonly text: string;
  readonly path: Path;
  readonly schema: FieldSchema;
}

/** The strings in fields that are entered (see `anyField`). */
export function textsIn(
  fields: FieldTable,
  values: Values,
  entered: (field: FieldSchema) => boolean,
): FieldText[] {
  const texts: FieldText[] = [];
  visitValue(tableSchema(fields), values, (schema, value, path) => {
    if (!entered(schema)) return false;
    if (typeof value === "string") texts.push({ text: value, path, schema });
    return true;
  });
  return texts;
}
