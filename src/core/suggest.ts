// Suggests the nearest known word for a mistyped one ("did you mean").

import { distance } from "fastest-levenshtein";

const LONGEST_WORD = 64;
/** Comparisons in one run: enough for any spec written by people, and an end for one that was not. */
const BUDGET = 200_000;

export type Suggest = (word: string, candidates: Iterable<string>) => string | undefined;

export function suggester(): Suggest {
  let left = BUDGET;
  const split = new Map<string, readonly string[]>();
  const partsOf = (candidate: string): readonly string[] => {
    const parts = split.get(candidate) ?? wordsOf(candidate);
    split.set(candidate, parts);
    return parts;
  };
  return (word, candidates) => {
    if (word.length > LONGEST_WORD) return undefined;
    let best: string | undefined;
    let nearest = Math.max(2, Math.floor(word.length / 3)) + 1;
    const related: string[] = [];
    const words = wordsOf(word).filter((one) => one.length > 2);
    for (const candidate of candidates) {
      if (--left < 0) break;
      // `max_size` and `max_capacity` have a word in common.
      if (words.length > 1 && partsOf(candidate).some((one) => words.includes(one))) related.push(candidate);
      if (Math.abs(candidate.length - word.length) >= nearest && !startsAlike(candidate, word)) continue;
      const far = nearness(candidate, word);
      if (far >= nearest || far >= word.length) continue;
      nearest = far;
      best = candidate;
    }
    return best ?? (related.length === 1 ? related[0] : undefined);
  };
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[-_. ]/);
}

/** `did you mean "max_capacity"?`, or `else` where nothing is near. */
export function didYouMean(best: string | undefined, otherwise?: string): { readonly hint?: string } {
  if (best !== undefined) return { hint: `did you mean ${JSON.stringify(best)}?` };
  return otherwise === undefined ? {} : { hint: otherwise };
}

/** Another way to write the same word is half a slip; a part left out (`max` for `max_capacity`) is two. */
function nearness(candidate: string, word: string): number {
  if (fold(candidate) === fold(word)) return 0.5;
  const slips = distance(candidate, word);
  return startsAlike(candidate, word) ? Math.min(slips, 2) : slips;
}

function startsAlike(candidate: string, word: string): boolean {
  return (
    word.length >= 3 && (candidate.startsWith(word) || candidate.endsWith(word) || word.startsWith(candidate))
  );
}

function fold(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, "");
}

/** `otherwise` where nothing is near enough to be worth saying. */
export function nearestHint(word: string, known: readonly string[], otherwise: string): string {
  return didYouMean(suggester()(word, known)).hint ?? otherwise;
}
