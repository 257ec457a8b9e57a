// The known word that a mistyped one was probably meant to be.

import { closest, distance } from "fastest-levenshtein";

/** Undefined when nothing is near enough to be worth saying. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const found = closest(word, [...known]);
  return distance(word, found) <= Math.max(1, Math.floor(word.length / 3)) ? found : undefined;
}
