// References of a desired resource, put in where their values are known before apply.

import type { Address } from "../core/address.ts";
import { stringifyJson } from "../core/exact-json.ts";
import type { Json } from "../core/json.ts";
import { toPointer, withValueAt } from "../core/pointer.ts";
import type { Values } from "../resource/fields.ts";
import type { Reference, Resource } from "../spec/spec.ts";

/** The value of an attribute, or undefined while only an apply can tell. */
export type Lookup = (address: Address, attribute: string) => Json | undefined;

export interface Resolved {
  readonly values: Values;
  readonly unresolved: readonly Reference[];
  /** JSON Pointers of the unresolved places. */
  readonly unknown: ReadonlySet<string>;
}

export function resolveReferences(
  resource: Pick<Resource, "values" | "references">,
  lookup: Lookup,
): Resolved {
  let values = resource.values;
  const unresolved: Reference[] = [];
  for (const reference of resource.references) {
    const value = referenceValue(reference, lookup);
    if (value === undefined) unresolved.push(reference);
    else values = withValueAt(values, reference.path, value) as Values;
  }
  return { values, unresolved, unknown: new Set(unresolved.map((one) => toPointer(one.path))) };
}

/** The value of a whole reference string: typed where it is one reference, text where text surrounds it. */
export function referenceValue(reference: Reference, lookup: Lookup): Json | undefined {
  const [first, ...rest] = reference.parts;
  if (first !== undefined && typeof first !== "string" && rest.length === 0)
    return lookup(first.address, first.attribute);
  let text = "";
  for (const part of reference.parts) {
    const value = typeof part === "string" ? part : lookup(part.address, part.attribute);
    if (value === undefined) return undefined;
    text += typeof value === "object" ? stringifyJson(value) : String(value);
  }
  return text;
}
