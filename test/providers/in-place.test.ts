// Changes that the Databricks dialect makes in place and the contract by a replacement: tags of pools, names of groups.

import { describe, expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../src/planner/model/plan.ts";
import { changedObjects } from "../../src/planner/plan-file.ts";
import { doing, results, Site } from "../engine/site.ts";

async function start(cloud?: "azure"): Promise<Site> {
  const site = await Site.start(cloud);
  onTestFinished(() => site.close());
  return site;
}

const apply = async (site: Site, spec: string) =>
  site.drive(site.process().apply(await site.spec(withPolicy(spec))));
const planned = async (site: Site, spec: string): Promise<Plan> =>
  site.drive(site.process().plan(await site.spec(withPolicy(spec))));
const REPLACE = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
const withPolicy = (spec: string): string =>
  spec.startsWith("policy:") ? spec : `policy: { max_deletes: 100% }\n${spec}`;

const pool = (more: string): string => `pools: { warm: { node_type_id: Standard_DS3_v2${more} } }\n`;

async function poolTags(site: Site): Promise<unknown> {
  const { instance_pools: pools } = (await site.world.get("instance-pools/list")).body;
  expect(pools).toHaveLength(1);
  return pools[0].custom_tags;
}

describe("tags of a pool", () => {
  test("are replaced with the pool in the contract", async () => {
    const site = await start();
    await apply(site, pool(", custom_tags: { team: data }"));
    const plan = await planned(site, `${REPLACE}${pool(", custom_tags: { team: web }")}`);
    expect(doing(plan)).toEqual(["replace pools.warm"]);
  });

  test.each([
    ["change", ", custom_tags: { team: web, env: dev }", { team: "web", env: "dev" }],
    ["are removed", "", undefined],
    ["stay beside another change", ", custom_tags: { team: data }, max_capacity: 3", { team: "data" }],
  ])("%s in place in the Databricks dialect", async (_what, more, expected) => {
    const site = await start("azure");
    await apply(site, pool(", custom_tags: { team: data }"));
    const id = (await site.world.get("instance-pools/list")).body.instance_pools[0].instance_pool_id;
    expect(results((await apply(site, pool(more))).outcome)).toEqual(["applied update pools.warm"]);
    expect(await poolTags(site)).toEqual(expected);
    expect((await site.world.get("instance-pools/get", { instance_pool_id: id })).body.state).toBe("ACTIVE");
    expect(doing(await planned(site, pool(more)))).toEqual([]);
  });

  test("that another client removed are drift, and come back in place", async () => {
    const site = await start("azure");
    const spec = pool(", custom_tags: { team: data }");
    await apply(site, spec);
    const { instance_pools: pools } = (await site.world.get("instance-pools/list")).body;
    const { instance_pool_id, instance_pool_name, node_type_id } = pools[0];
    await site.world.post("instance-pools/edit", { instance_pool_id, instance_pool_name, node_type_id });
    expect(await poolTags(site)).toBeUndefined();
    expect(results((await apply(site, spec)).outcome)).toEqual(["applied update pools.warm"]);
    expect(await poolTags(site)).toEqual({ team: "data" });
  });
});

const groups = (name: string, more = ""): string => `
users: { ada@example.com: {} }
groups:
  data: { displayName: ${name}, members: { users: [ada@example.com] } }
  all: { members: { groups: [${name}] } }
${more}`;

async function groupNamed(site: Site, name: string): Promise<Record<string, unknown> | undefined> {
  const found = (await site.world.get("preview/scim/v2/Groups")).body.Resources as Record<string, unknown>[];
  return found.find(({ displayName }) => displayName === name);
}

describe("the name of a group", () => {
  test("is replaced with the group in the contract", async () => {
    const site = await start();
    await apply(site, groups("data"));
    expect(doing(await planned(site, `${REPLACE}${groups("analysts")}`))).toContain("replace groups.data");
  });

  test("changes in place in the Databricks dialect, and groups that contain it need no change", async () => {
    const site = await start("azure");
    await apply(site, groups("data"));
    const before = await groupNamed(site, "data");
    const { plan, outcome } = await apply(site, groups("analysts"));
    expect(doing(plan)).toEqual(["update groups.data"]);
    expect(plan.drift).toEqual([]);
    expect(plan.changes.find(({ address }) => address === "groups.data")).toMatchObject({
      steps: [{ operation: "rename" }],
    });
    expect(results(outcome)).toEqual(["applied update groups.data"]);
    expect(outcome.diagnostics).toEqual([]);
    const after = await groupNamed(site, "analysts");
    expect(after).toMatchObject({ id: before?.id, members: before?.members });
    const next = await planned(site, groups("analysts"));
    expect(doing(next)).toEqual([]);
    expect(next.drift).toEqual([]);
  });

  test("changes together with the members, also of a group that contains it", async () => {
    const site = await start("azure");
    await apply(site, groups("data"));
    const spec = groups("analysts")
      .replace("groups: [analysts]", "groups: []")
      .replace("[ada@example.com]", "[]");
    expect(results((await apply(site, spec)).outcome).toSorted()).toEqual([
      "applied update groups.all",
      "applied update groups.data",
    ]);
    expect((await groupNamed(site, "analysts"))?.members ?? []).toEqual([]);
    expect((await groupNamed(site, "all"))?.members ?? []).toEqual([]);
    expect(doing(await planned(site, spec))).toEqual([]);
  });

  test("does not make a saved plan stale, and a change by another client does", async () => {
    const site = await start("azure");
    await apply(site, groups("data"));
    const text = groups("analysts").replace("groups: [analysts]", "groups: []");
    const spec = await site.spec(text);
    const process = site.process();
    const { plan, live, input } = await site.drive(process.look(spec, await site.state()));
    expect(doing(plan).toSorted()).toEqual(["update groups.all", "update groups.data"]);
    expect(changedObjects(plan, live, input.registry, input.state)).toEqual([]);
    await site.world.post("groups/remove-member", { parent_name: "all", group_name: "data" });
    const later = await site.drive(process.look(spec, await site.state()));
    expect(
      changedObjects(plan, later.live, input.registry, input.state).map(({ address }) => address),
    ).toEqual(["groups.all"]);
  });

  test("can be exchanged with the name of another group", async () => {
    const site = await start("azure");
    const two = (one: string, other: string): string =>
      `groups: { one: { displayName: ${one} }, other: { displayName: ${other} } }\n`;
    await apply(site, two("a", "b"));
    const plan = await planned(site, two("b", "c"));
    expect(doing(plan).toSorted()).toEqual(["update groups.one", "update groups.other"]);
    expect(results((await apply(site, two("b", "c"))).outcome).toSorted()).toEqual([
      "applied update groups.one",
      "applied update groups.other",
    ]);
  });

  test("that a member list still contains after the change is an error", async () => {
    const site = await start("azure");
    await apply(site, groups("data"));
    const plan = await planned(site, groups("analysts").replace("groups: [analysts]", "groups: [data]"));
    expect(plan.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      expect.stringMatching(/^PLAN_UNKNOWN_NAME groups.all refers to "data"/),
    ]);
  });

  test("does not count as lost members of admins", async () => {
    const site = await start("azure");
    const admins = (name: string): string => `
users: { ada@example.com: {} }
groups:
  ops: { displayName: ${name}, members: { users: [ada@example.com] } }
  admins: { members: { groups: [${name}] } }
`;
    await apply(site, admins("ops"));
    const plan = await planned(site, admins("operators"));
    expect(doing(plan)).toEqual(["update groups.ops"]);
    expect(plan.guards).toEqual([]);
  });

  test("is shown with the access lists that may keep the old one", async () => {
    const site = await start("azure");
    await apply(site, groups("data", "scopes: { etl: { acls: { data: READ } } }\n"));
    await site.world.post("secrets/scopes/create", { scope: "other" });
    const after = groups("analysts", "scopes: { etl: { acls: { analysts: READ } } }\n");
    const plan = await planned(site, after);
    expect(doing(plan).toSorted()).toEqual([
      "create acls.etl/analysts",
      "delete acls.etl/data",
      "update groups.data",
    ]);
    const { outcome } = await apply(site, after);
    expect(outcome.changes.every(({ result }) => result === "applied")).toBe(true);
    expect(doing(await planned(site, after))).toEqual([]);
  });

  test("that is built in cannot be changed", async () => {
    const site = await start("azure");
    await apply(site, "groups: { admins: {} }\n");
    const renamed = "groups: { admins: { displayName: owners } }\n";
    const { outcome } = await apply(site, renamed);
    expect(results(outcome)).toEqual(["failed update groups.admins"]);
    expect(await groupNamed(site, "admins")).toBeDefined();
  });
});
