// The known word that a mistyped one was probably meant to be.

import { suggester } from "../core/suggest.ts";

/** Undefined when nothing is near enough to be worth saying. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  return suggester()(word, known);
}
