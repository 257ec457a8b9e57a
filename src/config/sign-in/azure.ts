// Azure: whether a workspace is there, which addresses issue its tokens, and the Azure CLI of this machine.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
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
import { isInFolder, resolvedPath } from "../files.ts";
import type { SourcedValue, SourcedValues } from "./sources.ts";

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

const NAMES = process.platform === "win32" ? ["az.cmd", "az.exe"] : ["az"];

/** Only folders of PATH outside of a checkout count: a pull request may have put a program into its own. */
export function findAzureCli({ env, cwd, home }: ProcessContext): string | undefined {
  const excluded = [resolvedPath(cwd), ...checkoutsAround(resolvedPath(cwd), resolvedPath(home))];
  const folders = (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !excluded.some((one) => isInFolder(one, resolvedPath(folder))));
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

/** A home folder may be a checkout of its owner, so it is not one of them. */
function checkoutsAround(folder: string, home: string): readonly string[] {
  const above = dirname(folder);
  const rest = above === folder ? [] : checkoutsAround(above, home);
  return existsSync(join(folder, ".git")) && !isInFolder(folder, home) ? [folder, ...rest] : rest;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
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
      const child = process.getBuiltinModule("node:child_process").spawn(path, args, {
        cwd: home,
        env: { ...env, AZURE_CORE_NO_COLOR: "true", AZURE_CORE_ONLY_SHOW_ERRORS: "true" },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: LONGEST_MS,
        shell: path.endsWith(".cmd"),
      });
      const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
      child.on("error", (problem) => resolve({ code: -1, stdout: "", stderr: problem.message }));
      child.on("close", (code, signal) =>
        resolve({
          code: code ?? -1,
          stdout: stdout(),
          stderr: signal === null ? stderr() : `az did not answer within ${LONGEST_MS / 1_000} s`,
        }),
      );
    });
}

function collected(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    if (text.length < MOST_OUTPUT) text += chunk;
  });
  return () => text;
}
