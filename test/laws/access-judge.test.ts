// The emulator as a second judge of effective rights: for each user and object of random workspaces, what the program says agrees with what
// the emulator lets this user do. It decides on secret scopes, entitlements, administration, and the management of access lists.

import { describe, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../src/api/client.ts";
import { dialectTable } from "../../src/config/dialect.ts";
import type { AccessRight } from "../../src/planner/model/plan.ts";
import { CONTRACT_FIELDS } from "../../src/resource/dialect-view.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { emptyState } from "../../src/state/format/fold.ts";
import { type AccessAnswer, accessInWorkspace } from "../../src/workflow/plan/effective-access.ts";
import { ADMIN_TOKEN, GROUP_SCHEMA, startWorld, type TestWorld } from "../emulator/harness.ts";
import { randomFrom } from "../planner/effective-access/slow-access.ts";

const SEEDS = 12;
const USERS = ["ada@example.com", "bob@example.com", "eve@example.com", "kim@example.com"];
const GROUPS = ["data", "inner", "ops", "outer", "team"];
const SCOPES = ["etl", "ml"];
const LEVELS = ["READ", "WRITE", "MANAGE"];
const ENTITLEMENTS = ["allow-cluster-create", "allow-instance-pool-create"];
const TREE_LEVELS = ["CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"];
const FOLDERS = ["/Shared/a", "/Shared/a/b"];
const CLUSTER = { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 };

type Next = (below: number) => number;
type Cloud = "azure" | undefined;

interface Random {
  readonly world: TestWorld;
  readonly tokens: ReadonlyMap<string, string>;
  /** Objects with an access list of the dialect: the name of the question, and the path of the list. */
  readonly lists: ReadonlyMap<string, string>;
}

async function sent(answer: Promise<{ readonly status: number; readonly body: unknown }>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  return body as any;
}

async function randomWorld(next: Next, cloud: Cloud): Promise<Random> {
  const world = await startWorld(cloud === undefined ? {} : { databricks: cloud });
  onTestFinished(() => world.close());
  const some = <T>(list: readonly T[], among: number): T[] => list.filter(() => next(among) === 0);
  const tokens = new Map<string, string>();
  for (const user of USERS) tokens.set(user, await world.user(user));
  const { Resources: users } = await sent(world.get("preview/scim/v2/Users"));
  const ids = new Map<string, string>();
  for (const { userName, id } of users) ids.set(userName, id);
  // Inner groups come first, because the service refuses cycles.
  for (const [at, displayName] of GROUPS.entries()) {
    const members = some([...USERS, ...GROUPS.slice(0, at)], 3).map((name) => ({ value: ids.get(name) }));
    const entitlements = some(ENTITLEMENTS, 5).map((value) => ({ value }));
    const group = { schemas: [GROUP_SCHEMA], displayName, members, entitlements };
    ids.set(displayName, (await sent(world.post("preview/scim/v2/Groups", group))).id);
  }
  const { Resources: groups } = await sent(world.get("preview/scim/v2/Groups"));
  const everyone = groups.find((group: { readonly displayName: string }) => group.displayName === "users");
  for (const value of some(ENTITLEMENTS, 6)) {
    const Operations = [{ op: "add", path: "entitlements", value: [{ value }] }];
    const schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
    await sent(world.patch(`preview/scim/v2/Groups/${everyone.id}`, { schemas, Operations }));
  }
  const parent_name = "admins";
  for (const group_name of some(GROUPS, 8))
    await sent(world.post("groups/add-member", { group_name, parent_name }));
  const principals = [...USERS, ...GROUPS, "users"];
  for (const scope of SCOPES) {
    await sent(world.post("secrets/scopes/create", { scope }));
    for (const principal of some(principals, 3)) {
      const permission = LEVELS[next(LEVELS.length)];
      await sent(world.post("secrets/acls/put", { scope, principal, permission }));
    }
  }
  return { world, tokens, lists: cloud === undefined ? new Map() : await randomLists(world, next, some) };
}

async function randomLists(
  world: TestWorld,
  next: Next,
  some: <T>(list: readonly T[], among: number) => T[],
): Promise<ReadonlyMap<string, string>> {
  const lists = new Map<string, string>();
  const { cluster_id } = await sent(world.post("clusters/create", { cluster_name: "adhoc", ...CLUSTER }));
  lists.set("clusters.adhoc", `permissions/clusters/${cluster_id}`);
  for (const path of FOLDERS) {
    await sent(world.post("workspace/mkdirs", { path }));
    const { object_id } = await sent(world.get("workspace/get-status", { path }));
    lists.set(`directories.${path}`, `permissions/directories/${object_id}`);
  }
  for (const [name, path] of lists) {
    const levels = name.startsWith("clusters") ? ["CAN_ATTACH_TO", "CAN_RESTART", "CAN_MANAGE"] : TREE_LEVELS;
    const entries = some([...USERS, ...GROUPS], 4).map((principal) => ({
      [principal.includes("@") ? "user_name" : "group_name"]: principal,
      permission_level: levels[next(levels.length)],
    }));
    if (entries.length > 0) await sent(world.patch(path, { access_control_list: entries }));
  }
  return lists;
}

function asking({ world }: Random, cloud: Cloud): (name: string) => Promise<AccessAnswer> {
  const dialect: FieldDialect = cloud === undefined ? CONTRACT_FIELDS : { dialect: "databricks", cloud };
  const client = createClient({
    host: "http://workspace.test",
    token: ADMIN_TOKEN,
    clock: () => world.clock.now(),
    sleep: async () => undefined,
    random: () => 0.5,
    dialect: dialectTable(dialect),
    transport: ({ method, path, headers, body }) =>
      world.app({ method, path, headers, ...(body === undefined ? {} : { body }) }),
  });
  const connection = { ...client, host: "http://workspace.test", close: async () => undefined };
  const kinds = new Set<string>();
  const recorded = { state: emptyState(""), key: new Uint8Array() };
  return (name) => accessInWorkspace(connection, dialect, { name, kinds }, { parallelism: 4 }, recorded);
}

/** What the emulator lets a user do, as sentences. */
async function allowed({ world, lists }: Random, token: string): Promise<readonly string[]> {
  const as = { as: token };
  const may = async (
    what: string,
    call: Promise<{ readonly status: number }>,
  ): Promise<readonly string[]> => {
    const { status } = await call;
    expect([200, 201, 403], what).toContain(status);
    return status === 403 ? [] : [what];
  };
  const group = { schemas: [GROUP_SCHEMA], displayName: `by ${token}` };
  const rights = [
    await may("administer", world.post("preview/scim/v2/Groups", group, as)),
    await may("create clusters", world.post("clusters/create", CLUSTER, as)),
    await may(
      "create pools",
      world.post("instance-pools/create", { instance_pool_name: token, node_type_id: "Standard_DS3_v2" }, as),
    ),
  ];
  for (const scope of SCOPES) {
    const secret = { scope, key: "k", string_value: "v" };
    rights.push(await may(`READ ${scope}`, world.get("secrets/list", { scope }, as)));
    rights.push(await may(`WRITE ${scope}`, world.post("secrets/put", secret, as)));
    rights.push(await may(`MANAGE ${scope}`, world.get("secrets/acls/list", { scope }, as)));
  }
  for (const [name, path] of lists) rights.push(await may(`manage ${name}`, world.get(path, {}, as)));
  return rights.flat();
}

/** What the program says that a user may do, from the answers about the user and about each object. */
async function expected(
  { lists }: Random,
  ask: (name: string) => Promise<AccessAnswer>,
  user: string,
): Promise<readonly string[]> {
  const answer = await ask(user);
  if (answer.subject !== "principal") throw new Error(`${user} is a principal`);
  const { isAdministrator, rights } = answer;
  const onObject = async (name: string): Promise<AccessRight | undefined> => {
    const about = await ask(name);
    if (about.subject !== "object") throw new Error(`${name} is an object`);
    expect(about.notRead).toEqual([]);
    expect(about.administrators.some(({ principal }) => principal === user)).toBe(isAdministrator);
    return about.rights.find(({ principal }) => principal === user);
  };
  const has = (name: string): boolean =>
    isAdministrator || rights.some(({ kind, object }) => kind === "entitlements" && object === name);
  const sentences = [
    ...(isAdministrator ? ["administer"] : []),
    ...(has("allow-cluster-create") ? ["create clusters"] : []),
    ...(has("allow-instance-pool-create") ? ["create pools"] : []),
  ];
  for (const scope of SCOPES) {
    const held = rights.find(({ kind, object }) => kind === "scopes" && object === scope);
    expect((await onObject(`scopes.${scope}`))?.level).toBe(held?.level);
    const level = isAdministrator ? LEVELS.length - 1 : LEVELS.indexOf(held?.level ?? "");
    sentences.push(...LEVELS.slice(0, level + 1).map((text) => `${text} ${scope}`));
  }
  for (const name of lists.keys())
    if (isAdministrator || (await onObject(name))?.level === "CAN_MANAGE") sentences.push(`manage ${name}`);
  return sentences;
}

describe.each<{ readonly cloud: Cloud; readonly dialect: string }>([
  { cloud: undefined, dialect: "contract" },
  { cloud: "azure", dialect: "databricks" },
])("effective rights in the dialect $dialect", ({ cloud }) => {
  test(`are those that the emulator decides by, in ${SEEDS} random workspaces`, async () => {
    const seenRights = new Set<string>();
    let refused = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = await randomWorld(randomFrom(seed), cloud);
      const ask = asking(random, cloud);
      const says = new Map<string, readonly string[]>();
      // The answers come first, because the judge's calls create objects.
      for (const user of USERS) says.set(user, await expected(random, ask, user));
      for (const [user, token] of random.tokens) {
        const lets = await allowed(random, token);
        expect({ seed, user, rights: [...(says.get(user) ?? [])].sort() }).toEqual({
          seed,
          user,
          rights: [...lets].sort(),
        });
        for (const right of lets) seenRights.add(right);
        refused += lets.includes("administer") ? 0 : 1;
      }
    }
    // Each right is allowed to a user, and most users are not administrators.
    expect(seenRights.size).toBe(3 + 3 * SCOPES.length + (cloud === undefined ? 0 : 1 + FOLDERS.length));
    expect(refused).toBeGreaterThan(SEEDS);
  });
});
