// What every request meets: authentication, routing, reading, validation, limits, and being undone when it fails.

import { beforeEach, describe, expect, test } from "vitest";
import { startEcho } from "./echo.ts";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "./harness.ts";

const ECHO = "/api/2.0/test/echo";

describe("authentication", () => {
  let w: TestWorld;
  beforeEach(async () => {
    w = await startWorld();
  });
  const ask = (authorization?: string) =>
    w.request({
      method: "GET",
      path: "/api/2.0/groups/list",
      headers: authorization === undefined ? {} : { authorization },
    });
  const missing = {
    status: 401,
    body: { error_code: 401, message: "Credential was not sent or was of an unsupported type for this API." },
  };
  const unknown = { status: 403, body: { error_code: 403, message: "Invalid access token." } };

  test("A5 rule 1, refusals: a call without credentials is refused with 401", async () => {
    expect(await ask()).toMatchObject(missing);
    expect(await ask("")).toMatchObject(missing);
    expect(await ask("Digest x")).toMatchObject(missing);
    expect(await ask("Bearer")).toMatchObject(missing);
  });

  test("A5 rule 1, refusals: an access token in bearer form is accepted, an unknown one refused with 403", async () => {
    expect((await ask(`Bearer ${ADMIN_TOKEN}`)).status).toBe(200);
    expect((await ask(`bearer ${ADMIN_TOKEN}`)).status).toBe(200);
    expect(await ask("Bearer nosuch")).toMatchObject(unknown);
  });

  test("A5 rule 2, B5 calls: HTTP Basic with the user `token` and the access token as password is accepted", async () => {
    expect((await ask(`Basic ${btoa(`token:${ADMIN_TOKEN}`)}`)).status).toBe(200);
    expect(await ask(`Basic ${btoa("token:nosuch")}`)).toMatchObject(unknown);
    expect(await ask(`Basic ${btoa(`admin:${ADMIN_TOKEN}`)}`)).toMatchObject(missing);
    expect(await ask("Basic %%%")).toMatchObject(missing);
  });

  test("A5 rule 1: credentials are checked before the endpoint is looked for", async () => {
    expect(await w.request({ method: "GET", path: "/api/2.0/no/such" })).toMatchObject(missing);
  });

  test("tokens are kept as digests only", async () => {
    const token = await w.user("bo@example.com");
    const kept = JSON.stringify(w.store.dump());
    expect(kept).not.toContain(token);
    expect(kept).not.toContain(ADMIN_TOKEN);
  });
});

describe("routing", () => {
  test("A9 paths, A7 other codes: an unknown endpoint is not found, named without its version", async () => {
    const { send } = startEcho();
    expect(await send("GET", "/api/2.0/clusters/get-delete")).toMatchObject({
      status: 404,
      body: { error_code: "ENDPOINT_NOT_FOUND", message: "No API found for 'GET /clusters/get-delete'" },
    });
  });

  test("A9 paths: another method of an endpoint is not found either", async () => {
    const { send } = startEcho();
    expect(await send("DELETE", ECHO)).toMatchObject({
      status: 404,
      body: { error_code: "ENDPOINT_NOT_FOUND" },
    });
    expect((await send("HEAD", ECHO)).status).toBe(404);
    expect((await send("BREW", ECHO)).status).toBe(404);
  });

  test("A9 paths: another version, or a place outside the API, is a bad target", async () => {
    const { send } = startEcho();
    expect(await send("GET", "/api/2.2/test/read")).toMatchObject({
      status: 404,
      body: { error: "Bad Target: /api/2.2/test/read" },
    });
    expect((await send("GET", "/")).status).toBe(404);
  });

  test("path parameters are decoded", async () => {
    const { send } = startEcho();
    expect((await send("GET", "/api/2.0/test/items/a%20b%2Fc")).body).toEqual({ id: "a b/c" });
  });

  test("an operation of openapi.yaml without an implementation answers 500", async () => {
    const { send } = startEcho();
    expect(await send("GET", "/api/2.0/test/none")).toMatchObject({
      status: 500,
      body: { error_code: "INTERNAL_ERROR" },
    });
  });
});

describe("reading", () => {
  test("A conventions: a body is a JSON object; anything else is MALFORMED_REQUEST", async () => {
    const { send } = startEcho();
    for (const body of ["{", "nul", "[]", "3", '"x"', "null", new Uint8Array([0x22, 0xff, 0x22])]) {
      expect(await send("POST", ECHO, body)).toMatchObject({
        status: 400,
        body: { error_code: "MALFORMED_REQUEST" },
      });
    }
  });

  test.each([
    ['{"name": s3cret}', "the body is not JSON"],
    ['{"name": "s3cret"', "the body is not JSON"],
    ["s3cret", "the body is not JSON"],
    [new Uint8Array([0x22, 0xff, 0x22]), "the body is not UTF-8 text"],
  ])("a body that cannot be read is refused without being quoted: %j", async (body, why) => {
    const { send } = startEcho();
    const { message } = (await send("POST", ECHO, body)).body;
    expect(message).toBe(`Could not parse request object: ${why}`);
    expect(message).not.toContain("s3c");
  });

  test.each(["\\ud800", "\\udc00\\ud800", "a\\uDFFF", "\\ud83d\\u0041"])(
    "an incomplete character (%s) is refused, as a name or as a value, at any depth",
    async (half) => {
      const { send } = startEcho();
      for (const body of [`{"name":"${half}"}`, `{"tags":{"${half}":"x"}}`, `{"x":[{"y":"${half}"}]}`]) {
        expect((await send("POST", ECHO, body)).body).toEqual({
          error_code: "MALFORMED_REQUEST",
          message:
            "Could not parse request object: the body holds half a character (a surrogate without its other half)",
        });
      }
    },
  );

  test("a whole character may be written in two escapes", async () => {
    const { send } = startEcho();
    expect((await send("POST", ECHO, '{"tags":{"a":"\\ud83d\\ude00 \\\\ud800"}}')).body).toEqual({
      input: { tags: { a: "😀 \\ud800" } },
    });
  });

  test("of a member that a body has twice, the last counts", async () => {
    const { send } = startEcho();
    expect((await send("POST", ECHO, '{"count":1,"count":2}')).body).toEqual({ input: { count: 2 } });
  });

  test("A conventions: an absent body is an empty object", async () => {
    const { send } = startEcho();
    expect((await send("POST", ECHO)).body).toEqual({ input: {} });
    expect((await send("POST", ECHO, "  ")).body).toEqual({ input: {} });
  });

  test("a body nested without end is refused, not a crash", async () => {
    const { send } = startEcho();
    const deep = `{"tags":${"[".repeat(900)}${"]".repeat(900)}}`;
    expect((await send("POST", ECHO, deep)).status).toBe(400);
    const w = await startWorld();
    const deeper = `{"group_name":${'{"a":'.repeat(400_000)}1${"}".repeat(400_000)}}`;
    expect((await w.post("groups/create", deeper)).status).toBe(400);
    expect((await w.get("groups/list")).status).toBe(200);
  });

  test("unknown fields of a request are ignored, whatever they are called", async () => {
    const { send } = startEcho();
    expect((await send("POST", ECHO, '{"name":"ab","nosuch":1,"__proto__":{"x":1}}')).status).toBe(200);
    expect((await send("GET", "/api/2.0/test/read?name=ab&nosuch=1&__proto__=1")).body).toEqual({
      input: { name: "ab" },
    });
  });

  test("A conventions: fields of a GET come from the query string, as the types of the contract", async () => {
    const { read } = startEcho();
    const { body } = await read("name=ab&count=-7&share=1.5&flag=true&kind=A&list=x");
    expect(body).toMatchObject({ error_code: "MALFORMED_REQUEST" });
    expect((await read("name=ab&count=-7&share=1.5&flag=false&kind=A")).body).toEqual({
      input: { name: "ab", count: -7, share: 1.5, flag: false, kind: "A" },
    });
  });

  test.each([
    "count=1.5",
    "count=x",
    "count=",
    "flag=1",
    "flag=True",
    "share=x",
    "name=ab&name=cd",
    "long=99999999999999999999",
  ])("A conventions: the query string %s is refused", async (query) => {
    const { read } = startEcho();
    expect(await read(query.includes("name") ? query : `name=ab&${query}`)).toMatchObject({
      status: 400,
      body: { error_code: "MALFORMED_REQUEST" },
    });
  });

  test("A conventions: a GET may carry the same fields as a JSON body", async () => {
    const { read } = startEcho();
    expect((await read("", '{"name":"ab","count":3}')).body).toEqual({ input: { name: "ab", count: 3 } });
    expect((await read("count=4", '{"name":"ab","count":3}')).body).toEqual({
      input: { name: "ab", count: 4 },
    });
    expect((await read("", '{"name":"ab","count":"3"}')).body.error_code).toBe("MALFORMED_REQUEST");
    expect((await read("name=ab", "[]")).body.error_code).toBe("MALFORMED_REQUEST");
  });

  test("INT64 values beyond 2^53 arrive digit for digit, from bodies and from query strings", async () => {
    const { send, read, seen } = startEcho();
    await send("POST", ECHO, '{"long":9007199254740993}');
    expect(seen.call?.input).toEqual({ long: 9007199254740993n });
    await read("name=ab&long=-9223372036854775808");
    expect(seen.call?.input.long).toBe(-9223372036854775808n);
  });

  test("an answer of bytes is sent unchanged", async () => {
    const { send } = startEcho();
    const answer = await send("GET", "/api/2.0/test/bytes");
    expect(answer.headers).toMatchObject({ "content-type": "application/octet-stream", "x-extra": "1" });
    expect([...answer.body]).toEqual([1, 2, 255]);
  });
});

describe("forms", () => {
  const post = (parts: string[], type = "multipart/form-data; boundary=XX") => {
    const echo = startEcho();
    const body = `${parts.map((part) => `--XX\r\n${part}\r\n`).join("")}--XX--\r\n`;
    return { echo, answer: echo.send("POST", ECHO, body, { "content-type": type }) };
  };

  test("A4.4 rule 3, A4.5 rule 2: text fields get the types of the contract, and files are separate", async () => {
    const { echo, answer } = post([
      'Content-Disposition: form-data; name="name"\r\n\r\nab',
      'Content-Disposition: form-data; name="flag"\r\n\r\ntrue',
      'Content-Disposition: form-data; name="count"\r\n\r\n12',
      'Content-Disposition: form-data; name="content"; filename="a.py"\r\nContent-Type: application/octet-stream\r\n\r\nline 1\r\nline 2',
    ]);
    expect((await answer).body).toEqual({ input: { name: "ab", flag: true, count: 12 } });
    expect(new TextDecoder().decode(echo.seen.call?.files.content?.content)).toBe("line 1\r\nline 2");
    expect(echo.seen.call?.files.content?.name).toBe("a.py");
  });

  test("A4.4 rule 3: a field that does not read as its type is refused", async () => {
    const { answer } = post(['Content-Disposition: form-data; name="flag"\r\n\r\nyes']);
    expect(await answer).toMatchObject({ status: 400, body: { error_code: "MALFORMED_REQUEST" } });
  });

  test("a form is taken where the contract says so; elsewhere bodies are JSON", async () => {
    const w = await startWorld();
    const body = '--XX\r\nContent-Disposition: form-data; name="group_name"\r\n\r\neng\r\n--XX--\r\n';
    const headers = { "content-type": "multipart/form-data; boundary=XX" };
    expect(await w.post("groups/create", body, { headers })).toMatchObject({
      status: 400,
      body: { error_code: "MALFORMED_REQUEST" },
    });
    expect((await w.get("groups/list")).body.group_names).toEqual(["admins", "users"]);
  });

  test("an incomplete form, or one without a boundary, is refused", async () => {
    const { send } = startEcho();
    const cut = '--XX\r\nContent-Disposition: form-data; name="name"\r\n\r\nab';
    expect(
      (await send("POST", ECHO, cut, { "content-type": "multipart/form-data; boundary=XX" })).status,
    ).toBe(400);
    expect((await send("POST", ECHO, cut, { "content-type": "multipart/form-data" })).status).toBe(400);
  });

  test("A8 other requests: the size limit of requests applies to forms", async () => {
    const { answer } = post([`Content-Disposition: form-data; name="name"\r\n\r\n${"x".repeat(3000)}`]);
    expect(await answer).toMatchObject({ status: 413, body: { error_code: "REQUEST_TOO_LARGE" } });
  });
});

describe("validation", () => {
  const malformed = { status: 400, body: { error_code: "MALFORMED_REQUEST" } };
  const invalid = { status: 400, body: { error_code: "INVALID_PARAMETER_VALUE" } };

  test.each([
    [{ name: 1 }, "Expected string for field 'name', found NUMBER"],
    [{ count: "1" }, "Expected integer for field 'count', found STRING"],
    [{ count: 1.5 }, "Expected integer for field 'count', found NUMBER"],
    [{ count: 2 ** 31 }, "Expected a 32-bit integer for field 'count', found NUMBER"],
    [{ flag: 1 }, "Expected boolean for field 'flag', found NUMBER"],
    [{ tags: [] }, "Expected object for field 'tags', found ARRAY"],
    [{ tags: { a: 1 } }, "Expected string for field 'tags.a', found NUMBER"],
    [{ list: {} }, "Expected array for field 'list', found OBJECT"],
    [{ list: [{ key: "a", more: { key: 1 } }] }, "Expected string for field 'list.0.more.key', found NUMBER"],
    [{ data: "a*b" }, "Expected base64 text for field 'data'"],
  ])("A conventions: the wrong type in %j is refused, never coerced", async (body, message) => {
    const { echo } = startEcho();
    expect(await echo(body)).toMatchObject({
      ...malformed,
      body: { message: `Could not parse request object: ${message}` },
    });
  });

  test("A conventions: an integer beyond 64 bits is refused", async () => {
    const { send } = startEcho();
    expect(await send("POST", ECHO, '{"long":9223372036854775808}')).toMatchObject(malformed);
    expect((await send("POST", ECHO, '{"long":9223372036854775807}')).status).toBe(200);
    expect((await send("POST", ECHO, '{"long":-9223372036854775808}')).status).toBe(200);
  });

  test.each(["1e30", "9007199254740993.0", "9007199254740993e0", "-1e19"])(
    "the INT64 %s, which would be rounded, is refused; a short one may be written so",
    async (long) => {
      const { send } = startEcho();
      expect(await send("POST", ECHO, `{"long":${long}}`)).toMatchObject({
        ...malformed,
        body: {
          message: "Could not parse request object: Expected a 64-bit integer for field 'long', found NUMBER",
        },
      });
      expect((await send("POST", ECHO, '{"long":1e3}')).body).toEqual({ input: { long: 1000 } });
    },
  );

  test.each([
    [{ name: "a" }, "'name': it must have at least 2 characters"],
    [{ name: "abcdef" }, "'name': it must have at most 5 characters"],
    [{ name: "A B" }, "'name': it must match ^[a-z]*$"],
    [{ kind: "C" }, "'kind': it must be one of A, B"],
  ])("the refusal of %j is a sentence of the service", async (body, message) => {
    const { echo } = startEcho();
    expect((await echo(body)).body.message).toBe(`Invalid value for field ${message}`);
  });

  test("bounds and empty values are refused in sentences of the service", async () => {
    const w = await startWorld();
    const pool = { instance_pool_name: "p", node_type_id: "Standard_DS3_v2" };
    const refused = async (path: string, body: object) => (await w.post(path, body)).body.message;
    expect(await refused("instance-pools/create", { ...pool, min_idle_instances: -1 })).toBe(
      "Invalid value for field 'min_idle_instances': it must be at least 0",
    );
    expect(
      await refused("instance-pools/create", { ...pool, idle_instance_autotermination_minutes: 10_001 }),
    ).toBe("Invalid value for field 'idle_instance_autotermination_minutes': it must be at most 10000");
    expect(await refused("groups/create", { group_name: "" })).toBe(
      "Invalid value for field 'group_name': it must not be empty",
    );
  });

  test("A7 other codes: a required field is missing, at any depth", async () => {
    const { echo, read } = startEcho();
    expect((await read("")).body).toEqual({
      error_code: "INVALID_PARAMETER_VALUE",
      message: "Missing required field: name",
    });
    expect((await echo({ list: [{}] })).body.message).toBe("Missing required field: list.0.key");
  });

  test.each([{ kind: "C" }, { name: "a" }, { name: "abcdef" }, { name: "A B" }])(
    "A7 other codes: %j is of the right type and has a wrong value",
    async (body) => {
      const { echo } = startEcho();
      expect(await echo(body)).toMatchObject(invalid);
    },
  );

  test.each(["", "YQ==", "YWI=", "YWJj", "-_-_", "YW\nJj\n", "YQ=\n=\n", "YQ"])(
    "A conventions BYTES: %j is base64",
    async (data) => {
      expect((await startEcho().echo({ data })).status).toBe(200);
    },
  );

  test.each(["YQ===", "Y=Q=", "é", `${"\n".repeat(900)}*`])(
    "A conventions BYTES: %j is not base64",
    async (data) => {
      expect(await startEcho().echo({ data })).toMatchObject(malformed);
    },
  );

  test("an enum's refusal says what is allowed", async () => {
    const { echo } = startEcho();
    expect((await echo({ kind: "C" })).body.message).toContain("A, B");
  });
});

describe("limits and failures", () => {
  test("A8 other requests, A7 other codes: a request that is larger than its operation takes is refused with 413", async () => {
    const { echo } = startEcho();
    expect(await echo({ x: "y".repeat(2000) })).toMatchObject({
      status: 413,
      body: { error_code: "REQUEST_TOO_LARGE" },
    });
    expect((await echo({ x: "y".repeat(900) })).status).toBe(200);
    expect((await echo({ x: "é".repeat(1000) })).status).toBe(413);
  });

  test("A8 other requests: 10 MB for operations that say nothing else", async () => {
    const w = await startWorld();
    const body = (size: number) => JSON.stringify({ group_name: "g", x: "y".repeat(size) });
    expect((await w.post("groups/create", body(10 * 1024 * 1024))).status).toBe(413);
    expect((await w.post("groups/create", body(10 * 1024 * 1024 - 100))).status).toBe(200);
  });

  test("a refused request is undone: rows, timers, contents", async () => {
    const { send, store, control, notes } = startEcho();
    const before = JSON.stringify(store.dump());
    expect((await send("POST", "/api/2.0/test/fail", '{"code":"no"}')).body).toEqual({
      error_code: "INVALID_STATE",
      message: "no",
    });
    expect((await send("POST", "/api/2.0/test/fail", '{"code":"bug"}')).body).toEqual({
      error_code: "INTERNAL_ERROR",
      message: "a bug",
    });
    expect(JSON.stringify(store.dump())).toBe(before);
    await control("POST", "clock", { advance_ms: 10 });
    expect(await notes()).toEqual([]);
  });
});
