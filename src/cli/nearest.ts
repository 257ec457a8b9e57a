// The hint about a mistyped word: the known one that was probably meant.

import { didYouMean, suggester } from "../core/suggest.ts";

/** `otherwise` where nothing is near enough to be worth saying. */
export function nearestHint(word: string, known: readonly string[], otherwise: string): string {
  return didYouMean(suggester()(word, known)).hint ?? otherwise;
}
