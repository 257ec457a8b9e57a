// An access list of an object: how a spec writes principals, what an answer of the service says, and how a list is written without losing entries of others.

import type { Reader } from "../../api/contract/reader.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import type { Values } from "../../resource/field-schema.ts";
import { foldCase } from "../../resource/names.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import { keyIn, objectsIn, responseText } from "../kit/responses.ts";

export interface AccessObject {
  /** The part of the path that names the type, such as `jobs`. */
  readonly object_type: string;
  readonly object_id: string;
}

type PrincipalKind = "user" | "group" | "sp";

export interface Principal {
  readonly kind: PrincipalKind;
  readonly name: string;
}

export const MEMBER = {
  user: "user_name",
  group: "group_name",
  sp: "service_principal_name",
} as const satisfies Record<PrincipalKind, string>;

export const OWNER = "IS_OWNER";
const MANAGE = "CAN_MANAGE";

/** `ada@example.com` is a user, `sp:deployer` a service principal, `data-eng` a group; `user:` and `group:` settle other names. */
export function principalNamed(text: string): Principal {
  const [, prefix, rest] = /^(user|group|sp):(.+)$/s.exec(text) ?? [];
  if (prefix !== undefined && rest !== undefined) return { kind: prefix as PrincipalKind, name: rest };
  return { kind: text.includes("@") ? "user" : "group", name: text };
}

export function principalText({ kind, name }: Principal): string {
  if (kind === "sp") return `sp:${name}`;
  return principalNamed(name).kind === kind && principalNamed(name).name === name ? name : `${kind}:${name}`;
}

/** The words of rights for kinds of principals. */
export const PRINCIPALS = { user: "user", group: "group", sp: "service_principal" } as const;

const KINDS = { user: "users", group: "groups", sp: "service_principals" } as const;

/** The object of the registry that a principal is, if it is managed. */
export function managedPrincipal(text: string): { readonly kind: string; readonly name: string } {
  const { kind, name } = principalNamed(text);
  return { kind: KINDS[kind], name };
}

/** Names of groups compare exactly; user names and application IDs compare without regard to case. */
export function principalKey({ kind, name }: Principal): string {
  return `${kind} ${kind === "group" ? name : foldCase(name)}`;
}

export interface DirectEntry {
  readonly principal: Principal;
  /** The display name, by which a spec may name a service principal. */
  readonly shown: string | undefined;
  readonly level: string;
}

/** The entries that an object has itself. Inherited ones belong to another object. */
export async function directEntries(api: Reader, object: AccessObject): Promise<readonly DirectEntry[]> {
  const answer = await api.read("permissions/get", { ...object });
  return objectsIn(answer, "access_control_list").flatMap((entry) => {
    const kind = (["user", "group", "sp"] as const).find(
      (memberKind) => typeof entry[MEMBER[memberKind]] === "string",
    );
    const direct = objectsIn(entry, "all_permissions").find(({ inherited }) => inherited !== true);
    if (kind === undefined || direct === undefined) return [];
    const principal = { kind, name: keyIn(entry, MEMBER[kind]) };
    return [
      { principal, shown: responseText(entry, "display_name"), level: keyIn(direct, "permission_level") },
    ];
  });
}

/** Whether a key of a spec names the principal of an entry. */
function namesEntry(text: string, { principal, shown }: DirectEntry): boolean {
  const named = principalNamed(text);
  if (principalKey(named) === principalKey(principal)) return true;
  return named.kind === "sp" && principal.kind === "sp" && named.name === shown;
}

interface ReadAccess {
  readonly access: Values;
  readonly owner: string | undefined;
  /** The caller, if the list gives it the right to manage the object. */
  readonly manager: string | undefined;
}

/**
 * A list in spec form, with the keys as `declared` and `declaredOwner` spell them. The owner is not an entry, except where the
 * spec gives it a level, which ownership includes. The caller's own right and `admins` are left out unless declared.
 */
export function accessInSpecForm(
  entries: readonly DirectEntry[],
  declared: Values,
  declaredOwner: string | undefined,
  caller: string,
): ReadAccess {
  const access: { [principal: string]: string } = {};
  let owner: string | undefined;
  let manager: string | undefined;
  for (const entry of entries) {
    const spelled = Object.keys(declared).find((text) => namesEntry(text, entry));
    const manages = entry.level === OWNER || entry.level === MANAGE;
    const isCaller = entry.principal.kind !== "group" && foldCase(entry.principal.name) === foldCase(caller);
    if (isCaller && manages) manager = spelled ?? principalText(entry.principal);
    if (entry.level === OWNER) {
      const isDeclared = declaredOwner !== undefined && namesEntry(declaredOwner, entry);
      owner = isDeclared ? declaredOwner : principalText(entry.principal);
      if (spelled !== undefined) access[spelled] = String(declared[spelled]);
    } else if (spelled !== undefined || !((isCaller && manages) || isAdmins(entry.principal)))
      access[spelled ?? principalText(entry.principal)] = entry.level;
  }
  return { access, owner, manager };
}

export const isAdmins = ({ kind, name }: Principal): boolean => kind === "group" && name === "admins";

/** Changes of a list, by the keys of a spec. */
export interface AccessChange {
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
      put(await inRequest(api, text), String(level));
  if (passesOn) put(await inRequest(api, owner), OWNER);
  return after;
}

/** A principal of a spec, with the name that requests use. */
async function inRequest(api: Reader, text: string): Promise<Principal> {
  const { kind, name } = principalNamed(text);
  return { kind, name: kind === "sp" ? await applicationId(api, name) : name };
}

export const APPLICATION_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The name of a service principal in requests. Throws Failure with PLAN_UNKNOWN_NAME where its display name is not that of exactly one. */
async function applicationId(api: Reader, name: string): Promise<string> {
  if (APPLICATION_ID.test(name)) return name;
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

const callers = new WeakMap<Reader, Promise<string>>();

/** The name of the caller, read once for each reader. */
export function callerOf(api: Reader): Promise<string> {
  const caller =
    callers.get(api) ?? api.read("scim/me").then((answer) => responseText(answer, "userName") ?? "");
  callers.set(api, caller);
  return caller;
}
