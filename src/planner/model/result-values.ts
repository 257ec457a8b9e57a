// The values of a resource after a change: the live values with the changes applied, and a mark for values known only after the apply.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { setMember, valueAt, withValueAt } from "../../core/pointer.ts";
import { type FieldSchema, type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import type { Change, Create } from "./change.ts";

/** Live values after the change, with a mark for each value that is known only after the apply. */
export function markedResult(change: Change, fields: FieldTable): Values | undefined {
  switch (change.action) {
    case "create":
      return asMade(fields, marking(change.after, change.unresolved), change.after);
    case "update":
      return markedDiffs(change, fields);
    case "replace":
      return asMade(fields, markedDiffs(change, fields), change.after);
    case "adopt":
    case "import":
    case "move":
    case "compare":
    case "noop":
    case "report":
      return change.before;
    case "delete":
    case "forget":
      return undefined;
  }
  return change satisfies never;
}

type Changing = Extract<Change, { readonly diffs: unknown }>;

export function markedDiffs(change: Changing, fields: FieldTable): Values {
  let after: Json | undefined = change.before;
  for (const { path, after: reached } of change.diffs)
    after = withValueAt(after, path, reached ?? (isServers(schemaAt(fields, path)) ? LATER_MARK : undefined));
  return marking(after as Values, unresolvedOf(change));
}

/** References in values to be written. A reference inside an unchanged value is not listed. */
function unresolvedOf(change: Changing): Create["unresolved"] {
  return change.unresolved.filter(({ path }) =>
    change.diffs.some(
      (diff) => diff.unknown === true && diff.path.every((key, at) => String(key) === String(path[at])),
    ),
  );
}

/** A new object has the documented defaults where the spec says nothing, and what the service decides. */
function asMade(fields: FieldTable, values: Values, set: Values): Values {
  const created: { [key: string]: Json } = { ...values };
  for (const [name, schema] of Object.entries(fields)) {
    if (set[name] !== undefined || schema.readOnly === true || schema.source === true) continue;
    if (schema.default !== undefined) created[name] ??= schema.default;
    // Whether the service has a field of one dialect only is not known here.
    else if (isServers(schema) && schema.dialect === undefined) created[name] = LATER_MARK;
  }
  return created;
}

function isServers({ serverDefault, whenAbsent }: FieldSchema): boolean {
  return serverDefault === true || whenAbsent === "unmanaged";
}

/** No string of a spec or a service begins like this, because neither may contain this character. */
const LATER_MARK = "\u0000later:";

function marking(values: Values, references: Create["unresolved"]): Values {
  let marked: Json | undefined = values;
  for (const { path } of references)
    marked = withValueAt(marked, path, `${LATER_MARK}${String(valueAt(values, path) ?? "")}`);
  return marked as Values;
}

export function isMarkedLater(value: Json): value is string {
  return typeof value === "string" && value.startsWith(LATER_MARK);
}

/** References as text in place of the marks; what the service decides is left out. */
export function withReferenceTexts(value: Json): Json | undefined {
  if (isMarkedLater(value)) return value === LATER_MARK ? undefined : value.slice(LATER_MARK.length);
  if (Array.isArray(value)) return value.map((item) => withReferenceTexts(item) ?? null);
  return isObject(value) ? mapMembers(value, withReferenceTexts) : value;
}

export function mapMembers(
  value: JsonObject,
  of: (member: Json, key: string) => Json | undefined,
): JsonObject {
  const out: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    const converted = of(member, key);
    if (converted !== undefined) setMember(out, key, converted);
  }
  return out;
}
