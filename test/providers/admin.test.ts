// Kinds of administrators in the Databricks dialect: addresses that a plan would lock out, the order of scripts, Git folders, and settings.

import { describe, expect, onTestFinished, test } from "vitest";
import { doing, results, Site } from "../engine/site.ts";

const POLICY = "policy: { max_deletes: 100% }\n";

async function start(): Promise<Site> {
  const site = await Site.start("azure");
  onTestFinished(() => site.close());
  return site;
}

async function apply(site: Site, spec: string): Promise<readonly string[]> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(POLICY + spec)));
  expect(outcome.diagnostics).toEqual([]);
  return results(outcome);
}

const planned = async (site: Site, spec: string) =>
  site.drive(site.process().plan(await site.spec(POLICY + spec)));

const LISTS = `workspace_conf: { enableIpAccessLists: { value: true } }
ip_access_lists:
  office: { list_type: ALLOW, ip_addresses: [203.0.113.0/24, 127.0.0.1] }
`;

describe("IP access lists in force", () => {
  test("a plan after which no address of now reaches the workspace is blocked", async () => {
    const site = await start();
    await apply(site, LISTS);
    const plan = await planned(site, LISTS.replace("203.0.113.0/24, 127.0.0.1", "198.51.100.0/24"));
    expect(plan.guards.map(({ diagnostic }) => [diagnostic.code, diagnostic.message])).toEqual([
      [
        "GUARD_LOCKOUT",
        "no address that reaches the workspace now could do so, and that includes the caller's",
      ],
    ]);
  });

  test("a plan that blocks every address is blocked", async () => {
    const site = await start();
    await apply(site, LISTS);
    const everything = `${LISTS}  all: { list_type: BLOCK, ip_addresses: [0.0.0.0/0] }\n`;
    const plan = await planned(site, everything);
    expect(plan.guards.map(({ diagnostic }) => diagnostic.message)).toEqual([
      "no address could reach the workspace",
    ]);
  });

  test("a plan that takes some addresses names them, also where another list allows a part", async () => {
    const site = await start();
    await apply(site, LISTS);
    const spec = `${LISTS.replace("203.0.113.0/24, ", "")}  vpn: { list_type: ALLOW, ip_addresses: [203.0.113.0/25] }\n`;
    const plan = await planned(site, spec);
    expect(plan.guards).toEqual([]);
    const office = plan.changes.find(({ address }) => address === "ip_access_lists.office");
    expect(office?.consequences).toEqual(["addresses can no longer reach the workspace: 203.0.113.128/25"]);
  });

  test("are not checked while the setting is off", async () => {
    const site = await start();
    const [, ...lists] = LISTS.split("\n");
    await apply(site, lists.join("\n"));
    const plan = await planned(
      site,
      lists.join("\n").replace("203.0.113.0/24, 127.0.0.1", "198.51.100.0/24"),
    );
    expect(plan.guards).toEqual([]);
  });

  test("an entry that is not an IPv4 address or range is an error of the spec", async () => {
    const site = await start();
    await expect(site.spec(LISTS.replace("127.0.0.1", "300.0.0.1"))).rejects.toThrow(
      /300.0.0.1.*is not an IPv4 address or range/,
    );
  });
});

test("two scripts exchange their positions in one apply, although the first move shifts the second", async () => {
  const site = await start();
  const spec = (first: number, second: number) =>
    `global_init_scripts: { proxy: { script: a, position: ${first} }, certificates: { script: b, position: ${second} } }\n`;
  await apply(site, spec(0, 1));
  expect(await apply(site, spec(1, 0))).toEqual([
    "applied update global_init_scripts.certificates",
    "applied update global_init_scripts.proxy",
  ]);
  expect(doing(await planned(site, spec(1, 0)))).toEqual([]);
});

test("scripts have the declared order after one apply, whatever the order of the requests", async () => {
  const site = await start();
  const spec = (names: readonly string[]) =>
    `global_init_scripts:\n${names.map((name, position) => `  ${name}: { script: "echo ${name}", position: ${position} }\n`).join("")}`;
  for (const names of ["cehfd", "abcd", "dbca", "xdcba", "ab"].map((all) => [...all])) {
    await apply(site, spec(names));
    const { body } = await site.world.get("global-init-scripts");
    expect(body.scripts.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(doing(await planned(site, spec(names)))).toEqual([]);
  }
});

test("a Git folder in a directory that the plan deletes is named by the guard", async () => {
  const site = await start();
  await apply(site, "directories: { /Shared/team: {} }\n");
  await site.world.post("repos", {
    url: "https://github.com/x/y",
    provider: "gitHub",
    path: "/Shared/team/y",
  });
  const plan = await planned(site, "directories: {}\n");
  expect(plan.guards.map(({ diagnostic }) => diagnostic.code)).toEqual(["GUARD_DATA_LOSS"]);
});

test("the replacement of a Git folder names what is lost", async () => {
  const site = await start();
  const spec = (url: string) =>
    `repos: { /Repos/a/b: { url: "${url}", provider: gitHub, lifecycle: { on_immutable_change: replace } } }\n`;
  await apply(site, spec("https://github.com/x/y"));
  const [change] = (await planned(site, spec("https://github.com/x/z"))).changes;
  expect([change?.action, change?.consequences]).toEqual([
    "replace",
    [
      "changes in the Git folder that are not committed and pushed are lost",
      "the new Git folder has a new ID; the access list and references to the old ID outside the spec are lost",
    ],
  ]);
});

test("a setting that leaves the spec goes back to its first value", async () => {
  const site = await start();
  await apply(
    site,
    "workspace_conf: { enableWebTerminal: { value: true }, maxTokenLifetimeDays: { value: 30 } }\n",
  );
  const plan = await planned(site, "users: {}\n");
  expect(plan.changes.map(({ address, consequences }) => [address, ...consequences]).toSorted()).toEqual([
    ["workspace_conf.enableWebTerminal", "the setting goes back to false"],
    ["workspace_conf.maxTokenLifetimeDays", "the setting goes back to no value"],
  ]);
  await apply(site, "users: {}\n");
  const { body } = await site.world.get("workspace-conf", { keys: "enableWebTerminal,maxTokenLifetimeDays" });
  expect(body).toEqual({ enableWebTerminal: "false", maxTokenLifetimeDays: "" });
});

test.each([
  "directories: { /Workspace/Shared/a: {} }",
  "repos: { /Workspace/Repos/a/b: { url: https://x/y, provider: gitHub } }",
])("a path with /Workspace is an error that names the path of the object: %s", async (spec) => {
  const site = await start();
  await expect(site.spec(`${spec}\n`)).rejects.toThrow(/is the same path as/);
});

test("a folder of the contract may be called /Workspace", async () => {
  const site = await Site.start();
  onTestFinished(() => site.close());
  const spec = "directories: { /Workspace: {}, /Workspace/a: {} }\n";
  await apply(site, spec);
  expect(doing(await planned(site, spec))).toEqual([]);
});

test("a service principal whose create arrives twice is completed by the next run, although its application ID is in use", async () => {
  const site = await start();
  const applicationId = "11111111-2222-3333-4444-555555555555";
  const spec = await site.spec(
    `${POLICY}service_principals: { deployer: { applicationId: ${applicationId} } }\n`,
  );
  const first = await site.drive(
    site
      .process({
        transport: async (request, send) => {
          if (request.method === "POST") await send(request);
          return send(request);
        },
      })
      .apply(spec),
  );
  expect(results(first.outcome)).toEqual(["unknown create service_principals.deployer"]);
  const second = await site.drive(site.process().apply(spec));
  expect(results(second.outcome)).toEqual(["applied update service_principals.deployer"]);
  const { body } = await site.world.get("preview/scim/v2/ServicePrincipals");
  expect(body.Resources.map(({ displayName }: { displayName: string }) => displayName)).toEqual(["deployer"]);
  expect(doing(await site.drive(site.process().plan(spec)))).toEqual([]);
});
