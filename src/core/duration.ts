// Durations as users write them.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of `30`, `30s`, `5m`, or `250ms`; undefined for any other text. */
export function parseDuration(given: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)?$/.exec(given) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit ?? "s"] ?? 1000);
}
