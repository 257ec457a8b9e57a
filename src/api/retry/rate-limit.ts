// Limits concurrent requests, and the rate of requests to each endpoint after the service answers 429.

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

  /** A pause that ended has passed, also where the clock was set back meanwhile; a timer that ended early is set again. */
  const clock = (): number => Math.max(options.clock(), slept);

  const lineOf = (endpoint: string): Line => {
    const line = lines.get(endpoint) ?? { pace: createPace(), waiting: [] };
    lines.set(endpoint, line);
    return line;
  };

  const dueAt = (line: Line, now: number): number =>
    stopped() ? now : Math.max(nextAt, line.pace.next(now));

  const begin = (line: Line, now: number): void => {
    free -= 1;
    if (gap > 0) nextAt = Math.max(nextAt, now) + gap;
    line.pace.begin(now);
  };

  /** The line of the request that is due and came first; without one, when the next is due. */
  const nextLine = (now: number): Line | number => {
    let first: Line | undefined;
    let soonest = Number.POSITIVE_INFINITY;
    for (const line of lines.values()) {
      if (line.waiting.length === 0) continue;
      const at = dueAt(line, now);
      soonest = Math.min(soonest, at);
      if (at <= now && (first === undefined || orderOf(line) < orderOf(first))) first = line;
    }
    return first ?? soonest;
  };

  /** Lets everything leave that is due and has a slot, in the order of arrival; then sleeps until the next one is due. */
  const dispatch = (): void => {
    while (free > 0) {
      const now = clock();
      const next = nextLine(now);
      if (typeof next === "number") {
        sleepUntil(next, now);
        return;
      }
      begin(next, now);
      next.waiting.shift()?.go();
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

/** The rate of requests to one endpoint: unlimited until the service refuses one with 429. */
export interface Pace {
  /** Requests a second; undefined until the service refuses one. */
  readonly rate: number | undefined;
  /** When the next request may begin (epoch milliseconds). */
  next(now: number): number;
  begin(now: number): void;
  /** The request that began at `begun` got an answer other than 429. */
  served(begun: number, now: number): void;
  /** The request that began at `begun` was refused because of the rate. */
  refused(begun: number): void;
  hold(until: number): void;
}

const SECOND = 1_000;
/** The share of the served requests that is sent after the first refusal: requests arrive less evenly than they are sent. */
const BELOW = 0.97;
/** The share of a refused rate that is left. */
const DECREASE = 0.8;
/** Requests a second that are added for each second, once so long nothing was refused. */
const INCREASE = 1;
const STEADY_MS = 30_000;
/** A low rate that was never refused grows by half each second: the service may refuse crowds and not the rate. */
const LOW = 20;
const GROWTH = 1.5;
const LEAST = 0.5;
/** How much of a late start the next request may make up for. Requests are never sent in a burst after a pause. */
const SLACK_MS = 2;

export function createPace(): Pace {
  let rate: number | undefined;
  let nextAt = 0;
  let resumeAt = 0;
  /** When the requests of the last seconds began that were served. */
  let served: number[] = [];
  /** When the last request began that was refused since the rate was set. */
  let refusedAt: number | undefined;
  let ratedAt = Number.NEGATIVE_INFINITY;
  let steadySince = 0;
  let wasRefused = false;

  /** Answers to requests in flight are complete by the end of the hold, so only then is the rate set. */
  const setRate = (now: number): void => {
    if (refusedAt === undefined || now < resumeAt) return;
    const end = refusedAt;
    const inLastSecond = served.filter((begun) => begun > end - SECOND && begun <= end).length;
    wasRefused = rate !== undefined;
    rate = rate === undefined ? Math.max(1, inLastSecond) * BELOW : Math.max(LEAST, rate * DECREASE);
    refusedAt = undefined;
    ratedAt = now;
    steadySince = now;
  };

  return {
    get rate() {
      return rate;
    },
    next(now) {
      setRate(now);
      return Math.max(nextAt, resumeAt);
    },
    begin(now) {
      if (rate !== undefined) nextAt = Math.max(nextAt, now - SLACK_MS) + SECOND / rate;
    },
    served(begun, now) {
      served.push(begun);
      if ((served[0] ?? begun) < begun - 6 * SECOND) served = served.filter((at) => at > begun - 3 * SECOND);
      if (rate === undefined) return;
      const isLow = rate < LOW && !wasRefused;
      if (now - steadySince < (isLow ? SECOND : STEADY_MS)) return;
      rate = isLow ? rate * GROWTH : rate + INCREASE;
      steadySince = isLow ? now : now - STEADY_MS + SECOND;
    },
    refused(begun) {
      // Requests from before the current rate do not count for it.
      if (begun >= ratedAt) refusedAt = Math.max(refusedAt ?? begun, begun);
    },
    hold(until) {
      resumeAt = Math.max(resumeAt, until);
    },
  };
}
