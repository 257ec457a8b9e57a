// The credential of a run: one variant for each sign-in method, with the vendor's name for the method.

/** The methods of the vendor's tools in their order of preference, as far as this program has them. */
export const AUTH_TYPES = [
  "pat",
  "oauth-m2m",
  "github-oidc",
  "env-oidc",
  "file-oidc",
  "github-oidc-azure",
  "azure-msi",
  "azure-client-secret",
  "azure-cli",
] as const;

export type AuthType = (typeof AUTH_TYPES)[number];

interface OAuthClient {
  readonly method: "oauth-m2m";
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Exchanges an ID token of another issuer at the workspace's own OAuth server. */
interface FederatedClient {
  readonly method: "github-oidc" | "env-oidc" | "file-oidc";
  readonly idToken: IdTokenSource;
  /** Absent: the federation policy of the whole account applies. */
  readonly clientId?: string;
  /** Default: the token endpoint. */
  readonly audience?: string;
}

/** The source of an ID token: the service of a GitHub workflow, an environment variable, or a file. */
export type IdTokenSource =
  | { readonly from: "github"; readonly url: string; readonly token: string }
  | { readonly from: "value"; readonly value: string }
  | { readonly from: "file"; readonly path: string };

export interface AzureEndpoints {
  /** Microsoft Entra ID, without a slash at the end. */
  readonly authority: string;
  /** Resource of the tokens for Azure's resource manager. */
  readonly management: string;
  /** The metadata service of the machine, without a slash at the end. */
  readonly metadata: string;
  /** `/subscriptions/…/workspaces/NAME`; with it, principals that are not yet in the workspace can sign in. */
  readonly resourceId?: string;
}

export type AzureCredential = { readonly azure: AzureEndpoints } & (
  | {
      readonly method: "azure-client-secret";
      readonly tenantId: string;
      readonly clientId: string;
      readonly clientSecret: string;
    }
  | {
      readonly method: "github-oidc-azure";
      readonly tenantId: string;
      readonly clientId: string;
      readonly idToken: IdTokenSource;
    }
  | { readonly method: "azure-msi"; readonly clientId?: string }
  | { readonly method: "azure-cli"; readonly tenantId?: string }
);

/** A credential that can obtain new access tokens. */
export type RenewableCredential = OAuthClient | FederatedClient | AzureCredential;

interface AccessTokenCredential {
  readonly method: "pat";
  readonly token: string;
  readonly scheme: "bearer" | "basic";
}

export type Credential = AccessTokenCredential | RenewableCredential;

/** Names the identity that a credential signs in as; undefined where only the service can tell. Contains no secret. */
export function principalOf(credential: RenewableCredential): string | undefined {
  if (credential.method === "azure-cli" || credential.clientId === undefined) return undefined;
  const tenant = "tenantId" in credential ? ` ${credential.tenantId}` : "";
  return `${credential.method} ${credential.clientId}${tenant}`;
}

/** The text that HTTP Basic encodes as base64. Both parts are form-encoded first (RFC 6749, 2.3.1). */
function basicPair({ clientId, clientSecret }: OAuthClient): string {
  return [clientId, clientSecret].map(asInForm).join(":");
}

function asInForm(text: string): string {
  const percent = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text)
    .replaceAll(/[-_.!~*'()]/g, percent)
    .replaceAll("%20", "+");
}

/** The parts of a credential that no message may repeat. */
export function credentialSecrets(credential: Credential): readonly string[] {
  if (credential.method === "pat") return [credential.token];
  if (credential.method === "oauth-m2m") return [basicPair(credential), credential.clientSecret];
  if ("clientSecret" in credential) return [credential.clientSecret];
  if (!("idToken" in credential)) return [];
  const { idToken } = credential;
  if (idToken.from === "github") return [idToken.token];
  return idToken.from === "value" ? [idToken.value] : [];
}
