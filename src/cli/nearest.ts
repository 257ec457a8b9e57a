// The known word that a mistyped one was probably meant to be, and the hint that says so.

import { didYouMean, suggester } from "../core/suggest.ts";

/** Undefined when nothing is near enough to be worth saying. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  return suggester()(word, known);
}

/** What to do about a word that is none of the known ones; `otherwise` where nothing is near. */
export function nearestHint(word: string, known: readonly string[], otherwise: string): string {
  return didYouMean(nearest(word, known)).hint ?? otherwise;
}
