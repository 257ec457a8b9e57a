// `for_each` and `when` of resources and of modules.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

const SPEC = `
variables: { env: { default: prod }, key: { type: string, sensitive: true, default: CANARY7 } }
locals: { teams: { ads: { size: 5 }, web: { size: 2 } } }
pools:
  plain: { node_type_id: n }
`;

const addresses = async (yaml: string, files: Readonly<Record<string, string>> = {}) => {
  const { spec, told } = await load({ "workspace.yaml": `${SPEC}${yaml}`, ...files });
  return spec === undefined ? told : [...spec.resources.keys()].filter((one) => one !== "pools.plain").sort();
};

describe("a resource with for_each", () => {
  it("is declared for each key of a map, with its value", async () => {
    const { resource } = await load(
      `${SPEC}  "\${each.key}-pool":\n    for_each: \${local.teams}\n    node_type_id: n\n    max_capacity: \${each.value.size}\n    custom_tags: { team: "\${each.key}" }\n`,
    );
    expect(resource("pools.ads-pool").values).toMatchObject({
      max_capacity: 5,
      custom_tags: { team: "ads" },
    });
    expect(resource("pools.web-pool").values).toMatchObject({
      max_capacity: 2,
      custom_tags: { team: "web" },
    });
  });

  it("is declared for each string of a list, which may be any key", async () => {
    expect(await addresses('users: { "${each.key}": { for_each: [a@b.c, d@e.f] } }\n')).toEqual([
      "users.a@b.c",
      "users.d@e.f",
    ]);
  });

  it("is declared in each instance of a module", async () => {
    const files = {
      "m/workspace.yaml": 'pools: { "p-${each.key}": { for_each: [x, y], node_type_id: n } }\n',
    };
    expect(await addresses("modules: { m: { source: m, for_each: [a] } }\n", files)).toEqual([
      "pools.m/a/p-x",
      "pools.m/a/p-y",
    ]);
  });

  it("has one error for a line, with the addresses of the others", async () => {
    const pool = (keys: string): string =>
      `pools: { "p-\${each.key}": { for_each: [${keys}], node_type_id: 7 } }\n`;
    const error = "SPEC_TYPE 1:64 pools.p-a: node_type_id must be a string, not 7";
    expect((await load(pool("a, b, c"))).told).toEqual([`${error} (and for pools.p-b and pools.p-c)`]);
    const many = "abcdefgh".split("").join(", ");
    expect((await load(pool(many))).told).toEqual([
      expect.stringMatching(/^SPEC_TYPE .* not 7 \(and for pools\.p-b, pools\.p-c, pools\.p-d and 4 more\)$/),
    ]);
    const files = {
      "workspace.yaml": "modules: { m: { source: m, for_each: [x, y], with: { team: '${each.key}' } } }\n",
      "m/workspace.yaml":
        "inputs: { team: { type: string } }\n" +
        pool("a, b").replace("{ for_each", '{ instance_pool_name: "${input.team}-${each.key}", for_each'),
    };
    expect((await load(files)).told).toEqual([
      expect.stringMatching(/ not 7 \(and for pools\.m\/x\/p-b\) \(and in 1 other instance of the module\)/),
    ]);
  });

  it("can contain nested resources, and be referred to", async () => {
    expect(
      await addresses(
        '  "p-${each.key}": { for_each: [a], node_type_id: n }\nclusters: { c: { num_workers: 1, instance_pool_id: "${pools.p-a.instance_pool_id}" } }\nscopes: { "s-${each.key}": { for_each: [a], acls: { users: READ } } }\ngroups: { users: {} }\n',
      ),
    ).toEqual(["acls.s-a/users", "clusters.c", "groups.users", "pools.p-a", "scopes.s-a"]);
  });

  it.each([
    [
      "p: { for_each: [a], node_type_id: n }",
      "the key of pools.p must contain ${each.key}, because it has for_each",
    ],
    ['"${each.key}": { for_each: [a, a], node_type_id: n }', 'for_each has the key "a" twice'],
    ['"${each.key}": { for_each: [plain], node_type_id: n }', 'pools has "plain" twice after for_each'],
    [
      '"${each.key}": { for_each: [1], node_type_id: n }',
      "a list in for_each contains strings, not the number 1",
    ],
    ['"${each.key}": { for_each: 3, node_type_id: n }', "for_each must be a map or a list of strings"],
    [
      '"${each.key}": { for_each: "${var.key.split(\'N\')}", node_type_id: n }',
      "a key of for_each cannot contain a sensitive value",
    ],
    ['"${each.key}": { for_each: [a], max_size: 1, node_type_id: n }', 'pools.a has no field "max_size"'],
    [
      '"${each.key}": { for_each: [], max_capacity: "${1 +}", node_type_id: n }',
      "the expression is incomplete",
    ],
    ['p: { node_type_id: "${each.key}" }', "each exists only where for_each is"],
  ])("%s is refused", async (yaml, message) => {
    expect(await addresses(`  ${yaml}\n`)).toContainEqual(expect.stringContaining(message));
  });
});

describe("when", () => {
  it.each([
    ["'${var.env == \"prod\"}'", ["pools.p"]],
    ["'${var.env == \"dev\"}'", []],
    ["true", ["pools.p"]],
    ["false", []],
  ])("of a resource with the value %s declares %j", async (value, declared) => {
    expect(await addresses(`  p: { when: ${value}, node_type_id: n }\n`)).toEqual(declared);
  });

  it("leaves out entries of for_each", async () => {
    expect(
      await addresses(
        '  "${each.key}": { for_each: "${local.teams}", when: "${each.value.size > 2}", node_type_id: n }\n',
      ),
    ).toEqual(["pools.ads"]);
  });

  it("evaluates nothing of a resource that is left out, and checks its syntax", async () => {
    expect(await addresses('  p: { when: false, node_type_id: "${local.teams.none.x}" }\n')).toEqual([]);
    expect(await addresses('  p: { when: false, node_type_id: "${local.}" }\n')).toEqual([
      expect.stringContaining("the expression is incomplete"),
    ]);
  });

  it("leaves out instances of a module, and their outputs", async () => {
    const files = { "m/workspace.yaml": "outputs: { o: { value: 1 } }\npools: { q: { node_type_id: n } }\n" };
    const modules =
      "modules: { m: { source: m, for_each: [a, b], when: '${each.key == \"a\"}' }, off: { source: m, when: false } }\n";
    expect(await addresses(modules, files)).toEqual(["pools.m/a/q"]);
    expect(await addresses(`${modules}users: { 'u\${modules.m/b.o}': {} }\n`, files)).toEqual([
      expect.stringContaining("modules.m/b is left out by its when"),
    ]);
    expect(await addresses(`${modules}users: { 'u\${modules.off.o}': {} }\n`, files)).toEqual([
      expect.stringContaining("modules.off is left out by its when"),
    ]);
    expect(await addresses(`${modules}users: { '\${modules.m.map(k, k).join("-")}': {} }\n`, files)).toEqual([
      "pools.m/a/q",
      "users.a",
    ]);
  });

  it("makes a reference to the resource an error that says so", async () => {
    expect(
      await addresses(
        '  p: { when: false, node_type_id: n }\nclusters: { c: { num_workers: 1, instance_pool_id: "${pools.p.instance_pool_id}" } }\n',
      ),
    ).toEqual([expect.stringContaining("refers to pools.p, which its when leaves out")]);
  });

  it.each([
    ["3", "pools.p: when must be true or false, not the number 3"],
    ['"yes"', "pools.p: when must be true or false, not a string"],
    ["\"${var.key == 'x'}\"", "pools.p: when cannot contain a sensitive value"],
    ['"${local.none}"', 'unknown local "none"'],
  ])("is refused with the value %s", async (value, message) => {
    const told = await addresses(`  p: { when: ${value}, node_type_id: n }\n`);
    expect(told).toEqual([expect.stringContaining(message)]);
    expect(JSON.stringify(told)).not.toContain("CANARY7");
  });

  it("is decided by each target, and another target may set it", async () => {
    const targets = "targets: { dev: { default: true }, prod: { pools: { p: { when: true } } } }\n";
    const yaml = `${SPEC}  p: { when: '\${target.name == "x"}', node_type_id: n }\n${targets}`;
    const declared = async (target: string) => [
      ...((await load(yaml, { target, allTargets: true })).spec?.resources.keys() ?? []),
    ];
    expect(await declared("dev")).toEqual(["pools.plain"]);
    expect(await declared("prod")).toEqual(["pools.plain", "pools.p"]);
  });
});
