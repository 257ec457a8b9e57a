// Service principals of the workspace by SCIM, in the Databricks dialect: programs with an identity of their own.

import { remoteId } from "../core/address.ts";
import { defined, type Json, type JsonObject } from "../core/json.ts";
import { entitlementGrants } from "../resource/access.ts";
import type { LiveObject } from "../resource/live.ts";
import { defineProvider, flagField, listField, textField } from "./kit/field-builders.ts";
import { tokenInName, unfinishedName } from "./kit/names.ts";
import {
  createdId,
  ignoreMissing,
  keyIn,
  liveIfPresent,
  objectsIn,
  responseText,
  valuesIn,
} from "./kit/responses.ts";
import { asValues, deltaOf, operationsFor, patchScim, scimValues } from "./kit/scim.ts";
import { unknownFieldsLost, withUnknownFields } from "./kit/unknown-fields.ts";

const fields = {
  displayName: textField({
    severity: "other",
    minLength: 1,
    description: "Display name. The service allows several of one name; in a spec it must be unique.",
  }),
  applicationId: textField({
    serverDefault: true,
    identifies: true,
    onChange: "replace",
    ignoreCase: true,
    minLength: 1,
    description:
      "Application ID. On Azure, set it to that of a principal of Entra ID; if absent, the service creates the principal.",
  }),
  active: flagField({ default: true, description: "Whether the service principal can sign in." }),
  entitlements: listField(
    textField({ minLength: 1, description: "One entitlement, such as allow-cluster-create." }),
    {
      list: "set",
      whenAbsent: "unmanaged",
      description: "Its own entitlements, without those of its groups. If absent, they are not managed.",
    },
  ),
};

const READ_ONLY = new Set(["id", "groups", "meta", "schemas", "roles", "externalId"]);

function toLive(answer: JsonObject): LiveObject {
  const displayName = responseText(answer, "displayName") ?? keyIn(answer, "applicationId");
  const values = {
    displayName,
    applicationId: keyIn(answer, "applicationId"),
    active: answer.active !== false,
    entitlements: [...valuesIn(answer, "entitlements")],
  };
  const facts = defined({ token: tokenInName(displayName) });
  const live = { id: remoteId(keyIn(answer, "id")), name: displayName, values, facts };
  return withUnknownFields(live, fields, answer, READ_ONLY);
}

const replaced = (path: string, value: Json | undefined, before: Json | undefined): readonly Json[] =>
  value === undefined || value === before ? [] : [{ op: "replace", path, value }];

export const principals = defineProvider({
  kind: "service_principals",
  dialect: "databricks",
  singular: "service principal",
  description: "Service principals: identities of programs, which run jobs and own objects.",
  fields,
  severity: "security",
  nameField: "displayName",
  unique: true,
  idAttribute: "id",
  creationRecovery: "two-phase",
  replaceStrategy: "delete-first",

  planning: {
    access: {
      dialect: "databricks",
      levels: [],
      activity: "active",
      contribution({ id, name, values }) {
        const { displayName = name, applicationId } = values;
        const program = { kind: "service_principal", name: String(displayName) } as const;
        const aliases = [id, typeof applicationId === "string" ? applicationId : undefined];
        return {
          principal: {
            ...program,
            aliases: aliases.filter((alias) => alias !== undefined),
            isActive: values.active !== false,
          },
          grants: entitlementGrants(program, values),
        };
      },
    },
    consequences(change) {
      if (change.live === undefined || change.action === "update") return [];
      if (change.action === "create") return [];
      return [
        "it can no longer sign in, and objects that it owns or runs as stay and fail",
        ...unknownFieldsLost(change, "service principal"),
      ];
    },
  },

  operations: {
    list: async (api) => objectsIn(await api.read("scim/service-principals/list"), "Resources").map(toLive),
    read: (api, id) => liveIfPresent(() => api.read("scim/service-principals/get", { id }), toLive),
    async create(api, { name, values, token }) {
      const { displayName = name, applicationId, active } = values;
      const entitlements = scimValues(values.entitlements);
      const body: { [field: string]: Json } = { displayName: unfinishedName(String(displayName), token) };
      if (applicationId !== undefined) body.applicationId = applicationId;
      if (active === false) body.active = false;
      if (entitlements.length > 0) body.entitlements = asValues(entitlements);
      const id = createdId(await api.write("scim/service-principals/create", body), "id");
      await api.created(id);
      await patchScim(api, "service-principals", id, replaced("displayName", displayName, body.displayName));
      return id;
    },
    async update(api, { id, values, before }) {
      const operations = [
        ...replaced("displayName", values.displayName, before.displayName),
        ...replaced("active", values.active, before.active),
        ...operationsFor("entitlements", deltaOf(before.entitlements, values.entitlements)),
      ];
      await patchScim(api, "service-principals", id, operations);
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("scim/service-principals/delete", { id })),
  },
});
