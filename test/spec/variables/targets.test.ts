import { describe, expect, it, vi } from "vitest";
import { Findings } from "../../../src/spec/model/findings.ts";
import { SourceText } from "../../../src/spec/model/source.ts";
import { selectTarget } from "../../../src/spec/variables/targets.ts";
import { readYaml } from "../../../src/spec/yaml/read-yaml.ts";
import { load } from "../folder.ts";

const SPEC = `
targets:
  prod:
    pools: { shared: { max_capacity: 200, custom_tags: { b: "2" }, preloaded_spark_versions: [z] }, extra: { node_type_id: x } }
    policy: { max_deletes: 0 }
  dev:
    pools: { shared: { max_capacity: null } }
    users: { ada: null }
  empty: { default: true }
  bare:
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

it("removes keys that it sets to null", async () => {
  const { resource, spec } = await load(SPEC, { target: "dev" });
  expect(resource("pools.shared").values).not.toHaveProperty("max_capacity");
  expect([...(spec?.resources.keys() ?? [])]).toEqual(["pools.shared", "users.bob"]);
});

it("has no effect with an empty target", async () => {
  const none = await load(SPEC, { target: "bare" });
  const empty = await load(SPEC, { target: "empty" });
  expect(empty.told).toEqual([]);
  expect([...(empty.spec?.resources.keys() ?? [])]).toEqual([...(none.spec?.resources.keys() ?? [])]);
  expect(none.resource("pools.shared").values.max_capacity).toBe(50);
});

it("locates a value where the target sets it", async () => {
  const { resource } = await load(SPEC, { target: "prod" });
  expect(resource("pools.shared").locate(["max_capacity"])).toMatchObject({ line: 4, column: 38 });
  expect(resource("pools.shared").locate(["node_type_id"])).toMatchObject({ line: 12, column: 27 });
});

it("names the targets where an unknown one is chosen", async () => {
  const { diagnostics, told } = await load(SPEC, { target: "prd" });
  expect(told).toEqual(['SPEC_TARGET 3:3 the spec has no target "prd"']);
  expect(diagnostics[0]?.hint).toBe('did you mean "prod"?');
  const { diagnostics: none } = await load("users: {}", { target: "prod" });
  expect(none[0]).toMatchObject({
    code: "SPEC_TARGET",
    hint: "the spec has no targets; remove --target and WORKSPACE_TARGET",
  });
});

it("reports a flag of any target that is neither true nor false", async () => {
  const { told } = await load("targets: { dev: { default: 'true' }, prod: { protected: yes } }\nusers: {}");
  expect(told).toEqual([
    "SPEC_TARGET 1:10 no target is selected, and none is the default",
    "SPEC_TYPE 1:28 the target dev: default must be true or false, not a string",
    "SPEC_TYPE 1:57 the target prod: protected must be true or false, not a string",
  ]);
});

it("reports the invalid keys of every target", async () => {
  const { told } = await load("targets: { a: { include: x.yaml }, b: [1], c: { users: { x: null } } }", {
    target: "c",
  });
  expect(told).toEqual([
    "SPEC_TARGET 1:17 the target a cannot contain include",
    "SPEC_TYPE 1:39 the target b must be a map of sections, not a list",
    "SPEC_TARGET 1:58 the target removes users.x, which is not in the spec",
  ]);
});

const STATE =
  "SPEC_TARGET 1:24 the target t: state must be a folder inside the spec's folder, or workspace:/folder";

const SETTINGS = `
targets:
  dev: { default: true, host: https://dev.example.com, profile: dev, state: states/dev }
  prod: { protected: true, host: https://prod.example.com, pools: { shared: { max_capacity: 200 } } }
pools: { shared: { node_type_id: n, max_capacity: 50, custom_tags: { env: "\${target.name}" } } }
`;

describe("the selected target", () => {
  it("is the default where none is named", async () => {
    const { spec, resource } = await load(SETTINGS);
    expect(resource("pools.shared").values).toMatchObject({ max_capacity: 50, custom_tags: { env: "dev" } });
    expect(spec?.target).toMatchObject({
      name: "dev",
      host: "https://dev.example.com",
      profile: "dev",
      state: "states/dev",
      protected: false,
    });
  });

  it("is the named one", async () => {
    const { spec, resource } = await load(SETTINGS, { target: "prod" });
    expect(resource("pools.shared").values).toMatchObject({
      max_capacity: 200,
      custom_tags: { env: "prod" },
    });
    expect(spec?.target).toMatchObject({ name: "prod", protected: true });
  });

  it("has to be named if none is the default", async () => {
    const { spec, diagnostics } = await load("targets: { dev: {}, prod: {} }\nusers: { ada: {} }");
    expect(spec).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        code: "SPEC_TARGET",
        message: "no target is selected, and none is the default",
        hint: "pass --target dev or prod, or mark one with default: true",
      },
    ]);
  });

  it("cannot be one of two defaults", async () => {
    const { told } = await load(
      "targets: { a: { default: true }, b: { default: true } }\nusers: { ada: {} }",
    );
    expect(told).toEqual(["SPEC_TARGET 1:34 a and b are both the default target"]);
  });

  it.each([
    [
      "an expression as host",
      "host: '${var.h}'",
      'SPEC_TARGET 1:23 the target t: host must be a plain string, not "${var.h}"',
    ],
    [
      "a list as profile",
      "profile: [a]",
      "SPEC_TARGET 1:26 the target t: profile must be a plain string, not a list",
    ],
    [
      "a text as flag",
      "protected: maybe",
      "SPEC_TYPE 1:28 the target t: protected must be true or false, not a string",
    ],
    ["a database as state", "state: 'postgres://evil.example/x'", STATE],
    ["a folder outside as state", "state: ../other", STATE],
    ["an absolute folder as state", "state: /tmp/x", STATE],
  ])("refuses %s", async (_name, field, message) => {
    const { told } = await load(`targets: { t: { ${field} } }\nusers: { ada: {} }`, { target: "t" });
    expect(told).toEqual([message]);
  });
});

it("has no name where the spec has no targets", async () => {
  const { told } = await load("users: { '${target.name}': {} }");
  expect(told).toEqual(["SPEC_EXPRESSION 1:10 no target is selected, so target.name has no value"]);
  const { spec } = await load("users: { '${target.?name.orValue(\"none\")}': {} }");
  expect([...(spec?.resources.keys() ?? [])]).toEqual(["users.none"]);
});

it("is selected by its name without reading the other targets, of which there can be thousands", () => {
  const section = readYaml(new SourceText("w.yaml", "a: {}\nb: { host: h }\n"), new Findings());
  if (section?.kind !== "map") throw new Error("no map");
  const iterating = vi.spyOn(section.members, Symbol.iterator);
  const findings = new Findings();
  expect(selectTarget(section, "b", findings)).toMatchObject({ name: "b", host: "h" });
  expect(iterating).not.toHaveBeenCalled();
  expect(findings.diagnostics()).toEqual([]);
});
