// How fast requests to one endpoint may begin: at once until the service answers 429, then at the rate that it served, which
// rises slowly and falls at once (additive increase, multiplicative decrease).

export interface Pace {
  /** When the next request may begin (epoch milliseconds). */
  next(now: number): number;
  /** A request begins. */
  begin(now: number): void;
  /** The request that began at `begun` got an answer other than 429. */
  served(begun: number, now: number): void;
  /** The request that began at `begun` was refused because of the rate. */
  refused(begun: number): void;
  /** Nothing begins before `until`. */
  hold(until: number): void;
}

const SECOND = 1_000;
/** A little below what was served, because requests do not arrive as evenly as they leave. */
const BELOW = 0.97;
const DECREASE = 0.8;
/** Requests a second that are added for each second without a refusal, once the rate has been steady for a while. */
const INCREASE = 1;
const STEADY_MS = 30_000;
const SLOWEST = 0.5;
/** How much of a late start the next request may make up for. Requests are never sent in a burst after a pause. */
const SLACK_MS = 8;

/** The most times in any second. */
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
  /** The requests of the last seconds that were served. */
  let served: { readonly begun: number; readonly answered: number }[] = [];
  /** When the last of the requests began that the service refused since the rate was set. */
  let refusedAt: number | undefined;
  let ratedAt = Number.NEGATIVE_INFINITY;
  let steadySince = 0;

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
    rate = Math.max(
      SLOWEST,
      rate === undefined ? known : Math.max(rate * DECREASE, Math.min(known, rate * BELOW)),
    );
    refusedAt = undefined;
    ratedAt = now;
    steadySince = now;
  };

  return {
    next(now) {
      setRate(now);
      return Math.max(nextAt, resumeAt);
    },
    begin(now) {
      if (rate !== undefined) nextAt = Math.max(nextAt, now - SLACK_MS) + SECOND / rate;
    },
    served(begun, now) {
      served.push({ begun, answered: now });
      if ((served[0]?.begun ?? begun) < begun - 6 * SECOND)
        served = served.filter((one) => one.begun > begun - 3 * SECOND);
      if (rate === undefined || now - steadySince < STEADY_MS) return;
      rate += INCREASE;
      steadySince = now - STEADY_MS + SECOND;
    },
    refused(begun) {
      // A request from before the current rate says nothing about that rate.
      if (begun >= ratedAt) refusedAt = Math.max(refusedAt ?? begun, begun);
    },
    hold(until) {
      resumeAt = Math.max(resumeAt, until);
    },
  };
}
