// Every operation × every fault × once, three times, always: what the service did against what the client says of it.

import { expect, test } from "vitest";
import { createClient } from "../../src/api/client.ts";
import {
  OPERATIONS,
  type OperationFacts,
  type OperationName,
  repeatIsSafe,
} from "../../src/api/contract/operations.ts";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../src/core/request-failure.ts";
import { nockedTransport } from "../nocked.ts";
import { sampleFrom } from "../sample-size.ts";
import { apiError, json, raw, refused, reset, timedOut } from "./answers.ts";
import { HOST, TOKEN, timeline } from "./scripted.ts";

interface Fault {
  /** Whether the service did its work before it failed. */
  readonly acts: boolean;
  readonly end: HttpResponse | Error;
}
const without = (end: Fault["end"]): Fault => ({ acts: false, end });
const after = (end: Fault["end"]): Fault => ({ acts: true, end });
const throttled = (wait?: string) =>
  apiError(429, "REQUEST_LIMIT_EXCEEDED", "", wait === undefined ? {} : { "retry-after": wait });
const whole = '{"value":"0123456789"}';

const FAULTS: Readonly<Record<string, Fault>> = {
  "429, seconds": without(throttled("3")),
  "429, date": without(throttled("Sun, 01 Mar 2020 00:05:00 GMT")),
  "429, no Retry-After": without(throttled()),
  "429, garbage": without(throttled("soonish")),
  "429, a day": without(throttled("86400")),
  "500": without(apiError(500, "INTERNAL_ERROR")),
  "500 after commit": after(apiError(500, "INTERNAL_ERROR")),
  "502 page": without(raw(502, "<html>Bad Gateway</html>")),
  "502 after commit": after(raw(502, "")),
  "503": without(apiError(503, "TEMPORARILY_UNAVAILABLE")),
  "503 page": after(raw(503, "<html></html>", { "retry-after": "1" })),
  "504 after commit": after(raw(504, "")),
  "time-out before commit": without(timedOut()),
  "time-out after commit": after(timedOut()),
  "reset before commit": without(reset()),
  "reset after commit": after(reset()),
  "never connected": without(refused()),
  "truncated JSON": after(raw(200, whole.slice(0, 9))),
  "empty body": after(raw(200, "")),
  HTML: without(raw(200, "<html>Sign in</html>")),
  "HTML after commit": after(raw(200, "<html></html>")),
  "wrong type": after(raw(200, "[1,2]")),
  "401": without(apiError(401, 401)),
  "403": without(apiError(403, "PERMISSION_DENIED")),
  "redirect to another host": without(raw(302, "", { location: "https://evil.example.com/" })),
  "see other": after(raw(303, "", { location: "https://evil.example.com/" })),
};

const DONE = json({ value: 1 });
let next: () => Fault["end"];
const nocked = nockedTransport(() => {
  const end = next();
  if (end instanceof Error) throw end;
  return end;
});

const deliveries = new Map<Fault["end"], Promise<HttpResponse>>();

/** Delivers an end as undici does. It is the same each time, and 60,000 requests through nock take a minute. */
function delivered(end: Fault["end"]): Promise<HttpResponse> {
  next = () => end;
  const delivery =
    deliveries.get(end) ?? nocked({ method: "GET", origin: HOST, path: "/", headers: {}, timeoutMs: 60_000 });
  deliveries.set(end, delivery);
  return delivery;
}

const THROUGH_NOCK = new Set<string>(sampleFrom(Object.keys(OPERATIONS)));

/** Requests that fail once reach nock, in a quick run those of some operations. The others get the same end again. */
async function run(name: OperationName, fault: Fault, times: number) {
  const facts: OperationFacts = OPERATIONS[name];
  let faults = 0;
  let effects = 0;
  const origins = new Set<string>();
  const { clock, sleep } = timeline();
  const endOf = (): Fault["end"] => {
    faults += 1;
    if (faults > times || fault.acts) effects += 1;
    return faults > times ? DONE : fault.end;
  };
  const { writer } = createClient({
    host: HOST,
    token: TOKEN,
    clock,
    sleep,
    random: () => 0.5,
    transport: (request: HttpRequest) => {
      origins.add(request.origin);
      if (times > 1 || !THROUGH_NOCK.has(name)) return delivered(endOf());
      next = endOf;
      return nocked(request);
    },
  });
  const input: JsonObject = { id: "1", path: "/a", object_type: "jobs", object_id: "1" };
  const call = writer.write as (name: OperationName, input: JsonObject) => Promise<JsonObject>;
  const began = clock();
  const result = await call(name, input).catch((problem: unknown) => problem);
  return {
    result,
    effects,
    origins,
    repeatable: repeatIsSafe(facts, input),
    writes: facts.kind === "write",
    took: clock() - began,
  };
}

const cells = Object.keys(FAULTS).flatMap((fault) =>
  [1, 3, Number.POSITIVE_INFINITY].map((times) => [fault, times] as const),
);

test.each(cells)(
  "%s, %d times: no operation acts twice unasked, and none says more than it knows",
  async (key, times) => {
    const fault = FAULTS[key] as Fault;
    for (const name of Object.keys(OPERATIONS) as OperationName[]) {
      const { result, effects, origins, repeatable, writes, took } = await run(name, fault, times);
      if (result instanceof Refused) {
        if (writes) expect(effects, `${name} was refused`).toBe(0);
      } else if (result instanceof UnknownOutcome) expect(writes, `${name} is unknown`).toBe(true);
      else expect([name, result, effects > 0]).toEqual([name, { value: 1 }, true]);
      if (!repeatable) expect(effects, `${name} acted`).toBeLessThanOrEqual(1);
      expect([...origins], name).toEqual([HOST]);
      // The last attempt may also wait for its turn at the rate that the service allows, which is 2 s at most.
      expect(took, `${name} waited`).toBeLessThanOrEqual(602_000);
    }
  },
);

test("every fault that passes is survived by every read and every safe write", async () => {
  const passing = [
    "429",
    "500",
    "502",
    "503",
    "504",
    "time-out",
    "reset",
    "truncated",
    "empty",
    "wrong type",
    "never",
  ];
  for (const [key, fault] of Object.entries(FAULTS)) {
    if (!passing.some((start) => key.startsWith(start)) || key === "429, a day") continue;
    for (const name of Object.keys(OPERATIONS) as OperationName[]) {
      const { result, repeatable } = await run(name, fault, 3);
      if (repeatable) expect([name, key, result]).toEqual([name, key, { value: 1 }]);
    }
  }
});
