// The service as a function from request to response: it finds the operation, checks caller and input, runs it, answers.

import { type Answer, answerOf, errorAnswer, refusal } from "./answers.ts";
import { areas as allAreas } from "./areas.ts";
import { AuthError, Authentication } from "./auth.ts";
import type { Area, Call, Caller, Operation } from "./call.ts";
import type { Clock } from "./clock.ts";
import type { Contract, OperationSpec } from "./contract.ts";
import { CONTROL_BASE, Control } from "./control.ts";
import { ApiError } from "./errors.ts";
import { type FaultRule, Faults } from "./faults.ts";
import { type Input, isForm, readForm, readInput } from "./input.ts";
import { Lifeline } from "./lifeline.ts";
import { REQUESTS } from "./limits.ts";
import { checkMedia } from "./media.ts";
import {
  type App,
  type AppRequest,
  type AppResponse,
  bytesOf,
  ConnectionLost,
  pathOf,
  queryOf,
} from "./message.ts";
import { RequestLog } from "./request-log.ts";
import { makeRouter, type Route, type Router } from "./routing.ts";
import type { Store } from "./store.ts";
import { makeValidator, type Validator } from "./validation.ts";

export interface AppParts {
  readonly store: Store;
  readonly contract: Contract;
  readonly clock: Clock;
  /** Token of the administrator. */
  readonly token: string;
  /** User name of the administrator. */
  readonly admin: string;
  /** Waits for the fault `slow`; without it a slow answer comes at once. */
  readonly sleep?: (ms: number) => Promise<void>;
  readonly areas?: readonly Area[];
}

/** A running service: `app` answers, `tick` runs what has come due when nobody asks. */
export interface Service {
  readonly app: App;
  tick(): void;
}

export function createApp(parts: AppParts): Service {
  const service = new RunningService(parts);
  return { app: (request) => service.answer(request), tick: () => service.tick() };
}

interface Front {
  readonly route: Router;
  readonly validate: Validator;
}

const fronts = new WeakMap<Contract, Front>();

/** Routes and compiled schemas hold nothing of a world, so thousands of simulated worlds share them. */
function frontOf(contract: Contract): Front {
  let front = fronts.get(contract);
  if (front === undefined) {
    front = { route: makeRouter(contract.operations), validate: makeValidator(contract) };
    fronts.set(contract, front);
  }
  return front;
}

class RunningService {
  readonly #parts: AppParts;
  readonly #route: Router;
  readonly #validate: Validator;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #auth = new Authentication();
  readonly #log = new RequestLog();
  readonly #faults = new Faults();
  readonly #life: Lifeline;
  readonly #control: Control;

  constructor(parts: AppParts) {
    const areas = parts.areas ?? allAreas;
    this.#parts = parts;
    const front = frontOf(parts.contract);
    this.#route = front.route;
    this.#validate = front.validate;
    this.#operations = new Map(areas.flatMap((area) => Object.entries(area.operations)));
    this.#life = new Lifeline(parts.store, parts.clock, areas);
    this.#control = new Control({ ...parts, areas, life: this.#life, log: this.#log, faults: this.#faults });
    this.#control.open();
  }

  tick(): void {
    this.#life.catchUp();
  }

  async answer(request: AppRequest): Promise<AppResponse> {
    const path = pathOf(request);
    if (path.startsWith(CONTROL_BASE)) return this.#control.answer(request);
    const route = this.#route(request.method, path);
    const done = this.#log.arrived(
      request.method,
      path,
      queryOf(request),
      route?.spec.write ?? request.method !== "GET",
    );
    const rule = this.#faults.meet(request.method, path);
    // A form is parsed by a library that is not synchronous; everything after it is one uninterrupted step.
    const form = route?.spec.form && isForm(request) ? await this.#form(route, request) : undefined;
    const run = () => this.#run(request, path, route, form);
    const answer = rule === undefined ? run() : await this.#misbehave(rule, run);
    done(answer.response.status, answer.errorCode);
    return answer.response;
  }

  /** The fate that a fault rule gives a request. Throws ConnectionLost where there is no whole answer. */
  async #misbehave(rule: FaultRule, run: () => Answer): Promise<Answer> {
    const instead = () =>
      refusal(rule.status, rule.error_code, `Fault injected: ${rule.fate}`, rule.retry_after);
    switch (rule.fate) {
      case "drop_before":
        throw new ConnectionLost("the connection was closed before the request was looked at");
      case "drop_after":
        run();
        throw new ConnectionLost("the connection was closed after the request was done");
      case "commit_late":
        this.#life.later(this.#parts.clock.now() + rule.delay_ms, run);
        throw new ConnectionLost("the connection was closed; the request will be done later");
      case "status":
        return instead();
      case "status_after":
        run();
        return instead();
      case "slow": {
        const answer = run();
        await this.#parts.sleep?.(rule.delay_ms);
        return answer;
      }
      case "truncate":
        throw new ConnectionLost("the connection was closed inside the answer", run().response);
    }
    return rule.fate satisfies never;
  }

  async #form(route: Route, request: AppRequest): Promise<Input | ApiError> {
    try {
      checkSize(route.spec, request);
      return await readForm(route.spec, request);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  #run(
    request: AppRequest,
    path: string,
    route: Route | undefined,
    form: Input | ApiError | undefined,
  ): Answer {
    const scim = route?.spec.scim ?? false;
    try {
      this.#life.catchUp();
      if (!path.startsWith("/api/2.0/")) return badTarget(path);
      const now = this.#parts.clock.now();
      return this.#parts.store.transact(now, (world) => {
        const caller = this.#auth.caller(world, request.headers.authorization);
        if (route === undefined)
          throw new ApiError(
            "ENDPOINT_NOT_FOUND",
            `No API found for '${request.method} ${path.slice("/api/2.0".length)}'`,
          );
        this.#admit(route.spec, caller);
        const operation = this.#operations.get(route.spec.id);
        if (operation === undefined)
          throw new ApiError("INTERNAL_ERROR", `The emulator does not serve ${route.spec.id}`);
        return answerOf(operation(this.#call(route, request, caller, form), world), scim);
      });
    } catch (error) {
      if (error instanceof AuthError) return refusal(error.status, error.status, error.message);
      return errorAnswer(error, scim);
    }
  }

  #admit(spec: OperationSpec, caller: Caller): void {
    if (spec.adminOnly && !caller.admin) {
      throw new ApiError("PERMISSION_DENIED", `Only administrators can call ${spec.id}.`);
    }
  }

  #call(route: Route, request: AppRequest, caller: Caller, form: Input | ApiError | undefined): Call {
    checkMedia(route.spec, request);
    if (form instanceof ApiError) throw form;
    if (form === undefined) checkSize(route.spec, request);
    const input = form ?? readInput(route.spec, request);
    const fields = input.fields;
    if (fields === null || typeof fields !== "object" || Array.isArray(fields)) {
      throw new ApiError("MALFORMED_REQUEST", "Could not parse request object: Expected an object");
    }
    this.#validate(route.spec, fields);
    return {
      operation: route.spec.id,
      params: route.params,
      input: fields as Call["input"],
      files: input.files,
      caller,
      now: this.#parts.clock.now(),
    };
  }
}

function checkSize(spec: OperationSpec, request: AppRequest): void {
  const { body } = request;
  if (body === undefined || body.length * 3 <= spec.maxBytes) return;
  const size = typeof body === "string" ? bytesOf(body).length : body.length;
  const limit = Math.min(REQUESTS.any_body_bytes, spec.maxBytes);
  if (size > limit)
    throw new ApiError(
      "REQUEST_TOO_LARGE",
      `The request is larger than ${limit} bytes. Found: ${size} bytes.`,
    );
}

/** The answer to a version or place that there is not (facts 4.1). */
function badTarget(path: string): Answer {
  const { response } = refusal(404, "ENDPOINT_NOT_FOUND", "");
  return {
    response: { ...response, body: JSON.stringify({ error: `Bad Target: ${path}` }) },
    errorCode: "ENDPOINT_NOT_FOUND",
  };
}
