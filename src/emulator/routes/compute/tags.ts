// Tags of pools and clusters: a map or a list of pairs comes in, a map is kept and answered (facts 4.7).

import { invalidValue } from "../../errors.ts";
import { TAGS } from "../../limits.ts";

export type Tags = Readonly<Record<string, string>>;

/** What a request may hold; openapi.yaml has checked the shape. */
export type GivenTags = Tags | readonly { readonly key: string; readonly value: string }[];

const BAD_KEY = /[<>%*&+?\\/]|^(azure|microsoft|windows)/i;

/** The tags as a map. Throws INVALID_PARAMETER_VALUE for too many, for a key twice, and for what a tag cannot be. */
export function readTags(given: GivenTags | undefined, limit: number): Tags | undefined {
  if (given === undefined) return undefined;
  const pairs = Array.isArray(given)
    ? given.map(({ key, value }): [string, string] => [key, value])
    : Object.entries(given as Tags);
  if (pairs.length > limit)
    throw invalidValue(`At most ${limit} custom tags are allowed. Found: ${pairs.length}.`);
  for (const [key, value] of pairs) checkTag(key, value);
  if (new Set(pairs.map(([key]) => key)).size < pairs.length)
    throw invalidValue("A key of custom_tags stands twice.");
  return Object.fromEntries(pairs);
}

function checkTag(key: string, value: string): void {
  if (key.length < 1 || key.length > TAGS.key_length || BAD_KEY.test(key)) {
    throw invalidValue(
      `Invalid tag key "${key.slice(0, 100)}": it needs 1 to ${TAGS.key_length} characters, none of <>%*&+?\\/, and may not begin with azure, microsoft or windows.`,
    );
  }
  if (value.length > TAGS.value_length) {
    throw invalidValue(`The value of tag ${key} is longer than ${TAGS.value_length} characters.`);
  }
}
