// Durations as users write them, and pauses until a condition is met.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the milliseconds of `30`, `30s`, `5m`, `2d`, or `250ms`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
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

interface Polling {
  readonly clock: {
    /** Milliseconds since an arbitrary moment. */
    elapsed(): number;
    sleep(ms: number, signal?: AbortSignal): Promise<void>;
  };
  readonly signal?: AbortSignal | undefined;
  readonly firstMs: number;
  readonly longestMs: number;
  readonly timeoutMs?: number | undefined;
  /** The begin of the time by the clock; default: now. */
  readonly since?: number;
}

/** Looks with longer pauses each time. The first value of `look`; undefined after the signal. Throws the error of `timedOut` once the time is over. */
export async function poll<T>(
  look: (round: number) => Promise<T | undefined>,
  { clock, signal, firstMs, longestMs, timeoutMs = Number.POSITIVE_INFINITY, since }: Polling,
  timedOut: () => Error,
): Promise<T | undefined> {
  const end = (since ?? clock.elapsed()) + timeoutMs;
  for (let round = 0; ; round += 1) {
    const result = await look(round);
    if (result !== undefined || signal?.aborted === true) return result;
    const left = end - clock.elapsed();
    if (left <= 0) throw timedOut();
    await clock.sleep(Math.min(left, longestMs, firstMs * 1.5 ** round), signal);
  }
}
