// Where the spec defines a resource and its fields: for annotations at the lines that cause a change.

import type { Address } from "../../core/address.ts";
import type { Path } from "../../core/pointer.ts";

/** A place in a file; line and column count from 1. */
export interface SpecPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The place of a field, or without a path of the resource; undefined for what the spec does not declare. */
export type SpecPlaces = (address: Address, path?: Path) => SpecPlace | undefined;

export const NO_PLACES: SpecPlaces = () => undefined;
