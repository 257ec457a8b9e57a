// The values that a record gets after an interrupted change, of which the service may have carried out a part: those that the live object shows.

import { canonicalJson } from "../../core/digest.ts";
import { type Json, membersWhere } from "../../core/json.ts";
import { overlaps, type Path, valueAt, withValueAt } from "../../core/pointer.ts";
import { diffResource } from "../../planner/diff/diff.ts";
import { comparable, normalForm } from "../../planner/diff/normalize.ts";
import { type RecordedValues, recordedOf } from "../../planner/model/context.ts";
import {
  type FieldSchema,
  type FieldTable,
  itemSchema,
  schemaAt,
  type Values,
} from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { StateRecord } from "../../state/model/record.ts";

/** The record after an update that may have been carried out; `live` is unset if the object no longer exists. */
export function updatedRecord<R extends StateRecord>(
  provider: Provider,
  record: R,
  wanted: Values,
  live: LiveObject | undefined,
): R {
  const { fields, nameField = "" } = provider;
  const seen = record.status === "ready" ? { seen: withoutWitnesses(fields, record.seen) } : {};
  if (live === undefined)
    return { ...record, ...seen, applied: confirmableValues(fields, { ...record.applied, ...wanted }) };
  const applied = provenValues(provider, recordedOf(provider, record, wanted), wanted, live);
  return { ...record, ...seen, ...(applied[nameField] === live.name ? { name: live.name } : {}), applied };
}

/**
 * The wanted values, except where the live object still has what was recorded: there, the change was not carried out, and the difference is
 * not one that others made. Whether a value that cannot be read back was written is unknown, so the next plan writes it again.
 */
export function provenValues(
  provider: Provider,
  recorded: RecordedValues | undefined,
  wanted: Values,
  live: LiveObject,
): Values {
  const { fields } = provider;
  const before = recorded?.applied ?? {};
  const object = comparable(provider, live, wanted);
  const moved = diffResource(fields, before, object, recorded);
  let values = provider.planning.normalize?.(wanted, wanted) ?? wanted;
  const set = (path: Path, value: Json | undefined): void => {
    values = (withValueAt(values, path, value) ?? {}) as Values;
  };
  for (const { path } of diffResource(fields, values, object, recorded)) {
    const schema = schemaAt(fields, path);
    if (schema.writeOnly === true) set(path, undefined);
    else if (!moved.some((diff) => overlaps(diff.path, path))) {
      const place = recordedPlace(before, path);
      set(place, valueAt(before, place));
    } else if (schema.list === "set")
      set(
        path,
        partOfSet(schema, valueAt(before, path), valueAt(values, path), valueAt(object.values, path)),
      );
  }
  return confirmableValues(fields, values);
}

/** The path up to its first part that is not recorded: a list that was not managed has no entries that others removed. */
function recordedPlace(before: Values, path: Path): Path {
  const at = path.findIndex((_, index) => valueAt(before, path.slice(0, index + 1)) === undefined);
  return at < 0 ? path : path.slice(0, at + 1);
}

/** The wanted set, where each of its items may have had a request: those that were neither there before nor are now were not added. */
function partOfSet(
  schema: FieldSchema,
  before: Json | undefined,
  wanted: Json | undefined,
  live: Json | undefined,
): Json | undefined {
  if (![before, wanted, live].every(Array.isArray)) return wanted;
  const keyOf = (item: Json): string => canonicalJson(normalForm(itemSchema(schema), item) ?? null);
  const items = (list: Json | undefined): readonly Json[] => (Array.isArray(list) ? list : []);
  const [was, goal, is] = [before, wanted, live].map((list) => new Set(items(list).map(keyOf)));
  return [
    ...items(wanted).filter((item) => was?.has(keyOf(item)) === true || is?.has(keyOf(item)) === true),
    ...items(before).filter((item) => goal?.has(keyOf(item)) === false && is?.has(keyOf(item)) === true),
  ];
}

/** The values that a live object proves: not those that others may have written since. */
export function confirmableValues(fields: FieldTable, wanted: Values): Values {
  const isOpen = (name: string): boolean =>
    fields[name]?.writeOnly === true && fields[name].witness !== undefined;
  return membersWhere(wanted, (name) => !isOpen(name));
}

/** Without the witnesses of values that may have been written since. */
export function withoutWitnesses(fields: FieldTable, seen: Values): Values {
  const witnesses = new Set(Object.values(fields).map(({ witness }) => witness));
  return membersWhere(seen, (name) => !witnesses.has(name));
}
