// Global init scripts in the Databricks dialect: scripts that each cluster runs when it starts. Another kind has their order.

import type { Reader } from "../../api/contract/reader.ts";
import { remoteId } from "../../core/address.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import { utf8Text } from "../../core/utf8.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Problem } from "../../resource/planning.ts";
import { defineProvider, flagField, required, textField } from "../kit/field-builders.ts";
import { tokenInName, unfinishedName } from "../kit/names.ts";
import { problem } from "../kit/problems.ts";
import { bytesIn, createdId, ignoreMissing, keyIn, liveIfPresent, objectsIn } from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";

const MOST_BYTES = 64 * 1024;

const fields = {
  name: textField({ severity: "other", minLength: 1, description: "Unique name." }),
  script: required(textField({ minLength: 1, description: "Text of the script, at most 64 KiB." })),
  enabled: flagField({ default: false, description: "Whether clusters run the script." }),
};

const READ_ONLY = new Set(["script_id", "position", "created_at", "created_by", "updated_at", "updated_by"]);

/** A list lacks the text of each script. */
function toLive(answer: JsonObject): LiveObject {
  const name = keyIn(answer, "name");
  const { script, ...head } = answer;
  const text = script === undefined ? undefined : utf8Text(bytesIn({ script }, "script"), "kept");
  const values = normalizeLive(fields, text === undefined ? head : { ...head, script: text });
  const facts = defined({ token: tokenInName(name) });
  const live = { id: remoteId(keyIn(answer, "script_id")), name, values, facts };
  const isBinary = script !== undefined && text === undefined;
  return withUnknownFields(
    { ...live, unmanageable: isBinary ? "its script is not text in UTF-8" : undefined },
    fields,
    answer,
    READ_ONLY,
  );
}

const read = (api: Reader, id: string): Promise<LiveObject | undefined> =>
  liveIfPresent(() => api.read("global-init-scripts/get", { id }), toLive);

function body(name: string, { script, enabled = false }: Values): JsonObject {
  return { name, script: Buffer.from(String(script)).toString("base64"), enabled };
}

function check({ script }: Values): readonly Problem[] {
  const bytes = typeof script === "string" ? Buffer.byteLength(script) : 0;
  if (bytes <= MOST_BYTES) return [];
  return [problem("SPEC_LIMIT", ["script"], `the script has ${bytes} bytes; the limit is ${MOST_BYTES}`)];
}

export const initScripts = defineProvider({
  kind: "global_init_scripts",
  dialect: "databricks",
  singular: "global init script",
  description: "Global init scripts: every cluster runs those that are enabled when it starts.",
  fields,
  severity: "security",
  nameField: "name",
  unique: true,
  idAttribute: "script_id",
  creationRecovery: "two-phase",
  replaceStrategy: "create-first",

  planning: {
    validate: check,
    consequences: ({ action, diffs }) =>
      action === "update" && diffs.every(({ path }) => path[0] === "name")
        ? []
        : ["running clusters get the change when they restart"],
  },

  operations: {
    list: async (api) => objectsIn(await api.read("global-init-scripts/list"), "scripts").map(toLive),
    readDetails: async (api, live) => (await read(api, live.id)) ?? live,
    read,
    /** No cluster runs a new script before it has its name. */
    async create(api, { name, values, token }) {
      const script = body(name, values);
      const unfinished = { ...script, name: unfinishedName(name, token), enabled: false };
      const id = createdId(await api.write("global-init-scripts/create", unfinished), "script_id");
      await api.created(id);
      await api.write("global-init-scripts/update", { id, ...script });
      return id;
    },
    async update(api, { id, name, values }) {
      await api.write("global-init-scripts/update", { id, ...body(name, values) });
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("global-init-scripts/delete", { id })),
  },
});
