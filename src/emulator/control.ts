// The control requests, never under /api: request log, faults, clock, tokens, runs, mails, reset, and the whole world as JSON and back.

import { digest } from "../core/digest.ts";
import { JsonTooDeep, parseJson } from "../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { BackgroundWork } from "./background.ts";
import type { Dialect } from "./dialect/databricks.ts";
import { type Faults, readRules } from "./faults.ts";
import { CONTROL_BASE, grantToken } from "./http/admission.ts";
import type { Contract } from "./http/contract.ts";
import {
  type AppRequest,
  type AppResponse,
  bodyText,
  errorAnswer,
  jsonAnswer,
  pathOf,
  queryOf,
} from "./http/message.ts";
import type { RequestLog } from "./request-log.ts";
import { OWN_TABLES, type Store } from "./store/store.ts";
import type { ClockState, EmulatorClock } from "./world/clock.ts";
import { ensureAdministrator, nameAdministrator, userByName } from "./world/directory.ts";
import { decodeBase64, encodeBase64 } from "./world/encoding.ts";
import { ApiError, invalidValue, malformed, notFound } from "./world/errors.ts";
import { REQUESTS } from "./world/limits.ts";
import type { Area, ControlRun, World } from "./world/world.ts";

export interface AppParts {
  readonly store: Store;
  readonly contract: Contract;
  readonly clock: EmulatorClock;
  readonly token: string;
  readonly admin: string;
  /** Waits for the fault `slow`; without it a slow answer comes at once. */
  readonly sleep?: (ms: number) => Promise<void>;
  readonly areas?: readonly Area[];
  /** Another dialect than the contract's; its areas and description take the place of those above. */
  readonly dialect?: Dialect;
}

interface ControlParts extends AppParts {
  readonly areas: readonly Area[];
  readonly life: BackgroundWork;
  readonly log: RequestLog;
  readonly faults: Faults;
}

/** The last millisecond of a year with four digits; larger numbers soon exceed the range of dates. */
const END_OF_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

type Action =
  | ((input: JsonObject, query: URLSearchParams) => JsonObject)
  | ((input: JsonObject, query: URLSearchParams) => void);

export class Control {
  readonly #parts: ControlParts;
  readonly #actions: ReadonlyMap<string, Action>;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#actions = new Map(Object.entries({ ...this.#own(), ...this.#ofAreas() }));
  }

  /** Seeds a world that is new, and lets the token of this start speak for the administrator. */
  open(): void {
    const { store, clock } = this.#parts;
    const clockState = store.world.collection<ClockState>("workspace.clock").get("state");
    if (clockState !== undefined && clock.mode === "real") clock.restore(clockState);
    store.transact(clock.now(), (world) => {
      if (!world.collection("workspace").has("administrator")) this.#seed(world);
      this.#grant(world);
    });
  }

  answer(request: AppRequest): AppResponse {
    try {
      const name = `${request.method} ${pathOf(request).slice(CONTROL_BASE.length)}`;
      const action = this.#actions.get(name);
      if (action === undefined)
        throw new ApiError("ENDPOINT_NOT_FOUND", `Control request ${name} does not exist`);
      this.#parts.life.catchUp();
      return jsonAnswer(200, action(readBody(request), new URLSearchParams(queryOf(request))) ?? {});
    } catch (error) {
      return errorAnswer(error, false).response;
    }
  }

  #own(): Record<string, Action> {
    const { faults, log, clock } = this.#parts;
    return {
      "GET requests": (_input, query) => ({
        requests: log.since(Number(query.get("since") ?? 0) || 0).map((entry) => ({ ...entry })),
      }),
      "DELETE requests": () => log.clear(),
      "GET faults": () => ({ rules: faults.rules.map((rule) => ({ ...rule })) }),
      "PUT faults": (input) => faults.set(readRules(input)),
      "DELETE faults": () => faults.set([]),
      "GET clock": () => this.#clockFace(),
      "POST clock": (input) => this.#setClock(input),
      "POST tokens": (input) => this.#transact((world) => newToken(world, input)),
      "GET mails": () =>
        this.#transact((world) => ({ mails: [...world.collection<Json>(OWN_TABLES.mails).values()] })),
      "DELETE mails": () => this.#transact((world) => clear(world, OWN_TABLES.mails)),
      "GET snapshot": () => this.#transact((world) => takeSnapshot(this.#parts.store, world, clock.now())),
      "PUT snapshot": (input) => this.#putSnapshot(input),
      "POST reset": () => this.#reset(),
    };
  }

  #ofAreas(): Record<string, Action> {
    const runs = this.#parts.areas.flatMap((area) => Object.entries(area.control ?? {}));
    const action =
      (run: ControlRun): Action =>
      (input) =>
        this.#transact((world) => run(world, input));
    return Object.fromEntries(runs.map(([name, run]) => [`POST ${name}`, action(run)]));
  }

  #transact<T>(work: (world: World) => T): T {
    return this.#parts.store.transact(this.#parts.clock.now(), work);
  }

  /** Lets the token of this start speak for the administrator. */
  #grant(world: World): void {
    grantToken(world, this.#parts.token, ensureAdministrator(world, this.#parts.admin).id);
  }

  #keepClock(world: World): void {
    world.collection<ClockState>("workspace.clock").set("state", this.#parts.clock.state);
  }

  #seed(world: World): void {
    nameAdministrator(world, this.#parts.admin);
    for (const area of this.#parts.areas) area.seed?.(world);
  }

  #clockFace(): JsonObject {
    return { now: this.#parts.clock.now(), mode: this.#parts.clock.mode };
  }

  /** Moving the time runs what comes due on the way, each at its own time. */
  #setClock(input: JsonObject): JsonObject {
    const { clock, life } = this.#parts;
    const { advance_ms: advance, mode } = input;
    if (mode !== undefined && mode !== "real" && mode !== "manual")
      throw invalidValue('mode must be "real" or "manual"');
    if (advance !== undefined && !(Number.isSafeInteger(advance) && Number(advance) >= 0))
      throw invalidValue("advance_ms must be an integer of at least 0 (milliseconds)");
    if (clock.now() + Number(advance ?? 0) > END_OF_TIME)
      throw invalidValue("advance_ms goes beyond the year 9999");
    if (mode !== undefined) clock.setMode(mode);
    if (advance !== undefined) clock.advance(Number(advance));
    this.#transact((world) => this.#keepClock(world));
    life.catchUp();
    return this.#clockFace();
  }

  /** The clock keeps its time, but is never before the time of the snapshot: no time in the world is in the future. */
  #putSnapshot(input: JsonObject): void {
    const { store, clock, life } = this.#parts;
    const now = input.now;
    const behind = typeof now === "number" ? now - clock.now() : 0;
    this.#transact((world) => {
      putSnapshot(store, input);
      this.#grant(world);
    });
    store.timers.read();
    life.forgetLate();
    if (behind > 0) clock.advance(behind);
    this.#transact((world) => this.#keepClock(world));
    life.catchUp();
  }

  #reset(): void {
    const { store, life, log, faults } = this.#parts;
    this.#transact((world) => {
      store.replace({}, new Map());
      this.#seed(world);
      this.#grant(world);
      this.#keepClock(world);
    });
    store.timers.read();
    life.forgetLate();
    log.clear();
    faults.set([]);
  }
}

function newToken(world: World, input: JsonObject): JsonObject {
  const name = input.user_name;
  if (typeof name !== "string") throw invalidValue("Missing required field: user_name");
  const user = userByName(world, name);
  if (user === undefined) throw notFound(`User ${name} does not exist.`);
  const token = `wat${world.hex(32)}`;
  grantToken(world, token, user.id);
  return { token };
}

function clear(world: World, name: string): void {
  const table = world.collection(name);
  for (const [id] of [...table.entries()]) table.delete(id);
}

function readBody(request: AppRequest): JsonObject {
  const text = bodyText(request.body);
  if (text === undefined) throw malformed("The body is not UTF-8 text.");
  let body: Json;
  try {
    body = text.trim() === "" ? {} : parseJson(text);
  } catch (error) {
    const what = error instanceof JsonTooDeep ? "nested too deeply" : "not JSON";
    throw malformed(`The body is ${what}.`);
  }
  if (!isObject(body)) throw invalidValue("The body must be an object.");
  return body;
}

const FORMAT = 1;

/** Field of a row with an encrypted value. A snapshot has `digest` instead; a world restored from it has no value. */
const SEALED = "sealed";

function takeSnapshot(store: Store, world: World, now: number): JsonObject {
  const tables = store.dump();
  const blobs = Object.keys(tables[OWN_TABLES.blobs] ?? {});
  const total = blobs.reduce((sum, id) => sum + world.blobs.size(id), 0);
  if (total > REQUESTS.snapshot_bytes)
    throw new ApiError(
      "REQUEST_TOO_LARGE",
      `The world holds ${total} bytes of contents; a snapshot takes ${REQUESTS.snapshot_bytes}.`,
    );
  return {
    format: FORMAT,
    now,
    tables: mapped(tables, (rows) => mapped(rows, (row) => withoutSecret(world, row as Json))),
    blobs: Object.fromEntries(
      blobs.map((id) => [id, encodeBase64(world.blobs.read(id, 0, world.blobs.size(id)))]),
    ),
  };
}

/** Puts a snapshot in the place of the world. Throws INVALID_PARAMETER_VALUE when it is not one. */
function putSnapshot(store: Store, input: JsonObject): void {
  const { tables, blobs } = input;
  if (
    input.format !== FORMAT ||
    !isObject(tables) ||
    !isObject(blobs) ||
    !Object.values(tables).every(isObject)
  ) {
    throw invalidValue("This is not a snapshot of this emulator.");
  }
  const contents = Object.entries(blobs).map(
    ([id, content]) => [id, decodeBase64(id, String(content))] as const,
  );
  store.replace(tables as Readonly<Record<string, JsonObject>>, new Map(contents));
}

function withoutSecret(world: World, row: Json): Json {
  if (!isObject(row) || typeof row[SEALED] !== "string") return row;
  const { [SEALED]: sealed, ...rest } = row;
  return { ...rest, digest: digest(world.unseal(sealed)) };
}

function mapped<T>(object: Readonly<Record<string, T>>, change: (value: T) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
