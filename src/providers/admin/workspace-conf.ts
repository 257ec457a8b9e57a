// Settings of the workspace in the Databricks dialect: strings by key. The service has no list of the keys, and no way to delete one.

import type { Reader } from "../../api/contract/reader.ts";
import { kindOf, remoteId } from "../../core/address.ts";
import { Refused } from "../../core/request-failure.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedChange, Problem } from "../../resource/planning.ts";
import { defineProvider, required, scalarField } from "../kit/field-builders.ts";
import { problem } from "../kit/problems.ts";
import { textIn } from "../kit/responses.ts";

/** The keys that an export reads. A spec may name others. */
const KEYS = [
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
];

/** The setting without which no IP access list is in force. */
export const IP_ACCESS_SWITCH = "enableIpAccessLists";

/** Whether a change switches a setting on, or off. */
export const isSwitched = ({ name, after }: PlannedChange, key: string, to: "on" | "off"): boolean =>
  name === key && isUnset(String(after?.value ?? "")) === (to === "off");

const fields = {
  value: required(
    scalarField({ ignoreCase: true, description: "Value of the setting; true and false are strings." }),
  ),
};

type Settings = Readonly<Record<string, string>>;

const INVALID_KEYS = /Invalid keys: (\[.*\])/s;

const messageOf = ({ diagnostic: { message, cause = "" } }: Refused): string => `${message}: ${cause}`;

/**
 * The values of these keys, without those that the service does not have or that were never set. Throws Failure with API_PROTOCOL for
 * any other value: a setting that cannot be read is not one that is unset.
 */
export async function settingsByKey(api: Reader, keys: readonly string[]): Promise<Settings> {
  if (keys.length === 0) return {};
  try {
    const answer = await api.read("workspace-conf/get", { keys: keys.join(",") });
    return Object.fromEntries(
      keys.flatMap((key) => {
        const { [key]: value } = answer;
        if (value === undefined || value === null) return [];
        return [[key, typeof value === "boolean" ? String(value) : textIn(answer, key)]];
      }),
    );
  } catch (refusal) {
    const invalid = refusal instanceof Refused ? INVALID_KEYS.exec(messageOf(refusal))?.[1] : undefined;
    const others = keys.filter((key) => invalid?.includes(JSON.stringify(key)) !== true);
    if (invalid === undefined || others.length === keys.length) throw refusal;
    return settingsByKey(api, others);
  }
}

/** Settings are on or off, except for a few; a setting that is off is as one that was never set. */
const isSwitch = (key: string): boolean => /^(enable|store|mlflow)/.test(key);
const isUnset = (value: string): boolean => value === "" || value.toLowerCase() === "false";

const toLive = (key: string, value: string): LiveObject => ({
  id: remoteId(key),
  name: key,
  values: { value },
  facts: {},
});

function check(_values: unknown, name: string): readonly Problem[] {
  if (!/^[A-Za-z][\w.-]*$/.test(name))
    return [problem("SPEC_VALUE", [], `"${name}" is not a valid key of a setting`)];
  return [];
}

async function list(api: Reader, names: ReadonlySet<string>, recorded: ReadonlySet<string>) {
  const values = await settingsByKey(api, [...new Set([...KEYS, ...names, ...recorded])].sort());
  return Object.entries(values).flatMap(([key, value]) =>
    isUnset(value) && !recorded.has(key) ? [] : [toLive(key, value)],
  );
}

export const workspaceConf = defineProvider({
  kind: "workspace_conf",
  dialect: "databricks",
  singular: "workspace setting",
  description:
    "Settings of the workspace by key, such as enableIpAccessLists. A setting that leaves the spec goes back to false, or to no value.",
  fields,
  severity: "security",
  nameField: undefined,
  unique: true,
  idAttribute: "key",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",

  planning: {
    validate: check,
    normalize: (values) => (values.value === undefined ? values : { value: String(values.value) }),
    /** Lists come into force together: the first of them alone could exclude the caller. */
    waitsFor: (change, other) =>
      kindOf(other.address) === "ip_access_lists" && isSwitched(change, IP_ACCESS_SWITCH, "on"),
    consequences: ({ action, name }) =>
      action === "delete" ? [`the setting goes back to ${isSwitch(name) ? "false" : "no value"}`] : [],
  },

  operations: {
    list: (api, { names, ids = new Set() }) => list(api, names, ids),
    async read(api, id) {
      const { [id]: value } = await settingsByKey(api, [id]);
      return value === undefined ? undefined : toLive(id, value);
    },
    async create(api, { name, values }) {
      await api.write("workspace-conf/update", { [name]: String(values.value) });
      return remoteId(name);
    },
    async update(api, { name, values }) {
      await api.write("workspace-conf/update", { [name]: String(values.value) });
    },
    async delete(api, { id }) {
      await api.write("workspace-conf/update", { [id]: isSwitch(id) ? "false" : "" });
    },
  },
});
