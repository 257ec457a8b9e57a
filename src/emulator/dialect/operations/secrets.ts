// Secret scopes of the dialect: more characters in names, and vaults of Azure only there.

import { type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import type { Asked, Hooks } from "./hook.ts";

export const secretHooks: Hooks = {
  "secrets/scopes/create": {
    before: refuseVaultElsewhere,
    around: (core, call, { world }) => core({ ...call, allows: { scopeNames: /^[\w.@/-]+$/ } }, world),
  },
  "secrets/scopes/list": { after: listScopes },
};

function refuseVaultElsewhere({ input, cloud }: Asked): JsonObject {
  if (input.scope_backend_type === "AZURE_KEYVAULT" && cloud !== "azure")
    throw invalidValue("Scopes with the backend AZURE_KEYVAULT exist on Azure only.");
  return input;
}

function listScopes(answer: JsonObject): JsonObject {
  const scopes = listIn(answer.scopes).map((scope): JsonObject => {
    const shown = objectIn(scope);
    return shown.backend_type === "AZURE_KEYVAULT" ? { ...shown, is_databricks_managed: false } : shown;
  });
  return scopes.length === 0 ? {} : { scopes };
}
