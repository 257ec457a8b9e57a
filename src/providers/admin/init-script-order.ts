// The order of global init scripts in the Databricks dialect: one list, because each move shifts the positions of other scripts.

import type { Reader } from "../../api/contract/reader.ts";
import { remoteId } from "../../core/address.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { OperationWriter, PlannedFrom } from "../../resource/operations.ts";
import type { Problem } from "../../resource/planning.ts";
import { defineProvider, listField, required, textField } from "../kit/field-builders.ts";
import { problem } from "../kit/problems.ts";
import { keyIn, objectsIn } from "../kit/responses.ts";
import { initScripts } from "./init-scripts.ts";

const KIND = "global_init_script_order";
/** A workspace has one order. */
const NAME = "default";

const fields = {
  scripts: required(
    listField(
      textField({
        mentions: ["global_init_scripts"],
        shouldExist: true,
        minLength: 1,
        description: "Name of a global init script.",
      }),
      {
        minItems: 1,
        description: "Scripts, first to last. Other scripts may run before, between, or after them.",
      },
    ),
  ),
};

const namesIn = ({ scripts }: Values): readonly string[] =>
  Array.isArray(scripts) ? scripts.filter((name) => typeof name === "string") : [];

const scriptsOf = async (api: Reader): Promise<readonly JsonObject[]> =>
  objectsIn(await api.read("global-init-scripts/list"), "scripts");

const toLive = (scripts: readonly string[]): LiveObject => ({
  id: remoteId(NAME),
  name: NAME,
  values: { scripts },
  facts: {},
});

/** Undefined for a workspace without scripts. */
async function read(api: Reader): Promise<LiveObject | undefined> {
  const scripts = await scriptsOf(api);
  return scripts.length === 0 ? undefined : toLive(scripts.map((script) => keyIn(script, "name")));
}

/** The order of these scripts alone, whatever runs between them. */
function among(live: LiveObject, chosen: readonly string[]): LiveObject {
  const isChosen = new Set(chosen);
  return { ...live, values: { scripts: namesIn(live.values).filter((name) => isChosen.has(name)) } };
}

/** The order by the names that the plan saw: other changes of an apply create, rename, and delete scripts. */
async function asPlanned(api: Reader, plannedFrom: PlannedFrom): Promise<LiveObject> {
  const names = (await scriptsOf(api)).map((script) => {
    const before = plannedFrom(initScripts.kind, remoteId(keyIn(script, "script_id")));
    return keyIn(before ?? script, "name");
  });
  // A new script is the last one, also if it has the former name of another.
  return toLive([...new Set(names)]);
}

/** Moves each script that runs before the one listed above it to the position after that. A move sends its name and text, too. */
async function arrange(api: OperationWriter, order: readonly string[]): Promise<void> {
  for (const [index, name] of order.entries()) {
    const scripts = await scriptsOf(api);
    const indexOf = (wanted: string | undefined): number =>
      scripts.findIndex((script) => script.name === wanted);
    const position = indexOf(order[index - 1]);
    const present = scripts[indexOf(name)];
    if (present === undefined || position < indexOf(name)) continue;
    const id = keyIn(present, "script_id");
    const { script = "" } = await api.read("global-init-scripts/get", { id });
    await api.write("global-init-scripts/update", { id, name, script, position });
  }
}

function check({ scripts }: Values, name: string): readonly Problem[] {
  if (name !== NAME && !name.includes("${"))
    return [
      problem("SPEC_VALUE", [], `"${name}" is not an order of scripts`, `a workspace has one order: ${NAME}`),
    ];
  const names = namesIn({ scripts: scripts ?? [] });
  return names.flatMap((script, index) =>
    names.indexOf(script) === index
      ? []
      : [
          problem(
            "SPEC_VALUE",
            ["scripts", index],
            `"${script}" is listed twice`,
            "remove one of the two entries",
          ),
        ],
  );
}

export const initScriptOrder = defineProvider({
  kind: KIND,
  dialect: "databricks",
  singular: "order of global init scripts",
  description: "The order in which clusters run global init scripts. A new script is the last one.",
  fields,
  severity: "security",
  nameField: undefined,
  unique: true,
  builtIn: [NAME],
  idAttribute: "name",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",

  planning: {
    validate: check,
    consequences: ({ action }) =>
      action === "update" ? ["running clusters get the change when they restart"] : [],
  },

  operations: {
    list: async (api) => {
      const live = await read(api);
      return live === undefined ? [] : [live];
    },
    /** The scripts of the last apply are compared, or else those of the spec. */
    readDetails: async (api, live, desired, { plannedFrom, recorded } = {}) => {
      const planned = plannedFrom?.(KIND, live.id);
      if (plannedFrom !== undefined && planned !== undefined)
        return among(await asPlanned(api, plannedFrom), namesIn(planned));
      const { scripts } = recorded ?? desired ?? {};
      return scripts === undefined ? live : among(live, namesIn({ scripts }));
    },
    read: (api) => read(api),
    async create(api, { values }) {
      await arrange(api, namesIn(values));
      return remoteId(NAME);
    },
    update: (api, { values }) => arrange(api, namesIn(values)),
    /** The scripts keep their order. */
    delete: async () => undefined,
  },
});
