// A service with one small area, for tests of what the app does with every operation.

import { createApp } from "../../src/emulator/app.ts";
import { readContract } from "../../src/emulator/http/contract.ts";
import type { AppResponse } from "../../src/emulator/http/message.ts";
import { scimArea } from "../../src/emulator/routes/scim/groups.ts";
import { Store } from "../../src/emulator/store/store.ts";
import { EmulatorClock } from "../../src/emulator/world/clock.ts";
import { ApiError } from "../../src/emulator/world/errors.ts";
import type { Area, Call } from "../../src/emulator/world/world.ts";
import { ADMIN, ADMIN_TOKEN, type Body, START } from "./harness.ts";

const fields = {
  name: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-z]*$" },
  count: { type: "integer", format: "int32" },
  long: { type: "integer", format: "int64" },
  share: { type: "number" },
  flag: { type: "boolean" },
  kind: { enum: ["A", "B"] },
  data: { type: "string", format: "byte" },
  tags: { type: "object", additionalProperties: { type: "string" } },
  list: { type: "array", items: { $ref: "#/components/schemas/Item" } },
};

const contract = readContract({
  paths: {
    "/api/2.0/test/echo": {
      post: {
        operationId: "test/echo",
        "x-max-bytes": 2000,
        requestBody: {
          content: {
            "application/json": { schema: { type: "object", properties: fields } },
            "multipart/form-data": {},
          },
        },
      },
    },
    "/api/2.0/test/read": {
      get: {
        operationId: "test/read",
        parameters: Object.entries(fields)
          .filter(([name]) => name !== "tags")
          .map(([name, schema]) => ({ in: "query", name, schema, required: name === "name" })),
      },
    },
    "/api/2.0/test/items/{id}": { get: { operationId: "test/item" } },
    "/api/2.0/test/search": { post: { operationId: "test/search", "x-read-only": true } },
    "/api/2.0/test/fail": { post: { operationId: "test/fail" } },
    "/api/2.0/test/bytes": { get: { operationId: "test/bytes" } },
    "/api/2.0/test/none": { get: { operationId: "test/none" } },
    "/api/2.0/test/note": { post: { operationId: "test/note" } },
    "/api/2.0/test/notes": { get: { operationId: "test/notes" } },
  },
  components: {
    schemas: {
      Item: {
        type: "object",
        required: ["key"],
        properties: { key: { type: "string" }, more: { $ref: "#/components/schemas/Item" } },
      },
    },
  },
});

/** The arguments of the last operation. */
const seen: { call: Call | undefined } = { call: undefined };

const area: Area = {
  operations: {
    "test/echo": (call) => echo(call),
    "test/read": (call) => echo(call),
    "test/item": (call) => ({ json: { ...call.params } }),
    "test/search": () => ({ json: {} }),
    "test/fail": (call, world) => {
      world.collection("test").set("x", { half: "done" });
      world.timers.set("test/x", call.now + 1, "test/note", { text: "never" });
      world.blobs.append(world.blobs.create(), new Uint8Array(3));
      if (call.input.code === "bug") throw new TypeError("a bug");
      throw new ApiError("INVALID_STATE", "no");
    },
    "test/bytes": () => ({
      bytes: new Uint8Array([1, 2, 255]),
      contentType: "application/octet-stream",
      headers: { "x-extra": "1" },
    }),
    "test/note": (call, world) => {
      const { text, after } = call.input;
      if (after === undefined)
        world.collection("test").set(String(world.next("test")), { text: text ?? "", at: call.now });
      else
        world.timers.set(`test/${String(text)}`, call.now + Number(after), "test/note", {
          text: String(text),
        });
      return { json: {} };
    },
    "test/notes": (_call, world) => ({
      json: { notes: [...world.collection<{ text: string; at: number }>("test").values()] },
    }),
  },
  timers: {
    "test/note": (world, payload, at) => {
      const { text } = payload;
      if (text === "bug") throw new Error("a bug in a timer");
      if (text === "chain") world.timers.set("test/chained", at + 10, "test/note", { text: "chained" });
      world.collection("test").set(String(world.next("test")), { text: String(text), at: world.now });
    },
  },
  control: { runs: (_world, input) => ({ got: input }) },
};

function echo(call: Call) {
  seen.call = call;
  return { json: { input: call.input } };
}

/** Starts the service; `send` takes a method, a path, and a raw body. */
export function startEcho(store = new Store()) {
  const slept: number[] = [];
  const { app, tick } = createApp({
    store,
    contract,
    clock: new EmulatorClock(() => START, { mode: "manual", value: START }),
    token: ADMIN_TOKEN,
    admin: ADMIN,
    areas: [scimArea, area],
    sleep: async (ms) => {
      slept.push(ms);
    },
  });
  const send = async (
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Record<string, string> = {},
  ) => {
    const response = await app({
      method,
      path,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, headers: response.headers, body: bodyOf(response) };
  };
  return {
    app,
    tick,
    store,
    send,
    seen,
    slept,
    echo: (body: unknown) => send("POST", "/api/2.0/test/echo", JSON.stringify(body)),
    read: (query: string, body?: string) => send("GET", `/api/2.0/test/read?${query}`, body),
    note: (text: string, after?: number) =>
      send("POST", "/api/2.0/test/note", JSON.stringify({ text, after })),
    notes: async (): Promise<[string, number][]> => {
      const { body } = await send("GET", "/api/2.0/test/notes");
      return body.notes.map((note: { text: string; at: number }) => [note.text, note.at - START]);
    },
    control: (method: string, name: string, body?: unknown) =>
      send(method, `/__emulator/${name}`, body === undefined ? undefined : JSON.stringify(body)),
  };
}

function bodyOf(response: AppResponse): Body {
  return typeof response.body === "string" && /json/.test(response.headers["content-type"] ?? "")
    ? JSON.parse(response.body)
    : response.body;
}
