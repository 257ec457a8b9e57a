// Limits concurrent requests, and the rate of requests to each endpoint after the service answers 429.

import { createPace, type Pace } from "./pace.ts";

export interface RateLimit {
  /** Resolves when a request to an endpoint may leave; undefined when it may leave at once. */
  enter(endpoint: string): Promise<void> | undefined;
  /** Releases the slot to the next request. Call it once for each `enter`. */
  leave(): void;
  /** The request that began at `begun` was answered; `throttled`: with 429. */
  answered(endpoint: string, begun: number, throttled: boolean): void;
  /** Nothing leaves for an endpoint before `until` (epoch milliseconds). */
  hold(endpoint: string, until: number): void;
}

export interface RateLimitOptions {
  readonly parallelism: number;
  /** The most requests that begin in a second; absent means no such limit. */
  readonly perSecond: number | undefined;
  readonly clock: () => number;
  /** Returns early once `stopped`. */
  readonly pause: (ms: number) => Promise<void>;
  /** Whether waiting has been called off. */
  readonly stopped: () => boolean;
}

/** Timers count from the begin of the turn in which they are set, so they can end early by the length of a turn. */
const EARLY_MS = 50;

/** Requests to one endpoint that wait, the first one first. */
interface Line {
  readonly pace: Pace;
  readonly waiting: { readonly order: number; readonly go: () => void }[];
}

/** A request that waits for its endpoint occupies no slot, so that a slow endpoint does not delay the others. */
export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { pause, stopped } = options;
  const gap = 1_000 / (options.perSecond ?? Number.POSITIVE_INFINITY);
  const lines = new Map<string, Line>();
  const parallelism = Math.max(1, options.parallelism);
  let free = parallelism;
  let nextAt = 0;
  let order = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  let slept = 0;
  /** No endpoint has a rate before the first refusal. */
  let isLimited = false;

  /** A pause that ended has passed, also where the clock was set back meanwhile; a timer that ended early is set again. */
  const clock = (): number => Math.max(options.clock(), slept);

  const lineOf = (endpoint: string): Line => {
    const line = lines.get(endpoint) ?? { pace: createPace(), waiting: [] };
    lines.set(endpoint, line);
    return line;
  };

  /** The highest rate of another endpoint, for requests that trickle in; a crowd finds the limit of its endpoint at once. */
  const guessFor = ({ waiting }: Line): number | undefined => {
    if (!isLimited) return undefined;
    let known = 0;
    for (const { pace } of lines.values()) known = Math.max(known, pace.rate ?? 0);
    return waiting.length < Math.min(known, parallelism) ? known : undefined;
  };

  const dueAt = (line: Line, now: number): number =>
    stopped() ? now : Math.max(nextAt, line.pace.next(now, guessFor(line)));

  const begin = (line: Line, now: number): void => {
    free -= 1;
    if (gap > 0) nextAt = Math.max(nextAt, now) + gap;
    line.pace.begin(now, guessFor(line));
  };

  /** Lets everything leave that is due and has a place, in the order of arrival; then sleeps until the next one is due. */
  const dispatch = (): void => {
    while (free > 0) {
      const now = clock();
      let first: Line | undefined;
      let soonest = Number.POSITIVE_INFINITY;
      for (const line of lines.values()) {
        if (line.waiting.length === 0) continue;
        const at = dueAt(line, now);
        soonest = Math.min(soonest, at);
        if (at <= now && (first === undefined || orderOf(line) < orderOf(first))) first = line;
      }
      if (first === undefined) {
        sleepUntil(soonest, now);
        return;
      }
      begin(first, now);
      first.waiting.shift()?.go();
    }
  };

  const sleepUntil = (at: number, now: number): void => {
    if (at >= wakeAt) return;
    wakeAt = at;
    void pause(at - now).then(() => {
      wakeAt = Number.POSITIVE_INFINITY;
      if (at - options.clock() > EARLY_MS) slept = Math.max(slept, at);
      dispatch();
    });
  };

  return {
    enter(endpoint) {
      const line = lineOf(endpoint);
      const now = clock();
      if (free > 0 && line.waiting.length === 0 && dueAt(line, now) <= now) {
        begin(line, now);
        return undefined;
      }
      return new Promise((go) => {
        order += 1;
        line.waiting.push({ order, go });
        dispatch();
      });
    },
    leave() {
      free += 1;
      dispatch();
    },
    answered(endpoint, begun, throttled) {
      const { pace } = lineOf(endpoint);
      isLimited ||= throttled;
      if (throttled) pace.refused(begun);
      else pace.served(begun, clock());
    },
    hold(endpoint, until) {
      lineOf(endpoint).pace.hold(until);
    },
  };
}

function orderOf({ waiting }: Line): number {
  return waiting[0]?.order ?? Number.POSITIVE_INFINITY;
}
