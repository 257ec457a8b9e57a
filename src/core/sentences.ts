// Counts and lists as parts of sentences.

/** Quotes a word of a command line for a POSIX shell if necessary. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Ends a shortened message: the beginning of a sensitive value before it is hidden, too. */
export const ELLIPSIS = "…";

/**
 * At most so many characters, and an ellipsis if there are more. Every message that leaves out the end of a string uses it: without the
 * ellipsis, the beginning of a sensitive value would be shown. A character of two units stays whole, so that it is recognized in JSON.
 */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}${ELLIPSIS}`;
}

/** The words with one space between them. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** `1 change`, `3 changes`, `1,000 changes`. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(number)} ${number === 1 ? singular : plural}`;
}

/** `12,500`, the same in every locale. */
export function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `a`, `a and b`, `a, b or c`; past `most` words the rest is counted. */
export function listed(words: readonly string[], joiner: "and" | "or" = "and", most = 12): string {
  const rest = words.length - most;
  const shown = rest > 0 ? [...words.slice(0, most), `${grouped(rest)} more`] : words;
  const last = shown.at(-1) ?? "";
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} ${joiner} ${last}`;
}

/** `a, b, and 3 more`: the first items, and the number of the others. */
export function firstFew<T>(items: readonly T[], most: number, text: (item: T) => string = String): string {
  const rest = items.length - most;
  const shown = items.slice(0, most).map(text).join(", ");
  return rest > 0 ? `${shown}, and ${grouped(rest)} more` : shown;
}

/** `Member of` for `member of`. */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
