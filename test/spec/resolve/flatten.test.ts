// Sections of a spec as resources: their names, parents, and modules; and unknown sections.

import { describe, expect, it } from "vitest";
import { registryOf } from "../../../src/resource/kind.ts";
import { load } from "../folder.ts";
import { registry } from "../kinds.ts";

describe("a section", () => {
  it.each<[string, readonly string[], string | undefined]>([
    ["poolz: {}", ['SPEC_UNKNOWN_KIND 1:1 "poolz" is not a valid kind'], 'did you mean "pools"?'],
    [
      "targets: { t: { default: true, protect: true } }",
      ['SPEC_UNKNOWN_KIND 1:32 "protect" is not a valid kind'],
      "protected is a field of a target: targets.NAME.protected",
    ],
    ["includ: {}", ['SPEC_UNKNOWN_KIND 1:1 "includ" is not a valid kind'], 'did you mean "include"?'],
    [
      "zzzzzzzz: {}",
      ['SPEC_UNKNOWN_KIND 1:1 "zzzzzzzz" is not a valid kind'],
      "the kinds are users, groups, scopes, pools, clusters, jobs, directories, notebooks and files",
    ],
    [
      "secrets: {}",
      ["SPEC_UNKNOWN_KIND 1:1 secrets must be nested under scopes"],
      "write them under scopes.NAME.secrets",
    ],
    ["inputs: {}", ["SPEC_MODULE 1:1 inputs can be declared only in a module"], undefined],
    ["outputs: {}", ["SPEC_MODULE 1:1 outputs can be declared only in a module"], undefined],
    ["users: 3", ["SPEC_TYPE 1:8 users must be a map of names, not the number 3"], undefined],
    ["users:\npools: { p: { node_type_id: n } }", [], undefined],
    ["x-users: 3\npools: { p: { node_type_id: n } }", [], undefined],
    [
      "scopes: { s: { acls: [READ] } }",
      ["SPEC_TYPE 1:22 scopes.s: acls must be a map of names, not a list"],
      undefined,
    ],
    ["groups: { '': {} }", ["SPEC_VALUE 1:11 groups contains a resource with an empty name"], undefined],
    [
      "scopes: { s: { acls: { x: [READ] } } }",
      ["SPEC_TYPE 1:27 acls.s/x must be a map of fields, not a list"],
      "for a resource without fields, write {}",
    ],
    [
      "pools: { p: { node_type_id: n, instance_pool_name: 'a-${pools.q.state}' }, q: { node_type_id: n } }",
      [
        "SPEC_REFERENCE 1:52 instance_pool_name cannot contain a reference, because it is the name of the pool",
      ],
      undefined,
    ],
    [
      "pools: { p: [] }",
      ["SPEC_TYPE 1:13 pools.p must be a map of fields, not a list"],
      "for a resource without fields, write {}",
    ],
  ])("%s", async (text, told, hint) => {
    const found = await load(`${text}\n`);
    expect(found.told).toEqual(told);
    expect(found.diagnostics[0]?.hint).toBe(hint);
  });
});

it("a section of another dialect or cloud is reported with how to get there, also where a kind is near", async () => {
  const elsewhere = { ...registry.get("pools"), kind: "poolz", dialect: "databricks", cloud: "aws" } as const;
  const { diagnostics } = await load("poolz: {}\npoolx: {}\n", {
    registry: registryOf(registry.kinds, [elsewhere]),
  });
  expect(diagnostics.map(({ code, message, hint }) => [code, message, hint])).toEqual([
    [
      "SPEC_UNKNOWN_KIND",
      "poolz exist only in the dialect databricks on aws",
      "pass --dialect databricks --cloud aws, or set dialect and cloud in the profile",
    ],
    ["SPEC_UNKNOWN_KIND", '"poolx" is not a valid kind', 'did you mean "pools"?'],
  ]);
});

describe("a resource", () => {
  it("without fields is written as a map or as nothing", async () => {
    const { resource, told } = await load("users: { a@x.com: {}, b@x.com: }\n");
    expect(told).toEqual([]);
    for (const name of ["a@x.com", "b@x.com"])
      expect(resource(`users.${name}`)).toMatchObject({
        kind: "users",
        key: name,
        name,
        values: { userName: name },
      });
  });

  it("has the name that its field sets, or else its key, with the name among its values", async () => {
    const { resource } = await load(
      "pools: { a: { node_type_id: n }, b: { node_type_id: n, instance_pool_name: 'x $${y}' }, 'c$${d}': { node_type_id: n } }\n",
    );
    expect(resource("pools.a")).toMatchObject({ name: "a", values: { instance_pool_name: "a" } });
    expect(resource("pools.b")).toMatchObject({ name: "x ${y}", values: { instance_pool_name: "x ${y}" } });
    expect(Object.keys(resource("pools.a").values)).toEqual(["instance_pool_name", "node_type_id"]);
  });

  it("has no field for its lifecycle", async () => {
    const { resource } = await load(
      "pools: { p: { node_type_id: n, lifecycle: { prevent_destroy: true } }, q: { node_type_id: n }, r: { node_type_id: n } }\n",
    );
    expect(resource("pools.p").values).toEqual({ instance_pool_name: "p", node_type_id: "n" });
    expect(resource("pools.q").lifecycle).toBe(resource("pools.r").lifecycle);
  });

  it("in a parent has the name of the parent in its own, and its shorthand as a field", async () => {
    const { resource } = await load("scopes: { s: { acls: { ops: READ, dev: { permission: WRITE } } } }\n");
    expect(resource("acls.s/ops")).toMatchObject({
      name: "s/ops",
      key: "s/ops",
      values: { permission: "READ" },
    });
    expect(resource("acls.s/dev").values).toEqual({ permission: "WRITE" });
  });

  it("owns the lists that it has, also empty ones", async () => {
    const { resource } = await load("scopes: { s: { acls: {} }, t: { acls: {}, secrets: {} }, u: {} }\n");
    expect(["s", "t", "u"].map((name) => resource(`scopes.${name}`).owns)).toEqual([
      ["acls"],
      ["acls", "secrets"],
      [],
    ]);
    expect(resource("scopes.t").values).toEqual({});
  });

  it("has places for its key and its fields", async () => {
    const { resource } = await load("pools:\n  a:\n    node_type_id: n\n    custom_tags: { t: x }\n");
    const pool = resource("pools.a");
    const place = ({ line, column }: { line: number; column: number }) => [line, column];
    expect(place(pool.at)).toEqual([2, 3]);
    expect(place(pool.locate(["node_type_id"]))).toEqual([3, 19]);
    expect(place(pool.locate(["custom_tags", "t"]))).toEqual([4, 23]);
    expect(place(pool.locate(["max_capacity"]))).toEqual([2, 3]);
    expect(place(pool.locate([]))).toEqual([2, 3]);
  });
});

describe("a module", () => {
  const MODULE = {
    "team/workspace.yaml":
      "inputs: { pool: { default: shared } }\npools: { '${input.pool}': { node_type_id: n } }\nscopes: { 'logs-${input.pool}': { acls: { ops: READ } } }\n",
  };

  it("prefixes keys that are not the name of the object", async () => {
    const { resource, told } = await load({
      ...MODULE,
      "workspace.yaml": "modules: { team: { source: team, for_each: [ads], with: { pool: warm } } }\n",
    });
    expect(told).toEqual([]);
    expect(resource("pools.team/ads/warm")).toMatchObject({ name: "warm", key: "team/ads/warm" });
    expect(resource("scopes.logs-warm")).toMatchObject({ name: "logs-warm" });
    expect(resource("acls.logs-warm/ops").dependsOn).toEqual(["scopes.logs-warm"]);
  });

  it("may not declare an address that another one declares", async () => {
    const { told, diagnostics } = await load({
      ...MODULE,
      "workspace.yaml":
        "modules: { first: { source: team, with: { pool: x } }, b: { source: team, with: { pool: x } } }\n",
    });
    expect(told.filter((one) => one.includes("twice"))).toEqual([
      "SPEC_DUPLICATE_NAME team/workspace.yaml:3:11 scopes.logs-x is declared twice",
    ]);
    expect(diagnostics.find(({ message }) => message.includes("twice"))).toMatchObject({
      address: "scopes.logs-x",
      hint: "the other is at team/workspace.yaml:3, in first; use an input in the name",
    });
  });

  it("may not declare an address that the spec itself declares", async () => {
    const { diagnostics } = await load({
      ...MODULE,
      "workspace.yaml": "scopes: { logs-shared: {} }\nmodules: { a: { source: team } }\n",
    });
    expect(diagnostics.map(({ message, hint }) => [message, hint])).toContainEqual([
      "scopes.logs-shared is declared twice",
      "the other is at workspace.yaml:1; use an input in the name",
    ]);
  });
});

it("a problem between resources of a module has the place where the module is used", async () => {
  const { diagnostics } = await load({
    "workspace.yaml": "modules: { team: { source: team, for_each: [ads] } }\n",
    "team/workspace.yaml":
      "pools: { a: { node_type_id: n, instance_pool_name: x }, b: { node_type_id: n, instance_pool_name: x } }\n",
  });
  expect(diagnostics).toMatchObject([
    {
      message: 'pools.team/ads/b has the same name as pools.team/ads/a: "x"',
      at: { file: "team/workspace.yaml", line: 1, column: 99 },
      usedAt: [{ file: "workspace.yaml", line: 1, column: 12 }],
    },
  ]);
});
