// Notification destinations in the Databricks dialect: where jobs and alerts send messages. No answer contains their secrets.

import { allPages, type ReadPage } from "../../api/contract/pages.ts";
import type { Reader } from "../../api/contract/reader.ts";
import { remoteId } from "../../core/address.ts";
import { defined, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import type { FieldTable, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Problem } from "../../resource/planning.ts";
import { choiceField, defineProvider, listField, required, textField } from "../kit/field-builders.ts";
import { tokenInName, unfinishedName } from "../kit/names.ts";
import { losesId, problem, removesObject } from "../kit/problems.ts";
import { createdId, ignoreMissing, keyIn, liveIfPresent, responseText } from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";

interface DestinationType {
  /** The member of `config` in requests. */
  readonly part: string;
  readonly fields: readonly string[];
}

const TYPES: Readonly<Record<string, DestinationType>> = {
  EMAIL: { part: "email", fields: ["addresses"] },
  SLACK: { part: "slack", fields: ["url", "oauth_token", "channel_id"] },
  PAGERDUTY: { part: "pagerduty", fields: ["integration_key"] },
  MICROSOFT_TEAMS: {
    part: "microsoft_teams",
    fields: ["url", "app_id", "auth_secret", "channel_url", "tenant_id"],
  },
  WEBHOOK: { part: "generic_webhook", fields: ["url", "username", "password"] },
};

const secret = (description: string) =>
  textField({
    writeOnly: true,
    secret: true,
    minLength: 1,
    description: `${description}, from a sensitive variable. The service never returns it.`,
  });
const hidden = (description: string) =>
  textField({ writeOnly: true, minLength: 1, description: `${description}. The service never returns it.` });

const fields: FieldTable = {
  display_name: textField({ severity: "other", minLength: 1, description: "Unique name." }),
  destination_type: required(
    choiceField(Object.keys(TYPES), { onChange: "replace", description: "What receives the messages." }),
  ),
  addresses: listField(textField({ minLength: 1, description: "E-mail address." }), {
    list: "set",
    description: "Receivers of EMAIL.",
  }),
  url: secret("Address of SLACK, MICROSOFT_TEAMS, or WEBHOOK"),
  username: hidden("User name for WEBHOOK"),
  password: secret("Password for WEBHOOK"),
  integration_key: secret("Key for PAGERDUTY"),
  oauth_token: secret("Token of an app for SLACK"),
  channel_id: hidden("Channel of SLACK"),
  app_id: hidden("App for MICROSOFT_TEAMS"),
  auth_secret: secret("Secret of the app for MICROSOFT_TEAMS"),
  channel_url: hidden("Channel of MICROSOFT_TEAMS"),
  tenant_id: hidden("Tenant of the app for MICROSOFT_TEAMS"),
};

function toLive(answer: JsonObject): LiveObject {
  const name = keyIn(answer, "display_name");
  const type = responseText(answer, "destination_type") ?? "";
  const config = objectIn(objectIn(answer.config)[TYPES[type]?.part ?? ""]);
  const values = normalizeLive(fields, {
    display_name: name,
    destination_type: type,
    ...(type === "EMAIL" ? config : {}),
  });
  const facts = defined({ token: tokenInName(name) });
  const live = { id: remoteId(keyIn(answer, "id")), name, values, facts };
  if (TYPES[type] === undefined)
    return { ...live, unmanageable: `its type ${type} is unknown to this version` };
  const { config: _, ...head } = answer;
  return withUnknownFields(live, fields, head, new Set(["id"]));
}

const read = (api: Reader, id: string): Promise<LiveObject | undefined> =>
  liveIfPresent(() => api.read("notification-destinations/get", { id }), toLive);

const list = async (api: Reader): Promise<readonly LiveObject[]> => {
  const operation = "notification-destinations/list";
  const page: ReadPage = (at) => api.read(operation, at);
  return (await allPages({ operation, member: "results", last: "no token", page }, "id")).map(toLive);
};

function configOf(values: Values): { readonly [part: string]: Json } {
  const { part = "", fields: names = [] } = TYPES[String(values.destination_type)] ?? {};
  const members = names.flatMap((name) =>
    values[name] === undefined ? [] : [[name, values[name]] as const],
  );
  return members.length === 0 ? {} : { [part]: Object.fromEntries(members) };
}

function check(values: Values): readonly Problem[] {
  const type = TYPES[String(values.destination_type)];
  if (type === undefined) return [];
  const others = Object.keys(values).filter(
    (name) => name !== "display_name" && name !== "destination_type" && !type.fields.includes(name),
  );
  const allowed = `${values.destination_type} has ${type.fields.join(", ")}`;
  return others.map((name) =>
    problem("SPEC_COMBINATION", [name], `${values.destination_type} has no ${name}`, allowed),
  );
}

export const notificationDestinations = defineProvider({
  kind: "notification_destinations",
  dialect: "databricks",
  singular: "notification destination",
  description: "Notification destinations: where jobs and alerts send messages.",
  fields,
  severity: "security",
  nameField: "display_name",
  unique: true,
  idAttribute: "id",
  creationRecovery: "two-phase",
  replaceStrategy: "create-first",

  planning: {
    validate: check,
    consequences: (change) => [
      ...(removesObject(change) ? ["jobs and alerts that use its ID no longer send messages to it"] : []),
      ...losesId(change, "notification destination"),
    ],
  },

  operations: {
    list,
    /** A list has no configuration. */
    readDetails: async (api, live) => (await read(api, live.id)) ?? live,
    read,
    async create(api, { name, values, token }) {
      const request = { display_name: unfinishedName(name, token), config: configOf(values) };
      const id = createdId(await api.write("notification-destinations/create", request), "id");
      await api.created(id);
      await api.write("notification-destinations/update", { id, display_name: name });
      return id;
    },
    /** The service replaces the whole configuration, so only a spec that declares some of it sends it. */
    async update(api, { id, name, values }) {
      const config = configOf(values);
      const change: JsonObject = Object.keys(config).length > 0 ? { config } : {};
      await api.write("notification-destinations/update", { id, display_name: name, ...change });
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("notification-destinations/delete", { id })),
  },
});
