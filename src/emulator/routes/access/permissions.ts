// Access lists of objects: read, replaced, and merged, with what is inherited and what a list must contain. The contract has none of these calls; a dialect has.

import { type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import {
  ADMINS,
  groupByName,
  principalNameById,
  principalsOf,
  servicePrincipalByApplication,
  servicePrincipals,
  userByName,
} from "../../world/directory.ts";
import { invalidValue, notFound, permissionDenied } from "../../world/errors.ts";
import type { Call, Collection, Operation, Operations, World } from "../../world/world.ts";
import { policyOr404 } from "../admin/cluster-policies.ts";
import { warehouseOr404 } from "../admin/warehouses.ts";
import { clusterOr400 } from "../clusters/cluster.ts";
import { jobOr400 } from "../jobs/job.ts";
import { activePool } from "../pools/pool.ts";
import { objectsOf, pathOfNode, type WorkspaceEntry, type WorkspaceNode } from "../workspace/objects.ts";

interface AccessObject {
  /** `jobs`, and `authorization` for settings. */
  readonly name: string;
  readonly id: string;
  readonly type: AccessType;
}

/** Direct entries of lists that were written, by `jobs/1`. */
const writtenLists = (world: World): Collection<readonly AccessEntry[]> => world.collection("access.lists");

const MANAGES = new Set(["CAN_MANAGE", "IS_OWNER"]);

export const permissionOperations: Operations = {
  ...operationsFor("", ({ object_type: name = "", object_id: id = "" }) => objectOf(name, id)),
  ...operationsFor("sql/", ({ object_id: id = "" }) => objectOf("warehouses", id)),
  ...operationsFor("authorization/", ({ object_id: id = "" }) => settingOf(id)),
};

type Find = (params: Call["params"]) => AccessObject;

function operationsFor(area: string, find: Find): Operations {
  const answering =
    (act: (call: Call, world: World, object: AccessObject) => JsonObject): Operation =>
    (call, world) => {
      const object = find(call.params);
      object.type.initial(world, object.id);
      checkManages(call, world, object);
      return { json: act(call, world, object) };
    };
  return {
    [`permissions/${area}get`]: answering((_call, world, object) => shownList(world, object)),
    [`permissions/${area}levels`]: answering((_call, _world, { type }) => describeLevels(type)),
    [`permissions/${area}set`]: answering((call, world, object) => {
      write(world, object, entriesIn(call, world, object));
      return shownList(world, object);
    }),
    [`permissions/${area}update`]: answering((call, world, object) => {
      const changed = entriesIn(call, world, object);
      const keys = new Set(changed.map(keyOf));
      const others = directEntries(world, object).filter((entry) => !keys.has(keyOf(entry)));
      write(world, object, [...others, ...changed]);
      return shownList(world, object);
    }),
  };
}

function objectOf(name: string, id: string): AccessObject {
  const type = Object.hasOwn(ACCESS_TYPES, name) ? ACCESS_TYPES[name] : undefined;
  if (type === undefined) throw invalidValue(`request_object_type is not recognized: ${name.slice(0, 100)}`);
  return { name, id, type };
}

function settingOf(id: string): AccessObject {
  const type = Object.hasOwn(AUTHORIZATIONS, id) ? AUTHORIZATIONS[id] : undefined;
  if (type === undefined) throw notFound(`${id.slice(0, 100)} does not exist.`);
  return { name: "authorization", id, type };
}

const directEntries = (world: World, { name, id, type }: AccessObject): readonly AccessEntry[] =>
  writtenLists(world).get(`${name}/${id}`) ?? type.initial(world, id);

const keyOf = ({
  user_name: user,
  group_name: group,
  service_principal_name: program,
}: AccessEntry): string =>
  user === undefined ? (group === undefined ? `s ${program}` : `g ${group}`) : `u ${user.toLowerCase()}`;

const nameIn = (entry: AccessEntry): string =>
  entry.user_name ?? entry.group_name ?? entry.service_principal_name ?? "";

/** Whether one of these names has a level of its tokens. */
export function mayUseTokens(world: World, names: ReadonlySet<string>): boolean {
  return directEntries(world, settingOf("tokens")).some((entry) => names.has(nameIn(entry)));
}

/** Only those who manage an object see and change its list. */
function checkManages({ caller }: Call, world: World, object: AccessObject): void {
  if (caller.admin) return;
  const names = principalsOf(world, caller);
  const own = [...directEntries(world, object), ...inherited(world, object).map(({ entry }) => entry)];
  if (own.some((entry) => MANAGES.has(entry.permission_level) && names.has(nameIn(entry)))) return;
  throw permissionDenied(
    `${caller.userName} does not have Manage permissions on ${object.name}/${object.id}.`,
  );
}

/** The entries of a request, with the names as the workspace spells them. */
function entriesIn({ input }: Call, world: World, { type }: AccessObject): readonly AccessEntry[] {
  const entries = listIn(input.access_control_list).map((item) => entryOf(world, objectIn(item), type));
  const rankOf = ({ permission_level: level }: AccessEntry): number => type.levels.indexOf(level);
  const highest = new Map<string, AccessEntry>();
  for (const entry of entries) {
    const before = highest.get(keyOf(entry)) ?? entry;
    if (rankOf(before) !== rankOf(entry) && !type.takesHighest)
      throw invalidValue(`Permissions being set for ${spoken(entry)} are ambiguous`);
    highest.set(keyOf(entry), rankOf(entry) > rankOf(before) ? entry : before);
  }
  return [...highest.values()];
}

function entryOf(world: World, item: JsonObject, type: AccessType): AccessEntry {
  const { user_name: user, group_name: group, service_principal_name: program, permission_level } = item;
  const level = String(permission_level);
  if (!type.levels.includes(level))
    throw invalidValue(`${level} is not a valid permission level for a ${type.answers}`);
  const entry = (name: object): AccessEntry => ({ ...name, permission_level: level });
  if (typeof user === "string")
    return entry({ user_name: principal(userByName(world, user)?.userName, item) });
  if (typeof group === "string") {
    if (level === "IS_OWNER") throw invalidValue(`Group ${group} cannot be an owner.`);
    return entry({ group_name: principal(groupByName(world, group)?.displayName, item) });
  }
  const servicePrincipal = [...servicePrincipals(world).values()].find(
    ({ applicationId }) => applicationId.toLowerCase() === String(program).toLowerCase(),
  );
  return entry({ service_principal_name: principal(servicePrincipal?.applicationId, item) });
}

function principal(name: string | undefined, item: JsonObject): string {
  if (name === undefined) throw notFound(`Principal: ${spoken(item)} does not exist`);
  return name;
}

/** `UserName(ada@example.com)`. */
function spoken({
  user_name: user,
  group_name: group,
  service_principal_name: program,
}: JsonObject | AccessEntry) {
  if (user !== undefined) return `UserName(${user})`;
  return group === undefined ? `ServicePrincipalName(${program})` : `GroupName(${group})`;
}

function write(world: World, { name, id, type }: AccessObject, entries: readonly AccessEntry[]): void {
  const owners = entries.filter(({ permission_level: level }) => level === "IS_OWNER").length;
  if (type.owned !== undefined && owners !== 1)
    throw invalidValue(`The ${type.owned} must have exactly one owner.`);
  const ofAdmins = entries.find(({ group_name: group }) => group === ADMINS);
  if (type.needsAdmins && ofAdmins?.permission_level !== type.levels.at(-1))
    throw invalidValue("Cannot change permissions for group 'admins' to None.");
  writtenLists(world).set(`${name}/${id}`, entries);
}

interface Inherited {
  readonly entry: AccessEntry;
  readonly from: string;
}

/** From the folders around an object, from the home folder of a user, and from the root of the type. */
function inherited(world: World, { id, type }: AccessObject): readonly Inherited[] {
  const folders = type.folders?.(world, id) ?? [];
  const ofFolders = folders.flatMap((folder): readonly Inherited[] => {
    const from = `/directories/${folder.id}`;
    const [top, home, ...deeper] = pathOfNode(world, folder).split("/").slice(1);
    const isHome = top === "Users" && home !== undefined && deeper.length === 0;
    const own: AccessEntry[] = isHome ? [{ user_name: home, permission_level: "CAN_MANAGE" }] : [];
    const list = writtenLists(world).get(`directories/${folder.id}`) ?? [];
    return [...own, ...list].map((entry) => ({ entry, from }));
  });
  if (type.root === undefined) return ofFolders;
  const admins = { group_name: ADMINS, permission_level: "CAN_MANAGE" };
  return [...ofFolders, { entry: admins, from: type.root }];
}

function shownList(world: World, object: AccessObject): JsonObject {
  const shown = new Map<string, { readonly entry: AccessEntry; readonly permissions: JsonObject[] }>();
  const add = (entry: AccessEntry, permission: JsonObject): void => {
    const entryShown = shown.get(keyOf(entry)) ?? { entry, permissions: [] };
    entryShown.permissions.push({ permission_level: entry.permission_level, ...permission });
    shown.set(keyOf(entry), entryShown);
  };
  for (const entry of directEntries(world, object)) add(entry, { inherited: false });
  for (const { entry, from } of inherited(world, object))
    add(entry, { inherited: true, inherited_from_object: [from] });
  return {
    object_id: `/${object.name}/${object.id}`,
    object_type: object.type.answers,
    access_control_list: [...shown.values()].map(({ entry, permissions }) => {
      const { permission_level: _, ...name } = entry;
      return { ...name, display_name: displayName(world, entry), all_permissions: permissions };
    }),
  };
}

function displayName(world: World, entry: AccessEntry): string {
  const { user_name: user, service_principal_name: program } = entry;
  if (user !== undefined) return userByName(world, user)?.displayName ?? user;
  return servicePrincipalByApplication(world, program ?? "")?.displayName ?? nameIn(entry);
}

interface AccessEntry {
  readonly user_name?: string;
  readonly group_name?: string;
  readonly service_principal_name?: string;
  readonly permission_level: string;
}

interface AccessType {
  /** The `object_type` of an answer. */
  readonly answers: string;
  /** From the lowest to the highest. */
  readonly levels: readonly string[];
  /** How a message names the object, if it always has exactly one owner. */
  readonly owned?: string;
  /** Of several levels of a principal in a request, the highest counts; elsewhere they are an error. */
  readonly takesHighest?: true;
  /** Where the management of `admins` is inherited from; undefined if it is not inherited. */
  readonly root: string | undefined;
  /** A list must contain the management of `admins`. */
  readonly needsAdmins?: true;
  /** The direct entries of a list that was never written. Throws the service's error for an object that does not exist. */
  initial(world: World, id: string): readonly AccessEntry[];
  /** The folders around the object, the innermost first. */
  folders?(world: World, id: string): readonly WorkspaceNode[];
}

const IN_TREE = ["CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"];
const POOL_LEVELS = ["CAN_ATTACH_TO", "CAN_MANAGE"];
const CLUSTER_LEVELS = ["CAN_ATTACH_TO", "CAN_RESTART", "CAN_MANAGE"];
const JOB_LEVELS = ["CAN_VIEW", "CAN_MANAGE_RUN", "CAN_MANAGE", "IS_OWNER"];

/** The entry of a creator, a user or a service principal; nothing if it was deleted. */
function ofCreator(world: World, name: string | undefined, level: string): readonly AccessEntry[] {
  if (name === undefined) return [];
  const isProgram = servicePrincipalByApplication(world, name) !== undefined;
  const creator = isProgram ? { service_principal_name: name } : { user_name: name };
  return [{ ...creator, permission_level: level }];
}

function nodeOr404(world: World, id: string): WorkspaceNode {
  const node = objectsOf(world).byId(id === "0" ? "1" : id);
  if (node === undefined) throw notFound(`Node ID ${id} does not exist.`);
  return node;
}

const ofTree = (answers: string, type: WorkspaceEntry["object_type"]): AccessType => ({
  answers,
  levels: IN_TREE,
  root: "/directories/",
  initial(world, id) {
    const { entry } = nodeOr404(world, id);
    if (entry.object_type !== type) throw invalidValue(`${id} is not a ${answers}`);
    return [];
  },
  folders: (world, id) => objectsOf(world).above(nodeOr404(world, id)),
});

const setting = (answers: string, levels: readonly string[]): AccessType => ({
  answers,
  levels,
  root: undefined,
  initial: () => [{ group_name: "admins", permission_level: levels.at(-1) ?? "" }],
});

/** By the part of the path that names the type. */
const ACCESS_TYPES: Readonly<Record<string, AccessType>> = {
  clusters: {
    answers: "cluster",
    levels: CLUSTER_LEVELS,
    root: "/clusters/",
    initial: (world, id) => ofCreator(world, clusterOr400(world, id).creator_user_name, "CAN_MANAGE"),
  },
  "instance-pools": {
    answers: "instance-pool",
    levels: POOL_LEVELS,
    root: "/instance-pools/",
    initial: (world, id) =>
      ofCreator(world, principalNameById(world, activePool(world, id).creator_user_id), "CAN_MANAGE"),
  },
  "cluster-policies": {
    answers: "cluster-policy",
    levels: ["CAN_USE"],
    root: "/cluster-policies/",
    initial(world, policy_id) {
      policyOr404(world, { policy_id });
      return [];
    },
  },
  warehouses: {
    answers: "warehouses",
    levels: ["CAN_VIEW", "CAN_MONITOR", "CAN_USE", "CAN_MANAGE", "IS_OWNER"],
    owned: "warehouse",
    takesHighest: true,
    root: "/sql/",
    initial: (world, id) => ofCreator(world, warehouseOr404(world, id).creator_name, "IS_OWNER"),
  },
  jobs: {
    answers: "job",
    levels: JOB_LEVELS,
    owned: "job",
    root: "/jobs/",
    initial: (world, id) =>
      ofCreator(world, principalNameById(world, jobOr400(world, id).creator_user_id), "IS_OWNER"),
  },
  notebooks: ofTree("notebook", "NOTEBOOK"),
  directories: ofTree("directory", "DIRECTORY"),
  files: ofTree("file", "FILE"),
  repos: ofTree("repo", "REPO"),
};

/** Settings of the workspace with an access list. Requests name them where other objects have an ID. */
const AUTHORIZATIONS: Readonly<Record<string, AccessType>> = {
  tokens: { ...setting("tokens", ["CAN_USE", "CAN_MANAGE"]), needsAdmins: true },
  passwords: setting("passwords", ["CAN_USE"]),
};

/** What `permissionLevels` says of each level. */
const describeLevels = ({ levels }: AccessType): JsonObject => ({
  permission_levels: levels.map((level) => ({
    permission_level: level,
    description: level.toLowerCase().replaceAll("_", " "),
  })),
});
