// Assignments to the workspace in the Databricks dialect: groups of the account, refusals inside an answer, and the caller's own.

import { expect, onTestFinished, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import { listKinds } from "../../src/engine/observe/list-kinds.ts";
import { registry } from "../../src/providers/index.ts";
import { registryIn } from "../../src/resource/dialect-view.ts";
import { doing, results, type Send, Site } from "../engine/site.ts";

const POLICY = "policy: { max_deletes: 100% }\n";
const spec = (permission: string): string =>
  `${POLICY}workspace_assignments: { all-analysts: { permissions: [${permission}] } }\n`;

async function start(): Promise<Site> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  return site;
}

const apply = async (site: Site, yaml: string) =>
  (await site.drive(site.process().apply(await site.spec(yaml)))).outcome;
const plan = async (site: Site, yaml: string) => site.drive(site.process().plan(await site.spec(yaml)));

const assigned = async (site: Site): Promise<readonly unknown[]> => {
  const { body } = await site.world.get("preview/permissionassignments");
  return body.permission_assignments
    .filter(({ principal }: { principal: Record<string, unknown> }) => principal.group_name !== undefined)
    .map((one: { principal: Record<string, unknown>; permissions: unknown }) => [
      one.principal.group_name,
      one.permissions,
    ]);
};

test("a group of the account comes into the workspace, becomes an administrator, and leaves it", async () => {
  const site = await start();
  await site.world.control("POST", "account-groups", { display_name: "all-analysts", assigned: false });
  expect(await assigned(site)).toEqual([]);
  expect(results(await apply(site, spec("USER")))).toEqual([
    "applied create workspace_assignments.all-analysts",
  ]);
  expect(await assigned(site)).toEqual([["all-analysts", ["USER"]]]);
  expect(results(await apply(site, spec("ADMIN")))).toEqual([
    "applied update workspace_assignments.all-analysts",
  ]);
  expect(await assigned(site)).toEqual([["all-analysts", ["ADMIN"]]]);
  expect(doing(await plan(site, spec("ADMIN")))).toEqual([]);
  const [change] = (await plan(site, POLICY)).changes;
  expect(change?.consequences).toEqual([
    "members of all-analysts that have no other assignment can no longer sign in to the workspace",
  ]);
  await apply(site, POLICY);
  expect(await assigned(site)).toEqual([]);
});

test("a user whose assignment leaves the spec stays without the rights of an administrator", async () => {
  const site = await start();
  const users = `${POLICY}users: { ada@example.com: {} }\n`;
  await apply(site, `${users}workspace_assignments: { ada@example.com: { permissions: [ADMIN] } }\n`);
  const [change] = (await plan(site, users)).changes.filter(({ action }) => action === "delete");
  expect(change?.consequences).toEqual(["ada@example.com stays in the workspace as a user"]);
  await apply(site, users);
  const { body } = await site.world.get("preview/permissionassignments");
  expect(body.permission_assignments).toMatchObject([
    { principal: { user_name: "admin@example.com" }, permissions: ["ADMIN"] },
    { principal: { user_name: "ada@example.com" }, permissions: ["USER"] },
  ]);
  expect(doing(await plan(site, users))).toEqual([]);
});

test("a new administrator gets the right by ID", async () => {
  const site = await start();
  await site.world.control("POST", "account-groups", { display_name: "all-analysts", assigned: false });
  await apply(site, spec("ADMIN"));
  expect(site.writes.map((write) => write.replace(/\d+$/, "ID"))).toEqual([
    "POST preview/permissionassignments",
    "PUT preview/permissionassignments/principals/ID",
  ]);
  expect(doing(await plan(site, spec("ADMIN")))).toEqual([]);
});

test("a principal that the account does not have is an error, although the answer has status 200", async () => {
  const site = await start();
  const { changes } = await apply(site, spec("USER"));
  expect(changes.map(({ result, diagnostic }) => [result, diagnostic?.code, diagnostic?.message])).toEqual([
    ["failed", "API_REFUSED", '"all-analysts" could not be assigned to the workspace'],
  ]);
  expect((await site.state()).records.size).toBe(0);
});

test("a group that is in the workspace already is adopted", async () => {
  const site = await start();
  await site.world.control("POST", "account-groups", { display_name: "all-analysts" });
  const { diagnostics } = await plan(site, spec("USER"));
  expect(diagnostics.map(({ code }) => code)).toEqual(["PLAN_ALREADY_EXISTS"]);
  const adopted = await site.drive(site.process().plan(await site.spec(spec("USER")), { adopt: true }));
  expect(doing(adopted)).toEqual(["adopt workspace_assignments.all-analysts"]);
});

test("the caller keeps the right to administer the workspace", async () => {
  const site = await start();
  const own = (permission: string) =>
    `${POLICY}workspace_assignments: { admin@example.com: { permissions: [${permission}] } }\n`;
  const guards = async (yaml: string) =>
    (await plan(site, yaml)).guards.map(({ diagnostic }) => diagnostic.message);
  const lost = ["the caller, admin@example.com, would no longer be an administrator"];
  expect(await guards(own("USER"))).toEqual(lost);
  await apply(site, own("ADMIN"));
  expect(site.writes).toEqual([]);
  for (const yaml of [own("USER"), POLICY]) expect(await guards(yaml)).toEqual(lost);
});

test("an export of a workspace that refuses the call has no assignments, and a spec with one has an error", async () => {
  const site = await start();
  const transport = async (request: HttpRequest, send: Send): Promise<HttpResponse> =>
    request.path.includes("permissionassignments")
      ? { status: 400, headers: {}, body: '{"error_code":"FEATURE_DISABLED","message":"not available"}' }
      : send(request);
  const process = site.process({ transport });
  const { reader } = process.client;
  const kinds = new Set(["workspace_assignments"]);
  const described = registryIn(registry, site.dialect);
  const live = await site.drive(listKinds({ registry: described, reader, kinds, parallelism: 1 }));
  expect(live.get("workspace_assignments")).toMatchObject({ readable: true, objects: [] });
  const { diagnostics } = await site.drive(process.plan(await site.spec(spec("USER"))));
  expect(
    diagnostics.map(({ severity, message }) => [severity, message.includes("could not be read")]),
  ).toEqual([["error", true]]);
});

test("a service principal is named by its application ID", async () => {
  const site = await start();
  await expect(
    site.spec('workspace_assignments: { "sp:deployer": { permissions: [USER] } }\n'),
  ).rejects.toThrow(/is not the application ID of a service principal/);
});
