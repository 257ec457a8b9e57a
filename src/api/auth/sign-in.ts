// Signs the requests to one workspace with tokens that are obtained on first use and renewed.

import type { AuthorizationServer, ClientAuth } from "oauth4webapi";
import { thrownText } from "../../core/diagnostic.ts";
import { Refused } from "../../core/request-failure.ts";
import { shortened } from "../../core/sentences.ts";
import { redactor } from "../http/redact.ts";
import {
  type AzureCredential,
  credentialSecrets,
  type IdTokenSource,
  type RenewableCredential,
} from "./credential.ts";
import { AZURE_APPLICATION, AZURE_CLOUDS, endpointOnHost, isPrivate } from "./endpoints.ts";
import {
  type AccessToken,
  type RenewedToken,
  refusalIn,
  renewedToken,
  sendTokenRequest,
  signInRefused,
  type TokenPorts,
  tokenJson,
} from "./token-request.ts";

/** Names in lower case. */
export type AuthHeaders = Readonly<Record<string, string>>;

export interface SignIn {
  /** The headers that identify the caller. Throws Refused if no token can be obtained. */
  headers(): Promise<AuthHeaders>;
  /** After a request with these headers was refused for its token: replaces that token. Throws Refused likewise. */
  renew(refused: AuthHeaders): Promise<void>;
  /** What no message may repeat, up to now. */
  secrets(): readonly string[];
}

export type SignInPorts = Omit<TokenPorts, "redact" | "as">;

interface SignInTokenPorts extends TokenPorts {
  /** No later message may repeat this token. */
  readonly remember: (token: string) => void;
}

/** The service refuses a token of Entra ID in its last 30 s. */
const AZURE_AHEAD_MS = 40_000;
const AHEAD_MS = 10_000;
const MOST_SECRETS = 16;

/** `host`: scheme, name, port, and base path of the workspace. */
export function createSignIn(credential: RenewableCredential, host: string, ports: SignInPorts): SignIn {
  const credentialTexts = credentialSecrets(credential);
  const issued: string[] = [];
  const secrets = () => [...credentialTexts, ...issued];
  const remember = (token: string): void => {
    if (issued.includes(token)) return;
    issued.push(token);
    if (issued.length > MOST_SECRETS) issued.shift();
  };
  const whole: SignInTokenPorts = { ...ports, as: credential.method, redact: redactor(secrets), remember };
  const remembering =
    (fetch: () => Promise<AccessToken>): (() => Promise<AccessToken>) =>
    async () => {
      const token = await fetch();
      remember(token.value);
      return token;
    };
  const renewed = (aheadMs: number, fetch: () => Promise<AccessToken>): RenewedToken =>
    renewedToken({ clock: ports.clock, aheadMs, fetch: remembering(fetch) });

  if (!("azure" in credential)) {
    return bearerSignIn(renewed(AHEAD_MS, workspaceToken(credential, host, whole)), secrets);
  }
  const ofAzure = (resource: string) =>
    renewed(AZURE_AHEAD_MS, () => azureToken(credential, resource, whole));
  return azureSignIn(credential, ofAzure, secrets);
}

function workspaceToken(
  credential: Exclude<RenewableCredential, AzureCredential>,
  host: string,
  ports: SignInTokenPorts,
): () => Promise<AccessToken> {
  let discoveredEndpoint: string | undefined;
  return async () => {
    discoveredEndpoint ??= await workspaceTokenEndpoint(host, ports);
    const endpoint = discoveredEndpoint;
    const parameters = { scope: "all-apis" };
    if (credential.method === "oauth-m2m") {
      const client = { by: "basic", id: credential.clientId, secret: credential.clientSecret } as const;
      return requestToken({ endpoint, client, type: CLIENT_CREDENTIALS, parameters }, ports);
    }
    const idToken = await idTokenFrom(credential.idToken, credential.audience ?? endpoint, ports);
    const subject = { ...parameters, subject_token: idToken, subject_token_type: JWT_TYPE };
    const client = { by: "nothing", id: credential.clientId } as const;
    return requestToken({ endpoint, client, type: TOKEN_EXCHANGE, parameters: subject }, ports);
  };
}

const MANAGEMENT_HEADER = "x-databricks-azure-sp-management-token";
const RESOURCE_HEADER = "x-databricks-azure-workspace-resource-id";

/** With a resource ID, the service also admits a principal that it does not know yet. */
function azureSignIn(
  credential: AzureCredential,
  tokenFor: (resource: string) => RenewedToken,
  secrets: () => readonly string[],
): SignIn {
  const { resourceId, management } = credential.azure;
  const bearer = bearerSignIn(tokenFor(AZURE_APPLICATION), secrets);
  if (resourceId === undefined) return bearer;
  let manager: RenewedToken | undefined = tokenFor(management);
  const managementHeader = async (): Promise<AuthHeaders> => {
    if (manager === undefined) return {};
    try {
      return { [MANAGEMENT_HEADER]: await manager.current() };
    } catch (failure) {
      // A member of the workspace need not have any right in Azure.
      if (credential.method !== "azure-cli" || !(failure instanceof Refused)) throw failure;
      manager = undefined;
      return {};
    }
  };
  return {
    async headers() {
      return { ...(await bearer.headers()), [RESOURCE_HEADER]: resourceId, ...(await managementHeader()) };
    },
    async renew(refused) {
      await bearer.renew(refused);
      const old = refused[MANAGEMENT_HEADER];
      if (old !== undefined) await manager?.replace(old);
    },
    secrets,
  };
}

function bearerSignIn(token: RenewedToken, secrets: () => readonly string[]): SignIn {
  return {
    headers: async () => ({ authorization: `Bearer ${await token.current()}` }),
    renew: ({ authorization = "" }) => token.replace(authorization.replace(/^Bearer /, "")),
    secrets,
  };
}

type ClientProof =
  | { readonly by: "basic" | "form"; readonly id: string; readonly secret: string }
  | { readonly by: "assertion"; readonly id: string; readonly assertion: string }
  | { readonly by: "nothing"; readonly id: string | undefined };

interface TokenGrant {
  readonly endpoint: string;
  readonly client: ClientProof;
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

type Library = typeof import("oauth4webapi");

const load = (): Promise<Library> => import("oauth4webapi");

const CLIENT_CREDENTIALS = "client_credentials";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_TYPE = "urn:ietf:params:oauth:token-type:jwt";
const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Assumed lifetime of a token whose server does not state one. */
const SHORTEST_LIFE_S = 300;

/** Throws Refused where no token is given. */
async function requestToken(grant: TokenGrant, ports: TokenPorts): Promise<AccessToken> {
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
    const cause = shortened(ports.redact(thrownText(problem)), 500);
    throw signInRefused({ origin, status, cause }, ports);
  }
}

/** Whether a header can carry a value. */
function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

/** The token endpoint that a workspace names for itself. Throws Refused unless it is on the workspace's own host. */
async function workspaceTokenEndpoint(host: string, ports: TokenPorts): Promise<string> {
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
    const request = { method, url, headers, body: text };
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
async function idTokenFrom(
  source: IdTokenSource,
  audience: string,
  ports: SignInTokenPorts,
): Promise<string> {
  let token: string;
  if (source.from === "value") token = source.value;
  else if (source.from === "file") token = idTokenInFile(source.path, ports);
  else token = await workflowIdToken(source.url, source.token, audience, ports);
  ports.remember(token);
  return token;
}

function idTokenInFile(path: string, ports: TokenPorts): string {
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

/** A token for a resource of Azure. Throws Refused where none is given. */
async function azureToken(
  credential: AzureCredential,
  resource: string,
  ports: SignInTokenPorts,
): Promise<AccessToken> {
  switch (credential.method) {
    case "azure-client-secret": {
      const client = { by: "form", id: credential.clientId, secret: credential.clientSecret } as const;
      return principalToken(credential, client, resource, ports);
    }
    case "github-oidc-azure": {
      const audience = exchangeAudience(credential.azure.authority);
      const assertion = await idTokenFrom(credential.idToken, audience, ports);
      const client = { by: "assertion", id: credential.clientId, assertion } as const;
      return principalToken(credential, client, resource, ports);
    }
    case "azure-msi":
      return machineToken(credential, resource, ports);
    case "azure-cli":
      return cliToken(credential, resource, ports);
    default:
      return credential satisfies never;
  }
}

function principalToken(
  { azure, tenantId }: AzureCredential & { readonly tenantId: string },
  client: ClientProof,
  resource: string,
  ports: TokenPorts,
): Promise<AccessToken> {
  const endpoint = `${azure.authority}/${encodeURIComponent(tenantId)}/oauth2/token`;
  const grant = { endpoint, client, type: CLIENT_CREDENTIALS, parameters: { resource } };
  return requestToken(grant, ports);
}

/** The audience that an application of Entra ID expects in ID tokens of GitHub; each cloud has another one. */
function exchangeAudience(authority: string): string {
  const cloud = AZURE_CLOUDS.find((azureCloud) => azureCloud.authority === authority)?.name;
  return `api://AzureADTokenExchange${cloud === "usgovernment" ? "USGov" : cloud === "china" ? "China" : ""}`;
}

async function machineToken(
  { azure, clientId }: AzureCredential & { readonly method: "azure-msi" },
  resource: string,
  ports: TokenPorts,
): Promise<AccessToken> {
  const url = new URL(`${azure.metadata}/metadata/identity/oauth2/token`);
  url.searchParams.set("api-version", "2018-02-01");
  url.searchParams.set("resource", resource);
  if (clientId !== undefined) url.searchParams.set("client_id", clientId);
  const { access_token, expires_on } = await tokenJson(url.href, { metadata: "true" }, ports);
  const expiresAt = Number(expires_on) * 1_000;
  if (isToken(access_token) && expiresAt > 0) return { value: access_token, expiresAt };
  throw signInRefused({ origin: url.origin, status: 200, cause: "the answer has no token" }, ports);
}

async function cliToken(
  { azure, tenantId }: AzureCredential & { readonly method: "azure-cli" },
  resource: string,
  ports: TokenPorts,
): Promise<AccessToken> {
  const asked = ["account", "get-access-token", "--resource", resource, "--output", "json"];
  const subscription = azure.resourceId?.split("/")[2];
  if (tenantId !== undefined) return cliTokenWith([...asked, "--tenant", tenantId], ports);
  if (subscription === undefined) return cliTokenWith(asked, ports);
  try {
    return await cliTokenWith([...asked, "--subscription", subscription], ports);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    // A user of the workspace need not have any right to its subscription.
    return cliTokenWith(asked, ports);
  }
}

async function cliTokenWith(args: readonly string[], ports: TokenPorts): Promise<AccessToken> {
  const { azureCli, redact } = ports;
  const failed = (cause: string) =>
    signInRefused({ origin: "the Azure CLI", status: 0, cause: shortened(redact(cause), 500) }, ports);
  if (azureCli === undefined) throw failed("`az` cannot be run here");
  const { code, stdout, stderr } = await azureCli(args);
  if (code !== 0) throw failed(stderr.trim() || `az exited with code ${code}`);
  const answer = parsed(stdout);
  const { accessToken } = answer;
  const expiresAt = cliExpiry(answer);
  if (isToken(accessToken) && expiresAt > 0) return { value: accessToken, expiresAt };
  throw failed("the answer of az has no token");
}

interface CliToken {
  readonly accessToken?: unknown;
  /** Local time without a zone: `2024-05-01 12:00:00.000000`. */
  readonly expiresOn?: unknown;
  /** Epoch seconds, from newer versions. */
  readonly expires_on?: unknown;
}

function parsed(text: string): CliToken {
  try {
    return (JSON.parse(text) as CliToken | null) ?? {};
  } catch {
    return {};
  }
}

function cliExpiry({ expires_on, expiresOn }: CliToken): number {
  if (typeof expires_on === "number") return expires_on * 1_000;
  const local = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/.exec(String(expiresOn));
  return local === null ? 0 : Date.parse(`${local[1]}T${local[2]}`);
}
