// Looks again and again until a condition is met, with longer pauses each time.

export interface Polling {
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

/** The first value of `look`; undefined after the signal. Throws the error of `timedOut` once the time is over. */
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
