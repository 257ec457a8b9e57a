import { describe, expect, it } from "vitest";
import { load } from "./folder.ts";

describe("names", () => {
  it("that two resources would share are reported, ignoring case if the kind does", async () => {
    const { told, diagnostics } = await load(`
users: { Ada@example.com: {}, ada@example.com: {} }
groups: { a: { displayName: ops }, b: { displayName: ops }, c: { displayName: OPS } }
`);
    expect(told).toEqual([
      'SPEC_DUPLICATE_NAME 2:31 users.ada@example.com has the same name as users.Ada@example.com: "ada@example.com"',
      'SPEC_DUPLICATE_NAME 3:54 groups.b has the same name as groups.a: "ops"',
    ]);
    expect(diagnostics.map(({ hint }) => hint)).toEqual([
      "rename one of them; users.Ada@example.com is at workspace.yaml:2, and names of users must be unique, ignoring case",
      "rename one of them; groups.a is at workspace.yaml:3, and names of groups must be unique",
    ]);
  });

  it("may be shared where the service lets them", async () => {
    expect((await load("clusters: { a: { cluster_name: x }, b: { cluster_name: x } }")).told).toEqual([]);
  });

  it("may not be empty", async () => {
    expect((await load("users: { '': {} }")).told).toEqual([
      "SPEC_VALUE 1:10 users contains a resource with an empty name",
    ]);
  });
});

describe("limits of the service", () => {
  it("are reported once, at the first resource above the limit", async () => {
    const { told } = await load("scopes: { a: {}, b: {}, c: {}, d: {}, e: {} }");
    expect(told).toEqual(["SPEC_LIMIT 1:32 a workspace can contain at most 3 scopes; the spec has 5"]);
  });

  it("count for each parent separately", async () => {
    const keys = (count: number): string =>
      Array.from({ length: count }, (_, at) => `k${at}: { env: A }`).join(", ");
    const { told } = await load(
      `scopes: { a: { secrets: { ${keys(2)} } }, b: { secrets: { ${keys(3)} } } }`,
      { secrets: "skip" },
    );
    expect(told).toEqual(["SPEC_LIMIT 1:111 scopes.b can contain at most 2 secrets; the spec has 3"]);
  });
});

describe("circles", () => {
  it("are reported with their path", async () => {
    const { told } = await load(`
groups:
  a: { members: { groups: [b] } }
  b: { members: { groups: [c] } }
  c: { members: { groups: [a, d] } }
  d: {}
`);
    expect(told).toEqual(["SPEC_CYCLE 3:3 dependency cycle: groups.a -> groups.b -> groups.c -> groups.a"]);
  });

  it("of one resource are reported as such", async () => {
    expect((await load("groups: { a: { members: { groups: [a] } } }")).told).toEqual([
      "SPEC_CYCLE 1:11 groups.a depends on itself",
    ]);
  });

  it("by references are reported too", async () => {
    const { told } = await load(`
clusters:
  a: { spark_conf: { k: "\${clusters.b.cluster_id}" } }
  b: { spark_conf: { k: "\${clusters.a.cluster_id}" } }
`);
    expect(told).toEqual(["SPEC_CYCLE 3:3 dependency cycle: clusters.a -> clusters.b -> clusters.a"]);
  });

  it("are not reported if two paths lead to the same resource", async () => {
    const { told } = await load(
      "groups: { a: { members: { groups: [b, d] } }, b: { members: { groups: [c, d] } }, c: { members: { groups: [d] } }, d: {} }",
    );
    expect(told).toEqual([]);
  });
});

describe("memberships", () => {
  it("that both ends declare are reported once for each pair, whether they agree or not", async () => {
    const { told } = await load(`
users: { ada: { groups: [ops] }, bob: { groups: [] }, eve: {}, kim: { groups: [free] } }
groups: { ops: { members: { users: [ADA, bob, eve] } }, free: {} }
`);
    expect(told).toContain(
      "SPEC_COMBINATION 3:42 groups.ops: members.users and users.bob: groups both define one membership",
    );
    expect(told.filter((one) => one.startsWith("SPEC_COMBINATION"))).toHaveLength(2);
  });
});

describe("checks of a kind", () => {
  it("are located at the field that they name", async () => {
    const { told } = await load(
      "pools:\n  p:\n    node_type_id: x\n    min_idle_instances: 9\n    max_capacity: 3\n",
    );
    expect(told).toEqual(["SPEC_COMBINATION 4:25 pools.p: min_idle_instances is more than max_capacity"]);
  });

  it("are reported together with errors of other fields, but not for fields with an error", async () => {
    const wrong = "pools: { p: { node_type_id: 1, min_idle_instances: 9, max_capacity: 3 } }";
    expect((await load(wrong)).told).toEqual([
      "SPEC_TYPE 1:29 pools.p: node_type_id must be a string, not 1",
      "SPEC_COMBINATION 1:52 pools.p: min_idle_instances is more than max_capacity",
    ]);
    const both = "pools: { p: { node_type_id: x, min_idle_instances: -1, max_capacity: -2 } }";
    expect((await load(both)).told).toEqual([
      "SPEC_VALUE 1:52 pools.p: min_idle_instances must be at least 0, not -1",
    ]);
  });
});

describe("sets", () => {
  it("with a duplicate entry are a warning", async () => {
    const { spec, diagnostics } = await load(
      "pools: { p: { node_type_id: x, preloaded_spark_versions: [a, b, a] } }",
    );
    expect(spec).toBeDefined();
    expect(diagnostics).toMatchObject([
      { severity: "warning", message: "pools.p: preloaded_spark_versions contains a duplicate entry" },
    ]);
  });
});

describe("policy and lifecycle", () => {
  it("are read in all their forms", async () => {
    const { spec, told, resource } = await load(`
policy:
  on_immutable_change: { default: replace, users: error }
  max_deletes: 12.5%
  authoritative: [groups]
pools:
  p: { node_type_id: x, lifecycle: { on_immutable_change: error, ignore_changes: [custom_tags.team, node_type_id] } }
`);
    expect(told).toEqual([]);
    expect(spec?.policy).toEqual({
      on_immutable_change: "replace",
      on_immutable_change_by_kind: { users: "error" },
      max_deletes: { share: 0.125 },
      authoritative: ["groups"],
      duplicate_names: "error",
    });
    expect(resource("pools.p").lifecycle).toEqual({
      prevent_destroy: false,
      ignore_changes: ["custom_tags.team", "node_type_id"],
      on_immutable_change: "error",
    });
    expect(
      (await load("policy: { on_immutable_change: replace, max_deletes: 0 }")).spec?.policy,
    ).toMatchObject({
      on_immutable_change: "replace",
      max_deletes: { count: 0 },
    });
    expect((await load("policy: { duplicate_names: allow }")).spec?.policy.duplicate_names).toBe("allow");
  });

  it("are checked like everything else", async () => {
    const { told } = await load(`
policy: { on_immutable_change: { pool: error }, max_deletes: 130%, authoritative: [acls], max_delets: 1 }
pools:
  p: { node_type_id: x, lifecycle: { prevent_destroy: yes, ignore_changes: [node_type, members.users, instance_pool_name], x: 1 } }
`);
    expect(told).toEqual([
      'SPEC_UNKNOWN_FIELD 2:34 policy has no field "on_immutable_change.pool"',
      'SPEC_VALUE 2:62 policy: max_deletes must look like 30%, but "130%" does not',
      'SPEC_VALUE 2:84 policy: authoritative[0] must be one of users, groups, scopes, pools, clusters, jobs, directories, notebooks or files, not "acls"',
      'SPEC_UNKNOWN_FIELD 2:91 policy has no field "max_delets"',
      'SPEC_TYPE 4:55 pools.p: lifecycle.prevent_destroy must be true or false, not the string "yes"',
      'SPEC_UNKNOWN_FIELD 4:77 pools.p: ignore_changes contains "node_type", which is not a field of pools',
      'SPEC_UNKNOWN_FIELD 4:88 pools.p: ignore_changes contains "members.users", which is not a field of pools',
      'SPEC_UNKNOWN_FIELD 4:124 pools.p has no field "lifecycle.x"',
    ]);
  });
});

describe("sections", () => {
  it("that are not maps, nested kinds at the top level, and resources that are not maps are reported", async () => {
    const { told, diagnostics } = await load(
      "users: [ada]\nacls: {}\npools: { p: 3 }\nscopes: { s: { acls: READ } }\nx-note: free\n",
    );
    expect(told).toEqual([
      "SPEC_TYPE 1:8 users must be a map of names, not a list",
      "SPEC_UNKNOWN_KIND 2:1 acls must be nested under scopes",
      "SPEC_TYPE 3:13 pools.p must be a map of fields, not the number 3",
      "SPEC_TYPE 4:22 scopes.s: acls must be a map of names, not a string",
    ]);
    expect(diagnostics[1]?.hint).toBe("write them under scopes.NAME.acls");
  });
});
