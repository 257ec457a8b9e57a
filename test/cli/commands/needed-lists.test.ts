// Which lists a plan asks for, by the request log of the emulator: those that a decision of this plan needs, and no others.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith, type TestContext } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "lists-token";
const HEAD = "policy: { max_deletes: 100% }\n";

let emulator: RunningServer;
let folder: string;
beforeEach(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = folderWith(HEAD);
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: string[]): Promise<{ readonly code: number; readonly context: TestContext }> {
  const context = contextWith(
    { WORKSPACE_HOST: emulator.url, WORKSPACE_TOKEN: TOKEN, PASSWORD: "s3cret-of-a-test" },
    folder,
  );
  return { code: await runProgram(context, words), context };
}

const write = (spec: string): void => writeFileSync(join(folder, "workspace.yaml"), HEAD + spec);

async function applied(spec: string): Promise<void> {
  write(spec);
  expect((await run("apply", "--auto-approve")).context.out()).toContain("Applied");
}

/** The plan's output, and what it asked for, each time it did. */
async function planned(
  ...words: string[]
): Promise<{ readonly out: string; readonly asked: readonly string[] }> {
  await fetch(`${emulator.url}/__emulator/requests`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const { code, context } = await run("plan", ...words);
  expect([code, context.err().includes("error")]).toEqual([0, false]);
  const answer = await fetch(`${emulator.url}/__emulator/requests`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const { requests } = (await answer.json()) as { requests: { path: string }[] };
  return {
    out: context.out(),
    asked: requests.map(({ path }) => path.replace(/^.*\/api\/2\.0\//, "")).sort(),
  };
}

const USERS = "users: { ada@example.com: {}, bob@example.com: {} }\n";
const ALL = `${USERS}groups: { eng: { members: { users: [ada@example.com] } } }
pools: { a: { node_type_id: Standard_DS3_v2 } }
clusters: { c: { spark_version: 6.4.x-scala2.11, instance_pool_id: "\${pools.a.instance_pool_id}", num_workers: 1 } }
jobs: { j: { existing_cluster_id: "\${clusters.c.cluster_id}", spark_jar_task: { main_class_name: a.B } } }
`;

const LISTS = {
  users: "preview/scim/v2/Users",
  groups: "preview/scim/v2/Groups",
  pools: "instance-pools/list",
  clusters: "clusters/list",
  jobs: "jobs/list",
};

test("a spec of users lists users, before and after it is applied", async () => {
  write(USERS);
  expect((await planned()).asked).toEqual([LISTS.users]);
  await applied(USERS);
  expect((await planned()).asked).toEqual([LISTS.users]);
});

test("a plan of users shows no groups that were not read", async () => {
  await applied(ALL);
  expect((await run("state", "rm", "groups.eng")).code).toBe(0);
  write("users: { ada@example.com: { entitlements: [allow-cluster-create] }, bob@example.com: {} }\n");
  const { out, asked } = await planned("--only", "users.*", "-o", "json");
  expect(asked).toEqual([LISTS.users]);
  const { resource_changes: changes } = JSON.parse(out) as {
    resource_changes: { address: string; change: { before: object } }[];
  };
  const before = changes.find(({ address }) => address === "users.ada@example.com")?.change.before;
  expect(before).toHaveProperty("entitlements");
  expect(before).not.toHaveProperty("groups");
});

test("a user that is deleted leaves groups and access lists, so these are read", async () => {
  await applied(`${ALL}scopes: { s: { acls: { bob@example.com: READ } } }\n`);
  await run(
    "state",
    "rm",
    "groups.eng",
    "scopes.s",
    "acls.s/bob@example.com",
    "pools.a",
    "clusters.c",
    "jobs.j",
  );
  write("users: { bob@example.com: {} }\n");
  const { out, asked } = await planned();
  expect(out).toContain("it leaves 1 group: eng");
  expect(asked).toEqual([LISTS.groups, LISTS.users, "secrets/acls/list", "secrets/scopes/list"]);
});

test("a user that names its groups needs their list", async () => {
  await applied("groups: { eng: {} }\n");
  await run("state", "rm", "groups.eng");
  write("users: { ada@example.com: { groups: [eng] } }\n");
  expect((await planned()).asked).toEqual([LISTS.groups, LISTS.users]);
});

test("groups need the list of users for the names of their members only", async () => {
  await applied(ALL);
  await run(
    "state",
    "rm",
    "groups.eng",
    "users.ada@example.com",
    "users.bob@example.com",
    "pools.a",
    "clusters.c",
    "jobs.j",
  );
  write("groups: { more: {} }\n");
  expect((await planned()).asked).toEqual([LISTS.groups]);
  write("groups: { more: { members: { users: [ada@example.com] } } }\n");
  expect((await planned()).asked).toEqual([LISTS.groups, LISTS.users]);
});

test("a spec of pools lists pools", async () => {
  await applied("pools: { a: { node_type_id: Standard_DS3_v2 } }\n");
  expect((await planned()).asked).toEqual([LISTS.pools]);
});

test("--only lists what it names and what that needs, also where more is declared and recorded", async () => {
  write(ALL);
  expect((await planned("--only", "users.*")).asked).toEqual([LISTS.users]);
  await applied(ALL);
  expect((await planned("--only", "users.*")).asked).toEqual([LISTS.users]);
  expect((await planned("--only", "pools.*")).asked).toEqual([LISTS.pools]);
  expect((await planned("--only", "groups.eng")).asked).toEqual([LISTS.groups, LISTS.users]);
  expect((await planned("--only", "clusters.c")).asked).toEqual([LISTS.clusters, LISTS.pools]);
  expect((await planned("--only", "*.a")).asked).toEqual(Object.values(LISTS).sort());
  const drift = await run("drift", "--only", "users.*");
  expect([drift.code, drift.context.out()]).toEqual([0, expect.stringContaining("No drift")]);
});

test("--only plans the same as before for what it names", async () => {
  await applied(ALL);
  write(ALL.replace("bob@example.com: {}", "bob@example.com: { entitlements: [allow-cluster-create] }"));
  expect((await planned("--only", "users.*")).out).toContain(
    "Plan: 0 to create, 1 to update, 0 to replace, 0 to delete.",
  );
});

test("a pool that goes is planned with what uses it, in spite of --only", async () => {
  await applied(ALL);
  write(USERS);
  const { out, asked } = await planned("--only", "pools.a");
  expect(asked).toEqual([LISTS.clusters, LISTS.jobs, "jobs/runs/list", LISTS.pools].sort());
  // Because the cluster is deleted first, and the job before it.
  expect(out).toContain("Plan: 0 to create, 0 to update, 0 to replace, 3 to delete.");
});

const REPLACES = "lifecycle: { on_immutable_change: replace }";

test.each<readonly [string, string, string, string, string]>([
  [
    "a user, and the group that lists it",
    "users: { u: { userName: ada@example.com }, bob@example.com: {} }\ngroups: { eng: { members: { users: [ada@example.com, bob@example.com] } } }\n",
    `users: { u: { userName: eve@example.com, ${REPLACES} }, bob@example.com: {} }\ngroups: { eng: { members: { users: [eve@example.com, bob@example.com] } } }\n`,
    "users.u",
    "Plan: 0 to create, 1 to update, 1 to replace, 0 to delete.",
  ],
  [
    "a group, and the ACL that contains its name",
    "groups: { g: { displayName: red } }\nscopes: { etl: { acls: { red: READ, admin@example.com: MANAGE } } }\n",
    `groups: { g: { displayName: blue, ${REPLACES} } }\nscopes: { etl: { acls: { blue: READ, admin@example.com: MANAGE } } }\n`,
    "groups.g",
    "Plan: 1 to create, 0 to update, 1 to replace, 1 to delete.",
  ],
  [
    "a scope, and its ACLs and secrets",
    "scopes: { etl: { acls: { admins: READ }, secrets: { a: { env: PASSWORD } } } }\n",
    `scopes: { etl: { initial_manage_principal: users, ${REPLACES}, acls: { admins: READ }, secrets: { a: { env: PASSWORD } } } }\n`,
    "scopes.etl",
    "Plan: 2 to create, 0 to update, 1 to replace, 0 to delete.",
  ],
])("--only plans the replacement of %s", async (_name, before, after, address, summary) => {
  const other = "pools: { a: { node_type_id: Standard_DS3_v2 } }\n";
  await applied(before);
  write(after + other);
  expect((await planned("--only", address)).out).toContain(summary);
  expect((await run("apply", "--auto-approve", "--only", address)).context.out()).toContain("Applied");
  expect((await planned()).out).toContain("Plan: 1 to create, 0 to update, 0 to replace, 0 to delete.");
});

test("--only plans the users of an object whose name passes to what it names", async () => {
  await applied(
    "users: { a: { userName: ada@example.com } }\ngroups: { eng: { members: { users: [ada@example.com] } } }\n",
  );
  write(
    `users: { a: { userName: eve@example.com, ${REPLACES} }, n: { userName: ada@example.com } }\ngroups: { eng: { members: { users: [eve@example.com] } } }\n`,
  );
  expect((await planned("--only", "users.n")).out).toContain(
    "Plan: 1 to create, 1 to update, 1 to replace, 0 to delete.",
  );
});

test("--only plans a user that the spec moves to another address with all that it needs", async () => {
  const job = "spark_jar_task: { main_class_name: a.B }";
  const machine = "spark_version: 6.4.x-scala2.11, num_workers: 1";
  await applied(
    `pools: { a: { node_type_id: Standard_DS3_v2 } }\njobs: { j: { ${job}, new_cluster: { ${machine}, instance_pool_id: "\${pools.a.instance_pool_id}" } } }\n`,
  );
  write(
    `clusters: { k: { ${machine}, node_type_id: Standard_DS3_v2 } }\njobs: { m: { ${job}, name: j, existing_cluster_id: "\${clusters.k.cluster_id}" } }\nmoved: [{ from: jobs.j, to: jobs.m }]\n`,
  );
  expect((await planned("--only", "pools.a")).out).toContain(
    "Plan: 1 to create, 1 to update, 0 to replace, 1 to delete.",
  );
});

test("--only does not plan resources that begin to use a replaced object", async () => {
  await applied("users: { u: { userName: ada@example.com } }\n");
  write(
    `users: { u: { userName: eve@example.com, ${REPLACES} } }\ngroups: { eng: { members: { users: [eve@example.com] } } }\n`,
  );
  const { out } = await planned("--only", "users.u");
  expect(out).toContain("Plan: 0 to create, 0 to update, 1 to replace, 0 to delete.");
});
