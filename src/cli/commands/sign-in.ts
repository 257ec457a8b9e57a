// `workspace login` checks a sign-in and writes it as a profile; `workspace whoami` shows the user, the source of the sign-in, and why others were not used.

import { fromEnv } from "../../config/environment.ts";
import { DEFAULT_PROFILE, ownProfiles, profileIn } from "../../config/profile.ts";
import { EMBEDDED, type HostSettings, hostSettings, settingsFor } from "../../config/settings.ts";
import { isAuthType, unusedSources } from "../../config/sign-in/choose.ts";
import {
  LOGIN_METHODS,
  loginValues,
  type NewProfile,
  sourcesOfProfile,
  withProfile,
} from "../../config/sign-in/new-profile.ts";
import { shortPath } from "../../config/sign-in/sources.ts";
import { failureOf } from "../../core/diagnostic.ts";
import {
  type IdentityView,
  identityJson,
  identityText,
  savedProfileText,
} from "../../report/inspect/identity-text.ts";
import { callerName, callerNameWith, profileUse, saveProfile } from "../../workflow/operate/save-profile.ts";
import { defineCommand } from "../command/command.ts";
import { choiceOption, textOption } from "../command/option.ts";
import { FORM_OPTION, HOST_OPTIONS, inGroup } from "../command/shared-options.ts";
import { printDiagnostics, printResult } from "../output/diagnostics.ts";
import { askSecret } from "../output/prompt.ts";

const { host, caFile, dialect, cloud } = HOST_OPTIONS;
const authType = choiceOption("--auth-type <method>", "sign-in method (default: pat)", LOGIN_METHODS);
/** Not saved in a profile: their ID token belongs to one job, or is replaced while it is in use. */
const NOT_SAVED =
  "it is not saved in a profile; set its variables instead, as docs/databricks.md#sign-in shows";
const isSaved = (text: string): boolean =>
  !isAuthType(text) || LOGIN_METHODS.some((method) => method === text);

export const loginCommand = defineCommand({
  options: {
    host: {
      ...host,
      description: "workspace URL (required unless the profile or WORKSPACE_HOST names it)",
    },
    ...inGroup("Sign-in", {
      profile: textOption("--profile <name>", "profile to write (default: DEFAULT)"),
      authType: {
        ...authType,
        parse(texts, refuse) {
          for (const text of texts) if (!isSaved(text)) refuse(text, NOT_SAVED);
          return authType.parse(texts.filter(isSaved), refuse);
        },
      } satisfies typeof authType,
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
    if (url === undefined)
      throw failureOf("CLI_NO_HOST", "no workspace is named", { hint: "use --host URL" });
    if (url === EMBEDDED)
      throw failureOf("CLI_NO_HOST", "the embedded workspace needs no sign-in", {
        hint: "for another workspace, use --host URL",
      });
    const values = await loginValues(url, options, (secret) => askSecret(context, secret));
    const profile: NewProfile = { name, values };
    withProfile("", profile);
    const settings = { ...options, host: undefined, profile: undefined, parallelism: undefined };
    const ofHost = hostSettings(context, settings, sourcesOfProfile(profile, file.path));
    const checked = settingsFor(context, settings, ofHost);
    printDiagnostics(context, checked.warnings);
    const user = await callerNameWith(checked, context);
    const { replaced } = await saveProfile(file, profile);
    const use = profileUse(context, profile, file.path);
    const path = shortPath(file.path, context.home);
    const named = options.profile !== undefined;
    context.stdout.write(savedProfileText({ host: url, user, name, path, replaced, named, use }));
  },
});

export const whoamiCommand = defineCommand({
  jsonSchema: "whoami",
  options: { ...HOST_OPTIONS, ...FORM_OPTION },
  notes:
    "The output lists the sign-in methods and sources that were not used, with the reason. It contains no secret.\nSign-in values are read from WORKSPACE_* variables, ~/.workspacecfg, DATABRICKS_* and ARM_* variables, and ~/.databrickscfg, in this order.",
  async run(context, options) {
    const ofHost = hostSettings(context, options);
    const show = (user: string | undefined): void => {
      const view = viewOf(ofHost, user);
      printResult(context, options.output, identityJson(view), () => identityText(view));
    };
    show(
      await callerName(context).catch((failure: unknown) => {
        show(undefined);
        throw failure;
      }),
    );
  },
});

function viewOf(
  { host, dialect: ofHost, sources, choice }: HostSettings,
  user: string | undefined,
): IdentityView {
  const { credential, from = [], skipped = [] } = choice ?? {};
  const dialect = ofHost.dialect === "contract" ? "contract" : `${ofHost.dialect}, ${ofHost.cloud}`;
  return {
    host: { url: host.value, from: host.from },
    dialect,
    skipped: [...skipped, ...(choice === undefined ? [] : unusedSources(sources, choice))],
    user,
    signIn: credential && { method: credential.method, from },
  };
}
