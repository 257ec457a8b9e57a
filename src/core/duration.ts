// Durations as users write them.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of `30`, `30s`, `5m`, or `250ms`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
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

/** Milliseconds as the seconds of JSON documents (`elapsed_s`), with three decimals. */
export function secondsOf(ms: number): number {
  return Math.round(ms) / 1000;
}
