// Counts, lists, and durations as parts of sentences, and durations as users write them.

/** Quotes a word of a command line for a POSIX shell if necessary. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `1 change`, `3 changes`, `1,000 changes`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
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

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of `30`, `30s`, `5m`, or `250ms`; undefined for any other text. */
export function parseDuration(given: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)?$/.exec(given) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit ?? "s"] ?? 1000);
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
