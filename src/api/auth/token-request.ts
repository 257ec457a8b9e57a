// One token request: retried after transient failures, never redirected, and reported without secrets. `sign-in.ts` decides what is requested.

import { error } from "../../core/diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { Refused, refusedWith } from "../../core/request-failure.ts";
import { listed, shortened } from "../../core/sentences.ts";
import { plainText } from "../http/response.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import type { HttpRequest, HttpResponse, Transport } from "../http/transport.ts";
import { describeFailure, type TransportFailure, transportFailure } from "../http/transport-failure.ts";
import type { AuthType } from "./credential.ts";

/** The output of one run of the Azure CLI. */
export interface CliAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TokenPorts {
  /** The method of the sign-in, for messages. */
  readonly as: AuthType;
  readonly transport: Transport;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Returns early once the run is stopped. */
  readonly pause: (ms: number) => Promise<void>;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Replaces tokens and secrets in a message. */
  readonly redact: (text: string) => string;
  /** The content of a file; it may have changed since it was read last. */
  readonly readFile: (path: string) => string;
  /** Runs the Azure CLI; absent where that is not allowed. */
  readonly azureCli?: (args: readonly string[]) => Promise<CliAnswer>;
}

interface TokenRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 30_000;
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** A token request has no side effect, so it is retried after a transient failure. Throws Refused if no answer comes. */
export async function sendTokenRequest(
  { method, url, headers, body }: TokenRequest,
  ports: TokenPorts,
): Promise<HttpResponse> {
  const { origin, pathname, search } = new URL(url);
  const request: HttpRequest = {
    method,
    origin,
    path: pathname + search,
    headers: { "user-agent": "workspace", ...headers },
    timeoutMs: TIMEOUT_MS,
    body,
  };
  for (let attempt = 1; ; attempt++) {
    const backOff = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + ports.random() / 2);
    try {
      const answer = await ports.transport(request);
      const { status } = answer;
      if (status >= 300 && status < 400) throw redirected(origin, answer, ports);
      if ((status !== 429 && status < 500) || attempt === ATTEMPTS) return answer;
      const asked = retryAfterMs(answer.headers, ports.clock()) ?? 0;
      await ports.pause(Math.min(Math.max(asked, backOff), LONGEST_WAIT_MS));
    } catch (problem) {
      if (problem instanceof Refused) throw problem;
      const broken = transportFailure(problem);
      const passing = ["refused", "timeout", "lost", "proxy"].includes(broken.why);
      if (!passing || attempt === ATTEMPTS) throw unanswered(origin, broken, ports);
      await ports.pause(backOff);
    }
  }
}

function redirected(origin: string, answer: HttpResponse, { as, redact }: TokenPorts): Refused {
  const { status, headers } = answer;
  const location = shortened(redact(headers.location ?? ""), 500);
  const message = `the ${as} sign-in was redirected by ${origin} (${status}); nothing was sent there`;
  const hint = `if the workspace has moved, set the host to its new address instead of ${origin}`;
  const cause = location === "" ? {} : { cause: `Location: ${location}` };
  return refusedWith(status, "API_REDIRECT", message, { hint, ...cause });
}

function unanswered(origin: string, broken: TransportFailure, { as, redact }: TokenPorts): Refused {
  const { code, what, hint: usual } = describeFailure(broken, origin);
  // Only machines in Azure have the metadata service.
  const hint = as === "azure-msi" ? HINTS[as] : usual;
  return refusedWith(0, code, `the ${as} sign-in failed: ${what}`, { hint, cause: redact(broken.text) });
}

/** Returns the JSON object of an answer outside of OAuth. Throws Refused for every other answer. */
export async function tokenJson(
  url: string,
  headers: TokenRequest["headers"],
  ports: TokenPorts,
): Promise<JsonObject> {
  const { origin } = new URL(url);
  const answer = await sendTokenRequest({ method: "GET", url, headers }, ports);
  const text = typeof answer.body === "string" ? answer.body : new TextDecoder().decode(answer.body);
  if (answer.status !== 200) throw refusalIn(answer.status, text, origin, ports);
  const json = objectOf(text);
  if (json !== undefined) return json;
  throw signInRefused({ origin, status: 200, cause: "the answer is not a JSON object" }, ports);
}

/** The refusal in an answer: an error of OAuth or of the API, or what a page says. */
export function refusalIn(status: number, text: string, origin: string, ports: TokenPorts): Refused {
  const redactedText = (value: unknown) =>
    typeof value === "string" ? shortened(ports.redact(value), 500) : "";
  const { error: kind, error_description, message } = objectOf(text) ?? {};
  const code = redactedText(kind);
  const cause =
    redactedText(error_description) ||
    redactedText(message) ||
    (code === "" ? redactedText(plainText(text)) : "");
  return signInRefused({ origin, status, code, cause }, ports);
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const json = JSON.parse(text) as Json;
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

interface SignInRefusal {
  readonly origin: string;
  readonly status: number;
  /** The error code of OAuth, such as `invalid_client`. */
  readonly code?: string;
  readonly cause?: string;
}

export function signInRefused(
  { origin, status, code = "", cause }: SignInRefusal,
  { as }: TokenPorts,
): Refused {
  const label = [status === 0 ? "" : `${status}`, code].filter((part) => part !== "").join(" ");
  const details = { hint: HINTS[as], ...(cause === undefined || cause === "" ? {} : { cause }) };
  const message = `the ${as} sign-in was refused by ${origin}${label === "" ? "" : ` (${label})`}`;
  return new Refused(status, code, error("API_UNAUTHENTICATED", message, details));
}

/** The fix for a token that the workspace itself refuses. `from`: the sources of the credential. */
export function rejectedTokenHint(method: AuthType, from: readonly string[]): string {
  const sources = listed(from);
  if (method === "pat") return `use a valid access token of this workspace in ${sources}`;
  return sources === "" ? HINTS[method] : `${HINTS[method]}; the ${method} sign-in uses ${sources}`;
}

/** The most likely fix for each method. */
const HINTS: Readonly<Record<AuthType, string>> = {
  pat: "set WORKSPACE_TOKEN, or the profile's token, to a valid access token of this workspace",
  "oauth-m2m":
    "check the client ID and its secret, and that the service principal is a member of the workspace",
  "github-oidc":
    "give the job `permissions: id-token: write`, and check the federation policy of the service principal",
  "env-oidc": "check that the ID token is not expired, and the federation policy of the service principal",
  "file-oidc": "check that the ID token is not expired, and the federation policy of the service principal",
  "github-oidc-azure":
    "give the job `permissions: id-token: write`, and check the federated credential of the application",
  "azure-msi": "check that this machine has a managed identity, and ARM_CLIENT_ID if the user assigned it",
  "azure-client-secret": "check ARM_TENANT_ID, ARM_CLIENT_ID, and ARM_CLIENT_SECRET",
  "azure-cli": "run `az login`",
};

/** A token and when it expires, in epoch milliseconds. */
export interface AccessToken {
  readonly value: string;
  readonly expiresAt: number;
}

interface RenewedTokenOptions {
  readonly fetch: () => Promise<AccessToken>;
  readonly clock: () => number;
  /** How long before its end a token is renewed; half of its lifetime at most. */
  readonly aheadMs: number;
}

export interface RenewedToken {
  /** A token that is valid now. Throws what `fetch` throws where none can be had. */
  current(): Promise<string>;
  /** Replaces a token that was refused, unless it was replaced meanwhile. */
  replace(refused: string): Promise<void>;
}

export function renewedToken({ fetch, clock, aheadMs }: RenewedTokenOptions): RenewedToken {
  let token: AccessToken | undefined;
  let hadToken = false;
  let renewAt = 0;
  let renewal: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    const since = clock();
    const next = await fetch();
    token = next;
    hadToken = true;
    renewAt = next.expiresAt - Math.min(aheadMs, Math.max(0, next.expiresAt - since) / 2);
    return next.value;
  };
  const renewed = (): Promise<string> => {
    renewal ??= renew().then(
      (value) => {
        renewal = undefined;
        return value;
      },
      (failure: unknown) => {
        // A credential that was refused at the first sign-in is not sent again.
        const isFinal = !hadToken && failure instanceof Refused && [401, 403].includes(failure.status);
        if (!isFinal) renewal = undefined;
        throw failure;
      },
    );
    return renewal;
  };

  return {
    async current() {
      if (token !== undefined && clock() < renewAt) return token.value;
      try {
        return await renewed();
      } catch (failure) {
        // The old token serves until its end, as long as no new one can be had.
        if (token !== undefined && clock() < token.expiresAt) return token.value;
        throw failure;
      }
    },
    async replace(refused) {
      if (token !== undefined && token.value !== refused) return;
      token = undefined;
      await renewed();
    },
  };
}
