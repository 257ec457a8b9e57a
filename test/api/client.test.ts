// The client over a scripted transport: what it repeats, how long it waits, and how each request ends.

import { expect, test, vi } from "vitest";
import { type ClientOptions, createClient } from "../../src/api/client.ts";
import type { RequestEvent } from "../../src/api/retry/send.ts";
import { Refused, UnknownOutcome } from "../../src/core/request-failure.ts";
import { Sensitive } from "../../src/core/sensitive/texts.ts";
import { apiError, json, raw, refused, reset, scimError, thrown, timedOut } from "./answers.ts";
import { HOST, type Line, scripted, TOKEN } from "./scripted.ts";

const ok = json({});
const throttledForAMinute = apiError(429, "X", "", { "retry-after": "60" });
const list = (lines: readonly Line[], options?: Partial<ClientOptions>) => {
  const script = scripted(lines, options);
  return { ...script, result: script.client.reader.read("clusters/list") };
};
const create = (lines: readonly Line[]) => {
  const script = scripted(lines);
  return { ...script, result: script.client.writer.write("clusters/create", { cluster_name: "a" }) };
};
const edit = (lines: readonly Line[]) => {
  const script = scripted(lines);
  return { ...script, result: script.client.writer.write("clusters/edit", { cluster_id: "1" }) };
};

test("a reader has no way to write", () => {
  expect(Object.keys(scripted([ok]).client.reader)).toEqual(["read"]);
});

test("a request has the bearer token, the accepted media type, and its timeout", async () => {
  const { sent, result } = list([json({ clusters: [] })]);
  expect(await result).toEqual({ clusters: [] });
  expect(sent).toEqual([
    {
      method: "GET",
      origin: HOST,
      path: "/api/2.0/clusters/list",
      headers: { authorization: `Bearer ${TOKEN}`, accept: "application/json", "user-agent": "workspace" },
      timeoutMs: 60_000,
    },
  ]);
});

test("Basic authentication sends the user token", async () => {
  const { sent, result } = list([ok], { auth: "basic" });
  await result;
  expect(sent[0]?.headers.authorization).toBe(`Basic ${btoa(`token:${TOKEN}`)}`);
});

test("SCIM calls carry SCIM's content type, under the host's base path", async () => {
  const { client, sent } = scripted([json({}, 201)], { host: "https://gw.example.com/ws" });
  await client.writer.write("scim/users/create", { userName: "a" });
  expect(sent[0]).toMatchObject({
    origin: "https://gw.example.com",
    path: "/ws/api/2.0/preview/scim/v2/Users",
    headers: { accept: "application/scim+json", "content-type": "application/scim+json" },
    body: '{"userName":"a"}',
  });
});

test("429 is repeated after the seconds that Retry-After names, also for a create", async () => {
  const { result, sent, time } = create([
    apiError(429, "REQUEST_LIMIT_EXCEEDED", "", { "retry-after": "7" }),
    ok,
  ]);
  expect(await result).toEqual({});
  expect(sent).toHaveLength(2);
  expect(time.waits[0]).toBe(7_000);
});

test("429 is repeated after the date that Retry-After names", async () => {
  const { result, time } = create([
    apiError(429, "REQUEST_LIMIT_EXCEEDED", "", { "retry-after": "Sun, 01 Mar 2020 00:00:12 GMT" }),
    ok,
  ]);
  await result;
  expect(time.waits[0]).toBe(12_000);
});

test("a 429 that never ends is a refusal that says so, with no effect", async () => {
  const { result } = create([apiError(429, "REQUEST_LIMIT_EXCEEDED", "slow down", { "retry-after": "60" })]);
  const problem = await thrown(result);
  expect(problem).toBeInstanceOf(Refused);
  expect(problem).toMatchObject({
    status: 429,
    code: "REQUEST_LIMIT_EXCEEDED",
    diagnostic: {
      message:
        "clusters/create was refused: too many requests (429 REQUEST_LIMIT_EXCEEDED), 11 attempts in 600 s",
      cause: "slow down",
    },
  });
});

test("while one request waits for Retry-After, no other is sent to its endpoint, and others are sent at once", async () => {
  const sleepers: (() => void)[] = [];
  let now = 0;
  const { client, sent } = scripted([apiError(429, "X", "", { "retry-after": "30" }), ok], {
    clock: () => now,
    sleep: () => new Promise((wake) => sleepers.push(wake)),
  });
  const both = [client.reader.read("clusters/list")];
  await vi.waitFor(() => expect(sleepers).toHaveLength(1));
  both.push(client.reader.read("clusters/list"));
  await vi.waitFor(() => expect(sleepers).toHaveLength(2));
  expect(sent).toHaveLength(1);
  await client.reader.read("jobs/list");
  expect(sent).toHaveLength(2);
  now = 32_000;
  for (const wake of sleepers) wake();
  await vi.waitFor(() => expect(sleepers.length).toBeGreaterThan(2));
  now = 34_000;
  for (const wake of sleepers) wake();
  await Promise.all(both);
  expect(sent).toHaveLength(4);
});

test.each([400, 403, 404, 409, 413, 422])("%i is never repeated", async (status) => {
  for (const attempt of [list, create, edit]) {
    const { result, sent } = attempt([apiError(status, "SOME_CODE", "some words")]);
    expect(await thrown(result)).toMatchObject({
      status,
      code: "SOME_CODE",
      diagnostic: { cause: "some words" },
    });
    expect(sent).toHaveLength(1);
  }
});

test.each([500, 502, 504])("%i is repeated for reads and safe writes", async (status) => {
  for (const attempt of [list, edit]) {
    const { result, sent } = attempt([apiError(status, "INTERNAL_ERROR"), raw(status, "<html>"), ok]);
    expect(await result).toEqual({});
    expect(sent).toHaveLength(3);
  }
});

test.each([500, 502, 503, 504])(
  "after %i a create is sent once and its outcome is unknown",
  async (status) => {
    const { result, sent } = create([apiError(status, "INTERNAL_ERROR", "oops"), ok]);
    const problem = await thrown(result);
    expect(problem).toBeInstanceOf(UnknownOutcome);
    expect(problem).toMatchObject({
      diagnostic: {
        code: "API_UNKNOWN_OUTCOME",
        message: "the outcome of clusters/create is unknown",
        cause: `clusters/create failed in the service (${status} INTERNAL_ERROR): oops`,
      },
    });
    expect(sent).toHaveLength(1);
  },
);

test("a service that is always failing ends a read as refused and a safe write as unknown, after two minutes", async () => {
  const reading = list([apiError(500, "INTERNAL_ERROR")]);
  expect(await thrown(reading.result)).toBeInstanceOf(Refused);
  const editing = edit([apiError(500, "INTERNAL_ERROR")]);
  expect(await thrown(editing.result)).toBeInstanceOf(UnknownOutcome);
  for (const { time, sent } of [reading, editing]) {
    expect(time.clock() - Date.UTC(2020, 2, 1)).toBeLessThanOrEqual(120_000);
    expect(sent.length).toBeGreaterThan(5);
  }
});

test("B4.2 rule 11: jobs/list waits 30 s after each 5xx and gives up after ten minutes", async () => {
  const { client, sent, time } = scripted([apiError(500, "INTERNAL_ERROR")]);
  await thrown(client.reader.read("jobs/list"));
  expect(sent).toHaveLength(21);
  expect(time.waits.every((wait) => wait === 30_000)).toBe(true);
});

test("B4.2 rule 11: a jobs/reset is repeated, a jobs/create is not", async () => {
  const reset = scripted([apiError(500, "INTERNAL_ERROR"), ok]);
  await reset.client.writer.write("jobs/reset", { job_id: 1, new_settings: {} });
  expect(reset.time.waits).toEqual([30_000]);
  const made = scripted([apiError(500, "INTERNAL_ERROR"), ok]);
  expect(await thrown(made.client.writer.write("jobs/create", { name: "a" }))).toBeInstanceOf(UnknownOutcome);
  expect(made.sent).toHaveLength(1);
});

test("reads and safe writes are retried after a reset or a timeout, creates never", async () => {
  for (const fault of [reset(), timedOut()]) {
    for (const attempt of [list, edit]) expect(await attempt([fault, ok]).result).toEqual({});
    const { result, sent } = create([fault, ok]);
    expect(await thrown(result)).toBeInstanceOf(UnknownOutcome);
    expect(sent).toHaveLength(1);
  }
});

test("a create that was never sent is tried again, and refused with certainty when it never can be", async () => {
  expect(await create([refused(), ok]).result).toEqual({});
  const problem = await thrown(create([refused()]).result);
  expect(problem).toBeInstanceOf(Refused);
  expect(problem).toMatchObject({
    status: 0,
    diagnostic: { code: "API_UNREACHABLE", hint: expect.any(String) },
  });
});

test("an unreachable host fails within seconds; a host that answered before is retried for two minutes", async () => {
  const never = list([refused()]);
  await thrown(never.result);
  expect(never.time.clock() - Date.UTC(2020, 2, 1)).toBeLessThan(3_001);
  const gone = scripted([ok, refused()]);
  await gone.client.reader.read("clusters/list");
  await thrown(gone.client.reader.read("clusters/list"));
  expect(gone.time.clock() - Date.UTC(2020, 2, 1)).toBeGreaterThan(60_000);
});

test("a refusal does not prove that an attempt before it did nothing", async () => {
  const { result } = edit([reset(), apiError(403, "PERMISSION_DENIED", "no")]);
  const problem = await thrown(result);
  expect(problem).toBeInstanceOf(UnknownOutcome);
  expect(problem).toMatchObject({
    diagnostic: {
      cause: "clusters/edit is not allowed for this caller (403 PERMISSION_DENIED), 2 attempts in 0 s: no",
    },
  });
});

test("a delete whose retry finds nothing reports the object as missing", async () => {
  const { client } = scripted([reset(), apiError(404, "RESOURCE_DOES_NOT_EXIST", "Scope a does not exist!")]);
  const problem = await thrown(client.writer.write("secrets/scopes/delete", { scope: "a" }));
  expect(problem).toBeInstanceOf(Refused);
  expect(problem).toMatchObject({ code: "RESOURCE_DOES_NOT_EXIST" });
});

test.each([
  ["cut off", raw(200, '{"clusters":[{"clus')],
  ["empty", raw(200, "")],
  ["of another type", raw(200, "[]")],
])(
  "a body that is %s is fetched again by reads, leaves a create unknown, and ends as a broken promise",
  async (_what, bad) => {
    expect(await list([bad, ok]).result).toEqual({});
    expect(await thrown(create([bad, ok]).result)).toBeInstanceOf(UnknownOutcome);
    const always = list([bad]);
    expect(await thrown(always.result)).toMatchObject({ diagnostic: { code: "API_PROTOCOL" } });
    expect(always.sent).toHaveLength(4);
  },
);

test("HTML with status 200 is not an answer: a read is refused, a write has an unknown outcome", async () => {
  const page = raw(200, "<html>Sign in</html>");
  expect(await thrown(list([page]).result)).toMatchObject({
    diagnostic: { code: "API_PROTOCOL", message: "clusters/list was answered 200 with a body that is HTML" },
  });
  for (const attempt of [create, edit]) {
    const { result, sent } = attempt([page]);
    expect(await thrown(result)).toBeInstanceOf(UnknownOutcome);
    expect(sent).toHaveLength(1);
  }
});

test("401 and an invalid token under 403 mean that the token is not accepted", async () => {
  for (const answer of [
    apiError(401, 401, "Credential was not sent"),
    apiError(403, 403, "Invalid access token."),
    raw(403, "<html><title>Error 403 Invalid access token.</title></html>"),
  ])
    expect(await thrown(list([answer]).result)).toMatchObject({
      diagnostic: { code: "API_UNAUTHENTICATED", hint: expect.stringContaining("WORKSPACE_TOKEN") },
    });
});

test("403 means that the caller lacks a right", async () => {
  expect(await thrown(list([apiError(403, "PERMISSION_DENIED", "Only admins")]).result)).toMatchObject({
    status: 403,
    diagnostic: {
      code: "API_FORBIDDEN",
      cause: "Only admins",
      hint: expect.stringContaining("administrator"),
    },
  });
});

test("a SCIM refusal carries its scimType and its detail", async () => {
  expect(
    await thrown(create([scimError(409, "User with username a already exists.", "uniqueness")]).result),
  ).toMatchObject({
    status: 409,
    code: "uniqueness",
    diagnostic: { code: "API_REFUSED", cause: "User with username a already exists." },
  });
});

test("a 404 that is not this API's own says that the host may be wrong", async () => {
  for (const answer of [raw(404, "<html>nginx</html>"), apiError(404, "ENDPOINT_NOT_FOUND")])
    expect(await thrown(list([answer]).result)).toMatchObject({
      status: 404,
      diagnostic: { code: "API_PROTOCOL" },
    });
});

test("a redirect to another host is refused and the token is not sent there", async () => {
  for (const location of [
    "https://evil.example.com/api",
    "//evil.example.com/",
    "http://ws.example.com/api",
  ]) {
    const { result, sent } = list([raw(302, "", { location }), ok]);
    expect(await thrown(result)).toMatchObject({
      diagnostic: { code: "API_REDIRECT", cause: `Location: ${location}` },
    });
    expect(sent).toHaveLength(1);
  }
});

test("a read follows a redirect inside its host, three times at most", async () => {
  const { result, sent } = list([raw(307, "", { location: "/api/2.0/clusters/list?x=1" }), ok]);
  expect(await result).toEqual({});
  expect(sent[1]).toMatchObject({ origin: HOST, path: "/api/2.0/clusters/list?x=1" });
  const loop = list([raw(302, "", { location: "/a" })]);
  expect(await thrown(loop.result)).toMatchObject({ diagnostic: { code: "API_REDIRECT" } });
  expect(loop.sent).toHaveLength(4);
});

test("a write follows no redirect: 307 refuses it, 303 leaves it unknown", async () => {
  const moved = create([raw(307, "", { location: "/elsewhere" }), ok]);
  expect(await thrown(moved.result)).toBeInstanceOf(Refused);
  expect(moved.sent).toHaveLength(1);
  expect(await thrown(create([raw(303, "", { location: "/done" })]).result)).toBeInstanceOf(UnknownOutcome);
});

test("neither the token nor a secret is in any error, whatever the service repeats", async () => {
  const secret = new Sensitive(new TextEncoder().encode("canary-5eb"));
  const echo = apiError(
    400,
    "INVALID_PARAMETER_VALUE",
    `bad value ${btoa("canary-5eb")} from Bearer ${TOKEN}`,
  );
  const { client } = scripted([echo]);
  const problem = await thrown(
    client.writer.write("secrets/put", { scope: "a", key: "b", bytes_value: secret }),
  );
  const all = JSON.stringify([problem, String(problem), (problem as Refused).diagnostic]);
  expect(all).toContain("(withheld");
  expect(all).not.toContain(TOKEN);
  expect(all).not.toContain(btoa("canary-5eb").slice(0, 10));
  const plain = await thrown(
    scripted([apiError(400, "X", `from Bearer ${TOKEN}`)]).client.reader.read("jobs/list"),
  );
  expect((plain as Refused).diagnostic.cause).toBe("from Bearer (token)");
});

test("the log tells each attempt without its query, input or headers", async () => {
  const events: RequestEvent[] = [];
  const { client } = scripted([reset(), json({}, 201)], { log: (event) => events.push(event) });
  await client.reader.read("secrets/list", { scope: "etl" });
  expect(events).toEqual([
    {
      operation: "secrets/list",
      method: "GET",
      path: "/api/2.0/secrets/list",
      attempt: 1,
      status: 0,
      ms: 0,
      waitMs: 250,
    },
    {
      operation: "secrets/list",
      method: "GET",
      path: "/api/2.0/secrets/list",
      attempt: 2,
      status: 200,
      ms: 0,
    },
  ]);
});

test("a clock that stands still or is set back does not make the retries endless", async () => {
  for (const answer of [apiError(500, "X"), throttledForAMinute]) {
    let now = 1_000_000;
    const { client } = scripted([answer], { clock: () => (now -= 10), sleep: async () => undefined });
    expect(await thrown(client.reader.read("clusters/list"))).toBeInstanceOf(Refused);
  }
});

test("once waiting is called off, a failing request ends instead of being repeated", async () => {
  const stop = new AbortController();
  const { client, sent } = scripted([apiError(500, "X"), ok], {
    signal: stop.signal,
    sleep: async () => stop.abort(),
  });
  expect(await thrown(client.reader.read("jobs/list"))).toMatchObject({ status: 500 });
  expect(sent).toHaveLength(1);
  expect(await client.reader.read("jobs/list")).toEqual({});
});

test("a host or a token that can never work is refused before anything is sent", () => {
  const options = {
    transport: async () => ok,
    clock: () => 0,
    sleep: async () => undefined,
    random: () => 0,
  };
  expect(() => createClient({ ...options, host: "ftp://x", token: "t" })).toThrow("API_UNREACHABLE");
  expect(() => createClient({ ...options, host: HOST, token: "" })).toThrow("API_UNAUTHENTICATED");
});

test("a write without permission to send is neither sent nor retried", async () => {
  const gone = new Error("the lock is lost");
  const never = scripted([ok]);
  const withheld = never.client.writer.write("clusters/edit", { cluster_id: "1" }, () => {
    throw gone;
  });
  expect(await thrown(withheld)).toBe(gone);
  expect(never.sent).toEqual([]);

  let asked = 0;
  const once = (line: Line) => {
    asked = 0;
    const script = scripted([line, ok]);
    const permit = () => {
      asked += 1;
      if (asked > 1) throw gone;
    };
    return { ...script, result: script.client.writer.write("clusters/edit", { cluster_id: "1" }, permit) };
  };
  const lost = once(reset());
  expect(await thrown(lost.result)).toBeInstanceOf(UnknownOutcome);
  expect(lost.sent).toHaveLength(1);
  const throttled = once(apiError(429, "X", ""));
  expect(await thrown(throttled.result)).toBe(gone);
  expect(throttled.sent).toHaveLength(1);
});
