// Random delays and refusals on the way there and back: no write is ever sent before all that it depends on has been answered.

import fc from "fast-check";
import type { OperationName } from "../../../../src/api/contract/operations.ts";
import type { HttpRequest, HttpResponse } from "../../../../src/api/http/transport.ts";
import { stringifyJson } from "../../../../src/core/exact-json.ts";
import { collectTexts, type JsonObject } from "../../../../src/core/json.ts";
import type { ApplyEvent, Plan } from "../../../../src/planner/model/plan.ts";
import type { Send } from "../../../engine/site.ts";
import { bodyOf, operationOf } from "../../checks/ledger.ts";
import { isWrite } from "../../faults/trace.ts";
import { randomFrom, type Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { specs } from "../../world/specs.ts";
import { specFrom, stageOf } from "../../world/stage.ts";

const PER_SEED = 2000;
const LONGEST_MS = 400;
const REFUSED_SHARE = 0.08;
const LOST_SHARE = 0.02;
/** The seeds of the one pair of specs that was once seen in the wrong order. */
const NAMED_CASES = 200;

/** A new group, and a new entry that names it in the access list of a scope that is there. */
const NAMED = {
  first: { scopes: { etl: {} } },
  last: { groups: { eng: {} }, scopes: { etl: { acls: { eng: "READ" } } } },
};

/** What a write makes that others go by, as `kind:name`. */
function providedBy(operation: OperationName, body: JsonObject): readonly string[] {
  switch (operation) {
    case "scim/groups/create":
      return [`principal:${body.displayName}`];
    case "scim/users/create":
      return [`principal:${body.userName}`];
    case "secrets/scopes/create":
      return [`scope:${body.scope}`];
    case "workspace/mkdirs":
    case "workspace/import":
      return [`path:${body.path}`];
    default:
      return [];
  }
}

/**
 * The objects that a write requires, judged by the request alone. A request with an ID cannot be sent before the
 * creation is answered.
 */
function neededBy(operation: OperationName, body: JsonObject): readonly string[] {
  switch (operation) {
    case "secrets/acls/put":
      return [`scope:${body.scope}`, `principal:${body.principal}`];
    case "secrets/put":
      return [`scope:${body.scope}`];
    case "workspace/mkdirs":
    case "workspace/import":
      return above(String(body.path)).map((path) => `path:${path}`);
    case "jobs/create":
    case "jobs/reset":
      return [...collectTexts(body)].filter((text) => text.startsWith("/")).map((path) => `path:${path}`);
    default:
      return [];
  }
}

function above(path: string): readonly string[] {
  const parts = path.split("/").slice(1, -1);
  return parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}`);
}

interface Sent {
  readonly operation: OperationName;
  readonly needs: readonly string[];
  readonly at: number;
}

/** What leaves and what comes back, in the order of both. */
class Watch {
  #moment = 0;
  readonly #sent: Sent[] = [];
  readonly #answered = new Map<string, number>();
  readonly #begun = new Map<string, number>();
  readonly #done = new Map<string, number>();
  writes = 0;

  left(operation: OperationName, body: JsonObject): void {
    this.#moment += 1;
    this.writes += 1;
    this.#sent.push({ operation, needs: neededBy(operation, body), at: this.#moment });
  }

  /** A write that succeeded; only the first creation of an object counts. */
  came(operation: OperationName, body: JsonObject): void {
    this.#moment += 1;
    for (const made of providedBy(operation, body))
      if (!this.#answered.has(made)) this.#answered.set(made, this.#moment);
  }

  heard(event: ApplyEvent): void {
    this.#moment += 1;
    if (event.type === "apply_start") this.#begun.set(event.address, this.#moment);
    if (event.type === "apply_complete") this.#done.set(event.outcome.address, this.#moment);
  }

  /** Requests that were sent too early, according to the requests and to the plan. */
  wrong(plan: Plan | undefined): readonly string[] {
    const early = this.#sent.flatMap(({ operation, needs, at }) =>
      needs
        .filter((need) => (this.#answered.get(need) ?? 0) > at)
        .map((need) => `${operation} was sent before the creation of ${need} was answered`),
    );
    const begun = (plan?.changes ?? []).flatMap(({ address, dependsOn, action }) => {
      const start = this.#begun.get(address);
      // The old object of a replacement goes after its dependents have moved; only what is made comes before them.
      if (start === undefined || action === "delete") return [];
      return dependsOn
        .filter((one) => this.#begun.has(one) && !((this.#done.get(one) ?? Infinity) < start))
        .filter((one) => plan?.changes.find((change) => change.address === one)?.action !== "replace")
        .map((one) => `${address} began before ${one} was complete`);
    });
    return [...early, ...begun];
  }
}

/** A network that takes its time with each request and each answer, refuses some, and loses some answers. */
function slowed(trial: Trial, watch: Watch, random: () => number) {
  const pause = (): Promise<void> => trial.site.clock.sleep(Math.ceil(random() ** 3 * LONGEST_MS));
  return async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    const write = isWrite(request);
    const { operation } = operationOf(request);
    const body = write ? bodyOf(request) : {};
    if (write) watch.left(operation, body);
    await pause();
    if (random() < REFUSED_SHARE) return refusal();
    const answer = await send(request);
    await pause();
    if (random() < LOST_SHARE) throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    if (write && answer.status < 300) watch.came(operation, body);
    return answer;
  };
}

/** The service says that nothing was done, so any request is sent again. */
function refusal(): HttpResponse {
  const body = '{"error_code":"TEMPORARILY_UNAVAILABLE","message":"later"}';
  return { status: 503, headers: { "content-type": "application/json" }, body };
}

const told = new Map<number, readonly (readonly [JsonObject, JsonObject])[]>();

function pairOf(name: string): readonly [JsonObject, JsonObject] {
  const [seed = 1, at = 0] = name.split("/").map(Number);
  const known = told.get(seed) ?? fc.sample(fc.tuple(specs, specs), { seed, numRuns: PER_SEED });
  told.set(seed, known);
  const pair = known[at];
  if (pair === undefined) throw new Error(`pairs of one seed end at ${PER_SEED}`);
  return pair;
}

let writes = 0;

export const order: Suite = {
  name: "order",
  what: "requests and responses have random delays, some are refused or lost, and no request is sent before its dependencies have a response",
  unit: "pairs of specs",
  sample: 120,
  endless: true,

  async cases(seed, count) {
    const named = Array.from({ length: NAMED_CASES }, (_, at) => `named/${at}`);
    const pairs = Array.from({ length: Math.min(count ?? 1000, PER_SEED) }, (_, at) => `${seed}/${at}`);
    return [...named, ...pairs];
  },

  async run(name) {
    const [kind = "", at] = name.split("/");
    const [first, last] = kind === "named" ? [NAMED.first, NAMED.last] : pairOf(name);
    const random = randomFrom(Number(at) + 1);
    const trial = await Trial.of(await stageOf("create"));
    const wrong: string[] = [];
    try {
      for (const spec of [first, last]) {
        const watch = new Watch();
        const parallelism = 2 + Math.floor(random() * 15);
        const transport = slowed(trial, watch, random);
        const onEvent = (event: ApplyEvent): void => watch.heard(event);
        const more = { adopt: true };
        const ran = await trial.apply(
          { parallelism, transport, onEvent },
          { spec: await specFrom(stringifyJson(spec)), more },
        );
        writes += watch.writes;
        wrong.push(...watch.wrong(ran.plan));
      }
      return wrong;
    } finally {
      trial.close();
    }
  },

  notes: async () => [`${writes.toLocaleString("en-US")} writes were watched`],
};
