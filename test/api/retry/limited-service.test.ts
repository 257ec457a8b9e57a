// What a client gets out of a service with latency and limits, in virtual time.

import { describe, expect, test } from "vitest";
import { fixedRandom, type Limit, type Sent, simulate } from "./simulated-service.ts";

const steady = (latencyMs: number) => () => latencyMs;
const chains = (count: number, ...calls: readonly string[]) =>
  Array.from({ length: count }, () => ({ calls }));
const refusals = (sent: readonly Sent[], from = 0) =>
  sent.filter(({ served, at }) => !served && at >= from).length;

/** The most requests that begin in any `ms`. */
function most(sent: readonly Sent[], ms: number): number {
  return Math.max(0, ...sent.map((one) => sent.filter(({ at }) => at >= one.at && at < one.at + ms).length));
}

describe("requests to one endpoint", () => {
  test.each<[string, Limit, number, number]>([
    ["a window of 30 a second at 100 ms", { perSecond: 30 }, 100, 64],
    ["a token bucket of 30 a second at 100 ms", { perSecond: 30, bucket: 30 }, 100, 64],
    ["a token bucket of 20 a second at 400 ms", { perSecond: 20, bucket: 20 }, 400, 20],
    ["a token bucket of 200 a second at 20 ms", { perSecond: 200, bucket: 200 }, 20, 64],
  ])("get 0.9 of %s", async (_name, limit, latencyMs, parallelism) => {
    const count = limit.perSecond * 25;
    const { sent, ms } = await simulate({
      limits: { "jobs/create": () => limit },
      latency: steady(latencyMs),
      parallelism,
      chains: chains(count, "jobs/create"),
    });
    expect(count / (ms / 1_000)).toBeGreaterThanOrEqual(limit.perSecond * 0.9);
    expect(refusals(sent, 10_000)).toBeLessThanOrEqual(limit.bucket === undefined ? 0 : count / 100);
  });

  test.each<[string, Limit, number, number]>([
    ["without reserve", { perSecond: 30, bucket: 1 }, 64, 0.5],
    ["with a reserve of half a second", { perSecond: 200, bucket: 100 }, 64, 0.5],
    ["with a reserve of two seconds", { perSecond: 5, bucket: 10 }, 10, 0.8],
  ])("find the rate of a token bucket %s in time", async (_name, limit, parallelism, share) => {
    const count = limit.perSecond * 60;
    const { sent, ms } = await simulate({
      limits: { "jobs/create": () => limit },
      latency: steady(50),
      parallelism,
      chains: chains(count, "jobs/create"),
    });
    expect(count / (ms / 1_000)).toBeGreaterThanOrEqual(limit.perSecond * share);
    const last = sent.filter(({ served, at }) => served && at >= ms - 10_000);
    expect(last.length).toBeGreaterThanOrEqual(limit.perSecond * 10 * 0.6);
    expect(refusals(sent, ms / 2)).toBeLessThan(sent.length / 50);
  });

  test("are never sent in a burst after a pause", async () => {
    const later = chains(100, "jobs/create").map((chain) => ({ ...chain, from: 20_000 }));
    const { sent } = await simulate({
      limits: { "jobs/create": () => ({ perSecond: 30 }) },
      latency: steady(100),
      parallelism: 64,
      chains: [...chains(100, "jobs/create"), ...later],
    });
    const after = sent.filter(({ at }) => at >= 20_000);
    expect(after.length).toBe(100);
    expect(refusals(after)).toBe(0);
    expect(most(after, 100)).toBeLessThanOrEqual(4);
  });

  test("follow a limit that falls", async () => {
    const { sent, ms } = await simulate({
      limits: { "jobs/create": (now) => ({ perSecond: now < 10_000 ? 30 : 10 }) },
      latency: steady(100),
      parallelism: 64,
      chains: chains(600, "jobs/create"),
    });
    expect(refusals(sent, 20_000)).toBeLessThanOrEqual(2);
    expect(ms).toBeLessThan(48_000);
  });

  test("follow a limit that rises", async () => {
    const { sent } = await simulate({
      limits: { "jobs/create": (now) => ({ perSecond: now < 10_000 ? 10 : 1_000 }) },
      latency: steady(100),
      parallelism: 64,
      chains: chains(2_000, "jobs/create"),
    });
    const last = sent.filter(({ at }) => at > (sent.at(-1)?.at ?? 0) - 1_000);
    expect(last.length).toBeGreaterThan(30);
  });
});

describe("requests to several endpoints", () => {
  test("do not wait for an endpoint with a lower limit", async () => {
    const { sent } = await simulate({
      limits: { "users/create": () => ({ perSecond: 2 }) },
      latency: steady(100),
      parallelism: 10,
      chains: [...chains(40, "users/create"), ...chains(200, "secrets/put")],
    });
    const secrets = sent.filter(({ endpoint }) => endpoint === "secrets/put");
    // 200 requests at 10 at once and 100 ms each take 2 s.
    expect(secrets.at(-1)?.at).toBeLessThan(3_000);
  });

  test("get as much each where their limits are equal", async () => {
    const limit = () => ({ perSecond: 30 });
    const { sent } = await simulate({
      limits: { "users/create": limit, "jobs/create": limit, "secrets/put": limit },
      latency: steady(100),
      parallelism: 64,
      chains: [...chains(300, "users/create"), ...chains(300, "jobs/create"), ...chains(300, "secrets/put")],
    });
    const ends = ["users/create", "jobs/create", "secrets/put"].map(
      (name) => sent.findLast(({ endpoint }) => endpoint === name)?.at ?? 0,
    );
    expect(Math.max(...ends) / Math.min(...ends)).toBeLessThan(1.05);
  });

  test("that follow those of a limited endpoint in groups are hardly ever refused", async () => {
    const random = fixedRandom();
    const limit = () => ({ perSecond: 30 });
    const { sent, ms } = await simulate({
      limits: { "jobs/create": limit, "jobs/reset": limit },
      // Answers come in groups, as they do after a slow write to the disk.
      latency: () => 100 + Math.ceil(random() * 3) * 40,
      parallelism: 64,
      chains: chains(372, "jobs/create", "jobs/reset"),
    });
    expect(refusals(sent.filter(({ endpoint }) => endpoint === "jobs/reset"))).toBeLessThanOrEqual(3);
    // The last of 372 requests can begin after 12 s, and two requests of 100 ms end a job. The second endpoint waits once for its own Retry-After.
    expect(ms).toBeLessThan(1.1 * 12_200 + 1_000);
  });

  test("begin at once where fewer than the rate of a limited endpoint are needed", async () => {
    const limit = () => ({ perSecond: 30 });
    const last = chains(16, "secrets/list").map((chain) => ({ ...chain, from: 5_000 }));
    const { sent, ms } = await simulate({
      limits: { "jobs/create": limit, "secrets/list": limit },
      latency: steady(100),
      parallelism: 64,
      chains: [...chains(100, "jobs/create"), ...last],
    });
    expect(refusals(sent, 2_000)).toBe(0);
    expect(ms).toBe(5_100);
  });
});
