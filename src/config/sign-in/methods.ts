// The values that each sign-in method needs, and the credential made from them.

import {
  AUTH_TYPES,
  type AuthType,
  type AzureEndpoints,
  type Credential,
  type IdTokenSource,
} from "../../api/auth/credential.ts";
import { isLoopback, isWorkflowService } from "../../api/auth/endpoints.ts";
import { defined } from "../../core/json.ts";
import { fromEnv, type ProcessContext } from "../environment.ts";
import type { AttributeName, SourcedValues } from "./sources.ts";

export interface MethodInput {
  readonly context: ProcessContext;
  /** The address of the workspace. */
  readonly host: string;
  readonly values: SourcedValues;
  /** An `auth_type` names the method, so what it can do without may be missing. */
  readonly chosen: boolean;
  readonly azure: AzureEndpoints | undefined;
  /** The Azure CLI of this machine, or why it is not used. */
  readonly azureCli: { readonly path: string } | { readonly lacks: string };
}

/** A credential and where its values come from, or what is missing for it. */
export type MethodResult =
  | { readonly credential: Credential; readonly from: readonly string[] }
  | { readonly lacks: string };

type Method = (input: MethodInput) => MethodResult;

export const NO_AZURE_CLI = "`az` is not on the PATH";
export const NOT_AZURE = "the host is not known to be a workspace of Azure";

export const METHODS: Readonly<Record<AuthType, Method>> = {
  pat: ({ values, context }) => {
    const { token } = values;
    if (token === undefined) return { lacks: "no token is set" };
    const scheme = fromEnv(context, "WORKSPACE_AUTH") === "basic" ? "basic" : "bearer";
    return { credential: { method: "pat", token: token.value, scheme }, from: [token.from] };
  },
  "oauth-m2m": ({ values }) =>
    needing(values, ["client_id", "client_secret"], ([clientId, clientSecret]) => ({
      method: "oauth-m2m",
      clientId,
      clientSecret,
    })),
  "github-oidc": (input) => federated("github-oidc", workflow(input), input),
  "env-oidc": (input) => federated("env-oidc", variable(input), input),
  "file-oidc": (input) => federated("file-oidc", file(input), input),
  "github-oidc-azure": (input) => {
    const { azure, values } = input;
    if (azure === undefined) return { lacks: NOT_AZURE };
    const source = workflow(input);
    if ("lacks" in source) return source;
    const names = ["azure_client_id", "azure_tenant_id"] as const;
    const result = needing(values, names, ([clientId, tenantId]) => ({
      method: "github-oidc-azure",
      clientId,
      tenantId,
      idToken: source.idToken,
      azure,
    }));
    return "lacks" in result ? result : { ...result, from: [source.from, ...result.from] };
  },
  "azure-msi": ({ azure, values, chosen }) => {
    if (azure === undefined) return { lacks: NOT_AZURE };
    const { azure_use_msi: use, azure_client_id: id } = values;
    if (!chosen && !/^(true|1)$/i.test(use?.value ?? "")) return { lacks: "azure_use_msi is not true" };
    return {
      credential: { method: "azure-msi", azure, ...defined({ clientId: id?.value }) },
      from: sourcesOf([use, id]),
    };
  },
  "azure-client-secret": ({ azure, values }) => {
    if (azure === undefined) return { lacks: NOT_AZURE };
    const names = ["azure_client_id", "azure_client_secret", "azure_tenant_id"] as const;
    return needing(values, names, ([clientId, clientSecret, tenantId]) => ({
      method: "azure-client-secret",
      clientId,
      clientSecret,
      tenantId,
      azure,
    }));
  },
  "azure-cli": ({ azure, azureCli, values: { azure_tenant_id: tenant } }) => {
    if (azure === undefined) return { lacks: NOT_AZURE };
    if ("lacks" in azureCli) return azureCli;
    return {
      credential: { method: "azure-cli", azure, ...defined({ tenantId: tenant?.value }) },
      from: [azureCli.path, ...sourcesOf([tenant])],
    };
  },
};

export const isAuthType = (text: string): text is AuthType => AUTH_TYPES.some((one) => one === text);

function needing<const N extends readonly AttributeName[]>(
  values: SourcedValues,
  names: N,
  build: (texts: { [K in keyof N]: string }) => Credential,
): MethodResult {
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length > 0)
    return { lacks: `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} missing` };
  const texts = names.map((name) => values[name]?.value ?? "");
  return {
    credential: build(texts as { [K in keyof N]: string }),
    from: sourcesOf(names.map((name) => values[name])),
  };
}

type FoundIdToken = { readonly idToken: IdTokenSource; readonly from: string } | { readonly lacks: string };

function federated(
  method: "github-oidc" | "env-oidc" | "file-oidc",
  source: FoundIdToken,
  { values: { client_id: client, audience }, chosen }: MethodInput,
): MethodResult {
  if ("lacks" in source) return source;
  // Account-wide federation has no client ID, so only `auth_type` can choose it.
  if (client === undefined && !chosen) return { lacks: "client_id is missing" };
  return {
    credential: {
      method,
      idToken: source.idToken,
      ...defined({ clientId: client?.value, audience: audience?.value }),
    },
    from: [source.from, ...sourcesOf([client, audience])],
  };
}

/** The request token of a workflow goes to GitHub's own service only; for a workspace on this machine, to this machine too. */
function workflow({ context, host }: MethodInput): FoundIdToken {
  const variable = "ACTIONS_ID_TOKEN_REQUEST_URL";
  const url = fromEnv(context, variable);
  const token = fromEnv(context, "ACTIONS_ID_TOKEN_REQUEST_TOKEN");
  if (url === undefined || token === undefined)
    return { lacks: "the run is not a job of GitHub with `permissions: id-token: write`" };
  const here = isLoopback(new URL(host).hostname) && isLoopback(URL.parse(url)?.hostname ?? "");
  if (!here && !isWorkflowService(url, fromEnv(context, "GITHUB_SERVER_URL")))
    return { lacks: `${variable} is not an address of GitHub` };
  return { idToken: { from: "github", url, token }, from: variable };
}

function variable({ context, values }: MethodInput): FoundIdToken {
  const name = values.oidc_token_env?.value ?? "DATABRICKS_OIDC_TOKEN";
  const value = fromEnv(context, name);
  if (value === undefined) return { lacks: `${name} is not set` };
  return { idToken: { from: "value", value }, from: name };
}

function file({ values: { databricks_id_token_filepath: path } }: MethodInput): FoundIdToken {
  if (path === undefined) return { lacks: "databricks_id_token_filepath is missing" };
  return { idToken: { from: "file", path: path.value }, from: path.from };
}

function sourcesOf(values: readonly ({ readonly from: string } | undefined)[]): readonly string[] {
  return values.flatMap((one) => (one === undefined ? [] : [one.from]));
}
