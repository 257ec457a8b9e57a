// Kinds of administrators in the Databricks dialect: addresses that a plan would lock out, the order of scripts, Git folders, and settings.

import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { raw } from "../api/answers.ts";
import { ADMIN_TOKEN } from "../emulator/harness.ts";
import { doing, results, Site } from "../engine/site.ts";
import { sampleOf } from "../sample-size.ts";

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

  const OTHER = "  a-other: { list_type: ALLOW, ip_addresses: [10.0.0.0/8] }\n";

  test("come into force after all lists, so that the first apply works", async () => {
    const site = await start();
    expect(await apply(site, LISTS + OTHER)).toEqual([
      "applied create ip_access_lists.a-other",
      "applied create ip_access_lists.office",
      "applied create workspace_conf.enableIpAccessLists",
    ]);
  });

  test("lists are deleted after they are out of force", async () => {
    const site = await start();
    await apply(site, LISTS + OTHER);
    expect(await apply(site, "users: {}\n")).toEqual([
      "applied delete workspace_conf.enableIpAccessLists",
      "applied delete ip_access_lists.office",
      "applied delete ip_access_lists.a-other",
    ]);
  });

  test("a list is deleted after others have its addresses", async () => {
    const site = await start();
    await apply(site, LISTS + OTHER);
    expect(await apply(site, LISTS.replace("office", "z-office") + OTHER)).toEqual([
      "applied create ip_access_lists.z-office",
      "applied delete ip_access_lists.office",
    ]);
    const moved = LISTS.replace("203.0.113.0/24, 127.0.0.1", "203.0.113.0/24").replace("office", "z-office");
    const wider = OTHER.replace("10.0.0.0/8", "10.0.0.0/8, 127.0.0.1").replace("a-other", "zz");
    expect(await apply(site, moved + wider)).toEqual([
      "applied create ip_access_lists.zz",
      "applied update ip_access_lists.z-office",
      "applied delete ip_access_lists.a-other",
    ]);
  });

  test("a list is created after another one gave up its name", async () => {
    const site = await start();
    await apply(site, LISTS);
    const named = LISTS.replace("office: {", "office: { label: first,");
    const taker = OTHER.replace("a-other: {", "a-other: { label: office,");
    expect(await apply(site, named + taker)).toEqual([
      "applied update ip_access_lists.office",
      "applied create ip_access_lists.a-other",
    ]);
  });

  test("an entry that is not an IPv4 address or range is an error of the spec", async () => {
    const site = await start();
    await expect(site.spec(LISTS.replace("127.0.0.1", "300.0.0.1"))).rejects.toThrow(
      /300.0.0.1.*is not an IPv4 address or range/,
    );
  });
});

describe("the order of global init scripts", () => {
  const spec = (names: readonly string[]) =>
    names.length === 0
      ? "users: {}\n"
      : `global_init_scripts:\n${names.map((name) => `  ${name}: { script: "echo ${name}" }\n`).join("")}global_init_script_order: { default: { scripts: [${names.join(", ")}] } }\n`;
  const liveOrder = async (site: Site): Promise<readonly string[]> => {
    const { body } = await site.world.get("global-init-scripts");
    return (body.scripts ?? []).map(({ name }: { name: string }) => name);
  };
  const addOutside = (site: Site, name: string, position: number) =>
    site.world.post("global-init-scripts", { name, script: "ZWNobwo=", position });

  test("is as declared after one apply, whatever scripts come, go, move, or are not managed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.shuffledSubarray([..."abcdefgh"]), { minLength: 2, maxLength: 4 }),
        fc.uniqueArray(fc.nat(6), { maxLength: 2 }),
        fc.integer({ min: 1, max: 8 }),
        async (orders, others, parallelism) => {
          const site = await Site.start("azure");
          try {
            for (const [index, position] of others.entries())
              await addOutside(site, `other-${index}`, position);
            for (const names of orders) {
              const desired = await site.spec(POLICY + spec(names));
              const { outcome } = await site.drive(site.process({ parallelism }).apply(desired));
              expect(outcome.diagnostics).toEqual([]);
              const live = await liveOrder(site);
              expect(live.filter((name) => !name.startsWith("other-"))).toEqual(names);
              expect(live).toHaveLength(names.length + others.length);
              const plan = await site.drive(site.process().plan(desired));
              expect([doing(plan), plan.drift]).toEqual([[], []]);
            }
          } finally {
            site.close();
          }
        },
      ),
      { numRuns: sampleOf(40), seed: 26 },
    );
  });

  test("is one change, and a script of others between the listed ones is none", async () => {
    const site = await start();
    await apply(site, spec(["a", "b", "c"]));
    await addOutside(site, "other", 1);
    expect(doing(await planned(site, spec(["a", "b", "c"])))).toEqual([]);
    expect(await apply(site, spec(["c", "a", "b"]))).toEqual([
      "applied update global_init_script_order.default",
    ]);
    expect(await liveOrder(site)).toEqual(["other", "c", "a", "b"]);
  });

  test("that others changed is drift, and a renamed script keeps its place", async () => {
    const site = await start();
    const before = spec(["a", "b"]);
    await apply(site, before);
    const { body } = await site.world.get("global-init-scripts");
    await site.world.patch(`global-init-scripts/${body.scripts[1].script_id}`, {
      name: "b",
      script: "ZWNobyBi",
      position: 0,
    });
    expect((await planned(site, before)).drift.map(({ address }) => address)).toEqual([
      "global_init_script_order.default",
    ]);
    await apply(site, before.replace("b: {", "b: { name: z,").replace("[a, b]", "[a, z]"));
    expect(await liveOrder(site)).toEqual(["a", "z"]);
  });

  test.each([
    ["a script is removed", spec(["b", "c"])],
    ["a script is removed and others move", spec(["c", "b"])],
    ["a script is replaced by a new one", spec(["d", "b", "c"])],
    ["a script is renamed", spec(["a", "b", "c"]).replace("a: {", "a: { name: z,").replace("[a,", "[z,")],
    [
      "a new script takes the name of a renamed one",
      spec(["a", "b", "c"])
        .replace("a: {", "a: { name: z,")
        .replace("b, c]", "b, c, z]")
        .replace("  b:", '  new: { name: a, script: "echo new" }\n  b:'),
    ],
    ["a script leaves the order alone", spec(["a", "b", "c"]).replace("[a, b, c]", "[b, c]")],
  ])("a change of the spec alone causes no drift: %s", async (_case, after) => {
    const site = await start();
    await apply(site, spec(["a", "b", "c"]));
    const plan = await planned(site, after);
    expect(plan.drift).toEqual([]);
    const order = plan.changes.find(({ address }) => address === "global_init_script_order.default");
    const diffs = order?.action === "update" ? order.diffs : [];
    expect(diffs.map(({ before, cause }) => [before, cause])).toEqual([[["a", "b", "c"], "spec"]]);
    await apply(site, after);
    const next = await planned(site, after);
    expect([doing(next), next.drift]).toEqual([[], []]);
  });

  test.each([
    ["global_init_script_order: { other: { scripts: [a] } }", /is not an order of scripts/],
    ["global_init_script_order: { default: { scripts: [a, a] } }", /is listed twice/],
  ])("is checked: %s", async (text, message) => {
    const site = await start();
    await expect(site.spec(`global_init_scripts: { a: { script: b } }\n${text}\n`)).rejects.toThrow(message);
  });
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

test("a tag that the first apply could not check out is checked out by the next", async () => {
  const site = await start();
  const spec = `${POLICY}repos: { /Repos/a/b: { url: https://github.com/x/y, provider: gitHub, tag: v1 } }\n`;
  const refusing = site.process({
    transport: async (request, send) =>
      request.method === "PATCH"
        ? raw(400, '{"error_code":"INVALID_PARAMETER_VALUE","message":"no"}')
        : send(request),
  });
  const { outcome } = await site.drive(refusing.apply(await site.spec(spec)));
  expect(results(outcome)).toEqual(["failed create repos./Repos/a/b"]);
  const again = await site.drive(site.process().apply(await site.spec(spec)));
  expect(results(again.outcome)).toEqual(["applied update repos./Repos/a/b"]);
  expect(doing(await planned(site, spec.slice(POLICY.length)))).toEqual([]);
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

test.each([
  ["workspace_conf: { enableWebTerminal: { value: true } }\n", "enableWebTerminal"],
  [LISTS, "enableIpAccessLists"],
])("a setting whose value is neither text nor unset cannot be read: %#", async (spec, key) => {
  const site = await start();
  await apply(site, spec);
  const run = site.process({
    transport: async (request, send) => {
      const answer = await send(request);
      if (request.method !== "GET" || !request.path.includes("/workspace-conf")) return answer;
      return { ...answer, body: new TextEncoder().encode(JSON.stringify({ [key]: { value: "true" } })) };
    },
  });
  const { diagnostics } = await site.drive(run.plan(await site.spec(POLICY + spec)));
  expect(diagnostics).toMatchObject([
    {
      code: "PLAN_UNREADABLE",
      cause: `API_PROTOCOL: the service answered with a "${key}" that is not text`,
    },
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

describe("the sparse checkout of a Git folder", () => {
  const folder = (fields: string) =>
    `repos: { /Repos/a/b: { url: "https://example.com/r.git", provider: gitHub, ${fields} } }\n`;
  const sparse = (pattern: string) => `sparse_checkout: { patterns: [${pattern}] }`;
  const replace = "lifecycle: { on_immutable_change: replace }";

  test("changes its patterns in place, and is neither added nor removed in place", async () => {
    const site = await start();
    await apply(site, folder(sparse("src")));
    expect(await apply(site, folder(sparse("lib")))).toEqual(["applied update repos./Repos/a/b"]);
    const without = await planned(site, folder(""));
    expect(without.diagnostics.map(({ code }) => code)).toEqual(["PLAN_IMMUTABLE"]);
    expect(await apply(site, folder(replace))).toEqual(["applied replace repos./Repos/a/b"]);
    const added = await planned(site, folder(sparse("src")));
    expect(added.diagnostics.map(({ code }) => code)).toEqual(["PLAN_IMMUTABLE"]);
    expect(await apply(site, folder(`${sparse("src")}, ${replace}`))).toEqual([
      "applied replace repos./Repos/a/b",
    ]);
    expect(doing(await planned(site, folder(sparse("src"))))).toEqual([]);
  });

  test("is refused by an update of a Git folder without one", async () => {
    const site = await start();
    await apply(site, folder(""));
    const { repos } = (await site.world.get("repos")).body;
    const body = { sparse_checkout: { patterns: ["src"] } };
    expect(
      (
        await site.world.request({
          method: "PATCH",
          path: `/api/2.0/repos/${repos[0].id}`,
          headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
          body: JSON.stringify(body),
        })
      ).status,
    ).toBe(400);
  });
});
