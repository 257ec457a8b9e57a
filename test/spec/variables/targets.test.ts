import { expect, it } from "vitest";
import { load } from "../folder.ts";

const SPEC = `
targets:
  prod:
    pools: { shared: { max_capacity: 200, custom_tags: { b: "2" }, preloaded_spark_versions: [z] }, extra: { node_type_id: x } }
    policy: { max_deletes: 0 }
  dev:
    pools: { shared: { max_capacity: null } }
    users: { ada: null }
  empty:
pools:
  shared: { node_type_id: n, max_capacity: 50, custom_tags: { a: "1" }, preloaded_spark_versions: [x, y] }
users: { ada: {}, bob: {} }
`;

it("lays maps over maps, and puts lists and values in the place of others", async () => {
  const { resource, spec } = await load(SPEC, { target: "prod" });
  expect(resource("pools.shared").values).toEqual({
    instance_pool_name: "shared",
    node_type_id: "n",
    max_capacity: 200,
    custom_tags: { a: "1", b: "2" },
    preloaded_spark_versions: ["z"],
  });
  expect(resource("pools.extra").values).toMatchObject({ node_type_id: "x" });
  expect(spec?.policy.max_deletes).toEqual({ count: 0 });
});

it("takes away what it sets to null", async () => {
  const { resource, spec } = await load(SPEC, { target: "dev" });
  expect(resource("pools.shared").values).not.toHaveProperty("max_capacity");
  expect([...(spec?.resources.keys() ?? [])]).toEqual(["pools.shared", "users.bob"]);
});

it("changes nothing without a target, or with an empty one", async () => {
  const none = await load(SPEC);
  const empty = await load(SPEC, { target: "empty" });
  expect(empty.told).toEqual([]);
  expect([...(empty.spec?.resources.keys() ?? [])]).toEqual([...(none.spec?.resources.keys() ?? [])]);
  expect(none.resource("pools.shared").values.max_capacity).toBe(50);
});

it("locates a value where the target sets it", async () => {
  const { resource } = await load(SPEC, { target: "prod" });
  expect(resource("pools.shared").locate(["max_capacity"])).toMatchObject({ line: 4, column: 38 });
  expect(resource("pools.shared").locate(["node_type_id"])).toMatchObject({ line: 11, column: 27 });
});

it("names the targets where an unknown one is chosen", async () => {
  const { diagnostics, told } = await load(SPEC, { target: "prd" });
  expect(told).toEqual(['SPEC_TARGET 3:3 the spec has no target "prd"']);
  expect(diagnostics[0]?.hint).toBe('did you mean "prod"?');
  const { diagnostics: none } = await load("users: {}", { target: "prod" });
  expect(none[0]).toMatchObject({ code: "SPEC_TARGET", hint: "the spec has no targets" });
});

it("tells what a target may not hold, of every target", async () => {
  const { told } = await load("targets: { a: { include: x.yaml }, b: [1], c: { users: { x: null } } }", {
    target: "c",
  });
  expect(told).toEqual([
    "SPEC_TARGET 1:17 the target a cannot hold include",
    "SPEC_TYPE 1:39 the target b must be a map of sections, not a list",
    "SPEC_TARGET 1:58 the target takes away users.x, which the spec does not have",
  ]);
});
