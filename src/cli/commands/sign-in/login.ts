// `workspace login`: checks a sign-in with the workspace and writes it as a profile.

import type { AuthType } from "../../../api/auth/credential.ts";
import { fileFailure } from "../../../config/files.ts";
import { DEFAULT_PROFILE, ownProfiles, profileIn } from "../../../config/profile.ts";
import { EMBEDDED, fromEnv, hostSettings, settingsFor } from "../../../config/settings.ts";
import {
  hasProfile,
  type NewProfile,
  sourcesOfProfile,
  withProfile,
} from "../../../config/sign-in/new-profile.ts";
import { shortPath } from "../../../config/sign-in/sources.ts";
import { error, Failure } from "../../../core/diagnostic.ts";
import { readRegularFile } from "../../../core/regular-file.ts";
import { printable } from "../../../report/text/printable.ts";
import { callerNameWith } from "../../../workflow/sign-in/caller-name.ts";
import { writeWholeFile } from "../../../workflow/transfer/write-file.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { choiceOption, textOption } from "../../command/option.ts";
import { HOST_OPTIONS, underHeading } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { askSecret } from "../../output/prompt.ts";

const METHODS = [
  "pat",
  "oauth-m2m",
  "azure-client-secret",
  "azure-msi",
  "azure-cli",
] as const satisfies readonly AuthType[];

const { host, caFile, dialect, cloud } = HOST_OPTIONS;

export const loginCommand = defineCommand({
  name: "login",
  summary: "check a sign-in and save it as a profile",
  options: {
    host,
    ...underHeading("Sign-in", {
      profile: textOption("--profile <name>", "profile to write (default: DEFAULT)"),
      authType: choiceOption("--auth-type <method>", "sign-in method (default: pat)", METHODS),
      clientId: textOption("--client-id <id>", "client ID of a service principal or managed identity"),
      tenantId: textOption("--tenant-id <id>", "tenant of Microsoft Entra ID"),
      resourceId: textOption("--resource-id <id>", "resource ID of the workspace in Azure"),
    }),
    caFile,
    dialect,
    cloud,
  },
  notes:
    "The token or client secret is read from the terminal without showing it, or from the first line of standard input.\nThe profile is written to ~/.workspacecfg with mode 0600, after the workspace accepted the sign-in.",
  async run(context, options) {
    const file = ownProfiles(context);
    const name = options.profile ?? DEFAULT_PROFILE;
    const url =
      options.host ??
      profileIn(file, name)?.values.get("host") ??
      fromEnv(context, "WORKSPACE_HOST") ??
      fromEnv(context, "DATABRICKS_HOST");
    if (url === undefined || url === EMBEDDED)
      throw new Failure(error("CLI_NO_HOST", "no workspace is named", { hint: "use --host URL" }));
    const profile: NewProfile = { name, values: await valuesFor(context, url, options) };
    withProfile("", profile);
    const settings = { ...options, host: undefined, profile: undefined, parallelism: undefined };
    const found = hostSettings(context, settings, sourcesOfProfile(profile, file.path));
    const checked = settingsFor(context, settings, found);
    printDiagnostics(context, checked.warnings);
    const user = await callerNameWith(checked, context);
    const replaced = hasProfile(file, name);
    writeProfile(file.path, profile);
    context.stdout.write(
      `${printable(`Signed in to ${url} as ${user ?? "an unknown user"}.`)}\n${printable(
        `${replaced ? "Replaced" : "Wrote"} the profile ${name} in ${shortPath(file.path, context.home)}.`,
      )}\n`,
    );
    return EXIT.ok;
  },
});

interface LoginOptions {
  readonly authType: (typeof METHODS)[number];
  readonly clientId: string | undefined;
  readonly tenantId: string | undefined;
  readonly resourceId: string | undefined;
  readonly dialect: string | undefined;
  readonly cloud: string | undefined;
}

async function valuesFor(
  context: ConsoleContext,
  url: string,
  options: LoginOptions,
): Promise<NewProfile["values"]> {
  const { authType, clientId, tenantId, resourceId, dialect, cloud } = options;
  const common = { host: url, ...set({ dialect, cloud }) };
  const azure = set({ azure_tenant_id: tenantId, azure_workspace_resource_id: resourceId });
  switch (authType) {
    case "pat":
      return { ...common, token: await askSecret(context, "Access token") };
    case "oauth-m2m": {
      const client_id = needed(clientId, "--client-id");
      return {
        ...common,
        auth_type: authType,
        client_id,
        client_secret: await askSecret(context, "Client secret"),
      };
    }
    case "azure-client-secret": {
      const azure_client_id = needed(clientId, "--client-id");
      needed(tenantId, "--tenant-id");
      const azure_client_secret = await askSecret(context, "Client secret");
      return { ...common, auth_type: authType, ...azure, azure_client_id, azure_client_secret };
    }
    case "azure-msi":
      return {
        ...common,
        auth_type: authType,
        azure_use_msi: "true",
        ...azure,
        ...set({ azure_client_id: clientId }),
      };
    case "azure-cli":
      return { ...common, auth_type: authType, ...azure };
    default:
      return authType satisfies never;
  }
}

function set<K extends string>(values: Record<K, string | undefined>): Partial<Record<K, string>> {
  const entries = Object.entries<string | undefined>(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}

function needed(value: string | undefined, option: string): string {
  if (value !== undefined) return value;
  throw new Failure(error("CLI_USAGE", `this sign-in needs ${option}`));
}

function writeProfile(path: string, profile: NewProfile): void {
  try {
    writeWholeFile(path, withProfile(textAt(path), profile), { over: true, mode: 0o600 });
  } catch (problem) {
    throw fileFailure(`the profile file ${path} cannot be written`, problem);
  }
}

function textAt(path: string): string {
  try {
    return readRegularFile(path).toString("utf8");
  } catch (problem) {
    if (problem instanceof Error && "code" in problem && problem.code === "ENOENT") return "";
    throw problem;
  }
}
