// Which words of a long value differ, for the marks of a page and the shortened pair of a terminal.

import type { ChangeObject } from "diff";
import { diffWordsWithSpace } from "diff/lib/diff/word.js";

/** A shorter value is compared at a glance. */
const SHORT = 16;

/** Marks of more words would be a pattern, and more words take long to compare. */
const MOST_MARKS = 8;
const LONGEST = 4_000;

/** The words of both values in order; undefined if they are compared at a glance, or if little of them stays the same. */
export function wordDifferences(was: string, now: string): readonly ChangeObject<string>[] | undefined {
  const longer = Math.max(was.length, now.length);
  if (longer < SHORT || longer > LONGEST) return undefined;
  const parts = diffWordsWithSpace(was, now, { maxEditLength: 4 * MOST_MARKS });
  const isChange = ({ added, removed }: ChangeObject<string>) => added || removed;
  const same = parts?.reduce((sum, part) => sum + (isChange(part) ? 0 : part.value.length), 0) ?? 0;
  const isPattern = (parts?.filter(isChange).length ?? 0) > 2 * MOST_MARKS;
  return isPattern || same * 3 < longer ? undefined : parts;
}

/** A pair of values with fewer characters is shown whole. */
const LONG_PAIR = 120;

/** So many characters stay on each side of a difference. */
const CONTEXT = 24;

/** `… FROM raw_orders WHERE …` and `… FROM clean_orders WHERE …`: of long values that differ in a few words, those words and what is next to them. */
export function shortPair(was: string, now: string): readonly [was: string, now: string] {
  const parts = was === now || was.length + now.length < LONG_PAIR ? undefined : wordDifferences(was, now);
  if (parts === undefined) return [was, now];
  const side = (omitted: "added" | "removed") =>
    parts
      .map((part, at) => {
        if (part[omitted]) return "";
        if (part.added || part.removed) return part.value;
        return withoutMiddle(part.value, at === 0 ? 0 : CONTEXT, at === parts.length - 1 ? 0 : CONTEXT);
      })
      .join("");
  return [side("added"), side("removed")];
}

function withoutMiddle(text: string, start: number, end: number): string {
  if (text.length <= start + end + CONTEXT) return text;
  const left = text.slice(0, start).replace(/[\ud800-\udbff]$/, "");
  const right = text.slice(text.length - end).replace(/^[\udc00-\udfff]/, "");
  return `${left}…${right}`;
}

/** Of long values, the words that differ; else what is between their common start and end. Both have some characters of context. */
export function aroundDifference(was: string, now: string): readonly [was: string, now: string] {
  const pair = shortPair(was, now);
  // Values whose only difference is hidden are equal.
  if (pair[0] !== was || was === now) return pair;
  const [before, after] = [[...was], [...now]];
  const start = commonStart(before, after);
  const end = commonStart(before.slice(start).reverse(), after.slice(start).reverse());
  return [excerpt(before, start, end), excerpt(after, start, end)];
}

function commonStart(was: readonly string[], now: readonly string[]): number {
  const at = was.findIndex((character, at) => character !== now[at]);
  return at === -1 ? was.length : at;
}

/** `start`, `end`: how many characters at the start and the end are common. */
function excerpt(characters: readonly string[], start: number, end: number): string {
  const from = start <= CONTEXT ? 0 : start - CONTEXT;
  const to = end <= CONTEXT ? characters.length : characters.length - end + CONTEXT;
  return `${from === 0 ? "" : "…"}${characters.slice(from, to).join("")}${to === characters.length ? "" : "…"}`;
}
