// The connection to one workspace: adds the Authorization header (contract A 5), limits the rate, and parses the response. One attempt, no retry.

import { failureOf } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { parseHost } from "../auth/endpoints.ts";
import type { SignIn } from "../auth/sign-in.ts";
import type { OperationFacts } from "../contract/operations.ts";
import type { PreparedRequest } from "../http/request-body.ts";
import { parseAnswer } from "../http/response.ts";
import type { HttpRequest, HttpResponse, Transport } from "../http/transport.ts";
import { transportFailure } from "../http/transport-failure.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { FailedAttempt } from "./retry-policy.ts";

export type Attempt = { readonly end: "ok"; readonly json: JsonObject } | FailedAttempt;

export interface HostConnection {
  readonly origin: string;
  /** Whether the host has ever answered. */
  readonly contacted: boolean;
  requestOf(operation: OperationFacts, prepared: PreparedRequest): HttpRequest;
  /** Adds the current token; absent if all requests have the same token. */
  readonly signed?: (request: HttpRequest) => Promise<HttpRequest>;
  /** Replaces the token of a refused request. */
  readonly renew?: (refused: HttpRequest) => Promise<void>;
  /** Rejects only with what `permit` throws: then nothing left. `endpoint`: what the service limits together. */
  attempt(request: HttpRequest, endpoint: string, permit?: () => void): Promise<Attempt>;
}

interface WireOptions {
  readonly transport: Transport;
  readonly host: string;
  readonly token: string | SignIn;
  readonly auth: Scheme;
  readonly timeoutMs: number;
  readonly clock: () => number;
  readonly rateLimit: RateLimit;
  /** Called before each attempt leaves. */
  readonly sending?: () => void;
}

/** Throws Failure where host or token can never work. */
export function createHostConnection(options: WireOptions): HostConnection {
  const { transport, rateLimit, clock, timeoutMs } = options;
  const { origin, base } = parseHost(options.host);
  const { token } = options;
  const credential: Record<string, string> =
    typeof token === "string" ? { authorization: authorization(token, options.auth) } : {};
  const headers = {
    json: headersFor("application/json", credential),
    scim: headersFor("application/scim+json", credential),
  };
  let contacted = false;

  return {
    origin,
    ...(typeof token === "string" ? {} : signing(token)),
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
    async attempt(request, endpoint, permit) {
      await rateLimit.enter(endpoint);
      try {
        permit?.();
      } catch (withheld) {
        rateLimit.leave();
        throw withheld;
      }
      const begun = clock();
      options.sending?.();
      let response: HttpResponse;
      try {
        response = await transport(request);
      } catch (problem) {
        return { end: "broken", broken: transportFailure(problem) };
      } finally {
        rateLimit.leave();
      }
      contacted = true;
      rateLimit.answered(endpoint, begun, response.status === 429);
      return parseAnswer(request.method, response, clock());
    },
  };
}

function signing(signIn: SignIn): Required<Pick<HostConnection, "signed" | "renew">> {
  return {
    signed: async (request) => ({ ...request, headers: { ...request.headers, ...(await signIn.headers()) } }),
    renew: ({ headers }) => signIn.renew(headers),
  };
}

/** `Accept` is required on SCIM reads and `Content-Type` on its writes (contract A 4.1); other calls are sent the same way. */
function headersFor(
  type: string,
  credential: Readonly<Record<string, string>>,
): { bare: Record<string, string>; full: Record<string, string> } {
  const bare = { ...credential, accept: type, "user-agent": "workspace" };
  return { bare, full: { ...bare, "content-type": type } };
}

export type Scheme = "bearer" | "basic";

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Throws Failure (API_UNAUTHENTICATED) for a token that is not valid in a header; the error does not contain the token. */
export function authorization(token: string, scheme: Scheme): string {
  if (token === "")
    throw failureOf("API_UNAUTHENTICATED", "no token is set", {
      hint: "set WORKSPACE_TOKEN, or a token in the profile",
    });
  if (!VISIBLE_ASCII.test(token))
    throw failureOf(
      "API_UNAUTHENTICATED",
      "the token contains spaces, line breaks, or characters outside ASCII",
      { hint: "copy the token again without surrounding characters" },
    );
  return scheme === "bearer" ? `Bearer ${token}` : `Basic ${btoa(`token:${token}`)}`;
}
