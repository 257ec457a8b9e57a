import fc from "fast-check";
import { expect, test } from "vitest";
import type { TransportFailureReason } from "../../../src/api/http/transport-failure.ts";
import {
  decideRetry,
  type FailedAttempt,
  mayHaveActed,
  type RetrySituation,
} from "../../../src/api/retry/retry-policy.ts";
import { sampleOf } from "../../sample-size.ts";

const failed = (status: number, code = "", retryAfterMs?: number): FailedAttempt => ({
  end: "error",
  status,
  form: "api",
  code,
  message: "",
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const broken = (why: TransportFailureReason, sent = true): FailedAttempt => ({
  end: "broken",
  broken: { why, sent, text: "" },
});
const situation = (bad: FailedAttempt, over: Partial<RetrySituation> = {}): RetrySituation => ({
  bad,
  attempts: 1,
  elapsedMs: 0,
  repeatable: true,
  jobs: false,
  contacted: true,
  random: 0,
  ...over,
});
const waitOf = (bad: FailedAttempt, over: Partial<RetrySituation> = {}): number | "give up" => {
  const decision = decideRetry(situation(bad, over));
  return decision === "give up" ? decision : decision.waitMs;
};

test("no 4xx but 429 is ever repeated", () => {
  for (let status = 400; status < 500; status++)
    if (status !== 429) expect(waitOf(failed(status, "INVALID_STATE", 1_000)), `${status}`).toBe("give up");
});

test("429 is repeated even for a write that must not act twice, and all requests wait", () => {
  const refused = failed(429, "REQUEST_LIMIT_EXCEEDED", 7_000);
  expect(decideRetry(situation(refused, { repeatable: false, random: 0.5 }))).toEqual({
    waitMs: 7_350,
    holdMs: 7_000,
  });
});

test("without Retry-After, 429 backs off, and all requests wait as long", () => {
  const refused = (attempts: number, random = 0) => decideRetry(situation(failed(429), { attempts, random }));
  expect(refused(1)).toEqual({ waitMs: 250, holdMs: 250 });
  expect(refused(4)).toEqual({ waitMs: 2_000, holdMs: 2_000 });
  expect(refused(4, 0.5)).toEqual({ waitMs: 3_000, holdMs: 3_000 });
});

test("Retry-After is waited for in full, and at most a tenth longer", () => {
  expect(waitOf(failed(429, "", 20_000))).toBe(20_000);
  expect(waitOf(failed(429, "", 20_000), { random: 0.5 })).toBe(21_000);
  expect(waitOf(failed(503, "", 20_000))).toBe(20_000);
});

test("a Retry-After of more than five minutes counts as five", () => {
  expect(waitOf(failed(429, "", 86_400_000))).toBe(300_000);
});

test("a Retry-After of nothing still waits a quarter of a second", () => {
  expect(waitOf(failed(429, "", 0))).toBe(250);
});

test("a 5xx with a Retry-After of nothing is repeated with the usual back-off", () => {
  for (const attempts of [1, 4, 7])
    expect(waitOf(failed(503, "", 0), { attempts })).toBe(waitOf(failed(503), { attempts }));
  expect(waitOf(failed(503, "", 0))).toBe(250);
  expect(waitOf(failed(503, "", 500), { attempts: 7 })).toBe(500);
  expect(waitOf(failed(503, "", 1_000), { attempts: 7 })).toBe(1_000);
});

test("429 is given up after ten minutes", () => {
  expect(waitOf(failed(429, "", 30_000), { elapsedMs: 570_000 })).toBe(30_000);
  expect(waitOf(failed(429, "", 30_000), { elapsedMs: 570_001 })).toBe("give up");
});

test("B4.2 rule 11: 5xx of the jobs endpoints are repeated at least 30 s apart, for at most ten minutes", () => {
  const jobs = { jobs: true };
  expect(waitOf(failed(500), jobs)).toBe(30_000);
  expect(waitOf(failed(503, "", 45_000), jobs)).toBe(45_000);
  expect(waitOf(failed(500), { ...jobs, elapsedMs: 570_000 })).toBe(30_000);
  expect(waitOf(failed(500), { ...jobs, elapsedMs: 570_001 })).toBe("give up");
});

test("B4.2 rule 11 does not make a jobs/create safe: its 5xx ends in an unknown outcome at once", () => {
  expect(waitOf(failed(500), { jobs: true, repeatable: false })).toBe("give up");
});

test("other 5xx are repeated for at most two minutes", () => {
  expect(waitOf(failed(502))).toBe(250);
  expect(waitOf(failed(502), { elapsedMs: 119_750 })).toBe(250);
  expect(waitOf(failed(502), { elapsedMs: 119_751 })).toBe("give up");
});

test("501 is final, because the service does not implement the operation", () => {
  expect(waitOf(failed(501))).toBe("give up");
  expect(mayHaveActed(failed(501))).toBe(false);
});

test("a 503 proves that nothing was done only in the service's own words", () => {
  expect(waitOf(failed(503, "TEMPORARILY_UNAVAILABLE"), { repeatable: false })).toBe(250);
  expect(waitOf(failed(503, "PARTIAL_DELETE"), { repeatable: false })).toBe("give up");
  expect(waitOf(failed(503), { repeatable: false })).toBe("give up");
});

test.each<[FailedAttempt, boolean]>([
  [failed(429), false],
  [failed(499), false],
  [failed(500), true],
  [failed(500, "TEMPORARILY_UNAVAILABLE"), true],
  [broken("lost", true), true],
  [broken("refused", false), false],
  [{ end: "redirect", status: 303, location: "" }, true],
  [{ end: "redirect", status: 302, location: "" }, false],
  [{ end: "garbled", status: 200, what: "empty" }, true],
])("%o may have acted: %s", (bad, expected) => {
  expect(mayHaveActed(bad)).toBe(expected);
});

test("an unsafe write is repeated after a break only if no byte was sent", () => {
  expect(waitOf(broken("refused", false), { repeatable: false })).toBe(250);
  expect(waitOf(broken("lost"), { repeatable: false })).toBe("give up");
  expect(waitOf(broken("timeout"), { repeatable: false })).toBe("give up");
});

test("a host that never answered is given up within seconds, one that did is waited for", () => {
  for (const why of ["refused", "proxy"] as const) {
    expect(waitOf(broken(why, false), { contacted: false, elapsedMs: 2_750 })).toBe(250);
    expect(waitOf(broken(why, false), { contacted: false, elapsedMs: 2_751 })).toBe("give up");
    expect(waitOf(broken(why, false), { contacted: true, elapsedMs: 3_000 })).toBe(250);
  }
  expect(waitOf(broken("unknown-host", false), { contacted: false })).toBe("give up");
  expect(waitOf(broken("unknown-host", false), { contacted: true })).toBe(250);
});

test("errors that a second attempt cannot avoid are not retried", () => {
  for (const why of ["no-files", "untrusted", "invalid", "protocol", "too-large"] as const)
    expect(waitOf(broken(why, false)), why).toBe("give up");
  expect(waitOf({ end: "redirect", status: 302, location: "/x" })).toBe("give up");
  expect(waitOf({ end: "garbled", status: 200, what: "HTML" })).toBe("give up");
  expect(waitOf({ end: "garbled", status: 200, what: "nested too deeply" })).toBe("give up");
  expect(waitOf({ end: "garbled", status: 200, what: "compressed" })).toBe("give up");
});

test("a body cut short is fetched again, three times", () => {
  const cut: FailedAttempt = { end: "garbled", status: 200, what: "not JSON" };
  expect(waitOf(cut, { attempts: 3 })).toBe(1_000);
  expect(waitOf(cut, { attempts: 4 })).toBe("give up");
  expect(waitOf(cut, { repeatable: false })).toBe("give up");
});

test("the back-off doubles, stays under half a minute, and is spread over its second half", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempts) => waitOf(failed(500), { attempts, random: 1 }));
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(waitOf(failed(500), { attempts: 4, random: 0 })).toBe(2_000);
});

const bads: fc.Arbitrary<FailedAttempt> = fc.oneof(
  fc
    .record({
      status: fc.integer({ min: 400, max: 599 }),
      wait: fc.option(fc.nat(10_000_000), { nil: undefined }),
    })
    .map(({ status, wait }) => failed(status, "", wait)),
  fc
    .constantFrom<TransportFailureReason>(
      "refused",
      "unknown-host",
      "timeout",
      "lost",
      "too-large",
      "protocol",
    )
    .map((why) => broken(why, why !== "refused" && why !== "unknown-host")),
  fc
    .constantFrom("empty" as const, "not JSON" as const, "HTML" as const)
    .map((what): FailedAttempt => ({ end: "garbled", status: 200, what })),
);
const situations = fc.record({
  bad: bads,
  attempts: fc.integer({ min: 1, max: 50 }),
  elapsedMs: fc.nat(1_000_000),
  repeatable: fc.boolean(),
  jobs: fc.boolean(),
  contacted: fc.boolean(),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
});

test("whatever happens: no write that may have acted is repeated unless it is safe, and all waiting ends", () => {
  fc.assert(
    fc.property(situations, (one) => {
      const decision = decideRetry(one);
      if (decision === "give up") return;
      expect(one.repeatable || !mayHaveActed(one.bad)).toBe(true);
      expect(decision.waitMs).toBeGreaterThan(0);
      expect(one.elapsedMs + decision.waitMs).toBeLessThanOrEqual(600_000);
    }),
    { seed: 11, numRuns: sampleOf(2_000) },
  );
});
