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

export interface Pace {
  /** Requests a second; undefined until the service refuses one. */
  readonly rate: number | undefined;
  /** When the next request may begin (epoch milliseconds). `guess`: requests a second as long as the rate is not known. */
  next(now: number, guess?: number): number;
  begin(now: number, guess?: number): void;
  /** The request that began at `begun` got an answer other than 429. */
  served(begun: number, now: number): void;
  /** The request that began at `begun` was refused because of the rate. */
  refused(begun: number): void;
  hold(until: number): void;
}

const SECOND = 1_000;
/** A little below the served rate, because requests arrive less evenly than they are sent. */
const BELOW = 0.983;
const DECREASE = 0.8;
/** The share that is left of a refused rate: less if the rate was refused soon after it was set, and again. */
const AGAIN = [0.97, 0.97, 0.9] as const;
const SOON_MS = 5_000;
/** Requests a second that are added for each second without a refusal, once the rate has been steady for a while. */
const INCREASE = 1;
const STEADY_MS = 30_000;
/** As long as no higher rate was refused, the rate grows faster. Below `SLOW` that begins after seconds. */
const GROWTH = 1.5;
const SLOW = 20;
const SLOWEST = 0.5;
/** How much of a late start the next request may make up for. Requests are never sent in a burst after a pause. */
const SLACK_MS = 2;

function mostInSecond(times: number[]): number {
  times.sort((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [at, time] of times.entries()) {
    while ((times[from] ?? time) <= time - SECOND) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

export function createPace(): Pace {
  /** Requests a second; undefined until the first refusal. */
  let rate: number | undefined;
  let nextAt = 0;
  let resumeAt = 0;
  /** When requests began, of the last second and some before. */
  let begun: number[] = [];
  /** The requests of the last seconds that were served. */
  let served: { readonly begun: number; readonly answered: number }[] = [];
  /** When the last of the requests began that the service refused since the rate was set. */
  let refusedAt: number | undefined;
  let ratedAt = Number.NEGATIVE_INFINITY;
  let steadySince = 0;
  /** Rates that were refused soon after they were set, one after the other. */
  let strikes = 0;
  /** The rate before the last increase, until that is refused. */
  let proven: number | undefined;
  /** Whether a rate was refused that was higher than one that had been steady. */
  let hasCeiling = false;

  /** Answers to requests in flight are complete by the end of the hold, so only then is the rate set. */
  const setRate = (now: number): void => {
    if (refusedAt === undefined || now < resumeAt) return;
    const end = refusedAt;
    const before = served.filter(({ begun }) => begun > end - 2 * SECOND && begun <= end);
    // A request reaches the service between these times; the distance of two requests there is near to one of theirs.
    const measured = Math.max(
      mostInSecond(before.map(({ begun }) => begun)),
      mostInSecond(before.map(({ answered }) => answered)),
    );
    const known = Math.max(1, measured) * BELOW;
    strikes = end - ratedAt < SOON_MS ? strikes + 1 : 0;
    if (rate === undefined) rate = known;
    else if (proven !== undefined) rate = proven;
    else rate = Math.max(SLOWEST, rate * DECREASE, Math.min(known, rate * (AGAIN[strikes] ?? DECREASE)));
    hasCeiling ||= proven !== undefined;
    proven = undefined;
    refusedAt = undefined;
    ratedAt = now;
    steadySince = now;
  };

  /** When fewer requests than this have begun in the second before. */
  const roomAt = (most: number): number => {
    const first = begun[begun.length - Math.max(1, Math.floor(most))];
    return first === undefined ? 0 : first + SECOND;
  };

  return {
    get rate() {
      return rate;
    },
    next(now, guess = Number.POSITIVE_INFINITY) {
      setRate(now);
      return Math.max(rate === undefined ? Math.min(nextAt, roomAt(guess)) : nextAt, resumeAt);
    },
    begin(now, guess) {
      const known = rate ?? guess;
      if (known !== undefined) nextAt = Math.max(nextAt, now - SLACK_MS) + SECOND / known;
      if ((begun[0] ?? now) < now - 3 * SECOND) begun = begun.filter((at) => at > now - SECOND);
      begun.push(now);
    },
    served(begun, now) {
      served.push({ begun, answered: now });
      if ((served[0]?.begun ?? begun) < begun - 6 * SECOND)
        served = served.filter((one) => one.begun > begun - 3 * SECOND);
      if (rate === undefined) return;
      const isSlow = !hasCeiling && rate < SLOW;
      const steadyMs = isSlow ? Math.max(SECOND, rate * (SECOND / 4)) : STEADY_MS;
      if (now - steadySince < steadyMs) return;
      proven = rate;
      rate = hasCeiling ? rate + INCREASE : rate * GROWTH;
      steadySince = isSlow ? now : now - STEADY_MS + SECOND;
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
