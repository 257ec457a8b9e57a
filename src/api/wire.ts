// The line to one workspace: adds the credential, keeps the pace, and reads what comes back. One attempt, no retry.

import type { JsonObject } from "../core/json.ts";
import { answerOf } from "./answer.ts";
import { authorization, type Scheme } from "./auth.ts";
import type { Prepared } from "./body.ts";
import { breakOf } from "./breaks.ts";
import type { HttpRequest, HttpResponse, Transport } from "./exchange.ts";
import { parseHost } from "./host.ts";
import type { OperationFacts } from "./operations.ts";
import type { Pace } from "./rate.ts";
import type { BadEnd } from "./retry.ts";

export type Attempt = { readonly end: "ok"; readonly json: JsonObject } | BadEnd;

export interface Wire {
  readonly origin: string;
  /** Whether the host has ever answered. */
  readonly contacted: boolean;
  requestOf(operation: OperationFacts, prepared: Prepared): HttpRequest;
  /** Rejects only with what `permit` throws: then nothing left. */
  attempt(request: HttpRequest, permit?: () => void): Promise<Attempt>;
}

export interface WireOptions {
  readonly transport: Transport;
  readonly host: string;
  readonly token: string;
  readonly auth: Scheme;
  readonly timeoutMs: number;
  readonly clock: () => number;
  readonly pace: Pace;
}

/** Throws Failure where host or token can never work. */
export function createWire(options: WireOptions): Wire {
  const { transport, pace, clock, timeoutMs } = options;
  const { origin, base } = parseHost(options.host);
  const credential = authorization(options.token, options.auth);
  const headers = {
    json: headersFor("application/json", credential),
    scim: headersFor("application/scim+json", credential),
  };
  let contacted = false;

  return {
    origin,
    get contacted() {
      return contacted;
    },
    requestOf(operation, { method, path, body, contentType }) {
      const request = { method, origin, path: base + path, timeoutMs };
      const { bare, full } = headers[operation.format];
      if (body === undefined) return { ...request, headers: bare };
      const own = contentType === undefined ? full : { ...bare, "content-type": contentType };
      return { ...request, headers: own, body };
    },
    async attempt(request, permit) {
      const turn = pace.enter();
      if (turn !== undefined) await turn;
      try {
        permit?.();
      } catch (withheld) {
        pace.leave();
        throw withheld;
      }
      let response: HttpResponse;
      try {
        response = await transport(request);
      } catch (problem) {
        return { end: "broken", broken: breakOf(problem) };
      } finally {
        pace.leave();
      }
      contacted = true;
      return answerOf(response, clock());
    },
  };
}

/** `Accept` is required on SCIM reads and `Content-Type` on its writes (part A, 4.1); other calls are sent the same way. */
function headersFor(
  type: string,
  credential: string,
): { bare: Record<string, string>; full: Record<string, string> } {
  const bare = { authorization: credential, accept: type, "user-agent": "workspace" };
  return { bare, full: { ...bare, "content-type": type } };
}
