// A service with latency and limits, on a virtual clock, and clients that send chains of requests to it through a rate limit.

import { createRateLimit } from "../../../src/api/retry/rate-limit.ts";

export interface Limit {
  /** Requests a second. */
  readonly perSecond: number;
  /** Requests that a token bucket serves at once; absent means a window of one second. */
  readonly bucket?: number;
}

export interface Simulation {
  /** Endpoints without a limit serve everything. The limit may depend on the time. */
  readonly limits: Readonly<Record<string, (now: number) => Limit>>;
  /** Milliseconds until an answer, for the nth request. */
  readonly latency: (nth: number) => number;
  /** Milliseconds until the nth request reaches the service. Default 0. */
  readonly travel?: (nth: number) => number;
  readonly parallelism: number;
  /** Endpoints that each chain calls, one after the other, and when it may begin. */
  readonly chains: readonly { readonly calls: readonly string[]; readonly from?: number }[];
}

export interface Sent {
  readonly endpoint: string;
  readonly at: number;
  readonly served: boolean;
}

const RETRY_AFTER_MS = 1_000;
/** Virtual milliseconds after which a simulation has failed. */
const LONGEST = 600_000;

/** Runs all chains to their ends; returns each request in the order of sending, and the time that all took. */
export async function simulate(
  simulation: Simulation,
): Promise<{ readonly sent: Sent[]; readonly ms: number }> {
  const { latency, travel = () => 0, parallelism, chains } = simulation;
  const time = virtualTime();
  const admits = limiter(simulation.limits);
  const sent: Sent[] = [];
  const limit = createRateLimit({
    parallelism,
    perSecond: undefined,
    clock: () => time.now,
    pause: time.sleep,
    stopped: () => false,
  });
  const call = async (endpoint: string): Promise<void> => {
    for (;;) {
      await limit.enter(endpoint);
      const begun = time.now;
      await time.sleep(travel(sent.length));
      const served = admits(endpoint, time.now);
      sent.push({ endpoint, at: begun, served });
      await time.sleep(served ? latency(sent.length) : 1);
      limit.leave();
      limit.answered(endpoint, begun, !served);
      if (served) return;
      limit.hold(endpoint, time.now + RETRY_AFTER_MS);
      await time.sleep(RETRY_AFTER_MS);
    }
  };
  const ends = chains.map(async ({ calls, from = 0 }) => {
    if (from > 0) await time.sleep(from);
    for (const endpoint of calls) await call(endpoint);
  });
  await time.runUntil(Promise.all(ends));
  return { sent, ms: time.now };
}

function limiter(limits: Simulation["limits"]): (endpoint: string, now: number) => boolean {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const windows = new Map<string, number[]>();
  return (endpoint, now) => {
    const limit = limits[endpoint]?.(now);
    if (limit === undefined) return true;
    if (limit.bucket === undefined) {
      const recent = (windows.get(endpoint) ?? []).filter((at) => at > now - 1_000);
      const served = recent.length < limit.perSecond;
      windows.set(endpoint, served ? [...recent, now] : recent);
      return served;
    }
    const { tokens, at } = buckets.get(endpoint) ?? { tokens: limit.bucket, at: now };
    const filled = Math.min(limit.bucket, tokens + ((now - at) / 1_000) * limit.perSecond);
    buckets.set(endpoint, { tokens: filled >= 1 ? filled - 1 : filled, at: now });
    return filled >= 1;
  };
}

function virtualTime() {
  const sleepers: { readonly at: number; readonly order: number; readonly wake: () => void }[] = [];
  let order = 0;
  const time = {
    now: 0,
    sleep: (ms: number): Promise<void> =>
      new Promise((wake) => {
        order += 1;
        sleepers.push({ at: time.now + Math.max(0, ms), order, wake });
      }),
    async runUntil(work: Promise<unknown>): Promise<void> {
      let isDone = false;
      void work.then(() => {
        isDone = true;
      });
      for (;;) {
        // Everything that can happen now happens before time passes.
        await new Promise((resolve) => setImmediate(resolve));
        if (isDone) return;
        sleepers.sort((a, b) => a.at - b.at || a.order - b.order);
        const next = sleepers.shift();
        if (next === undefined || next.at > LONGEST) throw new Error("the requests do not end");
        time.now = Math.max(time.now, next.at);
        next.wake();
      }
    },
  };
  return time;
}

/** Numbers from 0 to 1 that look random and are the same in each run. */
export function fixedRandom(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
