// The control requests: request log, clock, tokens, runs, mails, snapshot, reset; and who may send them.

import { describe, expect, test } from "vitest";
import { startEcho } from "./echo.ts";
import { ADMIN, ADMIN_TOKEN, START, startWorld } from "./harness.ts";

const HOUR = 3_600_000;
const BEARER = { authorization: `Bearer ${ADMIN_TOKEN}` };

describe("GET /__emulator/requests", () => {
  test("every API request in order, reads and writes, with status and error code", async () => {
    const { send, control } = startEcho();
    await send("POST", "/api/2.0/test/note", '{"text":"a"}');
    await send("GET", "/api/2.0/test/read?name=ab&count=1");
    await send("POST", "/api/2.0/test/search");
    await send("GET", "/api/2.0/test/nosuch");
    await send("GET", "/api/2.0/test/notes", undefined, { authorization: "" });
    await control("GET", "clock");
    expect((await control("GET", "requests")).body.requests).toEqual([
      { seq: 1, method: "POST", path: "/api/2.0/test/note", query: "", status: 200, write: true },
      {
        seq: 2,
        method: "GET",
        path: "/api/2.0/test/read",
        query: "name=ab&count=1",
        status: 200,
        write: false,
      },
      { seq: 3, method: "POST", path: "/api/2.0/test/search", query: "", status: 200, write: false },
      {
        seq: 4,
        method: "GET",
        path: "/api/2.0/test/nosuch",
        query: "",
        status: 404,
        error_code: "ENDPOINT_NOT_FOUND",
        write: false,
      },
      {
        seq: 5,
        method: "GET",
        path: "/api/2.0/test/notes",
        query: "",
        status: 401,
        error_code: 401,
        write: false,
      },
    ]);
  });

  test("since gives the later ones; DELETE removes them, and numbers continue", async () => {
    const { notes, control } = startEcho();
    const seqs = async (query = "") =>
      (await control("GET", `requests${query}`)).body.requests.map((entry: { seq: number }) => entry.seq);
    for (let i = 0; i < 4; i++) await notes();
    expect(await seqs("?since=2")).toEqual([3, 4]);
    expect(await seqs("?since=9")).toEqual([]);
    await control("DELETE", "requests");
    expect(await seqs()).toEqual([]);
    await notes();
    expect(await seqs("?since=4")).toEqual([5]);
    expect(await seqs()).toEqual([5]);
  });
});

describe("clock", () => {
  test("GET tells time and mode; POST advance_ms moves it in either mode", async () => {
    const { control } = startEcho();
    expect((await control("GET", "clock")).body).toEqual({ now: START, mode: "manual" });
    expect((await control("POST", "clock", { advance_ms: HOUR })).body).toEqual({
      now: START + HOUR,
      mode: "manual",
    });
    expect((await control("POST", "clock", { mode: "real" })).body).toEqual({
      now: START + HOUR,
      mode: "real",
    });
    expect((await control("POST", "clock", { advance_ms: 5 })).body).toEqual({
      now: START + HOUR + 5,
      mode: "real",
    });
    expect((await control("POST", "clock", { mode: "manual" })).body).toEqual({
      now: START + HOUR + 5,
      mode: "manual",
    });
  });

  test("background work runs in the order of its times, each at its own time, chained work too", async () => {
    const { note, notes, control } = startEcho();
    await note("b", 200);
    await note("a", 100);
    await note("chain", 150);
    await note("later", 1000);
    await control("POST", "clock", { advance_ms: 500 });
    expect(await notes()).toEqual([
      ["a", 100],
      ["chain", 150],
      ["chained", 160],
      ["b", 200],
    ]);
  });

  test("timers of the same time run in the order in which they were set; one set again moves", async () => {
    const { note, notes, control } = startEcho();
    await note("x", 10);
    await note("y", 10);
    await note("z", 10);
    await note("x", 20);
    await control("POST", "clock", { advance_ms: 20 });
    expect(await notes()).toEqual([
      ["y", 10],
      ["z", 10],
      ["x", 20],
    ]);
  });

  test("a bug in background work is reported once, and does not stop the rest", async () => {
    const { note, notes, control } = startEcho();
    await note("bug", 10);
    await note("after", 20);
    expect(await control("POST", "clock", { advance_ms: 30 })).toMatchObject({
      status: 500,
      body: { message: "a bug in a timer" },
    });
    expect(await notes()).toEqual([["after", 20]]);
  });

  test.each([{ advance_ms: -1 }, { advance_ms: 1.5 }, { advance_ms: "1" }, { mode: "fast" }])(
    "%j is refused",
    async (body) => {
      const { control } = startEcho();
      expect((await control("POST", "clock", body)).status).toBe(400);
    },
  );
});

test("the clock ends with the year 9999", async () => {
  const w = await startWorld();
  expect(await w.control("POST", "clock", { advance_ms: Number.MAX_SAFE_INTEGER })).toMatchObject({
    status: 400,
    body: { error_code: "INVALID_PARAMETER_VALUE", message: "advance_ms goes beyond the year 9999" },
  });
  expect((await w.control("GET", "clock")).body.now).toBe(START);
  expect((await w.control("POST", "clock", { advance_ms: Date.UTC(9999, 11, 31) - START })).status).toBe(200);
  expect((await w.control("POST", "clock", { advance_ms: 2 * 86_400_000 })).status).toBe(400);
});

test("a control body that is not text is refused", async () => {
  const w = await startWorld();
  const body = new Uint8Array([0xff, 0xfe]);
  expect(await w.request({ method: "POST", path: "/__emulator/clock", body, headers: BEARER })).toMatchObject(
    {
      status: 400,
      body: { error_code: "MALFORMED_REQUEST", message: "The body is not UTF-8 text." },
    },
  );
});

describe("tokens", () => {
  test("POST /__emulator/tokens gives a token for an existing user", async () => {
    const w = await startWorld();
    await w.user("bo@example.com");
    const { body } = await w.control("POST", "tokens", { user_name: "BO@example.com" });
    expect((await w.get("preview/scim/v2/Me", {}, { as: body.token })).body.userName).toBe("bo@example.com");
  });

  test("an unknown user, or none, is refused", async () => {
    const w = await startWorld();
    expect((await w.control("POST", "tokens", { user_name: "no" })).status).toBe(404);
    expect((await w.control("POST", "tokens", {})).status).toBe(400);
  });
});

describe("areas", () => {
  test("POST /__emulator/runs goes to the area that has it", async () => {
    const { control } = startEcho();
    expect((await control("POST", "runs", { run_id: 1 })).body).toEqual({ got: { run_id: 1 } });
  });
});

describe("mails", () => {
  test("GET /__emulator/mails lists sent e-mails in order; DELETE removes them", async () => {
    const { store, control } = startEcho();
    store.transact(START + 5, (world) => {
      world.mail({ to: ["a@b.c"], subject: "one", event: "on_start", details: { run_id: 1 } });
      world.mail({ to: [], subject: "two", event: "on_success", details: {} });
    });
    expect((await control("GET", "mails")).body.mails).toMatchObject([
      { at: START + 5, to: ["a@b.c"], subject: "one", event: "on_start", details: { run_id: 1 } },
      { subject: "two" },
    ]);
    await control("DELETE", "mails");
    expect((await control("GET", "mails")).body.mails).toEqual([]);
  });
});

describe("snapshot and reset", () => {
  test("GET then PUT brings back the whole world: users, tokens, secrets by name, files, timers, the time", async () => {
    const w = await startWorld();
    const bo = await w.user("bo@example.com");
    await w.post("secrets/scopes/create", { scope: "etl" });
    await w.post("secrets/put", { scope: "etl", key: "k", string_value: "hidden" });
    const put = w.store.transact(START, (world) => {
      const id = world.blobs.create();
      world.blobs.append(id, new Uint8Array([1, 2, 3]));
      return id;
    });
    await w.advance(HOUR);
    const { body } = await w.control("GET", "snapshot");

    await w.post("secrets/scopes/delete", { scope: "etl" });
    const users = (await w.get("preview/scim/v2/Users", { filter: "userName eq bo@example.com" })).body;
    await w.delete(`preview/scim/v2/Users/${users.Resources[0].id}`);
    w.store.transact(START, (world) => world.blobs.delete(put));

    expect((await w.control("PUT", "snapshot", body)).status).toBe(200);
    expect((await w.get("secrets/scopes/list", {}, { as: bo })).body.scopes).toHaveLength(1);
    expect((await w.get("secrets/list", { scope: "etl" })).body.secrets).toMatchObject([{ key: "k" }]);
    expect([...w.store.world.blobs.read(put, 0, 9)]).toEqual([1, 2, 3]);
    expect((await w.control("GET", "snapshot")).body).toEqual(body);
  });

  test("a snapshot holds digests of secret values, equal for equal values", async () => {
    const w = await startWorld();
    await w.post("secrets/scopes/create", { scope: "etl" });
    for (const key of ["a", "b"]) await w.post("secrets/put", { scope: "etl", key, string_value: "same" });
    const rows = (await w.control("GET", "snapshot")).body.tables["secrets/etl"];
    expect(rows.a.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(rows.a.digest).toBe(rows.b.digest);
    expect(rows.a).not.toHaveProperty("sealed");
  });

  test("timers of a snapshot run after it was put into another world, whose clock follows", async () => {
    const one = startEcho();
    await one.note("due", 100);
    await one.control("POST", "clock", { advance_ms: 50 });
    const { body } = await one.control("GET", "snapshot");
    const two = startEcho();
    await two.control("PUT", "snapshot", body);
    expect((await two.control("GET", "clock")).body.now).toBe(START + 50);
    expect(await two.notes()).toEqual([]);
    await two.control("POST", "clock", { advance_ms: 50 });
    expect(await two.notes()).toEqual([["due", 100]]);
  });

  test.each([
    {},
    { format: 1 },
    { format: 2, tables: {}, blobs: {} },
    { format: 1, tables: { a: 1 }, blobs: {} },
  ])("%j is not a snapshot, and the world stays", async (body) => {
    const { note, notes, control } = startEcho();
    await note("a");
    expect((await control("PUT", "snapshot", body)).status).toBe(400);
    expect(await notes()).toEqual([["a", 0]]);
  });

  test("POST /__emulator/reset gives a fresh world, with the same token, without faults, log, timers", async () => {
    const { note, notes, control, send } = startEcho();
    await note("a");
    await note("timer", 10);
    await control("PUT", "faults", { rules: [{ path: "*", fate: "drop_before" }] });
    await control("POST", "reset");
    expect((await control("GET", "requests")).body.requests).toEqual([]);
    await control("POST", "clock", { advance_ms: 20 });
    expect(await notes()).toEqual([]);
    expect((await send("GET", "/api/2.0/test/notes")).status).toBe(200);
  });

  test("a reset world holds the administrator and the built-in groups", async () => {
    const w = await startWorld();
    await w.post("groups/create", { group_name: "eng" });
    await w.control("POST", "reset");
    expect((await w.get("groups/list")).body.group_names).toEqual(["admins", "users"]);
    expect((await w.get("preview/scim/v2/Me")).body).toMatchObject({
      userName: ADMIN,
      groups: [{ display: "admins" }],
    });
  });
});

describe("who may send control requests", () => {
  const ask = (remote: string, headers: Record<string, string> = {}) =>
    startEcho().app({
      method: "GET",
      path: "/__emulator/clock",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
      remote,
    });

  test("a client with the token, on loopback", async () => {
    for (const remote of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      expect((await ask(remote)).status).toBe(200);
    expect((await ask("127.0.0.1", { host: "localhost:8080" })).status).toBe(200);
  });

  test("another machine, another host name (a rebound name), or a page in a browser is refused", async () => {
    expect((await ask("10.0.0.7")).status).toBe(403);
    expect((await ask("127.0.0.1", { host: "evil.example" })).status).toBe(403);
    expect((await ask("127.0.0.1", { host: "127.0.0.1:80", origin: "http://evil.example" })).status).toBe(
      403,
    );
  });

  test("an unknown control request is not found; a body other than a JSON object is refused", async () => {
    const { control, send } = startEcho();
    expect((await control("GET", "nosuch")).status).toBe(404);
    expect((await control("DELETE", "clock")).status).toBe(404);
    expect((await send("POST", "/__emulator/clock", "{")).status).toBe(400);
    expect((await send("POST", "/__emulator/clock", "[]")).status).toBe(400);
  });

  test("control is never under /api", async () => {
    const { send } = startEcho();
    expect((await send("GET", "/api/2.0/__emulator/clock")).status).toBe(404);
  });
});
