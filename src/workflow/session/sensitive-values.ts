// Sensitive values with the places of every kind.

import { SensitiveValues, type SensitiveValuesOptions } from "../../core/sensitive-values.ts";
import { registry } from "../../providers/index.ts";

/** Sensitive values that are found in every form of their kind. */
export function sensitiveValuesOf(options: Omit<SensitiveValuesOptions, "placeOf">): SensitiveValues {
  return new SensitiveValues({
    ...options,
    placeOf: (address, path) => registry.of(address).planning.placeOf?.(path) ?? { place: path },
  });
}
