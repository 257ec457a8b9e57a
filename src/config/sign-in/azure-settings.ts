// Decides whether a workspace is in Azure, and which addresses of Azure issue its tokens.

import type { AzureEndpoints } from "../../api/auth/credential.ts";
import {
  AZURE_CLOUDS,
  type AzureCloud,
  azureCloudOf,
  isLoopback,
  METADATA_SERVICE,
} from "../../api/auth/endpoints.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { fromEnv, type ProcessContext } from "../environment.ts";
import type { SourcedValue, SourcedValues } from "./attributes.ts";

/** Undefined if no value places the workspace in Azure. Throws Failure with CLI_USAGE for an invalid value. */
export function azureEndpoints(
  context: ProcessContext,
  host: string,
  values: SourcedValues,
  said: boolean,
): AzureEndpoints | undefined {
  const known = azureCloudOf(host);
  const { azure_workspace_resource_id: id, azure_environment: environment } = values;
  if (known === undefined && id === undefined && !said) return undefined;
  const cloud = known ?? cloudNamed(environment);
  const here = isLoopback(new URL(host).hostname);
  return {
    authority: (here ? onThisMachine(context, "AZURE_AUTHORITY_HOST") : undefined) ?? cloud.authority,
    management: cloud.management,
    metadata:
      (here ? onThisMachine(context, "AZURE_POD_IDENTITY_AUTHORITY_HOST") : undefined) ?? METADATA_SERVICE,
    ...(id === undefined ? {} : { resourceId: resourceIdIn(id) }),
  };
}

const RESOURCE_ID =
  /^\/subscriptions\/[\w-]+\/resourceGroups\/[\w().-]+\/providers\/[\w.]+\/workspaces\/[\w.-]+$/i;

function resourceIdIn({ value, from }: SourcedValue): string {
  if (RESOURCE_ID.test(value)) return value;
  throw failureOf("CLI_USAGE", `${from} is not the resource ID of a workspace`, {
    hint: "write it as /subscriptions/…/resourceGroups/…/providers/Microsoft.Databricks/workspaces/NAME",
  });
}

function cloudNamed(said: SourcedValue | undefined): AzureCloud {
  const name = said?.value.toLowerCase() ?? "public";
  const found = AZURE_CLOUDS.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw failureOf("CLI_USAGE", `${said?.from} is not an environment of Azure`, {
    hint: `set it to ${AZURE_CLOUDS.map((one) => one.name).join(", ")}, or unset it`,
  });
}

/** These variables of Microsoft's tools apply only to a workspace on this machine, and only with an address of this machine. */
function onThisMachine(context: ProcessContext, variable: string): string | undefined {
  const url = URL.parse(fromEnv(context, variable) ?? "");
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname) ? url.origin : undefined;
}
