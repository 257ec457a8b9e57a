// The control requests, never under /api: request log, faults, clock, tokens, runs, mails, snapshot, reset.

import { JsonTooDeep, parseJson } from "../core/exact-json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { AppParts } from "./app-parts.ts";
import type { Lifeline } from "./background.ts";
import { type Faults, readRules } from "./faults.ts";
import { CONTROL_BASE } from "./http/admission.ts";
import { grantToken } from "./http/authenticate.ts";
import { type AppRequest, type AppResponse, bodyText, pathOf, queryOf } from "./http/message.ts";
import { errorAnswer, jsonAnswer } from "./http/responses.ts";
import type { RequestLog } from "./request-log.ts";
import { putSnapshot, takeSnapshot } from "./store/snapshot.ts";
import { OWN_TABLES } from "./store/store.ts";
import type { ClockState } from "./world/clock.ts";
import { ensureAdministrator, nameAdministrator, userByName } from "./world/directory.ts";
import { ApiError } from "./world/errors.ts";
import type { Area, ControlRun } from "./world/operation.ts";
import type { World } from "./world/world.ts";

export interface ControlParts extends AppParts {
  readonly areas: readonly Area[];
  readonly life: Lifeline;
  readonly log: RequestLog;
  readonly faults: Faults;
}

/** The last millisecond of a year with four digits; larger numbers soon exceed the range of dates. */
const END_OF_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

type Action = (input: JsonObject, query: URLSearchParams) => JsonObject;

export class Control {
  readonly #parts: ControlParts;
  readonly #actions: ReadonlyMap<string, Action>;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#actions = new Map(Object.entries({ ...this.#own(), ...this.#ofAreas() }));
  }

  /** Seeds a world that is new, and lets the token of this start speak for the administrator. */
  open(): void {
    const { store, clock, token, admin } = this.#parts;
    const kept = store.world.collection<ClockState>("workspace.clock").get("state");
    if (kept !== undefined && clock.mode === "real") clock.restore(kept);
    store.transact(clock.now(), (world) => {
      if (!world.collection("workspace").has("administrator")) this.#seed(world);
      grantToken(world, token, ensureAdministrator(world, admin).id);
    });
  }

  answer(request: AppRequest): AppResponse {
    try {
      const name = `${request.method} ${pathOf(request).slice(CONTROL_BASE.length)}`;
      const action = this.#actions.get(name);
      if (action === undefined)
        throw new ApiError("ENDPOINT_NOT_FOUND", `Control request ${name} does not exist`);
      this.#parts.life.catchUp();
      return jsonAnswer(200, action(readBody(request), new URLSearchParams(queryOf(request))));
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
      "DELETE requests": () => after(() => log.clear()),
      "GET faults": () => ({ rules: faults.rules.map((rule) => ({ ...rule })) }),
      "PUT faults": (input) => after(() => faults.set(readRules(input))),
      "DELETE faults": () => after(() => faults.set([])),
      "GET clock": () => this.#clockFace(),
      "POST clock": (input) => this.#setClock(input),
      "POST tokens": (input) => this.#transact((world) => newToken(world, input)),
      "GET mails": () => this.#transact((world) => ({ mails: mailsOf(world) })),
      "DELETE mails": () => this.#transact((world) => after(() => clear(world, OWN_TABLES.mails))),
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
      throw bad('mode must be "real" or "manual"');
    if (advance !== undefined && !(Number.isSafeInteger(advance) && Number(advance) >= 0))
      throw bad("advance_ms must be an integer of at least 0 (milliseconds)");
    if (clock.now() + Number(advance ?? 0) > END_OF_TIME) throw bad("advance_ms goes beyond the year 9999");
    if (mode !== undefined) clock.setMode(mode);
    if (advance !== undefined) clock.advance(Number(advance));
    this.#transact((world) => world.collection<ClockState>("workspace.clock").set("state", clock.state));
    life.catchUp();
    return this.#clockFace();
  }

  /** The clock keeps its time, but is never before the time of the snapshot: no time in the world is in the future. */
  #putSnapshot(input: JsonObject): JsonObject {
    const { store, clock, life, token, admin } = this.#parts;
    const now = input.now;
    const behind = typeof now === "number" ? now - clock.now() : 0;
    this.#transact((world) => {
      putSnapshot(store, input);
      grantToken(world, token, ensureAdministrator(world, admin).id);
    });
    store.reschedule();
    life.forgetLate();
    if (behind > 0) clock.advance(behind);
    this.#transact((world) => world.collection<ClockState>("workspace.clock").set("state", clock.state));
    life.catchUp();
    return {};
  }

  #reset(): JsonObject {
    const { store, clock, life, log, faults, token, admin } = this.#parts;
    this.#transact((world) => {
      store.replace({}, new Map());
      this.#seed(world);
      grantToken(world, token, ensureAdministrator(world, admin).id);
      world.collection<ClockState>("workspace.clock").set("state", clock.state);
    });
    store.reschedule();
    life.forgetLate();
    log.clear();
    faults.set([]);
    return {};
  }
}

function after(act: () => void): JsonObject {
  act();
  return {};
}

function newToken(world: World, input: JsonObject): JsonObject {
  const name = input.user_name;
  if (typeof name !== "string") throw bad("Missing required field: user_name");
  const user = userByName(world, name);
  if (user === undefined) throw new ApiError("RESOURCE_DOES_NOT_EXIST", `User ${name} does not exist.`);
  const token = `wat${world.hex(32)}`;
  grantToken(world, token, user.id);
  return { token };
}

function mailsOf(world: World): Json[] {
  return [...world.collection<Json>(OWN_TABLES.mails).values()];
}

function clear(world: World, name: string): void {
  const table = world.collection(name);
  for (const [id] of [...table.entries()]) table.delete(id);
}

function readBody(request: AppRequest): JsonObject {
  let body: Json;
  try {
    const text = bodyText(request.body);
    body = text.trim() === "" ? {} : parseJson(text);
  } catch (error) {
    const what = error instanceof JsonTooDeep ? "nested too deeply" : "not JSON";
    throw new ApiError("MALFORMED_REQUEST", `The body is ${what}.`);
  }
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw bad("The body must be an object.");
  return body as JsonObject;
}

function bad(message: string): ApiError {
  return new ApiError("INVALID_PARAMETER_VALUE", message);
}
