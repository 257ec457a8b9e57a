// Service principals by SCIM. The contract has none of these calls; a dialect has.

import { defined, type JsonObject, listIn } from "../../../core/json.ts";
import {
  newPrincipalId,
  removeServicePrincipal,
  type ServicePrincipal,
  servicePrincipalByApplication,
  servicePrincipals,
} from "../../world/directory.ts";
import { ScimError } from "../../world/errors.ts";
import type { Call, Operations, Reply, World } from "../../world/world.ts";
import { type Attribute, applyPatch, listAttribute, shownList, shownLists, stringsIn } from "./resource.ts";

const SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ServicePrincipal";

export const servicePrincipalOperations: Operations = {
  "scim/service-principals/list": listServicePrincipals,
  "scim/service-principals/get": getServicePrincipal,
  "scim/service-principals/create": create,
  "scim/service-principals/put": (call, world) => ({
    json: shown(world, write(world, existing(world, call), call.input)),
  }),
  "scim/service-principals/patch": patch,
  "scim/service-principals/delete": (call, world) => {
    removeServicePrincipal(world, existing(world, call).id);
    return { status: 204, json: {} };
  },
};

export function listServicePrincipals({ input }: Call, world: World): Reply {
  return shownList(input, {
    all: () => servicePrincipals(world).values(),
    unique: "applicationid",
    named: (id) => servicePrincipalByApplication(world, id),
    show: (program) => shown(world, program),
    filtered: new Set(["applicationid", "displayname", "id", "active"]),
  });
}

export function getServicePrincipal(call: Call, world: World): Reply {
  return { json: shown(world, existing(world, call)) };
}

const ATTRIBUTES: readonly Attribute[] = [
  { name: "id", shape: "text", fixed: true },
  { name: "applicationId", shape: "text", fixed: true },
  { name: "displayName", shape: "text" },
  { name: "externalId", shape: "text" },
  { name: "active", shape: "boolean" },
  ...["entitlements", "groups", "roles"].map(listAttribute),
];

function existing(world: World, { params: { id = "" } }: Call): ServicePrincipal {
  const program = servicePrincipals(world).get(id);
  if (program === undefined) throw new ScimError(404, `ServicePrincipal with id ${id} not found.`);
  return program;
}

function create({ input }: Call, world: World): Reply {
  const part = (length: number): string => world.hex(length);
  const { applicationId = `${part(8)}-${part(4)}-${part(4)}-${part(4)}-${part(12)}` } = input;
  if (servicePrincipalByApplication(world, String(applicationId)) !== undefined)
    throw new ScimError(
      409,
      `Service principal with application ID ${applicationId} already exists.`,
      "uniqueness",
    );
  const id = newPrincipalId(world);
  const program = { id, applicationId: String(applicationId), displayName: String(applicationId) };
  return { status: 201, json: shown(world, write(world, program, input)) };
}

function patch(call: Call, world: World): Reply {
  const program = existing(world, call);
  const after = applyPatch(shown(world, program), listIn(call.input.Operations), ATTRIBUTES);
  return { json: shown(world, write(world, program, after)) };
}

function write(world: World, { id, applicationId, displayName }: ServicePrincipal, body: JsonObject) {
  const program: ServicePrincipal = {
    id,
    applicationId,
    displayName: String(body.displayName ?? displayName),
    active: body.active !== false,
    entitlements: stringsIn("entitlements", body),
    roles: stringsIn("roles", body),
    ...(typeof body.externalId === "string" ? { externalId: body.externalId } : {}),
  };
  servicePrincipals(world).set(id, program);
  return program;
}

function shown(world: World, program: ServicePrincipal): JsonObject {
  const { id, applicationId, displayName, externalId, active = true } = program;
  const head = { schemas: [SCHEMA], id, applicationId, displayName, active, ...defined({ externalId }) };
  return { ...head, ...shownLists(world, program) };
}
