// Azure: whether a workspace is there, which addresses issue its tokens, and the Azure CLI of this machine.

import type { ExecFileException } from "node:child_process";
import type { AzureEndpoints } from "../../api/auth/credential.ts";
import {
  AZURE_CLOUDS,
  type AzureCloud,
  azureCloudOf,
  isLoopback,
  METADATA_SERVICE,
} from "../../api/auth/endpoints.ts";
import type { CliAnswer } from "../../api/auth/token-request.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { fromEnv, type ProcessContext } from "../environment.ts";
import { programEnvironment } from "../programs.ts";
import type { SourcedValue, SourcedValues } from "./sources.ts";

/** Undefined if no value places the workspace in Azure. Throws Failure with CLI_USAGE for an invalid value. */
export function azureEndpoints(
  context: ProcessContext,
  host: string,
  values: SourcedValues,
  isAzure: boolean,
): AzureEndpoints | undefined {
  const azureCloud = azureCloudOf(host);
  const { azure_workspace_resource_id: id, azure_environment: environment } = values;
  if (azureCloud === undefined && id === undefined && !isAzure) return undefined;
  const cloud = azureCloud ?? cloudNamed(environment);
  const here = isLoopback(new URL(host).hostname);
  return {
    authority: (here ? onThisMachine(context, "AZURE_AUTHORITY_HOST") : undefined) ?? cloud.authority,
    management: cloud.management,
    metadata:
      (here ? onThisMachine(context, "AZURE_POD_IDENTITY_AUTHORITY_HOST") : undefined) ?? METADATA_SERVICE,
    resourceId: id === undefined ? undefined : resourceIdIn(id),
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

function cloudNamed(sourcedValue: SourcedValue | undefined): AzureCloud {
  const name = sourcedValue?.value.toLowerCase() ?? "public";
  const azureCloud = AZURE_CLOUDS.find((cloud) => cloud.name === name);
  if (azureCloud !== undefined) return azureCloud;
  throw failureOf("CLI_USAGE", `${sourcedValue?.from} is not an environment of Azure`, {
    hint: `set it to ${AZURE_CLOUDS.map((cloud) => cloud.name).join(", ")}, or unset it`,
  });
}

/** These variables of Microsoft's tools apply only to a workspace on this machine, and only with an address of this machine. */
function onThisMachine(context: ProcessContext, variable: string): string | undefined {
  const url = URL.parse(fromEnv(context, variable) ?? "");
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname) ? url.origin : undefined;
}

const LONGEST_MS = 60_000;
const MOST_OUTPUT = 1024 * 1024;

/** Runs it in the home folder: Python looks for modules in the current one. */
export function azureCliRunner(
  path: string,
  { env, home }: ProcessContext,
): (args: readonly string[]) => Promise<CliAnswer> {
  return (args) =>
    new Promise((resolve) => {
      // Loaded only here: few runs need it.
      const child = process.getBuiltinModule("node:child_process").execFile(
        path,
        args,
        {
          cwd: home,
          env: {
            ...programEnvironment(env, "az"),
            AZURE_CORE_NO_COLOR: "true",
            AZURE_CORE_ONLY_SHOW_ERRORS: "true",
          },
          timeout: LONGEST_MS,
          maxBuffer: MOST_OUTPUT,
          shell: path.endsWith(".cmd"),
        },
        (problem, stdout, stderr) => resolve({ stdout, ...endOf(problem, stderr) }),
      );
      child.stdin?.end();
    });
}

function endOf(problem: ExecFileException | null, stderr: string): Pick<CliAnswer, "code" | "stderr"> {
  if (problem === null) return { code: 0, stderr };
  if (typeof problem.code === "number") return { code: problem.code, stderr };
  const text = problem.signal ? `az did not answer within ${LONGEST_MS / 1_000} s` : problem.message;
  return { code: -1, stderr: text };
}
