// The time limit of all reads of a plan, on a clock that the test moves.

import { expect, test } from "vitest";
import { ReadTimeLimit } from "../../../src/api/retry/read-time-limit.ts";
import { failureOf } from "../../../src/core/diagnostic.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { thrown } from "../answers.ts";

function limitOf(ms: number) {
  let now = 0;
  const timers: { readonly due: number; readonly end: () => void }[] = [];
  const limit = new ReadTimeLimit({
    ms,
    elapsed: () => now,
    sleep: (wait, signal) =>
      new Promise((resolve) => {
        timers.push({ due: now + wait, end: resolve });
        signal.addEventListener("abort", () => resolve());
      }),
  });
  const pass = async (time: number): Promise<void> => {
    now += time;
    for (const { due, end } of timers) if (due <= now) end();
    await Promise.resolve();
  };
  return { limit, pass };
}

const read = (attempts = 1, lastStatus = 0, path = "/api/2.0/jobs/list?limit=1") => ({
  prepared: { method: "GET", path },
  attempts,
  lastStatus,
});
const never = (): Promise<never> => new Promise<never>(() => undefined);
const message = (failure: unknown): string => String((failure as Error).message);

test("a read that has no answer in time ends planning and is named with its attempts and last status", async () => {
  const { limit, pass } = limitOf(120_000);
  const planning = thrown(limit.during(() => limit.read(read(7, 429), never)));
  await pass(119_999);
  await pass(1);
  expect(await planning).toMatchObject({
    diagnostics: [
      {
        code: "API_TIMEOUT",
        message:
          "the workspace was not read within 2 min 0 s: GET /api/2.0/jobs/list (7 attempts, last status 429)",
        hint: "try again later, or allow more time with --read-timeout",
        cause: "0 earlier reads were answered",
      },
    ],
  });
});

test("of several reads, the one with the most attempts is named", async () => {
  const { limit, pass } = limitOf(1_000);
  const planning = thrown(
    limit.during(() =>
      Promise.all([
        limit.read(read(1, 0, "/first"), never),
        limit.read(read(3, 503, "/busy"), never),
        limit.read(read(2, 500, "/last"), never),
      ]),
    ),
  );
  await pass(1_000);
  expect(message(await planning)).toContain("GET /busy (3 attempts, last status 503)");
});

test("a plan that ignores the failure of the read fails, and sends no other read", async () => {
  const { limit, pass } = limitOf(1_000);
  let sent = 0;
  const planning = thrown(
    limit.during(async () => {
      const cut = await thrown(limit.read(read(1), never));
      expect(cut).toBeInstanceOf(Refused);
      await thrown(limit.read(read(0, 0, "/next"), async () => (sent += 1)));
      throw failureOf("CLI_FILE", "another failure");
    }),
  );
  await pass(1_000);
  expect(message(await planning)).toContain("GET /api/2.0/jobs/list (1 attempt, no answer)");
  expect(sent).toBe(0);
});

test("a read that would begin after the limit is named as not sent", async () => {
  const { limit, pass } = limitOf(1_000);
  const planning = thrown(
    limit.during(async () => {
      await limit.read(read(1), async () => "answer");
      await pass(1_000);
      return limit.read(read(0), never);
    }),
  );
  expect(await planning).toMatchObject({
    diagnostics: [
      {
        message: expect.stringContaining("GET /api/2.0/jobs/list (not sent)"),
        cause: "1 earlier read was answered",
      },
    ],
  });
});

test("time between two parts of planning does not count, and the time of both parts does", async () => {
  const { limit, pass } = limitOf(1_000);
  await limit.during(() => pass(600));
  await pass(10_000);
  let ended = false;
  const second = thrown(limit.during(() => limit.read(read(), never))).then((failure) => {
    ended = true;
    return failure;
  });
  await pass(399);
  expect(ended).toBe(false);
  await pass(1);
  expect(message(await second)).toContain("API_TIMEOUT");
});

test("a read that began before planning ends at the limit, and one after it does not", async () => {
  const { limit, pass } = limitOf(1_000);
  const early = thrown(limit.read(read(), never));
  const planning = thrown(limit.during(() => early));
  await pass(1_000);
  expect(await early).toBeInstanceOf(Refused);
  expect(message(await planning)).toContain("API_TIMEOUT");
  expect(await limit.read(read(), async () => "released")).toBe("released");
});

test("a plan that needs more time for its own work does not fail", async () => {
  const { limit, pass } = limitOf(1_000);
  expect(await limit.during(async () => pass(5_000).then(() => "plan"))).toBe("plan");
});

test("a failure before the limit does not change", async () => {
  const { limit } = limitOf(1_000);
  const failure = failureOf("CLI_FILE", "no such file");
  expect(await thrown(limit.during(() => Promise.reject(failure)))).toBe(failure);
});
