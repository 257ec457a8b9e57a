// Tokens of Microsoft Entra ID: for a service principal, for the identity of this machine, and through the Azure CLI.

import { Refused } from "../../core/request-failure.ts";
import type { AccessToken } from "./access-token.ts";
import type { AzureCredential } from "./credential.ts";
import { AZURE_CLOUDS } from "./endpoints.ts";
import { CLIENT_CREDENTIALS, type ClientProof, idTokenFrom, isToken, requestToken } from "./oauth.ts";
import { signInRefused, type TokenPorts, tokenJson } from "./token-request.ts";

/** A token for a resource of Azure. Throws Refused where none is given. */
export async function azureToken(
  credential: AzureCredential,
  resource: string,
  ports: TokenPorts,
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
  const cloud = AZURE_CLOUDS.find((one) => one.authority === authority)?.name;
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
    signInRefused({ origin: "the Azure CLI", status: 0, cause: redact(cause.slice(0, 500)) }, ports);
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
