// Faults on demand, as a client inside the process meets them.

import { beforeEach, describe, expect, test } from "vitest";
import { ConnectionLost } from "../../src/emulator/http/message.ts";
import { startEcho } from "./echo.ts";

const NOTE = "/api/2.0/test/note";
let service: ReturnType<typeof startEcho>;
beforeEach(() => {
  service = startEcho();
});

const faults = (...rules: object[]) => service.control("PUT", "faults", { rules });
const advance = (advance_ms: number) => service.control("POST", "clock", { advance_ms });
const texts = async () => (await service.notes()).map(([text]) => text);
const log = async () => (await service.control("GET", "requests")).body.requests;

describe("fates", () => {
  test("drop_before: the connection closes and nothing is done", async () => {
    await faults({ path: NOTE, fate: "drop_before", times: 1 });
    await expect(service.note("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await texts()).toEqual([]);
    expect((await service.note("b")).status).toBe(200);
  });

  test("drop_after: the request is done, then the connection closes", async () => {
    await faults({ path: NOTE, fate: "drop_after" });
    await expect(service.note("a")).rejects.toBeInstanceOf(ConnectionLost);
    expect(await texts()).toEqual(["a"]);
  });

  test("commit_late: the connection closes now, the request is done when the clock says so", async () => {
    await faults({ path: NOTE, fate: "commit_late", delay_ms: 100, times: 1 });
    await expect(service.note("late")).rejects.toBeInstanceOf(ConnectionLost);
    await service.note("early");
    await advance(99);
    expect(await texts()).toEqual(["early"]);
    await advance(1);
    expect(await texts()).toEqual(["early", "late"]);
  });

  test("commit_late: late requests and timers happen in the order of their times", async () => {
    await service.note("timer 50", 50);
    await service.note("timer 150", 150);
    await faults({ path: NOTE, fate: "commit_late", delay_ms: 100, times: 1 });
    await expect(service.note("late 100")).rejects.toBeInstanceOf(ConnectionLost);
    await advance(1000);
    expect(await texts()).toEqual(["timer 50", "late 100", "timer 150"]);
  });

  test("status: answers so, nothing done", async () => {
    await faults({
      path: NOTE,
      fate: "status",
      status: 429,
      error_code: "REQUEST_LIMIT_EXCEEDED",
      retry_after: 7,
      times: 1,
    });
    const answer = await service.note("a");
    expect(answer).toMatchObject({
      status: 429,
      body: { error_code: "REQUEST_LIMIT_EXCEEDED" },
      headers: { "retry-after": "7" },
    });
    expect(await texts()).toEqual([]);
  });

  test("status: without a code there is a fitting one, without a status it is 500", async () => {
    await faults(
      { path: NOTE, fate: "status", status: 503, times: 1 },
      { path: NOTE, fate: "status", times: 1 },
    );
    expect((await service.note("a")).body.error_code).toBe("TEMPORARILY_UNAVAILABLE");
    expect(await service.note("a")).toMatchObject({ status: 500, body: { error_code: "INTERNAL_ERROR" } });
  });

  test("status_after: done, then that answer", async () => {
    await faults({ path: NOTE, fate: "status_after", status: 502 });
    expect((await service.note("a")).status).toBe(502);
    expect(await texts()).toEqual(["a"]);
  });

  test("slow: the answer comes after a while", async () => {
    await faults({ path: NOTE, fate: "slow", delay_ms: 250 });
    expect((await service.note("a")).status).toBe(200);
    expect(service.slept).toEqual([250]);
  });

  test("rate: so many requests a second to one endpoint, the rest are refused with 429 and Retry-After", async () => {
    await faults({ path: "*", fate: "rate", per_second: 2 });
    const answers = [await service.note("a"), await service.note("b"), await service.note("c")];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers["retry-after"]).toBe("1");
    expect((await service.read("name=ab")).status).not.toBe(429);
    expect(await texts()).toEqual(["a", "b"]);
  });

  test("truncate: done, and the connection closes inside the answer", async () => {
    await faults({ path: NOTE, fate: "truncate" });
    await expect(service.note("a")).rejects.toMatchObject({ partial: { status: 200, body: "{}" } });
    expect(await texts()).toEqual(["a"]);
  });
});

describe("rules", () => {
  test("a rule passes `skip` matches by, then acts `times` times", async () => {
    await faults({ path: NOTE, fate: "status", status: 500, skip: 1, times: 2 });
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await service.note("a")).status);
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
  });

  test("without `times` a rule acts always, and not after DELETE", async () => {
    await faults({ path: NOTE, fate: "status", status: 500 });
    for (let i = 0; i < 3; i++) expect((await service.note("a")).status).toBe(500);
    await service.control("DELETE", "faults");
    expect((await service.note("a")).status).toBe(200);
  });

  test("a path is exact, or a prefix that ends in *; a method narrows it", async () => {
    await faults({ path: "/api/2.0/test/no*", method: "get", fate: "status", status: 500 });
    expect((await service.note("a")).status).toBe(200);
    expect((await service.send("GET", "/api/2.0/test/notes")).status).toBe(500);
    await faults({ path: "/api/2.0/test/no", fate: "status", status: 500 });
    expect((await service.send("GET", "/api/2.0/test/notes")).status).toBe(200);
  });

  test("a path matches without the query", async () => {
    await faults({ path: "/api/2.0/test/read", fate: "status", status: 500 });
    expect((await service.read("name=ab")).status).toBe(500);
  });

  test("of two rules that would act the first acts, and the second keeps its turn", async () => {
    await faults(
      { path: NOTE, fate: "status", status: 500, times: 1 },
      { path: NOTE, fate: "status", status: 503, times: 1 },
    );
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await service.note("a")).status);
    expect(statuses).toEqual([500, 503, 200]);
  });

  test("faults never touch control requests", async () => {
    await faults({ path: "*", fate: "drop_before" });
    expect((await service.control("GET", "faults")).body.rules).toHaveLength(1);
    await expect(service.note("a")).rejects.toBeInstanceOf(ConnectionLost);
  });

  test("a fault applies before credentials are checked", async () => {
    await faults({ path: NOTE, fate: "status", status: 503 });
    expect((await service.send("POST", NOTE, "{}", { authorization: "Bearer nosuch" })).status).toBe(503);
  });

  test.each([
    {},
    { rules: {} },
    { rules: [1] },
    { rules: [{ path: NOTE }] },
    { rules: [{ fate: "slow" }] },
    { rules: [{ path: NOTE, fate: "explode" }] },
    { rules: [{ path: NOTE, fate: "slow", times: -1 }] },
    { rules: [{ path: NOTE, fate: "slow", delay_ms: "9" }] },
    { rules: [{ path: NOTE, fate: "rate" }] },
  ])("%j is refused, and the rules before it stay", async (body) => {
    await faults({ path: NOTE, fate: "status", status: 500 });
    expect(await service.control("PUT", "faults", body)).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_PARAMETER_VALUE" },
    });
    expect((await service.note("a")).status).toBe(500);
  });
});

test("the request log notes what the client met: 0 where the connection closed", async () => {
  for (const fate of [
    "drop_before",
    "drop_after",
    "commit_late",
    "truncate",
    "status",
    "status_after",
    "slow",
  ]) {
    await faults({ path: NOTE, fate, status: 500, times: 1 });
    await service.note("a").catch(() => undefined);
  }
  expect((await log()).map((entry: { status: number }) => entry.status)).toEqual([0, 0, 0, 0, 500, 500, 200]);
});
