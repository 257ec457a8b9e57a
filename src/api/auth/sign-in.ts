// Signs the requests to one workspace with tokens that are obtained on first use and renewed.

import { Refused } from "../../core/request-failure.ts";
import { redactor } from "../http/redact.ts";
import { type AccessToken, type RenewedToken, renewedToken } from "./access-token.ts";
import { azureToken } from "./azure.ts";
import { type AzureCredential, credentialSecrets, type RenewableCredential } from "./credential.ts";
import { AZURE_APPLICATION } from "./endpoints.ts";
import {
  CLIENT_CREDENTIALS,
  idTokenFrom,
  JWT_TYPE,
  requestToken,
  TOKEN_EXCHANGE,
  workspaceTokenEndpoint,
} from "./oauth.ts";
import type { TokenPorts } from "./token-request.ts";

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

/** The service refuses a token of Entra ID in its last 30 s. */
const AZURE_AHEAD_MS = 40_000;
const AHEAD_MS = 10_000;
const MOST_SECRETS = 16;

/** `host`: scheme, name, port, and base path of the workspace. */
export function createSignIn(credential: RenewableCredential, host: string, ports: SignInPorts): SignIn {
  const given = credentialSecrets(credential);
  const issued: string[] = [];
  const secrets = () => [...given, ...issued];
  const whole: TokenPorts = { ...ports, as: credential.method, redact: redactor(secrets) };
  const remembering =
    (fetch: () => Promise<AccessToken>): (() => Promise<AccessToken>) =>
    async () => {
      const token = await fetch();
      issued.push(token.value);
      if (issued.length > MOST_SECRETS) issued.shift();
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
  ports: TokenPorts,
): () => Promise<AccessToken> {
  let found: string | undefined;
  return async () => {
    found ??= await workspaceTokenEndpoint(host, ports);
    const endpoint = found;
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
