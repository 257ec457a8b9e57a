// The values of a profile for each sign-in that `workspace login` can save.

import type { AuthType } from "../../api/auth/credential.ts";
import { failureOf } from "../../core/diagnostic.ts";
import type { NewProfile } from "./new-profile.ts";

export const LOGIN_METHODS = [
  "pat",
  "oauth-m2m",
  "azure-client-secret",
  "azure-msi",
  "azure-cli",
] as const satisfies readonly AuthType[];

export interface LoginOptions {
  readonly authType: (typeof LOGIN_METHODS)[number];
  readonly clientId: string | undefined;
  readonly tenantId: string | undefined;
  readonly resourceId: string | undefined;
  readonly dialect: string | undefined;
  readonly cloud: string | undefined;
}

/** `secret` asks the user for a secret by its name. Throws Failure with CLI_USAGE if an option is missing. */
export async function loginValues(
  host: string,
  options: LoginOptions,
  secret: (name: string) => Promise<string>,
): Promise<NewProfile["values"]> {
  const { authType: auth_type, clientId, tenantId, resourceId, dialect, cloud } = options;
  const common = { host, ...set({ dialect, cloud }) };
  const azure = set({ azure_tenant_id: tenantId, azure_workspace_resource_id: resourceId });
  switch (auth_type) {
    case "pat":
      return { ...common, token: await secret("Access token") };
    case "oauth-m2m": {
      const client_id = needed(clientId, "--client-id");
      return { ...common, auth_type, client_id, client_secret: await secret("Client secret") };
    }
    case "azure-client-secret": {
      const azure_client_id = needed(clientId, "--client-id");
      needed(tenantId, "--tenant-id");
      const azure_client_secret = await secret("Client secret");
      return { ...common, auth_type, ...azure, azure_client_id, azure_client_secret };
    }
    case "azure-msi":
      return { ...common, auth_type, azure_use_msi: "true", ...azure, ...set({ azure_client_id: clientId }) };
    case "azure-cli":
      return { ...common, auth_type, ...azure };
    default:
      return auth_type satisfies never;
  }
}

function set<K extends string>(values: Record<K, string | undefined>): Partial<Record<K, string>> {
  const entries = Object.entries<string | undefined>(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}

function needed(value: string | undefined, option: string): string {
  if (value !== undefined) return value;
  throw failureOf("CLI_USAGE", `this sign-in needs ${option}`);
}
