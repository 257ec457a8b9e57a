// Settings of the workspace: strings by key. The contract has none of these calls; a dialect has.

import type { Json, JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../world/errors.ts";
import type { Collection, Operations, World } from "../../world/world.ts";

const valuesOf = (world: World): Collection<string> => world.collection("workspace-conf");

const KEYS = new Set([
  "enableDbfsFileBrowser",
  "enableDcs",
  "enableDeprecatedClusterNamedInitScripts",
  "enableDeprecatedGlobalInitScripts",
  "enableExportNotebook",
  "enableGp3",
  "enableIpAccessLists",
  "enableNotebookTableClipboard",
  "enableResultsDownloading",
  "enableTokensConfig",
  "enableVerboseAuditLogs",
  "enableWebTerminal",
  "maxTokenLifetimeDays",
  "mlflowRunArtifactDownloadEnabled",
  "storeInteractiveNotebookResultsInCustomerAccount",
]);

export const workspaceConfOperations: Operations = {
  "workspace-conf/get": ({ input }, world) => {
    const keys = String(input.keys).split(",");
    checkKeys(keys);
    const shown = keys.map((key): [string, Json] => [key, settingOf(world, key) ?? null]);
    return { json: Object.fromEntries(shown) };
  },
  "workspace-conf/update": ({ input }, world) => {
    checkKeys(Object.keys(input));
    checkValues(input);
    for (const [key, value] of Object.entries(input)) valuesOf(world).set(key, String(value));
  },
};

export const settingOf = (world: World, key: string): string | undefined => valuesOf(world).get(key);

function checkKeys(keys: readonly string[]): void {
  const unknown = keys.filter((key) => !KEYS.has(key));
  if (unknown.length > 0) throw invalidValue(`Invalid keys: ${JSON.stringify(unknown)}`);
}

/** Every value is a string: `true`, not a boolean. */
function checkValues(input: JsonObject): void {
  const wrong = Object.entries(input).filter(([key, value]) => {
    if (typeof value !== "string") return true;
    return /^(enable|store|mlflow)/.test(key) ? !/^(true|false)?$/i.test(value) : !/^\d*$/.test(value);
  });
  if (wrong.length > 0)
    throw invalidValue(`Some values are not allowed: ${JSON.stringify(Object.fromEntries(wrong))}`);
}
