// Destinations of notifications, whose secrets no answer contains. The contract has none of these calls; a dialect has.

import { type JsonObject, objectIn } from "../../../core/json.ts";
import { invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";

interface Destination {
  readonly id: string;
  readonly display_name: string;
  readonly config: JsonObject;
}

const destinationsOf = (world: World): Collection<Destination> =>
  world.collection("notification-destinations");

const TYPES: Readonly<Record<string, string>> = {
  email: "EMAIL",
  slack: "SLACK",
  pagerduty: "PAGERDUTY",
  microsoft_teams: "MICROSOFT_TEAMS",
  generic_webhook: "WEBHOOK",
};

const SECRETS = new Set(["url", "password", "username", "integration_key", "oauth_token", "auth_secret"]);

export const notificationDestinationOperations: Operations = {
  "notification-destinations/create": ({ input }, world) => {
    const hex = (length: number): string => world.hex(length);
    const id = `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;
    typeOf(objectIn(input.config));
    const destination = { id, display_name: String(input.display_name), config: objectIn(input.config) };
    destinationsOf(world).set(id, destination);
    return { json: shown(destination) };
  },
  "notification-destinations/update": ({ input, params }, world) => {
    const before = existing(world, params);
    const config = input.config === undefined ? before.config : objectIn(input.config);
    if (typeOf(config) !== typeOf(before.config))
      throw invalidValue("The type of a notification destination cannot be changed.");
    const display_name = input.display_name === undefined ? before.display_name : String(input.display_name);
    const destination = { ...before, display_name, config };
    destinationsOf(world).set(before.id, destination);
    return { json: shown(destination) };
  },
  "notification-destinations/delete": ({ params }, world) => {
    destinationsOf(world).delete(existing(world, params).id);
  },
  "notification-destinations/get": ({ params }, world) => ({ json: shown(existing(world, params)) }),
  "notification-destinations/list": (_call, world) => {
    const results = [...destinationsOf(world).values()].map(({ id, display_name, config }) => ({
      id,
      display_name,
      destination_type: typeOf(config),
    }));
    return { json: results.length === 0 ? {} : { results } };
  },
};

function existing(world: World, { id = "" }: Call["params"]): Destination {
  const destination = destinationsOf(world).get(id);
  if (destination === undefined)
    throw notFound(`Notification destination ${id.slice(0, 100)} does not exist.`);
  return destination;
}

function typeOf(config: JsonObject): string {
  const [name = "", ...others] = Object.keys(config);
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined || others.length > 0) throw invalidValue("config must have exactly one known type");
  return type;
}

function shown({ id, display_name, config }: Destination): JsonObject {
  const parts = Object.entries(config).map(([name, part]) => {
    const members = Object.entries(objectIn(part)).map(([key, value]) =>
      SECRETS.has(key) ? ([`${key}_set`, true] as const) : ([key, value] as const),
    );
    return [name, Object.fromEntries(members)] as const;
  });
  return { id, display_name, destination_type: typeOf(config), config: Object.fromEntries(parts) };
}
