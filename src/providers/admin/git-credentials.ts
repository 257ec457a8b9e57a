// Git credentials in the Databricks dialect: those of the caller, one for each Git provider. The service never returns a token.

import { remoteId } from "../../core/address.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { defineProvider, flagField, textField } from "../kit/field-builders.ts";
import { createdId, ignoreMissing, keyIn, liveIfPresent, objectsIn } from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";

const fields = {
  git_provider: textField({
    severity: "other",
    ignoreCase: true,
    minLength: 1,
    description: "Git provider, such as gitHub, gitLab, or azureDevOpsServices.",
  }),
  git_username: textField({
    serverDefault: true,
    minLength: 1,
    description: "User name at the Git provider.",
  }),
  git_email: textField({ serverDefault: true, minLength: 1, description: "E-mail address of commits." }),
  name: textField({ severity: "other", serverDefault: true, minLength: 1, description: "Text for people." }),
  is_default_for_provider: flagField({
    serverDefault: true,
    description: "Whether Git folders of this provider use the credential.",
  }),
  personal_access_token: textField({
    writeOnly: true,
    secret: true,
    minLength: 1,
    description:
      "Token, from a sensitive variable. The service never returns it, so it is written when it differs from the last one written.",
  }),
};

const READ_ONLY = new Set(["credential_id"]);

function toLive(answer: JsonObject): LiveObject {
  const name = keyIn(answer, "git_provider");
  const live = {
    id: remoteId(keyIn(answer, "credential_id")),
    name,
    values: normalizeLive(fields, answer),
    facts: {},
  };
  return withUnknownFields(live, fields, answer, READ_ONLY);
}

const body = (name: string, values: Values): JsonObject => ({ git_provider: name, ...values });

export const gitCredentials = defineProvider({
  kind: "git_credentials",
  dialect: "databricks",
  singular: "Git credential",
  description:
    "Git credentials of the caller, which its Git folders and jobs use. Each principal sees and manages only its own.",
  fields,
  severity: "security",
  nameField: "git_provider",
  unique: true,
  ignoreCase: true,
  idAttribute: "credential_id",
  creationRecovery: "client-named",
  replaceStrategy: "delete-first",

  planning: {
    consequences: (change) =>
      change.action === "delete"
        ? ["Git folders and jobs of the caller can no longer use this Git provider"]
        : [],
  },

  operations: {
    list: async (api) => objectsIn(await api.read("git-credentials/list"), "credentials").map(toLive),
    read: (api, id) => liveIfPresent(() => api.read("git-credentials/get", { id }), toLive),
    create: async (api, { name, values }) =>
      createdId(await api.write("git-credentials/create", body(name, values)), "credential_id"),
    async update(api, { id, name, values }) {
      await api.write("git-credentials/update", { id, ...body(name, values) });
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("git-credentials/delete", { id })),
  },
});
