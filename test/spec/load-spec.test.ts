import { describe, expect, it } from "vitest";
import { load } from "./folder.ts";

const WHOLE = `
variables:
  env: { default: dev, description: deployment environment }
targets: { dev: { default: true },
  prod: { variables: { env: prod }, pools: { shared: { max_capacity: 200 } } } }
users:
  ada@example.com: {}
  bob@example.com:
groups:
  data-eng: { members: { users: [Ada@example.com] } }
scopes:
  etl:
    acls: { data-eng: READ, ops: MANAGE }
    secrets:
      db-password: { env: DB_PASSWORD }
pools:
  shared: { node_type_id: small, max_capacity: 50 }
clusters:
  adhoc:
    num_workers: 2
    instance_pool_id: \${pools.shared.instance_pool_id}
jobs:
  nightly-\${var.env}:
    existing_cluster_id: \${clusters.adhoc.cluster_id}
    lifecycle: { prevent_destroy: true, ignore_changes: [libraries] }
`;

describe("a complete spec", () => {
  it("gives one resource for each entry, nested ones with their parent's key", async () => {
    const { spec, told } = await load(WHOLE, { env: { DB_PASSWORD: "hunter2" } });
    expect(told).toEqual([]);
    expect([...(spec?.resources.keys() ?? [])]).toEqual([
      "users.ada@example.com",
      "users.bob@example.com",
      "groups.data-eng",
      "scopes.etl",
      "acls.etl/data-eng",
      "acls.etl/ops",
      "secrets.etl/db-password",
      "pools.shared",
      "clusters.adhoc",
      "jobs.nightly-dev",
    ]);
  });

  it("takes the key as natural name where the spec sets none, and puts it into the values", async () => {
    const { resource } = await load(WHOLE, { env: { DB_PASSWORD: "x" } });
    expect(resource("pools.shared").name).toBe("shared");
    expect(resource("pools.shared").values).toEqual({
      instance_pool_name: "shared",
      node_type_id: "small",
      max_capacity: 50,
    });
    expect(resource("acls.etl/data-eng")).toMatchObject({
      key: "etl/data-eng",
      name: "etl/data-eng",
      values: { permission: "READ" },
    });
  });

  it("finds every edge: references, names whatever their case, principals and parents", async () => {
    const { resource } = await load(WHOLE, { env: { DB_PASSWORD: "x" } });
    expect(resource("groups.data-eng").dependsOn).toEqual(["users.ada@example.com"]);
    expect(resource("acls.etl/data-eng").dependsOn).toEqual(["groups.data-eng", "scopes.etl"]);
    expect(resource("acls.etl/ops").dependsOn).toEqual(["scopes.etl"]);
    expect(resource("secrets.etl/db-password").dependsOn).toEqual(["scopes.etl"]);
    expect(resource("clusters.adhoc").dependsOn).toEqual(["pools.shared"]);
    expect(resource("jobs.nightly-dev").dependsOn).toEqual(["clusters.adhoc"]);
  });

  it("keeps references as strings, with their parsed parts", async () => {
    const { resource } = await load(WHOLE, { env: { DB_PASSWORD: "x" } });
    const { values, references } = resource("clusters.adhoc");
    expect(values.instance_pool_id).toBe("${pools.shared.instance_pool_id}");
    expect(references).toEqual([
      { path: ["instance_pool_id"], parts: [{ address: "pools.shared", attribute: "instance_pool_id" }] },
    ]);
  });

  it("says which nested kinds are managed, also if they are empty", async () => {
    const { resource } = await load("scopes: { a: { acls: {} }, b: {}, c: { secrets: null } }");
    expect(resource("scopes.a").owns).toEqual(["acls"]);
    expect(resource("scopes.b").owns).toEqual([]);
    expect(resource("scopes.c").owns).toEqual(["secrets"]);
  });

  it("reads lifecycle, and the default policy where none is written", async () => {
    const { spec, resource } = await load(WHOLE, { env: { DB_PASSWORD: "x" } });
    expect(resource("jobs.nightly-dev").lifecycle).toEqual({
      prevent_destroy: true,
      ignore_changes: ["libraries"],
    });
    expect(resource("users.bob@example.com").lifecycle).toEqual({
      prevent_destroy: false,
      ignore_changes: [],
    });
    expect(spec?.policy).toEqual({
      on_immutable_change: "error",
      on_immutable_change_by_kind: {},
      max_deletes: { share: 0.3 },
      authoritative: [],
      duplicate_names: "error",
    });
  });

  it("locates a resource, a field, and the nearest parent of an absent field", async () => {
    const { resource } = await load(WHOLE, { env: { DB_PASSWORD: "x" } });
    expect(resource("clusters.adhoc").at).toMatchObject({ file: "workspace.yaml", line: 19, column: 3 });
    expect(resource("clusters.adhoc").locate(["num_workers"])).toMatchObject({ line: 20, column: 18 });
    expect(resource("clusters.adhoc").locate(["spark_conf", "a"])).toMatchObject({ line: 19, column: 3 });
    expect(resource("jobs.nightly-dev").locate(["lifecycle", "ignore_changes", 0])).toMatchObject({
      line: 25,
      column: 58,
    });
  });

  it("names each file with the digest of its bytes", async () => {
    const { spec } = await load({
      "workspace.yaml": "include: a.yaml",
      "a.yaml": "users: { a: {} }",
    });
    expect(spec?.files.map(({ path }) => path)).toEqual(["workspace.yaml", "a.yaml"]);
    expect(spec?.files[1]?.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("takes an empty file, and one with comments only, for a spec without resources, and warns", async () => {
    for (const text of ["", "# nothing yet\n", "users:\n", "---\n"]) {
      const { spec, told } = await load(text);
      expect(told).toEqual(["SPEC_EMPTY the spec declares no resources, so it manages nothing"]);
      expect(spec?.resources.size).toBe(0);
    }
  });

  it("reports a missing spec without a location", async () => {
    const { told, spec } = await load({ "other.yaml": "" });
    expect(spec).toBeUndefined();
    expect(told).toEqual(["SPEC_NOT_FOUND workspace.yaml does not exist"]);
  });
});

describe("all problems at once", () => {
  it("reports problems of schema, references, names and policy in one go, in the order of the file", async () => {
    const { told, spec } = await load(`
policy: { max_deletes: lots }
pols: {}
pools:
  spare:
    node_type_id: small
    max_size: 3
    min_idle_instances: "2"
  other: { max_capacity: 2000 }
clusters:
  a: { num_workers: 1.5, instance_pool_id: "\${pools.spar.instance_pool_id}" }
`);
    expect(spec).toBeUndefined();
    expect(told).toEqual([
      'SPEC_VALUE 2:24 policy: max_deletes must look like 30%, but "lots" does not',
      'SPEC_UNKNOWN_KIND 3:1 "pols" is not a valid kind',
      'SPEC_UNKNOWN_FIELD 7:5 pools.spare has no field "max_size"',
      'SPEC_TYPE 8:25 pools.spare: min_idle_instances must be an integer, not the string "2"',
      'SPEC_MISSING_FIELD 9:3 pools.other requires the field "node_type_id"',
      "SPEC_VALUE 9:26 pools.other: max_capacity must be at most 1000, not 2000",
      "SPEC_TYPE 11:21 clusters.a: num_workers must be an integer, not 1.5",
      "SPEC_REFERENCE 11:44 ${pools.spar.instance_pool_id} refers to pools.spar, which is not in the spec",
    ]);
  });

  it("gives each an address, a frame, and the next step", async () => {
    const { diagnostics } = await load(
      "pools:\n  spare:\n    node_type_id: x\n    max_size: 3\n    max_capacity: 4\n",
    );
    expect(diagnostics).toEqual([
      {
        severity: "error",
        code: "SPEC_UNKNOWN_FIELD",
        message: 'pools.spare has no field "max_size"',
        address: "pools.spare",
        at: {
          file: "workspace.yaml",
          line: 4,
          column: 5,
          frame: [
            "  3 |     node_type_id: x",
            "> 4 |     max_size: 3",
            "    |     ^^^^^^^^",
            "  5 |     max_capacity: 4",
          ].join("\n"),
        },
        hint: 'did you mean "max_capacity"?',
      },
    ]);
  });

  it("reports problems of several files, each under its own name", async () => {
    const { told } = await load({
      "workspace.yaml": "include: [teams/*.yaml]\nusers: { a: { activ: true } }\n",
      "teams/a.yaml": "users: { b: { active: 1 } }\n",
    });
    expect(told).toEqual([
      'SPEC_UNKNOWN_FIELD 2:15 users.a has no field "activ"',
      "SPEC_TYPE teams/a.yaml:1:23 users.b: active must be true or false, not 1",
    ]);
  });
});
