// Paths outside the API where clients sign in (OAuth of the workspace, Azure AD, the machine's identity, GitHub's ID tokens),
// and the tokens that they issue, each with its user, audience, and expiry by the emulator's clock.

import { digest } from "../../core/digest.ts";
import type { JsonObject } from "../../core/json.ts";
import { tokenIn, WORKSPACE_AUDIENCE } from "../http/admission.ts";
import { type AppRequest, type AppResponse, bodyText, jsonAnswer, pathOf, queryOf } from "../http/message.ts";
import {
  administratorName,
  putSignInSettings,
  signInSettings,
  userByName,
  userTokens,
} from "../world/directory.ts";
import { invalidValue } from "../world/errors.ts";
import type { Area, TimerRun, World } from "../world/world.ts";
import { ORG } from "./operations/runs.ts";
import type { Cloud } from "./translate.ts";

const MANAGEMENT = "https://management.core.windows.net";
/** ID tokens prove an identity; no API accepts them. */
const ID_TOKEN = "id-token";

/** Answered as OAuth requires (RFC 6749, section 5.2). */
class SignInError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** How long an expired token is reported as expired; later it is unknown. */
const REMEMBERED_MS = 3_600_000;
const FORGET_TOKEN = "sign-in.forget";

const forgetToken: TimerRun = (world, { token }) => {
  userTokens(world).delete(String(token));
};

/** A token for a user that expires; for the workspace unless an audience is given. */
function issueToken(world: World, user: string, audience?: string) {
  const { expires_in } = signInSettings(world);
  const token = `oauth${world.hex(40)}`;
  keep(world, token, user, expires_in, audience);
  return { token, expires_in };
}

/** A token in JWT format with a random signature: the emulator accepts it because it issued it. */
function idTokenFor(world: World, user: string, iss: string, aud: string): string {
  const seconds = 300;
  const iat = Math.floor(world.now / 1000);
  const claims = { iss, aud, sub: "repo:example/workspace:ref:refs/heads/main", iat, exp: iat + seconds };
  const parts = [{ alg: "RS256", typ: "JWT" }, claims, world.hex(32)];
  const token = parts.map(base64Url).join(".");
  keep(world, token, user, seconds, ID_TOKEN);
  return token;
}

function base64Url(part: JsonObject | string): string {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

function keep(world: World, token: string, user: string, seconds: number, audience?: string): void {
  const key = digest(token);
  const expires_at = world.now + seconds * 1000;
  const row = { user_id: user, expires_at, oauth: true } as const;
  userTokens(world).set(key, audience === undefined ? row : { ...row, audience });
  world.timers.set(`${FORGET_TOKEN}/${key}`, expires_at + REMEMBERED_MS, FORGET_TOKEN, { token: key });
}

/** The user of a token that is valid for the audience; without an audience, only personal access tokens are. */
function ownerOf(world: World, token: string, audience: string | undefined): string | undefined {
  const row = userTokens(world).get(digest(token));
  if (row === undefined || row.audience !== audience) return undefined;
  if (audience === undefined && row.oauth) return undefined;
  return row.expires_at !== undefined && row.expires_at <= world.now ? undefined : row.user_id;
}

interface Asked {
  readonly request: AppRequest;
  readonly world: World;
  readonly cloud: Cloud;
  readonly fields: URLSearchParams;
  /** As clients reach it: `http://127.0.0.1:8080`. */
  readonly origin: string;
}

type Answer = (asked: Asked) => JsonObject;

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_TYPE = "urn:ietf:params:oauth:token-type:jwt";
const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

const ROUTES: readonly (readonly [method: string, path: RegExp, answer: Answer])[] = [
  ["GET", /^\/\.well-known\/databricks-config$/, hostMetadata],
  ["GET", /^\/oidc\/\.well-known\/(oauth-authorization-server|openid-configuration)$/, discovery],
  ["POST", /^\/oidc\/v1\/token$/, workspaceToken],
  ["POST", /^\/[\w.-]+\/oauth2\/token$/, azureToken],
  ["POST", /^\/[\w.-]+\/oauth2\/v2\.0\/token$/, azureTokenV2],
  ["GET", /^\/metadata\/identity\/oauth2\/token$/, machineToken],
  ["GET", /^\/actions\/id-token$/, githubToken],
  ["GET", /^\/subscriptions\/.+\/workspaces\/[^/]+$/, azureWorkspace],
];

export function isSignIn(path: string): boolean {
  return ROUTES.some(([, pattern]) => pattern.test(path));
}

export function answerSignIn(request: AppRequest, world: World, cloud: Cloud): AppResponse {
  const path = pathOf(request);
  const route = ROUTES.find(([method, pattern]) => method === request.method && pattern.test(path));
  try {
    if (route === undefined)
      throw new SignInError(405, "invalid_request", `${request.method} is not served here.`);
    const form = request.method === "GET" ? queryOf(request) : bodyText(request.body);
    if (form === undefined) throw new SignInError(400, "invalid_request", "The body is not UTF-8 text.");
    const fields = new URLSearchParams(form);
    const origin = `http://${request.headers.host ?? "workspace.invalid"}`;
    return jsonAnswer(200, route[2]({ request, world, cloud, fields, origin }), {
      "cache-control": "no-store",
    });
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    return jsonAnswer(error.status, { error: error.code, error_description: error.message });
  }
}

function hostMetadata({ cloud, origin }: Asked): JsonObject {
  const name = { azure: "Azure", aws: "AWS", gcp: "GCP" }[cloud];
  return { oidc_endpoint: `${origin}/oidc`, workspace_id: ORG, host_type: "workspace", cloud: name };
}

function discovery({ origin }: Asked): JsonObject {
  return {
    issuer: `${origin}/oidc`,
    authorization_endpoint: `${origin}/oidc/v1/authorize`,
    token_endpoint: `${origin}/oidc/v1/token`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials", TOKEN_EXCHANGE],
    scopes_supported: ["all-apis"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
  };
}

/** The secret of a client is any personal access token of the workspace; the new token speaks for the same user. */
function workspaceToken({ world, request, fields }: Asked): JsonObject {
  if (!(fields.get("scope") ?? "").split(" ").includes("all-apis"))
    throw new SignInError(400, "invalid_scope", "The scope must be all-apis.");
  const grant = fields.get("grant_type");
  if (grant !== "client_credentials" && grant !== TOKEN_EXCHANGE)
    throw unsupportedGrant("client_credentials or token-exchange");
  const user = grant === TOKEN_EXCHANGE ? subjectOf(world, fields) : clientOf(world, request, fields);
  const { token, expires_in } = issueToken(world, user);
  return { access_token: token, token_type: "Bearer", expires_in, scope: "all-apis" };
}

function subjectOf(world: World, fields: URLSearchParams): string {
  if (fields.get("subject_token_type") !== JWT_TYPE)
    throw new SignInError(400, "invalid_request", `subject_token_type must be ${JWT_TYPE}.`);
  return idTokenOwner(world, fields.get("subject_token"));
}

function clientOf(world: World, request: AppRequest, fields: URLSearchParams): string {
  const basic = /^basic\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const [id, secret] =
    basic === undefined ? [fields.get("client_id"), fields.get("client_secret")] : credentialsIn(basic);
  const owner = id && secret ? ownerOf(world, secret, undefined) : undefined;
  if (owner === undefined) throw refused("invalid_client", "Client authentication failed.");
  return owner;
}

const refused = (code: string, message: string): SignInError => new SignInError(401, code, message);

const unsupportedGrant = (allowed: string): SignInError =>
  new SignInError(400, "unsupported_grant_type", `grant_type must be ${allowed}.`);

/** Both parts are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function credentialsIn(basic: string): readonly (string | undefined)[] {
  try {
    const text = atob(basic);
    const colon = text.indexOf(":");
    return [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll("+", " ")),
    );
  } catch {
    return [];
  }
}

function idTokenOwner(world: World, token: string | null): string {
  const owner = token === null ? undefined : ownerOf(world, token, ID_TOKEN);
  if (owner === undefined)
    throw refused("invalid_grant", "The token is not one that this issuer trusts, or it is expired.");
  return owner;
}

function azureToken(asked: Asked): JsonObject {
  const resource = asked.fields.get("resource") ?? "";
  const { token, expires_in } = azureGrant(asked, resource);
  const on = Math.floor(asked.world.now / 1000) + expires_in;
  const seconds = String(expires_in);
  const times = { expires_in: seconds, ext_expires_in: seconds, expires_on: String(on) };
  return { token_type: "Bearer", ...times, resource, access_token: token };
}

function azureTokenV2(asked: Asked): JsonObject {
  const resource = (asked.fields.get("scope") ?? "").replace(/\/\.default$/, "");
  const { token, expires_in } = azureGrant(asked, resource);
  return { token_type: "Bearer", expires_in, ext_expires_in: expires_in, access_token: token };
}

/** A secret as for the workspace's own clients, or an ID token of GitHub instead. */
function azureGrant({ world, request, fields }: Asked, resource: string) {
  if (fields.get("grant_type") !== "client_credentials") throw unsupportedGrant("client_credentials");
  const assertion =
    fields.get("client_assertion_type") === JWT_BEARER ? fields.get("client_assertion") : null;
  const user = assertion === null ? clientOf(world, request, fields) : idTokenOwner(world, assertion);
  return issueToken(world, user, audienceOf(resource));
}

function audienceOf(resource: string): string {
  const plain = resource.replace(/\/+$/, "");
  if (plain === WORKSPACE_AUDIENCE || plain === MANAGEMENT) return plain;
  const message = `The resource ${resource.slice(0, 100)} was not found in the tenant.`;
  throw new SignInError(400, "invalid_resource", message);
}

/** Any process of the machine could ask, so it is served only after a control request has switched it on. */
function machineToken({ world, request, fields }: Asked): JsonObject {
  if (!signInSettings(world).managed_identity)
    throw new SignInError(404, "not_found", "This machine has no identity.");
  if (request.headers.metadata?.toLowerCase() !== "true")
    throw new SignInError(400, "invalid_request", "Required metadata header not specified");
  const resource = fields.get("resource") ?? "";
  const user = userByName(world, administratorName(world))?.id ?? "";
  const { token, expires_in } = issueToken(world, user, audienceOf(resource));
  const on = Math.floor(world.now / 1000) + expires_in;
  const times = { expires_in: String(expires_in), expires_on: String(on) };
  return { access_token: token, ...times, resource, token_type: "Bearer" };
}

function githubToken({ world, request, fields, origin }: Asked): JsonObject {
  const token = tokenIn(request.headers.authorization);
  const owner = token === undefined ? undefined : ownerOf(world, token, undefined);
  if (owner === undefined) throw refused("invalid_request", "The request needs the token of the workflow.");
  return { count: 1, value: idTokenFor(world, owner, origin, fields.get("audience") ?? "") };
}

function azureWorkspace({ world, request }: Asked): JsonObject {
  const token = tokenIn(request.headers.authorization);
  if (token === undefined || ownerOf(world, token, MANAGEMENT) === undefined)
    throw refused("InvalidAuthenticationToken", "The access token is invalid.");
  return { id: pathOf(request), properties: { workspaceUrl: request.headers.host ?? "", workspaceId: ORG } };
}

/** A control request: how long tokens live, what an expired one is answered, whether the machine has an identity. */
function setSignIn(world: World, input: JsonObject): void {
  const { expires_in = 3600, expired_status = 401, managed_identity = false } = input;
  const seconds = Number.isInteger(expires_in) ? Number(expires_in) : 0;
  if (seconds < 1 || seconds > 86_400) throw invalidValue("expires_in must be from 1 to 86400 seconds.");
  if (expired_status !== 401 && expired_status !== 403)
    throw invalidValue("expired_status must be 401 or 403.");
  if (typeof managed_identity !== "boolean") throw invalidValue("managed_identity must be true or false.");
  putSignInSettings(world, { expires_in: seconds, expired_status, managed_identity });
}

export const signInArea: Area = {
  operations: {},
  timers: { [FORGET_TOKEN]: forgetToken },
  control: { "sign-in": setSignIn },
};
