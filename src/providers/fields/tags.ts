// Tags of pools and clusters: a map in a spec and in this program, a map or a list of keys and values on the wire.

import { type Field, map, optional, text } from "../define.ts";

/** What a key may not begin with, in any case (facts 4.7). */
const RESERVED = ["azure", "microsoft", "windows"];

const anyCase = (word: string): string =>
  [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");

/** No `<>%*&+?\/`, at most 512 characters; a value has at most 256 (facts 4.7). */
const KEYS = {
  pattern: `^(?!${RESERVED.map(anyCase).join("|")})[^<>%*&+?\\\\/]+$`,
  minLength: 1,
  maxLength: 512,
} as const;

interface TagOptions {
  readonly most: number;
  readonly description: string;
  readonly onChange?: "replace";
}

export const tags = ({ most, ...options }: TagOptions): Field =>
  optional(
    map(text({ maxLength: 256, description: "Value of the tag." }), {
      ...options,
      maxProperties: most,
      keys: KEYS,
    }),
  );
