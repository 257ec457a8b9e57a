// OAuth 2.0 grants and endpoint discovery through oauth4webapi, which is loaded with the first grant, and ID tokens of other issuers.

import type { AuthorizationServer, ClientAuth } from "oauth4webapi";
import { thrownText } from "../../core/diagnostic.ts";
import { Refused } from "../../core/request-failure.ts";
import type { AccessToken } from "./access-token.ts";
import type { IdTokenSource } from "./credential.ts";
import { endpointOnHost, isPrivate } from "./endpoints.ts";
import { refusalIn, sendTokenRequest, signInRefused, type TokenPorts, tokenJson } from "./token-request.ts";

export type ClientProof =
  | { readonly by: "basic" | "form"; readonly id: string; readonly secret: string }
  | { readonly by: "assertion"; readonly id: string; readonly assertion: string }
  | { readonly by: "nothing"; readonly id: string | undefined };

export interface TokenGrant {
  readonly endpoint: string;
  readonly client: ClientProof;
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

type Library = typeof import("oauth4webapi");

const load = (): Promise<Library> => import("oauth4webapi");

export const CLIENT_CREDENTIALS = "client_credentials";
export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
export const JWT_TYPE = "urn:ietf:params:oauth:token-type:jwt";
const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Assumed lifetime of a token whose server does not state one. */
const SHORTEST_LIFE_S = 300;

/** Throws Refused where no token is given. */
export async function requestToken(grant: TokenGrant, ports: TokenPorts): Promise<AccessToken> {
  const oauth = await load();
  const { endpoint } = grant;
  const { origin } = new URL(endpoint);
  if (!isPrivate(new URL(endpoint)))
    throw signInRefused({ origin, status: 0, cause: "a token endpoint without https is not used" }, ports);
  const server: AuthorizationServer = { issuer: origin, token_endpoint: endpoint };
  // An account-wide federation has no client ID, but the library requires one.
  const client = { client_id: grant.client.id ?? "account" };
  const since = ports.clock();
  let status = 0;
  try {
    const answer = await oauth.genericTokenEndpointRequest(
      server,
      client,
      proofOf(grant.client, oauth),
      grant.type,
      { ...grant.parameters },
      // `isPrivate` has checked the address: http only on this machine.
      { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: fetchOver(ports) },
    );
    status = answer.status;
    if (status !== 200) throw refusalIn(status, await answer.text(), origin, ports);
    const token = await oauth.processGenericTokenEndpointResponse(server, client, answer);
    const { access_token: value, expires_in = SHORTEST_LIFE_S } = token;
    if (!isToken(value)) throw new Error("the token has characters that no header can carry");
    return { value, expiresAt: since + expires_in * 1_000 };
  } catch (problem) {
    if (problem instanceof Refused) throw problem;
    const cause = ports.redact(thrownText(problem).slice(0, 500));
    throw signInRefused({ origin, status, cause }, ports);
  }
}

/** Whether a header can carry a value. */
export function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

/** The token endpoint that a workspace names for itself. Throws Refused unless it is on the workspace's own host. */
export async function workspaceTokenEndpoint(host: string, ports: TokenPorts): Promise<string> {
  const url = `${host}/oidc/.well-known/oauth-authorization-server`;
  const { token_endpoint: endpoint } = await tokenJson(url, { accept: "application/json" }, ports);
  return endpointOnHost(new URL(host).origin, typeof endpoint === "string" ? endpoint : "");
}

interface FetchInput {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The client's own transport in place of `fetch`: its proxy and its authorities, and no redirect. */
function fetchOver(ports: TokenPorts) {
  return async (url: string, { method, headers, body }: FetchInput): Promise<Response> => {
    const text = body === undefined || body === null ? undefined : String(body);
    const request = { method, url, headers, ...(text === undefined ? {} : { body: text }) };
    const answer = await sendTokenRequest(request, ports);
    const content = NO_BODY.has(answer.status) ? null : new Blob([answer.body as string]);
    return new Response(content, { status: answer.status, headers: answer.headers });
  };
}

const NO_BODY = new Set([204, 205, 304]);

function proofOf(client: ClientProof, oauth: Library): ClientAuth {
  switch (client.by) {
    case "basic":
      return oauth.ClientSecretBasic(client.secret);
    case "form":
      return oauth.ClientSecretPost(client.secret);
    case "assertion":
      return (_server, { client_id }, body) => {
        body.set("client_id", client_id);
        body.set("client_assertion_type", JWT_BEARER);
        body.set("client_assertion", client.assertion);
      };
    case "nothing":
      return client.id === undefined ? () => {} : oauth.None();
    default:
      return client satisfies never;
  }
}

/** Throws Refused where there is none. */
export async function idTokenFrom(
  source: IdTokenSource,
  audience: string,
  ports: TokenPorts,
): Promise<string> {
  switch (source.from) {
    case "value":
      return source.value;
    case "file":
      return readIdToken(source.path, ports);
    case "github":
      return workflowIdToken(source.url, source.token, audience, ports);
    default:
      return source satisfies never;
  }
}

function readIdToken(path: string, ports: TokenPorts): string {
  try {
    return ports.readFile(path).trim();
  } catch (problem) {
    const cause = ports.redact(thrownText(problem));
    throw signInRefused({ origin: path, status: 0, cause }, ports);
  }
}

async function workflowIdToken(
  service: string,
  token: string,
  audience: string,
  ports: TokenPorts,
): Promise<string> {
  const url = new URL(service);
  url.searchParams.set("audience", audience);
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  const { value } = await tokenJson(url.href, headers, ports);
  if (typeof value === "string" && value !== "") return value;
  throw signInRefused({ origin: url.origin, status: 200, cause: "the answer has no ID token" }, ports);
}
