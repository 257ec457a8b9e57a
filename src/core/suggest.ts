// Suggests the nearest known word for a mistyped one ("did you mean").

import { distance } from "fastest-levenshtein";

const LONGEST_WORD = 64;
/** A suggestion is at most two slips away. */
const MOST_SLIPS = 2;
/** Comparisons in one run: enough for any spec written by people, and an end for one that was not. */
const BUDGET = 200_000;

/** Candidates are names of objects and addresses, or words, such as fields, kinds, options, and variables. */
export type Vocabulary = "names" | "words";

export type Suggest = (
  word: string,
  candidates: Iterable<string>,
  vocabulary?: Vocabulary,
) => string | undefined;

/** A name suggests only what is a typing error away from it. A word also suggests the one that it is a part of. */
export function suggester(): Suggest {
  let left = BUDGET;
  const split = new Map<string, readonly string[]>();
  const partsOf = (candidate: string): readonly string[] => {
    const parts = split.get(candidate) ?? wordsOf(candidate);
    split.set(candidate, parts);
    return parts;
  };
  return (word, candidates, vocabulary = "names") => {
    if (word.length > LONGEST_WORD) return undefined;
    const isWord = vocabulary === "words";
    const limit = slipsAllowed(word);
    let best: string | undefined;
    let nearest = Infinity;
    const related: string[] = [];
    const words = isWord ? wordsOf(word).filter((part) => part.length > 2) : [];
    for (const candidate of candidates) {
      if (--left < 0) break;
      // `max_size` and `max_capacity` have a word in common.
      if (words.length > 1 && partsOf(candidate).some((part) => words.includes(part)))
        related.push(candidate);
      const slips = slipsBetween(candidate, word, limit);
      const isPart = isWord && isPartOf(candidate, word);
      if (slips > limit && !isPart) continue;
      const far = isPart ? Math.min(slips, MOST_SLIPS) : slips;
      if (far >= nearest) continue;
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
  return { hint: otherwise };
}

/** Most of a short word must be right; of a very short one, everything but case and separators. */
function slipsAllowed({ length }: string): number {
  if (length < 3) return 0.5;
  return length < 5 ? 1 : MOST_SLIPS;
}

/** Letters to insert, delete, or replace; two letters in the wrong order are one slip, another way to write the same word is half a slip. */
function slipsBetween(candidate: string, word: string, limit: number): number {
  if (fold(candidate) === fold(word)) return 0.5;
  if (Math.abs(candidate.length - word.length) > limit) return Infinity;
  const slips = distance(candidate, word);
  return slips === 2 && sorted(candidate) === sorted(word) ? 1 : slips;
}

/** A part left out: `node_type` for `node_type_id`. */
function isPartOf(candidate: string, word: string): boolean {
  return (
    word.length >= 3 && (candidate.startsWith(word) || candidate.endsWith(word) || word.startsWith(candidate))
  );
}

const sorted = (word: string): string => [...word].toSorted().join("");

function fold(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, "");
}

/** `otherwise` where nothing is near enough to be worth saying. */
export function nearestHint(
  word: string,
  words: readonly string[],
  otherwise: string,
  vocabulary?: Vocabulary,
): string {
  return didYouMean(suggester()(word, words, vocabulary)).hint ?? otherwise;
}
