// Access to the workspace by token and by password, in the Databricks dialect: two access lists that always exist and have no other object.

import type { Reader } from "../../api/contract/reader.ts";
import { type RemoteId, remoteId } from "../../core/address.ts";
import { listed } from "../../core/sentences.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Problem } from "../../resource/planning.ts";
import { defineProvider } from "../kit/field-builders.ts";
import { problem } from "../kit/problems.ts";
import { readIfPresent } from "../kit/responses.ts";
import { type AccessObject, directEntries, writeAccess } from "./access-list.ts";
import { isAdmins, principalText } from "./principals.ts";

const NAMES = ["tokens", "passwords"];

const objectOf = (id: string): AccessObject => ({ object_type: "authorization", object_id: id });

const toLive = (name: string): LiveObject => ({ id: remoteId(name), name, values: {}, facts: {} });

/** A list without entries but that of `admins` is as one that was never written. */
async function isWritten(api: Reader, name: string): Promise<boolean> {
  const entries = (await readIfPresent(() => directEntries(api, objectOf(name)))) ?? [];
  return entries.some(({ principal }) => !isAdmins(principal));
}

function nameProblems(name: string): readonly Problem[] {
  if (NAMES.includes(name) || name.includes("${")) return [];
  const hint = `the names are ${listed(NAMES)}`;
  return [problem("SPEC_VALUE", [], `"${name}" is not an authorization of the workspace`, hint)];
}

export const authorizations = defineProvider({
  kind: "authorizations",
  dialect: "databricks",
  singular: "authorization",
  description: "Who may sign in with tokens (tokens) and with passwords (passwords, only on AWS).",
  fields: {},
  severity: "security",
  nameField: undefined,
  unique: true,
  idAttribute: "name",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",

  planning: {
    validate: (_values, name) => nameProblems(name),
    consequences: ({ action, name }) =>
      action === "delete" ? [`only admins may use ${name} afterwards`] : [],
  },

  operations: {
    async list(api, { ids = new Set() }) {
      const written = await Promise.all(
        NAMES.map(async (name) => (ids.has(name) || (await isWritten(api, name)) ? [toLive(name)] : [])),
      );
      return written.flat();
    },
    read: async (_api, id) => toLive(id),
    create: async (_api, { name }): Promise<RemoteId> => remoteId(name),
    update: async () => undefined,
    async delete(api, { id }) {
      const entries = (await readIfPresent(() => directEntries(api, objectOf(id)))) ?? [];
      const others = entries.filter(({ principal }) => !isAdmins(principal));
      if (others.length === 0) return;
      const removed = others.map(({ principal }) => principalText(principal));
      await writeAccess(api, objectOf(id), { set: {}, removed });
    },
  },
});
