// `workspace whoami`: the user of a sign-in, where the sign-in comes from, and why other ones were not used.

import { type HostSettings, hostSettings } from "../../../config/settings.ts";
import { unusedSources } from "../../../config/sign-in/choose.ts";
import { type IdentityView, identityJson, identityText } from "../../../report/inspect/identity-text.ts";
import { callerName } from "../../../workflow/operate/save-profile.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { FORM_OPTION, HOST_OPTIONS } from "../../command/shared-options.ts";
import { printResult } from "../../output/diagnostics.ts";

export const whoamiCommand = defineCommand({
  name: "whoami",
  summary: "show the user and the source of the sign-in",
  options: { ...HOST_OPTIONS, ...FORM_OPTION },
  notes:
    "The output lists the sign-in methods and sources that were not used, with the reason. It contains no secret.\nSign-in values are read from WORKSPACE_* variables, ~/.workspacecfg, DATABRICKS_* and ARM_* variables, and ~/.databrickscfg, in this order.",
  async run(context, options) {
    const found = hostSettings(context, options);
    const show = (user: string | undefined): void => {
      const view = viewOf(found, user);
      printResult(context, options.output, identityJson(view), () => identityText(view));
    };
    show(
      await callerName(context, { ...options, file: undefined }).catch((failure: unknown) => {
        show(undefined);
        throw failure;
      }),
    );
    return EXIT.ok;
  },
});

function viewOf({ host, spoken, sources, choice }: HostSettings, user: string | undefined): IdentityView {
  const { credential, from = [], skipped = [] } = choice ?? {};
  const dialect = spoken.dialect === "contract" ? "contract" : `${spoken.dialect}, ${spoken.cloud}`;
  return {
    host: { url: host.value, from: host.from },
    dialect,
    skipped: [...skipped, ...(choice === undefined ? [] : unusedSources(sources, choice))],
    user,
    ...(credential === undefined ? {} : { signIn: { method: credential.method, from } }),
  };
}
