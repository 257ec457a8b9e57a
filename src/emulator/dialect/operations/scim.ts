// Users and groups of the dialect: empty values in patches, answers with some attributes only, groups of the account.

import { isObject, type Json, type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import { unassigned } from "../../routes/scim/assignments.ts";
import { lookupIn } from "../../routes/scim/filter.ts";
import { getAccountGroup, listAccountGroups } from "../../routes/scim/groups.ts";
import { GROUP_SCHEMA, PATCH_SCHEMA, USER_SCHEMA } from "../../routes/scim/resource.ts";
import { getServicePrincipal, listServicePrincipals } from "../../routes/scim/service-principals.ts";
import {
  groupById,
  groupByName,
  newPrincipalId,
  putGroup,
  servicePrincipals,
  setMembers,
} from "../../world/directory.ts";
import { invalidValue, ScimError } from "../../world/errors.ts";
import type { Call, Operation, Operations, Reply, World } from "../../world/world.ts";
import { hasValue } from "../translate.ts";
import type { Asked, Hooks } from "./hook.ts";

export const scimHooks: Hooks = {
  "scim/users/list": { around: wholeList, after: listed(shownUser) },
  "scim/users/get": { after: (user, { input }) => selected(shownUser(user), input) },
  "scim/users/create": { before: withSchema(USER_SCHEMA), after: shownUser },
  "scim/users/patch": { before: cleanPatch, after: shownUser },
  "scim/users/put": { before: withSchema(USER_SCHEMA), after: shownUser },
  "scim/me/get": { around: showCaller, after: (user, { input }) => selected(shownUser(user), input) },
  "scim/groups/create": { before: withSchema(GROUP_SCHEMA), after: shownGroup },
  "scim/groups/patch": { before: cleanPatch, around: patchGroup, after: shownGroup },
  "scim/groups/put": { before: withSchema(GROUP_SCHEMA), around: refuseAccountGroup, after: shownGroup },
  "scim/groups/delete": { around: refuseAccountGroup },
  "scim/service-principals/patch": { before: cleanPatch },
  ...readHooks("scim"),
  ...readHooks("account"),
  ...readHooks("accounts"),
};

/** The reads of groups and service principals, which the workspace and the account have. */
function readHooks(area: string): Hooks {
  return {
    [`${area}/groups/list`]: { around: wholeList, after: listed(shownGroup) },
    [`${area}/groups/get`]: { after: (group, asked) => selected(shownGroup(group, asked), asked.input) },
    [`${area}/service-principals/list`]: { around: wholeList, after: listed((program) => program) },
    [`${area}/service-principals/get`]: { after: (program, { input }) => selected(program, input) },
  };
}

/** The account as its workspace sees it, by the host of the workspace (`account`) and by that of the account (`accounts/ID`). */
export const accountOperations: Operations = { ...readsOfAccount("account"), ...readsOfAccount("accounts") };

function readsOfAccount(area: string): Operations {
  return {
    [`${area}/groups/list`]: listAccountGroups,
    [`${area}/groups/get`]: getAccountGroup,
    [`${area}/service-principals/list`]: listServicePrincipals,
    [`${area}/service-principals/get`]: getServicePrincipal,
  };
}

/** A service principal sees a user that has its application ID as its name. */
function showCaller(core: Operation, call: Call, { world }: Asked): Reply {
  const program = servicePrincipals(world).get(call.caller.userId);
  if (program === undefined) return core(call, world);
  const { id, applicationId: userName, displayName, active = true } = program;
  return { json: { schemas: [USER_SCHEMA], id, userName, displayName, active } };
}

/** Clients leave out the name of the schema that a body has. */
function withSchema(schema: string) {
  return ({ input }: Asked): JsonObject => ({ schemas: [schema], ...input });
}

const EXTENSION = "urn:ietf:params:scim:schemas:extension:workspace:2.0:User";

function shownUser(user: JsonObject): JsonObject {
  return { ...user, schemas: [...listIn(user.schemas), EXTENSION] };
}

function shownGroup(group: JsonObject, { world }: Pick<Asked, "world">): JsonObject {
  const account = groupById(world, String(group.id))?.account === true;
  return { ...group, meta: { resourceType: account ? "Group" : "WorkspaceGroup" } };
}

function refuseAccountGroup(core: Operation, call: Call, { world }: Asked): Reply {
  const group = groupById(world, call.params.id ?? "");
  if (group?.account)
    throw new ScimError(403, `Group ${group.displayName} belongs to the account and cannot be changed here.`);
  return core(call, world);
}

function patchGroup(core: Operation, call: Call, asked: Asked): Reply {
  return refuseAccountGroup(core, { ...call, allows: { groupNames: true } }, asked);
}

/** `[{}]` means an empty list, in an operation with a path and in one without, and a flag may be a string. */
function cleanPatch({ input }: Asked): JsonObject {
  const operations = listIn(input.Operations).map((operation) => {
    const { path, value } = objectIn(operation);
    if (value === undefined) return operation;
    const clean = String(path).toLowerCase() === "active" ? flagIn(value) : withoutEmpty(value);
    return { ...objectIn(operation), value: clean };
  });
  return { schemas: [PATCH_SCHEMA], ...input, Operations: operations };
}

const flagIn = (value: Json): Json => (value === "true" || value === "false" ? value === "true" : value);

function withoutEmpty(value: Json): Json {
  if (Array.isArray(value)) return value.filter(hasValue);
  if (!isObject(value)) return value;
  const clean = (name: string, member: Json): Json =>
    Array.isArray(member) ? member.filter(hasValue) : name === "active" ? flagIn(member) : member;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clean(name, member)]));
}

/** A list is sorted before it is paged, so all of it is needed. */
function wholeList(core: Operation, call: Call, { world, input }: Asked): Reply {
  if (input.sortBy === undefined) return core(call, world);
  const { startIndex: _start, count: _count, ...whole } = call.input;
  return core({ ...call, input: whole }, world);
}

function listed(show: (resource: JsonObject, asked: Asked) => JsonObject) {
  return (answer: JsonObject, asked: Asked): JsonObject => {
    const { input } = asked;
    const shown = listIn(answer.Resources).map((value) => show(objectIn(value), asked));
    const page = input.sortBy === undefined ? shown : sortedPage(shown, input);
    const resources = page.map((resource) => selected(resource, input));
    const { Resources: _all, ...envelope } = answer;
    if (resources.length === 0) return { ...envelope, itemsPerPage: 0 };
    const shape = { startIndex: input.startIndex ?? 1, itemsPerPage: resources.length };
    return { ...envelope, ...shape, Resources: resources };
  };
}

function sortedPage(all: readonly JsonObject[], input: JsonObject): readonly JsonObject[] {
  const attribute = String(input.sortBy).toLowerCase();
  const keyOf = (resource: JsonObject) =>
    String(lookupIn(resource, new Set([attribute]))(attribute)?.[0] ?? "");
  const sorted = all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  if (input.sortOrder === "descending") sorted.reverse();
  const first = Math.max(1, Number(input.startIndex ?? 1)) - 1;
  return input.count === undefined
    ? sorted.slice(first)
    : sorted.slice(first, first + Math.max(0, Number(input.count)));
}

/** `id` and `schemas` are always shown (RFC 7644, section 3.9). */
function selected(resource: JsonObject, { attributes, excludedAttributes }: JsonObject): JsonObject {
  const wanted = namesIn(attributes);
  const unwanted = namesIn(excludedAttributes);
  if (wanted.size === 0 && unwanted.size === 0) return resource;
  const shown = ([name]: [string, Json]): boolean => {
    const key = name.toLowerCase();
    if (key === "id" || key === "schemas") return true;
    return wanted.size === 0 ? !unwanted.has(key) : wanted.has(key);
  };
  return Object.fromEntries(Object.entries(resource).filter(shown));
}

function namesIn(text: Json | undefined): ReadonlySet<string> {
  const names = typeof text === "string" ? text.split(",") : [];
  return new Set(
    names.map((name) => name.trim().toLowerCase().split(".", 1)[0] ?? "").filter((name) => name !== ""),
  );
}

/** A control request: makes a group of the account, which the workspace sees, if it is assigned, and cannot change. */
export function makeAccountGroup(
  world: World,
  { display_name: name, assigned = true }: JsonObject,
): JsonObject {
  if (typeof name !== "string" || name === "") throw invalidValue("Missing required field: display_name");
  if (groupByName(world, name) !== undefined) throw invalidValue(`Group with name ${name} already exists.`);
  const id = newPrincipalId(world);
  const group = { id, displayName: name, entitlements: [], roles: [], members: [], account: true } as const;
  if (assigned === true) putGroup(world, group);
  else unassigned(world).set(id, group);
  return { id };
}

/** A control request: makes a service principal, and a member of the groups that it names. */
export function makeServicePrincipal(world: World, input: JsonObject): JsonObject {
  const { application_id: application, display_name: name = application } = input;
  if (typeof application !== "string" || application === "")
    throw invalidValue("Missing required field: application_id");
  const id = newPrincipalId(world);
  servicePrincipals(world).set(id, { id, applicationId: application, displayName: String(name) });
  for (const wanted of listIn(input.groups)) joinGroup(world, String(wanted), id);
  return { id };
}

function joinGroup(world: World, name: string, id: string): void {
  const group = groupByName(world, name);
  if (group === undefined) throw invalidValue(`Group ${name} does not exist.`);
  setMembers(world, group, [...group.members, id]);
}
