// Reads the access list of an object in spec form, and writes its changes without losing entries of others.
// `planner/diff/diff.ts` compares it like the other fields of the object.

import { callerOf } from "../../api/contract/caller.ts";
import type { Reader } from "../../api/contract/reader.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { defined, objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldCase, isApplicationId, principalKey } from "../../resource/names.ts";
import type { DetailsContext, OperationWriter } from "../../resource/operations.ts";
import { keyIn, objectsIn, responseText } from "../kit/responses.ts";
import {
  isAdmins,
  isSamePrincipal,
  MEMBER,
  type Principal,
  principalIn,
  principalNamed,
  principalText,
} from "./principals.ts";

export interface AccessObject {
  /** The part of the path that names the type, such as `jobs`. */
  readonly object_type: string;
  readonly object_id: string;
}

export const OWNER = "IS_OWNER";
const MANAGE = "CAN_MANAGE";

export const accessOf = (values: Values | undefined): Values => objectIn(values?.access);
export const ownerOf = (values: Values | undefined): string | undefined =>
  typeof values?.owner === "string" ? values.owner : undefined;

interface DirectEntry {
  readonly principal: Principal;
  /** The display name, by which a spec may name a service principal. */
  readonly shown: string | undefined;
  readonly level: string;
}

/** The entries that an object has itself. Inherited ones belong to another object. */
export async function directEntries(api: Reader, object: AccessObject): Promise<readonly DirectEntry[]> {
  const answer = await api.read("permissions/get", { ...object });
  return objectsIn(answer, "access_control_list").flatMap((entry) => {
    const principal = principalIn(entry);
    const direct = objectsIn(entry, "all_permissions").find(({ inherited }) => inherited !== true);
    if (principal === undefined || direct === undefined) return [];
    return [
      { principal, shown: responseText(entry, "display_name"), level: keyIn(direct, "permission_level") },
    ];
  });
}

/** Whether a key of a spec names the principal of an entry. */
function namesEntry(text: string, { principal, shown }: DirectEntry): boolean {
  const named = principalNamed(text);
  if (isSamePrincipal(named, principal)) return true;
  return named.kind === "sp" && principal.kind === "sp" && named.name === shown;
}

type Creation = Pick<DetailsContext, "creators" | "recorded">;

interface AccessInSpecForm {
  readonly access: Values;
  readonly owner: string | undefined;
  /** The caller, if the list gives it the right to manage the object. */
  readonly manager: string | undefined;
}

/**
 * A list in spec form, with the keys as `declared` and `declaredOwner` spell them. The owner is not an entry, except where the
 * spec gives it a level, which ownership includes. `admins` and the right to manage of the caller are left out unless declared; that of other
 * creators also only unless recorded.
 */
function accessInSpecForm(
  entries: readonly DirectEntry[],
  declared: Values,
  declaredOwner: string | undefined,
  caller: string,
  { creators = [], recorded }: Creation,
): AccessInSpecForm {
  const givenTo = new Set(creators.map(foldCase));
  const before = Object.keys(objectIn(recorded?.access));
  const access: { [principal: string]: string } = {};
  let owner: string | undefined;
  let manager: string | undefined;
  for (const entry of entries) {
    const spelled = Object.keys(declared).find((text) => namesEntry(text, entry));
    const manages = entry.level === OWNER || entry.level === MANAGE;
    const name = entry.principal.kind === "group" ? undefined : foldCase(entry.principal.name);
    const isCaller = name === foldCase(caller);
    const isGiven =
      name !== undefined && givenTo.has(name) && !before.some((text) => namesEntry(text, entry));
    if (isCaller && manages) manager = spelled ?? principalText(entry.principal);
    if (entry.level === OWNER) {
      const isDeclared = declaredOwner !== undefined && namesEntry(declaredOwner, entry);
      owner = isDeclared ? declaredOwner : principalText(entry.principal);
      if (spelled !== undefined) access[spelled] = String(declared[spelled]);
    } else if (spelled !== undefined || !(((isCaller || isGiven) && manages) || isAdmins(entry.principal)))
      access[spelled ?? principalText(entry.principal)] = entry.level;
  }
  return { access, owner, manager };
}

/** An object whose list the caller must not see cannot be managed, but the others of its kind can. */
export async function readAccess(
  api: Reader,
  live: LiveObject,
  desired: Values,
  objectOf: (api: Reader, id: string) => Promise<AccessObject>,
  creation: Creation = {},
): Promise<LiveObject> {
  if (live.unmanageable !== undefined) return live;
  try {
    const entries = await directEntries(api, await objectOf(api, live.id));
    const declared = accessOf(desired);
    const caller = await callerOf(api);
    const { access, owner, manager } = accessInSpecForm(
      entries,
      declared,
      ownerOf(desired),
      caller,
      creation,
    );
    const values = { ...live.values, access, ...defined({ owner }) };
    return { ...live, values, facts: { ...live.facts, ...defined({ manager }) } };
  } catch (refusal) {
    if (!(refusal instanceof Refused) || refusal.code !== "PERMISSION_DENIED") throw refusal;
    const unreadFields = ["access", "owner"];
    return { ...live, unmanageable: "this caller cannot read its access list", unreadFields };
  }
}

/** A spec need not say that a list is empty, or that the caller owns an object. */
export function forExport({ values, ...live }: LiveObject): LiveObject {
  const { access, owner, ...others } = values;
  const isListed = Object.keys(objectIn(access)).length > 0;
  const isCaller = owner === undefined || owner === live.facts.manager;
  return {
    ...live,
    values: {
      ...others,
      ...(isListed ? { access: objectIn(access) } : {}),
      ...(isCaller ? {} : { owner }),
    },
  };
}

/** Changes of a list, by the keys of a spec. */
interface AccessChange {
  readonly set: Values;
  readonly removed: readonly string[];
  readonly owner?: string | undefined;
}

interface Grant {
  readonly principal: Principal;
  readonly level: string;
}

/**
 * Writes a change. The list is read again first, so that entries of others stay: new entries are merged by the service, and
 * everything else replaces the list. A caller who gives the ownership away keeps the right to manage the object.
 */
export async function writeAccess(
  api: OperationWriter,
  object: AccessObject,
  change: AccessChange,
): Promise<void> {
  const live = await directEntries(api, object);
  const after = await changedList(api, live, change);
  const before = new Map(live.map((entry) => [principalKey(entry.principal), entry.level]));
  const added = [...after].flatMap(([key, grant]) => (before.get(key) === grant.level ? [] : [grant]));
  const isMerged = [...before].every(([key, level]) => after.get(key)?.level === level);
  if (isMerged && added.length === 0) return;
  const operation = isMerged ? "permissions/update" : "permissions/set";
  const access_control_list = (isMerged ? added : [...after.values()]).map(
    ({ principal: { kind, name }, level }) => ({ [MEMBER[kind]]: name, permission_level: level }),
  );
  await api.write(operation, { ...object, access_control_list });
}

async function changedList(
  api: Reader,
  live: readonly DirectEntry[],
  { set, removed, owner }: AccessChange,
): Promise<ReadonlyMap<string, Grant>> {
  const after = new Map<string, Grant>(live.map((entry) => [principalKey(entry.principal), entry]));
  const put = (principal: Principal, level: string): unknown =>
    after.set(principalKey(principal), { principal, level });
  const current = live.find(({ level }) => level === OWNER);
  const passesOn = owner !== undefined && (current === undefined || !namesEntry(owner, current));
  if (passesOn && current !== undefined) {
    const isCaller = foldCase(current.principal.name) === foldCase(await callerOf(api));
    if (isCaller) put(current.principal, MANAGE);
    else after.delete(principalKey(current.principal));
  }
  for (const entry of live)
    if ((passesOn || entry !== current) && removed.some((text) => namesEntry(text, entry)))
      after.delete(principalKey(entry.principal));
  for (const [text, level] of Object.entries(set))
    if (passesOn || current === undefined || !namesEntry(text, current))
      put(await withApplicationId(api, text), String(level));
  if (passesOn) put(await withApplicationId(api, owner), OWNER);
  return after;
}

/** A principal of a spec, with the name that requests use. */
async function withApplicationId(api: Reader, text: string): Promise<Principal> {
  const { kind, name } = principalNamed(text);
  return { kind, name: kind === "sp" ? await applicationId(api, name) : name };
}

/** The name of a service principal in requests. Throws Failure with PLAN_UNKNOWN_NAME where its display name is not that of exactly one. */
async function applicationId(api: Reader, name: string): Promise<string> {
  if (isApplicationId(name)) return name;
  const answer = await api.read("scim/service-principals/list", {
    filter: `displayName eq ${JSON.stringify(name)}`,
  });
  const ids = objectsIn(answer, "Resources").map((program) => keyIn(program, "applicationId"));
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) return id;
  throw new Failure(
    error(
      "PLAN_UNKNOWN_NAME",
      `${ids.length === 0 ? "no service principal" : "more than one service principal"} is named "${name}"`,
      {
        hint: `write the application ID: sp:00000000-0000-0000-0000-000000000000`,
      },
    ),
  );
}
