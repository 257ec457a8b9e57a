// Tags of pools and clusters (ClusterTag): a list of keys and values, as the contract's tables say; a map is taken too (facts 4.7).

import { invalidValue } from "../../world/errors.ts";
import { TAGS } from "../../world/limits.ts";

export type Tags = readonly { readonly key: string; readonly value: string }[];

type TagMap = Readonly<Record<string, string>>;

/** What a request may hold; openapi.yaml has checked the shape. */
export type GivenTags = Tags | TagMap;

const BAD_KEY = /[<>%*&+?\\/]|^(azure|microsoft|windows)/i;

/** The tags as a list. Throws INVALID_PARAMETER_VALUE for too many, for a key twice, and for what a tag cannot be. */
export function readTags(given: GivenTags | undefined, limit: number): Tags | undefined {
  if (given === undefined) return undefined;
  const tags = Array.isArray(given)
    ? given.map(({ key, value }) => ({ key, value }))
    : tagsOf(given as TagMap);
  if (tags.length > limit)
    throw invalidValue(`At most ${limit} custom tags are allowed. Found: ${tags.length}.`);
  for (const { key, value } of tags) checkTag(key, value);
  if (new Set(tags.map(({ key }) => key)).size < tags.length)
    throw invalidValue("custom_tags contains a duplicate key.");
  return tags;
}

export function tagsOf(map: TagMap): Tags {
  return Object.entries(map).map(([key, value]) => ({ key, value }));
}

function checkTag(key: string, value: string): void {
  if (key.length < 1 || key.length > TAGS.key_length || BAD_KEY.test(key))
    throw invalidValue(
      `Invalid tag key "${key.slice(0, 100)}": it needs 1 to ${TAGS.key_length} characters, none of <>%*&+?\\/, and may not begin with azure, microsoft or windows.`,
    );
  if (value.length > TAGS.value_length)
    throw invalidValue(`The value of tag ${key} is longer than ${TAGS.value_length} characters.`);
}
