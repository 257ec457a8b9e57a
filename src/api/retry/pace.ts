// The request rate of one endpoint: unlimited until the service answers 429, then additive increase and multiplicative decrease.

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
