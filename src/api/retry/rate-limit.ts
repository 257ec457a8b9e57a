// Limits concurrent requests, and pauses all of them after the service answers 429.

export interface RateLimit {
  /** Resolves when a request may leave; undefined when it may leave at once. */
  enter(): Promise<void> | undefined;
  /** Gives the place to the next one. Call it once for each `enter`. */
  leave(): void;
  /** Nothing leaves before `until` (epoch milliseconds). */
  hold(until: number): void;
}

export interface RateLimitOptions {
  /** Maximum number of concurrent requests. */
  readonly parallelism: number;
  /** The most requests that begin in a second; absent means no such limit. */
  readonly perSecond: number | undefined;
  readonly clock: () => number;
  /** Returns early once `stopped`. */
  readonly pause: (ms: number) => Promise<void>;
  /** Whether waiting has been called off. */
  readonly stopped: () => boolean;
}

export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { clock, pause, stopped } = options;
  const gap = options.perSecond === undefined ? 0 : 1_000 / options.perSecond;
  const waiting: (() => void)[] = [];
  let free = Math.max(1, options.parallelism);
  let resumeAt = 0;
  let nextAt = 0;

  const place = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((next) => waiting.push(next));
    // A hold that began while this one stood in line holds it too; so does each longer one that follows.
    let until = 0;
    while (resumeAt > Math.max(until, clock()) && !stopped()) {
      until = resumeAt;
      await pause(until - clock());
    }
    if (gap === 0) return;
    const begin = Math.max(nextAt, clock());
    nextAt = begin + gap;
    if (begin > clock()) await pause(begin - clock());
  };

  return {
    enter() {
      if (free === 0 || gap > 0 || resumeAt > clock()) return place();
      free -= 1;
      return undefined;
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
    hold(until) {
      resumeAt = Math.max(resumeAt, until);
    },
  };
}
