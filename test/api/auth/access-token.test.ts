// Renewal of tokens: ahead of their end, once for all who wait, and after a refusal.

import { beforeEach, describe, expect, test } from "vitest";
import { type AccessToken, renewedToken } from "../../../src/api/auth/token-request.ts";
import { refusedWith } from "../../../src/core/request-failure.ts";

let now = 0;
let fetched: number;
let next: () => Promise<AccessToken>;
beforeEach(() => {
  now = 0;
  fetched = 0;
  next = async () => ({ value: `t${fetched}`, expiresAt: now + 60_000 });
});

const token = (aheadMs = 10_000) =>
  renewedToken({
    clock: () => now,
    aheadMs,
    fetch: () => {
      fetched += 1;
      return next();
    },
  });

describe("a renewed token", () => {
  test("is fetched at its first use and kept until shortly before its end", async () => {
    const one = token();
    expect(fetched).toBe(0);
    expect(await one.current()).toBe("t1");
    now = 49_999;
    expect(await one.current()).toBe("t1");
    now = 50_000;
    expect(await one.current()).toBe("t2");
  });

  test("is renewed after half of its life if it lives shorter than that", async () => {
    next = async () => ({ value: `t${fetched}`, expiresAt: now + 4_000 });
    const one = token();
    await one.current();
    now = 1_999;
    expect(await one.current()).toBe("t1");
    now = 2_000;
    expect(await one.current()).toBe("t2");
  });

  test("is fetched once for requests that wait together", async () => {
    const one = token();
    expect(await Promise.all([one.current(), one.current(), one.current()])).toEqual(["t1", "t1", "t1"]);
    expect(fetched).toBe(1);
  });

  test("is replaced once however many requests were refused with it", async () => {
    const one = token();
    await one.current();
    await Promise.all([one.replace("t1"), one.replace("t1"), one.replace("t1")]);
    await one.replace("t1");
    expect(await one.current()).toBe("t2");
    expect(fetched).toBe(2);
  });

  test("serves until its end while no new one can be had, and not after it", async () => {
    const one = token();
    await one.current();
    next = async () => {
      throw new Error("down");
    };
    now = 55_000;
    expect(await one.current()).toBe("t1");
    now = 60_000;
    await expect(one.current()).rejects.toThrow("down");
  });

  test.each([
    [401, 1],
    [403, 1],
    [500, 2],
  ])("whose first sign-in is refused with %d is fetched %d times in two requests", async (status, times) => {
    const one = token();
    next = async () => {
      throw refusedWith(status, "API_UNAUTHENTICATED", "no", {});
    };
    for (let at = 0; at < 2; at++) await expect(one.current()).rejects.toThrow("no");
    expect(fetched).toBe(times);
  });

  test("is fetched again after a later sign-in was refused", async () => {
    const one = token();
    await one.current();
    const good = next;
    next = async () => {
      throw refusedWith(401, "API_UNAUTHENTICATED", "no", {});
    };
    await expect(one.replace("t1")).rejects.toThrow("no");
    next = good;
    expect(await one.current()).toBe("t3");
  });

  test("is fetched again after a failure", async () => {
    const one = token();
    const good = next;
    next = async () => {
      throw new Error("down");
    };
    await expect(one.current()).rejects.toThrow("down");
    next = good;
    expect(await one.current()).toBe("t2");
  });
});
