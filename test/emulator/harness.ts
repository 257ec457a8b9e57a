// A workspace in the process for tests of the emulator: a clock that moves only on request, seeded randomness, requests as one call.

import { parseJson, stringifyJson } from "../../src/core/exact-json.ts";
import { createApp } from "../../src/emulator/app.ts";
import { chosenDialect } from "../../src/emulator/dialect/databricks.ts";
import { contractFile } from "../../src/emulator/http/contract.ts";
import type { AppRequest, AppResponse } from "../../src/emulator/http/message.ts";
import { openStore } from "../../src/emulator/store/sqlite.ts";
import { Store } from "../../src/emulator/store/store.ts";
import { EmulatorClock } from "../../src/emulator/world/clock.ts";

/** An answer with parsed JSON (numbers beyond 2^53 as bigint). Tests read its members without types. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape; the assertion is the type check.
export type Body = any;

export interface Answered {
  readonly status: number;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Options {
  /** Token of the caller; by default the administrator's. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface StartOptions {
  /** Time of the clock, which is manual. */
  readonly now?: number;
  /** Keep the data in this folder with SQLite; by default the world is in memory. */
  readonly dataDir?: string;
  readonly admin?: string;
  /** Of the random source; a copy of a world takes another one, so that no id comes twice. */
  readonly seed?: number;
  /** The cloud of a workspace that speaks the Databricks dialect. */
  readonly databricks?: "azure" | "aws" | "gcp";
}

export type TestWorld = Awaited<ReturnType<typeof startWorld>>;

export const ADMIN_TOKEN = "test-token";
export const ADMIN = "admin@example.com";
/** 2020-03-01T00:00:00Z, a Sunday. */
export const START = Date.UTC(2020, 2, 1);

/** The same in every world, so that secrets can be read in a copy. */
const SEAL_KEY = new Uint8Array(32).fill(9);

const API = "/api/2.0/";
const JSON_TYPE = "application/json";

export async function startWorld(options: StartOptions = {}) {
  const random = seededBytes(options.seed ?? 1);
  const store =
    options.dataDir === undefined ? new Store({ random, key: SEAL_KEY }) : openStore(options.dataDir, random);
  const clock = new EmulatorClock(() => START, { mode: "manual", value: options.now ?? START });
  const { app } = createApp({
    store,
    contract: contractFile(),
    clock,
    token: ADMIN_TOKEN,
    admin: options.admin ?? ADMIN,
    ...(options.databricks === undefined
      ? {}
      : chosenDialect({ dialect: "databricks", cloud: options.databricks })),
  });

  const send = async (request: AppRequest): Promise<Answered> => read(await app(request));
  /** Sends a raw request without credentials other than the given ones. Rejects if a fault closes the connection. */
  const request = (given: TestRequest): Promise<Answered> =>
    send({ ...given, headers: lowerCase(given.headers ?? {}) });
  const call = (method: string, path: string, body: unknown, given: Options = {}): Promise<Answered> =>
    send({
      method,
      path: path.startsWith("/") ? path : API + path,
      headers: {
        authorization: `Bearer ${given.as ?? ADMIN_TOKEN}`,
        accept: JSON_TYPE,
        "content-type": JSON_TYPE,
        ...lowerCase(given.headers ?? {}),
      },
      ...(body === undefined ? {} : { body: toJson(body) }),
    });
  const control = (method: string, name: string, body?: unknown): Promise<Answered> =>
    call(method, `/__emulator/${name}`, body);
  const get = (
    path: string,
    query: Readonly<Record<string, string | number | bigint | boolean>> = {},
    given: Options = {},
  ) => {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return call("GET", text === "" ? path : `${path}?${text}`, undefined, given);
  };

  return {
    app,
    clock,
    store,
    request,
    control,
    get,
    post: (path: string, body: unknown = {}, given: Options = {}) => call("POST", path, body, given),
    put: (path: string, body: unknown, given: Options = {}) => call("PUT", path, body, given),
    patch: (path: string, body: unknown, given: Options = {}) => call("PATCH", path, body, given),
    delete: (path: string, given: Options = {}) => call("DELETE", path, undefined, given),
    /** Moves the clock forward; background work that comes due on the way is done. */
    advance: (ms: number) => control("POST", "clock", { advance_ms: ms }),
    /** Makes a user (an administrator if so asked) and returns a token of theirs. */
    async user(userName: string, { admin = false }: { readonly admin?: boolean } = {}): Promise<string> {
      const made = await call("POST", "preview/scim/v2/Users", { schemas: [USER_SCHEMA], userName });
      if (made.status >= 300) throw new Error(`user ${userName}: ${JSON.stringify(made.body)}`);
      if (admin) await call("POST", "groups/add-member", { user_name: userName, parent_name: "admins" });
      const { body } = await control("POST", "tokens", { user_name: userName });
      return body.token;
    },
    close: () => store.close(),
  };
}

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";

function read(response: AppResponse): Answered {
  const { status, headers, body } = response;
  const json = /json/.test(headers["content-type"] ?? "") && body.length > 0;
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return { status, headers, body: json ? parseJson(text) : body };
}

function toJson(body: unknown): string {
  return typeof body === "string" ? body : stringifyJson(body);
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A small generator (xorshift), so that every run makes the same ids. */
function seededBytes(seed: number): (count: number) => Uint8Array {
  let state = seed;
  const byte = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 0xff;
  };
  return (count) => Uint8Array.from({ length: count }, byte);
}
