// The diagnostic for a host without a sign-in: what was tried, and the most likely fix.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { SignInChoice, SkippedSignIn } from "./choose.ts";
import { NO_AZURE_CLI, NOT_AZURE } from "./methods.ts";

export function noToken(host: string, { skipped }: SignInChoice): Diagnostic {
  // The Azure CLI is tried without any value, so it does not show what the user configured.
  const told = skipped.filter(({ what, why }) => what !== "azure-cli" || why !== NOT_AZURE);
  return error("API_UNAUTHENTICATED", `no token is set for ${host}`, {
    hint: hintFor(told),
    ...(told.length === 0 ? {} : { cause: told.map(({ what, why }) => `${what}: ${why}`).join("; ") }),
  });
}

function hintFor(told: readonly SkippedSignIn[]): string {
  if (told.some(({ why }) => /^(it is|they are) for /.test(why)))
    return "the values found are for another host: choose it with --profile or --host, or run `workspace login`";
  if (told.some(({ why }) => why === NOT_AZURE))
    return "if the host is a workspace of Azure, pass --cloud azure; otherwise, run `workspace login`";
  if (told.some(({ what, why }) => what !== "azure-cli" && why === NO_AZURE_CLI))
    return "install the Azure CLI and run `az login`, or choose another sign-in with `workspace login --auth-type`";
  return "run `workspace login`, or set WORKSPACE_TOKEN";
}
