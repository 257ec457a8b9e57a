// Names that only the Databricks dialect allows: scopes with @ and /, and service principals in access lists and groups.

import { describe, expect, onTestFinished, test } from "vitest";
import { memberOf, nestedNameOf, parentOf } from "../../src/core/address.ts";
import { Failure } from "../../src/core/diagnostic.ts";
import { doing, results, Site } from "../engine/site.ts";

async function start(cloud?: "azure"): Promise<Site> {
  const site = await Site.start(cloud);
  onTestFinished(() => site.close());
  site.env = { VALUE: "s3cret" };
  return site;
}

const apply = async (site: Site, spec: string, adopt = false) =>
  results((await site.drive(site.process().apply(await site.spec(spec), { adopt }))).outcome).toSorted();
const planned = async (site: Site, spec: string) =>
  doing(await site.drive(site.process().plan(await site.spec(spec)))).toSorted();

const SCOPES = `
users: { ada@example.com: {} }
scopes:
  team/etl@prod: { secrets: { key: { env: VALUE } }, acls: { ada@example.com: READ } }
  team: { secrets: { key: { env: VALUE } } }
`;

describe("a scope whose name contains @ and /", () => {
  test("is created, changed, and deleted with its secrets and access list", async () => {
    const site = await start("azure");
    expect(await apply(site, SCOPES)).toEqual([
      "applied create acls.team%2Fetl@prod/ada@example.com",
      "applied create scopes.team",
      "applied create scopes.team/etl@prod",
      "applied create secrets.team%2Fetl@prod/key",
      "applied create secrets.team/key",
      "applied create users.ada@example.com",
    ]);
    expect((await site.world.get("secrets/list", { scope: "team/etl@prod" })).body.secrets).toHaveLength(1);
    expect(await planned(site, SCOPES)).toEqual([]);
    const changed = SCOPES.replace("READ", "WRITE");
    expect(await apply(site, changed)).toEqual(["applied update acls.team%2Fetl@prod/ada@example.com"]);
    const fewer = "policy: { max_deletes: 100% }\nusers: { ada@example.com: {} }\nscopes: { team: {} }\n";
    expect(await planned(site, fewer)).toEqual([
      "delete scopes.team/etl@prod",
      "delete secrets.team/key",
      "forget acls.team%2Fetl@prod/ada@example.com",
      "forget secrets.team%2Fetl@prod/key",
    ]);
  });

  test("is deleted in an access list by its own name, and not by a part of it", async () => {
    const site = await start("azure");
    await apply(site, SCOPES);
    await site.world.post("secrets/acls/put", {
      scope: "team/etl@prod",
      principal: "users",
      permission: "READ",
    });
    expect(await planned(site, SCOPES)).toEqual(["delete acls.team%2Fetl@prod/users"]);
  });

  test("is refused in the contract", async () => {
    const site = await start();
    const refused = await site.spec("scopes: { team/etl: {} }\n").catch((problem: Error) => problem.message);
    expect(refused).toContain('\\"team/etl\\" is not a valid secret scope name');
  });
});

test.each([
  ["etl", "ada", "etl/ada"],
  ["a/b", "c", "a%2Fb/c"],
  ["a", "b/c", "a/b/c"],
  ["a%2Fb", "c", "a%252Fb/c"],
])("the nested name of %s and %s is %s, which contains both", (parent, member, name) => {
  expect(nestedNameOf(parent, member)).toBe(name);
  expect([parentOf(name), memberOf(name)]).toEqual([parent, member]);
});

const APPLICATION = "1f2e3d4c-0000-4000-8000-00000000000a";

describe("a service principal", () => {
  test("is adopted in an access list by its application ID, and stays", async () => {
    const site = await start("azure");
    await site.world.control("POST", "service-principals", { application_id: APPLICATION });
    await site.world.post("secrets/scopes/create", { scope: "etl" });
    const acl = { scope: "etl", principal: APPLICATION, permission: "READ" };
    expect((await site.world.post("secrets/acls/put", acl)).status).toBe(200);
    const spec = `scopes: { etl: { acls: { ${APPLICATION}: READ } } }\n`;
    expect(await apply(site, spec, true)).toContain(`applied adopt acls.etl/${APPLICATION}`);
    expect(await planned(site, spec)).toEqual([]);
    expect(await apply(site, spec.replace("READ", "WRITE"))).toEqual([
      `applied update acls.etl/${APPLICATION}`,
    ]);
  });

  test("gets access by its application ID, which no list of users or groups contains", async () => {
    const site = await start("azure");
    await site.world.control("POST", "service-principals", { application_id: APPLICATION });
    await apply(site, `scopes: { etl: { acls: { ${APPLICATION}: MANAGE } } }\n`);
    const { items } = (await site.world.get("secrets/acls/list", { scope: "etl" })).body;
    expect(items).toContainEqual({ principal: APPLICATION, permission: "MANAGE" });
  });

  test("that does not exist is refused by the service", async () => {
    const site = await start("azure");
    expect(await apply(site, `scopes: { etl: { acls: { ${APPLICATION}: READ } } }\n`)).toContain(
      `failed create acls.etl/${APPLICATION}`,
    );
  });

  test("with another kind of name is still looked up", async () => {
    const site = await start("azure");
    const spec = await site.spec(
      "users: { ada@example.com: {} }\ngroups: { data: {} }\nscopes: { etl: { acls: { bo@example.com: READ } } }\n",
    );
    const failure = await site.drive(site.process().apply(spec)).catch((problem: unknown) => problem);
    expect(failure).toBeInstanceOf(Failure);
  });
});
