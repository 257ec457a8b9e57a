// The form in which a plan of an untrusted spec compares a resource: a token where the state has a digest, the same on each side, and plain
// values elsewhere. Memberships that follow from a sensitive value, such as that of `admins` from a role, are as the last applied spec
// declares them.

import type { Address } from "../../core/address.ts";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { isSamePath, type Path, setMember, toPointer, valueAt, withValueAt } from "../../core/pointer.ts";
import { isScalar, type Scalar } from "../../core/scalars.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import {
  type FieldSchema,
  type FieldTable,
  itemSchema,
  memberSchema,
  type Values,
} from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { isSameName } from "../../resource/names.ts";
import type { ImpliedMembership } from "../../resource/planning.ts";
import { mapValues } from "../../resource/walk.ts";
import type { Resource } from "../../spec/model/spec.ts";
import { normalForm } from "../diff/normalize.ts";

export interface RecordedResource {
  readonly address: Address;
  readonly fields: FieldTable;
  /** As the state has them, with digests. */
  readonly stored: Values;
  /** The same with the values that the run has in place of digests. */
  readonly revealed: Values;
  /** What the last applied spec declared. */
  readonly applied: Values;
}

type RecordedValues = Omit<RecordedResource, "applied">;

type Visit = (
  value: Scalar,
  path: Path,
  isToken: boolean,
  stored: Json | undefined,
  schema: FieldSchema,
) => Scalar;

/** Adds the strings and numbers at sensitive places, which are hidden in other values, too. */
export function hideRecordedStrings(
  sensitive: SensitiveValues,
  recorded: RecordedValues,
  values: Values,
): void {
  converted(sensitive, recorded, values, (value, _, isToken) => {
    if (isToken) sensitive.texts.addValue(value);
    return value;
  });
}

/**
 * The values with tokens. A string is shown where the last applied spec declared it in the clear, or where the schema lists it. Any
 * other one is a token, whatever it is: who knows a default of the service would learn from a hidden one that it is a sensitive value,
 * and from a shown one that it is not. It must not depend on the untrusted spec either, which could be full of guesses.
 * Names of objects and keys of maps are hidden only if they contain a sensitive text: decisions are made by them.
 */
export function recordedForm(sensitive: SensitiveValues, recorded: RecordedResource, values: Values): Values {
  const { address, applied } = recorded;
  const visit: Visit = (value, path, isToken, stored, schema) => {
    if (!isToken && (value === stored || isListed(schema, value))) return value;
    return sensitive.shown(address, path, value, isToken || (typeof value === "string" && isFree(schema)));
  };
  const keyOf = (path: Path): string => {
    const isOpen = valueAt(applied, path) !== undefined;
    return String((isOpen ? path : sensitive.concealedPath(address, path)).at(-1));
  };
  return converted(sensitive, recorded, values, visit, keyOf);
}

const isListed = (schema: FieldSchema, value: Scalar): boolean =>
  schema.enum?.includes(value) === true || schema.const === value || schema.default === value;

/** Whether a field may have any string: one that names nothing. */
function isFree(schema: FieldSchema): boolean {
  const { type, names, refersTo, mentions, identifies } = schema;
  const decides = [names, refersTo, mentions, identifies].some((role) => role !== undefined);
  return !decides && [type].flat().includes("string");
}

function converted(
  sensitive: SensitiveValues,
  { address, fields, stored, revealed }: RecordedValues,
  values: Values,
  visit: Visit,
  /** The key of a map in the result, by its path. */
  keyOf: (path: Path) => string = (path) => String(path.at(-1)),
): Values {
  if (sensitive.isEmpty) return values;
  const convert = (
    value: Json,
    path: Path,
    schema: FieldSchema,
    storedValue: Json | undefined,
    revealedValue: Json | undefined,
  ): Json => {
    if (Array.isArray(value)) {
      const indexOf = recordedIndexes(itemSchema(schema), revealedValue);
      return value.map((item: Json, at) => {
        const index = indexOf(item);
        const entry = (list: Json | undefined): Json | undefined =>
          index === undefined ? undefined : valueAt(list, [index]);
        return convert(
          item,
          [...path, index ?? at],
          itemSchema(schema),
          entry(storedValue),
          entry(revealedValue),
        );
      });
    }
    if (isObject(value)) {
      const object: { [key: string]: Json } = {};
      for (const [key, member] of Object.entries(value)) {
        const here = [...path, key];
        const isField = path.length === 0 || Object.hasOwn(schema.properties ?? {}, key);
        setMember(
          object,
          isField ? key : keyOf(here),
          convert(
            member,
            here,
            path.length === 0 ? (fields[key] ?? {}) : memberSchema(schema, key),
            valueAt(storedValue, [key]),
            valueAt(revealedValue, [key]),
          ),
        );
      }
      return object;
    }
    if (value === null || typeof value === "object") return value;
    // Of entries of a list, only those with a digest are sensitive; all of them are one place.
    const isEntry = storedValue !== undefined && path.some((key) => typeof key === "number");
    const isToken = hasDigest(storedValue) || (!isEntry && sensitive.isRecorded(address, path));
    return visit(value, path, isToken, storedValue, schema);
  };
  return convert(values, [], {}, stored, revealed) as Values;
}

/** Entries move, so an entry is the first recorded one with its value that is not taken. */
function recordedIndexes(schema: FieldSchema, list: Json | undefined): (item: Json) => number | undefined {
  if (!Array.isArray(list)) return () => undefined;
  const keyOf = (item: Json): string => canonicalJson(normalForm(schema, item) ?? null);
  const free = new Map<string, number[]>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item as Json);
    free.set(key, [...(free.get(key) ?? []), index]);
  }
  return (item) => free.get(keyOf(item))?.shift();
}

/** The spec's values with the recorded token at each place that is sensitive in the spec and in the state. */
export function withRecordedTokens(
  sensitive: SensitiveValues,
  { address, values, sensitive: paths = [] }: Pick<Resource, "address" | "values" | "sensitive">,
  { stored, form }: { readonly stored: Values; readonly form: Values },
): { readonly values: Values; readonly replaced: readonly Path[] } {
  const replaced: Path[] = [];
  let result = values;
  for (const path of paths) {
    const from = recordedPath(path, paths, stored, (other) => formerPath(sensitive, address, stored, other));
    const token = from !== undefined && hasDigest(valueAt(stored, from)) ? valueAt(form, from) : undefined;
    if (token === undefined) continue;
    result = withValueAt(result, path, token) as Values;
    replaced.push(path);
  }
  return { values: result, replaced };
}

/** The values with a token at each other sensitive place, except where the last applied spec has the same value in the clear. */
export function withUnreadTokens(
  sensitive: SensitiveValues,
  { address, values, sensitive: paths = [] }: Pick<Resource, "address" | "values" | "sensitive">,
  applied: Values,
): { readonly values: Values; readonly replaced: readonly Path[] } {
  const replaced: Path[] = [];
  let result = values;
  for (const path of paths) {
    const value = valueAt(values, path);
    if (!isScalar(value) || hasDigest(value) || value === valueAt(applied, path)) continue;
    // It never equals a recorded token, so a guess in a default is not tested.
    const token = sensitive.shown(address, path, `\u0000unread ${toPointer(path)} ${value}`, true);
    result = withValueAt(result, path, token) as Values;
    replaced.push(path);
  }
  return { values: result, replaced };
}

/** Where the state has the entry of a list: the first sensitive entry of the spec is the first one with a digest. */
function recordedPath(
  path: Path,
  paths: readonly Path[],
  stored: Values,
  former: (path: Path) => Path | undefined,
): Path | undefined {
  const at = path.findIndex((key) => typeof key === "number");
  if (at < 0) return former(path);
  const list = path.slice(0, at);
  const isInList = (other: Path): boolean => list.every((key, index) => other[index] === key);
  const sensitive = new Set(paths.filter(isInList).map((other) => other[at]));
  const position = [...sensitive].sort((a, b) => Number(a) - Number(b)).indexOf(path[at]);
  const recorded = former(list) ?? list;
  const entries = valueAt(stored, recorded);
  const withDigest = Array.isArray(entries)
    ? [...entries.keys()].filter((index) => hasDigest(entries[index] as Json))
    : [];
  const index = withDigest[position];
  return index === undefined ? undefined : [...recorded, index, ...path.slice(at + 1)];
}

/** Where the state has a value, which may be in another form of its kind. */
function formerPath(
  sensitive: SensitiveValues,
  address: Address,
  stored: Values,
  path: Path,
): Path | undefined {
  if (valueAt(stored, path) !== undefined) return path;
  const unheld = sensitive.withoutHolder(address, path);
  const find = (values: Values, at: Path): Path | undefined => {
    for (const [key, value] of Object.entries(values)) {
      if (!hasDigest(value)) continue;
      const here = [...at, key];
      if (isSamePath(sensitive.withoutHolder(address, here), unheld)) return here;
      const inner = isObject(value) ? find(value, here) : undefined;
      if (inner !== undefined) return inner;
    }
    return undefined;
  };
  return find(stored, []);
}

/** `live`: with a token in place of each sensitive value. `applied`: what the last applied spec declared for an object. */
export function hidingMemberships(
  registry: PlanningRegistry,
  live: Live,
): (kind: string, object: LiveObject, applied: Values) => LiveObject {
  const hidden = hiddenMemberships(registry, live);
  return (kind, object, applied) => {
    const provider = registry.get(kind);
    const others = hidden.flatMap((membership) => otherSide(registry, provider, object, membership));
    if (others.length === 0) return object;
    return { ...object, values: withoutOthers(registry, provider, object, others, applied) };
  };
}

function hiddenMemberships(registry: PlanningRegistry, live: Live): readonly ImpliedMembership[] {
  return [...live].flatMap(([kind, list]) => {
    const implied = registry.get(kind).planning.impliedMembership;
    if (implied === undefined || !list.readable) return [];
    return list.objects.flatMap(({ name, values }) => {
      const membership = implied(name);
      return hasDigest(values[membership.field]) ? [membership] : [];
    });
  });
}

type Named = ImpliedMembership["member"];

/** The group for its member, and the member for its group. */
function otherSide(
  registry: PlanningRegistry,
  { kind }: PlannedKind,
  { name }: LiveObject,
  { group, member }: ImpliedMembership,
): readonly Named[] {
  const is = (named: Named): boolean => kind === named.kind && isSame(registry, named, name);
  return [...(is(group) ? [member] : []), ...(is(member) ? [group] : [])];
}

const isSame = (registry: PlanningRegistry, { kind, name }: Named, other: Json): boolean =>
  typeof other === "string" && isSameName(registry.get(kind), name, other);

/** Lists of names contain the others only if the last applied spec has them. */
function withoutOthers(
  registry: PlanningRegistry,
  { fields }: PlannedKind,
  { values }: LiveObject,
  others: readonly Named[],
  applied: Values,
): Values {
  const isHidden = ({ names }: FieldSchema, item: Json): boolean =>
    others.some((other) => other.kind === names && isSame(registry, other, item));
  const declared = new Set<string>();
  mapValues(fields, applied, (schema, value, inside) => {
    if (isHidden(schema, value)) declared.add(String(value));
    return inside();
  });
  return mapValues(fields, values, (schema, value, inside) =>
    isHidden(schema, value) && !declared.has(String(value)) ? undefined : inside(),
  );
}
