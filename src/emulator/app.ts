// The service as a function from request to response: finds the operation, checks the caller and the input, executes it, answers.

import { defined, isObject } from "../core/json.ts";
import { BackgroundWork } from "./background.ts";
import { type AppParts, Control } from "./control.ts";
import { type FaultRule, Faults } from "./faults.ts";
import { type Admission, AuthError, Authentication, isControl, RequestGate } from "./http/admission.ts";
import { type Contract, makeRouter, type Route, type Router } from "./http/contract.ts";
import { checkMedia, checkSize, isForm, type ReceivedInput, readForm, readInput } from "./http/input.ts";
import {
  type App,
  type AppRequest,
  badTarget,
  ConnectionLost,
  type EmulatorAnswer,
  errorAnswer,
  pathOf,
  queryOf,
  refusal,
  renderAnswer,
} from "./http/message.ts";
import { type InputValidator, makeValidator } from "./http/validation.ts";
import { RequestLog } from "./request-log.ts";
import { areas as allAreas } from "./routes/areas.ts";
import { ApiError, malformed, permissionDenied } from "./world/errors.ts";
import { type Call, type Caller, EMPTY_REPLY, type Operation, type SilentOperation } from "./world/world.ts";

export const createApp = (parts: AppParts): Service => new Service(parts);

interface Front {
  readonly route: Router;
  readonly validate: InputValidator;
}

const fronts = new WeakMap<Contract, Front>();

/** Simulated worlds share routes and compiled schemas: compiling takes longer than a short simulation. */
function frontOf(contract: Contract): Front {
  let front = fronts.get(contract);
  if (front === undefined) {
    front = { route: makeRouter(contract.operations), validate: makeValidator(contract) };
    fronts.set(contract, front);
  }
  return front;
}

/** A running service: `app` answers, `tick` runs due work between requests. */
export class Service {
  readonly #parts: AppParts;
  readonly #front: Front;
  readonly #operations: ReadonlyMap<string, Operation | SilentOperation>;
  readonly #auth = new Authentication();
  readonly #log = new RequestLog();
  readonly #faults = new Faults();
  readonly #life: BackgroundWork;
  readonly #control: Control;
  readonly #door: RequestGate;

  constructor(parts: AppParts) {
    const areas = parts.dialect?.areas ?? parts.areas ?? allAreas;
    this.#parts = parts;
    this.#front = frontOf(parts.dialect?.contract ?? parts.contract);
    this.#operations = new Map(areas.flatMap((area) => Object.entries(area.operations)));
    this.#life = new BackgroundWork(parts.store, parts.clock, areas);
    this.#control = new Control({ ...parts, areas, life: this.#life, log: this.#log, faults: this.#faults });
    this.#control.open();
    this.#door = new RequestGate(parts.token);
  }

  /** Asked before a body is read. */
  admit(head: Omit<AppRequest, "body">): Admission {
    return this.#door.admit(head, (method, path) => this.#front.route(method, path)?.spec.maxBytes);
  }

  tick(): void {
    this.#life.catchUp();
  }

  readonly app: App = async (request) => {
    const refused = this.#door.refuses(request);
    if (refused !== undefined) return refused;
    if (isControl(request)) return this.#control.answer(request);
    const path = pathOf(request);
    const route = this.#front.route(request.method, path);
    const { method } = request;
    const write = route?.spec.write ?? method !== "GET";
    const entry = this.#log.arrived({ method, path, query: queryOf(request), write });
    const rule = this.#faults.meet(request.method, path);
    // A form is parsed by a library that is not synchronous; everything after it is one uninterrupted step.
    const form = route?.spec.form && isForm(request) ? await this.#form(route, request) : undefined;
    const run = () => this.#inDialect(request, path, () => this.#run(request, path, route, form));
    const answer = rule === undefined ? run() : await this.#misbehave(rule, run, `${request.method} ${path}`);
    Object.assign(entry, { status: answer.response.status }, defined({ error_code: answer.errorCode }));
    return answer.response;
  };

  /** Answers paths outside the API, and adds the headers of a dialect to every answer. */
  #inDialect(request: AppRequest, path: string, run: () => EmulatorAnswer): EmulatorAnswer {
    const { dialect, clock, store } = this.#parts;
    if (dialect === undefined) return run();
    this.#life.catchUp();
    const { response, ...rest } = dialect.beside(path)
      ? { response: store.transact(clock.now(), (world) => dialect.answerBeside(request, world)) }
      : run();
    return { ...rest, response: { ...response, headers: { ...response.headers, ...dialect.headers } } };
  }

  /** The fate that a fault rule gives a request. Throws ConnectionLost if the answer is incomplete. */
  async #misbehave(rule: FaultRule, run: () => EmulatorAnswer, endpoint: string): Promise<EmulatorAnswer> {
    const instead = () =>
      refusal(rule.status, rule.error_code, `Fault injected: ${rule.fate}`, rule.retry_after);
    switch (rule.fate) {
      case "drop_before":
        throw new ConnectionLost("the connection was closed before the request was read");
      case "drop_after":
        run();
        throw new ConnectionLost("the connection was closed after the request was executed");
      case "commit_late":
        this.#life.later(this.#parts.clock.now() + rule.delay_ms, run);
        throw new ConnectionLost("the connection was closed; the request will be done later");
      case "status":
        return instead();
      case "status_after":
        run();
        return instead();
      case "rate":
      case "slow": {
        if (rule.fate === "rate" && !this.#faults.admits(rule, endpoint, this.#parts.clock.now()))
          return instead();
        const answer = run();
        await this.#parts.sleep?.(rule.delay_ms);
        return answer;
      }
      case "truncate":
        throw new ConnectionLost("the connection was closed inside the answer", run().response);
    }
    return rule.fate satisfies never;
  }

  async #form(route: Route, request: AppRequest): Promise<ReceivedInput | ApiError> {
    try {
      checkSize(route.spec, request);
      return await readForm(route.spec, request, this.#parts.dialect !== undefined);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  #run(
    request: AppRequest,
    path: string,
    route: Route | undefined,
    form: ReceivedInput | ApiError | undefined,
  ): EmulatorAnswer {
    const scim = route?.spec.scim ?? false;
    try {
      this.#life.catchUp();
      if (!this.#hasVersion(path)) return badTarget(path);
      const now = this.#parts.clock.now();
      return this.#parts.store.transact(now, (world) => {
        const caller = this.#auth.caller(world, request.headers.authorization);
        if (route === undefined)
          throw new ApiError(
            "ENDPOINT_NOT_FOUND",
            `No API found for '${request.method} ${path.replace(/^\/api\/\d\.\d/, "")}'`,
          );
        if (route.spec.adminOnly && !caller.admin)
          throw permissionDenied(`Only administrators can call ${route.spec.id}.`);
        const operation = this.#operations.get(route.spec.id);
        if (operation === undefined)
          throw new ApiError("INTERNAL_ERROR", `The emulator does not serve ${route.spec.id}`);
        const call = this.#call(route, request, caller, form);
        return renderAnswer(operation(call, world) ?? EMPTY_REPLY, scim);
      });
    } catch (error) {
      if (!(error instanceof AuthError)) return errorAnswer(error, scim);
      const code = this.#parts.dialect?.refusalCode(error.status) ?? error.status;
      return refusal(error.status, code, error.message);
    }
  }

  #hasVersion(path: string): boolean {
    const { versions } = this.#parts.dialect?.contract ?? this.#parts.contract;
    const [, api, version = "", ...rest] = path.split("/");
    return api === "api" && rest.length > 0 && versions.has(version);
  }

  #call(route: Route, request: AppRequest, caller: Caller, form: ReceivedInput | ApiError | undefined): Call {
    const { dialect } = this.#parts;
    checkMedia(route.spec, request, dialect !== undefined);
    if (form instanceof ApiError) throw form;
    if (form === undefined) checkSize(route.spec, request);
    const input = form ?? readInput(route.spec, request, dialect !== undefined);
    const fields = input.fields;
    if (!isObject(fields)) throw malformed("Could not parse request object: Expected an object");
    const valid = dialect === undefined ? fields : dialect.lenient(route.spec, fields);
    this.#front.validate(route.spec, valid);
    return {
      operation: route.spec.id,
      params: route.params,
      input: valid,
      files: input.files,
      caller,
      now: this.#parts.clock.now(),
    };
  }
}
