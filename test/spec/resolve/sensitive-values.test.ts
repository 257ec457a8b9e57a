// Which values of a spec come from sensitive ones, and where they are refused.

import { describe, expect, it } from "vitest";
import { toPointer } from "../../../src/core/pointer.ts";
import { load } from "../folder.ts";
import { withPoolFields } from "../kinds.ts";

const KEY = "variables: { key: { type: string, sensitive: true, default: CANARY7 }, open: plain }\n";

async function pointers(yaml: string, address: string): Promise<readonly string[]> {
  const { resource } = await load(yaml);
  return (resource(address).sensitive ?? []).map(toPointer);
}

const pool = (fields: string): string => `pools: { p: { node_type_id: n, ${fields} } }\n`;

describe("a value that comes from a sensitive variable", () => {
  it.each([
    ["alone", pool('custom_tags: { a: "${var.key}", b: "${var.open}" }'), ["/custom_tags/a"]],
    ["inside a string", pool('custom_tags: { a: "x-${var.key}" }'), ["/custom_tags/a"]],
    ["through a function", pool('custom_tags: { a: "${var.key.lowerAscii()}" }'), ["/custom_tags/a"]],
    ["as a number", pool('max_capacity: "${size(var.key)}"'), ["/max_capacity"]],
    ["as a boolean", pool(`enable_elastic_disk: "\${var.key.contains('C')}"`), ["/enable_elastic_disk"]],
    [
      "as a list",
      pool(`preloaded_spark_versions: "\${var.key.split('N')}"`),
      ["/preloaded_spark_versions/0", "/preloaded_spark_versions/1"],
    ],
    [
      "as an entry of a list",
      pool('preloaded_spark_versions: [a, "${var.key}"]'),
      ["/preloaded_spark_versions/1"],
    ],
    [
      "through locals",
      `locals: { one: "\${var.key}", two: { a: "\${local.one}", b: c } }\n${pool('custom_tags: "${local.two}"')}`,
      ["/custom_tags/a"],
    ],
    [
      "through a map that is merged with another",
      `locals: { one: { a: "\${var.key}" }, two: { b: c } }\n${pool('custom_tags: "${local.two.merge(local.one)}"')}`,
      ["/custom_tags/a"],
    ],
    [
      "through lists that are joined",
      `locals: { one: ["\${var.key}"], two: [b] }\n${pool('preloaded_spark_versions: "${local.two + local.one}"')}`,
      ["/preloaded_spark_versions/0", "/preloaded_spark_versions/1"],
    ],
    [
      "through the values of a map",
      `locals: { one: { b: "\${var.key}", a: c } }\n${pool('preloaded_spark_versions: "${local.one.map(k, local.one[k])}"')}`,
      ["/preloaded_spark_versions/0", "/preloaded_spark_versions/1"],
    ],
  ])("is known by its path: %s", async (_, yaml, expected) => {
    expect(await pointers(KEY + yaml, "pools.p")).toEqual(expected);
  });

  it.each([
    ["the keys of a map", pool('preloaded_spark_versions: "${local.one.map(k, k)}"')],
    ["the number of entries of a map", pool('max_capacity: "${size(local.one)}"')],
  ])("does not decide %s", async (_, yaml) => {
    expect(await pointers(`${KEY}locals: { one: { a: "\${var.key}" } }\n${yaml}`, "pools.p")).toEqual([]);
  });

  it("is known in a resource that refers to the field of another one, also through a third one", async () => {
    const yaml = `${KEY}${pool('custom_tags: { a: b }, max_capacity: "${size(var.key)}"')}
clusters:
  direct: { num_workers: "\${pools.p.max_capacity}" }
  open: { num_workers: "\${pools.p.min_idle_instances}" }
  far: { num_workers: "\${clusters.direct.num_workers}" }
`;
    expect(await pointers(yaml, "clusters.direct")).toEqual(["/num_workers"]);
    expect(await pointers(yaml, "clusters.far")).toEqual(["/num_workers"]);
    expect(await pointers(yaml, "clusters.open")).toEqual([]);
  });

  it("is known in a module, through an input that is not sensitive itself, and through an output", async () => {
    const { resource } = await load({
      "workspace.yaml": `${KEY}modules: { m: { source: m, with: { given: "\${var.key}" } } }\n${pool('custom_tags: { a: "${modules.m.out}" }')}`,
      "m/workspace.yaml":
        'inputs: { given: { type: string } }\noutputs: { out: "${input.given.upperAscii()}" }\npools: { q: { node_type_id: n, custom_tags: { a: "${input.given}" } } }\n',
    });
    expect(resource("pools.m/q").sensitive).toEqual([["custom_tags", "a"]]);
    expect(resource("pools.p").sensitive).toEqual([["custom_tags", "a"]]);
  });

  it("is known through an input that the module declares as sensitive", async () => {
    const { resource } = await load({
      "workspace.yaml": "modules: { m: { source: m, with: { given: CANARY7 } } }\n",
      "m/workspace.yaml":
        'inputs: { given: { type: string, sensitive: true } }\npools: { q: { node_type_id: n, custom_tags: { a: "${input.given}" } } }\n',
    });
    expect(resource("pools.m/q").sensitive).toEqual([["custom_tags", "a"]]);
  });
});

const MODULE = "inputs: { n: { type: string, default: x } }\npools: { q: { node_type_id: n } }\n";

describe("a sensitive value", () => {
  it.each([
    ["a name", { identifies: true }],
    ["a key", { isKey: true }],
    ["the source of a value", { source: true }],
    ["the name of another object", { names: "users" }],
    ["a reference", { refersTo: "pools" }],
    ["the name or path of another object", { mentions: ["files"] }],
    ["a path", { fileUri: true }],
  ])("is refused in a field that is %s: %j", async (role, annotation) => {
    const { told, diagnostics } = await load(KEY + pool('text: "${var.key}"'), {
      registry: withPoolFields({ text: { type: "string", ...annotation } }),
    });
    expect(told.filter((line) => line.startsWith("SPEC_SENSITIVE"))).toEqual([
      expect.stringMatching(`pools.p: text is ${role} and cannot be a sensitive value$`),
    ]);
    expect(diagnostics.find(({ code }) => code === "SPEC_SENSITIVE")?.address).toBe("pools.p");
  });

  it("may be in a map under a key that is the name of a field for names", async () => {
    const yaml = `${KEY}clusters: { c: { spark_conf: { cluster_name: "\${var.key}" } } }\n`;
    expect(await pointers(yaml, "clusters.c")).toEqual(["/spark_conf/cluster_name"]);
  });

  it.each([
    ["a key", 'users: { "${var.key}@example.com": {} }', "a key cannot contain a sensitive value"],
    ["the key of a map", pool('custom_tags: { "${var.key}": a }'), "a key cannot contain a sensitive value"],
    [
      "a name",
      'clusters: { c: { num_workers: 1, cluster_name: "${var.key}" } }',
      "clusters.c: cluster_name is a name and cannot be a sensitive value",
    ],
    [
      "the name of another object",
      'groups: { g: { members: { users: ["${var.key}"] } } }',
      "groups.g: members.users[0] is the name of another object and cannot be a sensitive value",
    ],
    [
      "an ID",
      'clusters: { c: { num_workers: 1, instance_pool_id: "${var.key}" } }',
      "clusters.c: instance_pool_id is a reference and cannot be a sensitive value",
    ],
    [
      "a path",
      'jobs: { j: { notebook_path: "${var.key}" } }',
      "jobs.j: notebook_path is the name or path of another object and cannot be a sensitive value",
    ],
    [
      "the source of a secret",
      'scopes: { s: { secrets: { x: { env: "${var.key}" } } } }',
      "secrets.s/x: env is the source of a value and cannot be a sensitive value",
    ],
    [
      "a part of a reference",
      `${pool("")}clusters: { c: { num_workers: "\${pools.\${var.key}.max_capacity}" } }`,
      "${pools.${var.key}.max_capacity} cannot contain a sensitive value",
    ],
    [
      "a lifecycle",
      pool(`lifecycle: { prevent_destroy: "\${var.key.contains('C')}" }`),
      "pools.p: lifecycle cannot contain a sensitive value",
    ],
    [
      "a policy",
      `${pool("")}policy: { max_deletes: "\${size(var.key)}" }`,
      "policy cannot contain a sensitive value",
    ],
    [
      "the keys of a map that an expression makes",
      pool('custom_tags: "${{var.key: 1}}"'),
      "pools.p: keys of custom_tags cannot come from a sensitive value",
    ],
    [
      "a key of a section that an expression makes",
      "pools: \"${{var.key: { 'node_type_id': 1 }}}\"",
      "keys of pools cannot come from a sensitive value",
    ],
    [
      "a key of a resource that an expression makes",
      'pools: { p: "${{var.key: 1}}" }',
      "keys of pools.p cannot come from a sensitive value",
    ],
    [
      "a key of a list in a resource that an expression makes",
      "scopes: { s: { acls: \"${{var.key: 'READ'}}\" } }",
      "keys of scopes.s: acls cannot come from a sensitive value",
    ],
    [
      "an entry of moved",
      `${pool("")}moved: [{ from: "pools.\${var.key}", to: pools.p }]`,
      "moved cannot contain a sensitive value",
    ],
    [
      "an entry of import",
      `${pool("")}import: [{ address: pools.p, id: "\${var.key}" }]`,
      "import cannot contain a sensitive value",
    ],
    [
      "an entry",
      `${pool("")}removed: [{ address: "pools.\${var.key}" }]`,
      "removed cannot contain a sensitive value",
    ],
    [
      "a key of for_each",
      `modules: { m: { source: m, for_each: "\${var.key.split('N')}" } }`,
      "modules.m: a key of for_each cannot contain a sensitive value",
    ],
  ])("is refused as %s, and no diagnostic shows it", async (_, yaml, message) => {
    const { told, diagnostics, spec } = await load({
      "workspace.yaml": `${KEY}${yaml}\n`,
      "m/workspace.yaml": MODULE,
    });
    expect(spec).toBeUndefined();
    expect(told.filter((line) => line.startsWith("SPEC_SENSITIVE"))).toEqual([
      expect.stringMatching(
        new RegExp(`^SPEC_SENSITIVE \\d+:\\d+ ${message.replace(/[.[\]{}$()]/g, "\\$&")}$`),
      ),
    ]);
    expect(JSON.stringify(diagnostics)).not.toMatch(/CANARY7/i);
    expect(diagnostics.find(({ code }) => code === "SPEC_SENSITIVE")?.hint).toContain("not sensitive");
  });

  it.each([
    [
      "a schema, also if the message would shorten it",
      pool('max_capacity: "${var.key}"'),
      `CANARY7${"x".repeat(90)}`,
    ],
    ["a schema, also if it is short", pool('max_capacity: "${var.key}"'), "xyz"],
    ["the rules of a kind", `${pool('min_idle_instances: "${size(var.key)}", max_capacity: 1')}`, "CANARY7"],
  ])("is in no message of %s", async (_, yaml, value) => {
    const { told, diagnostics } = await load(KEY.replace("CANARY7", value) + yaml);
    expect(told).toHaveLength(1);
    expect(JSON.stringify(diagnostics)).not.toMatch(/CANARY7|xyz|x{20}/);
  });

  it("is hidden in its escaped form as well", async () => {
    const value = "a${b}c-CANARY";
    const { spec } = await load(
      KEY.replace(", default: CANARY7", "") + pool('custom_tags: { a: "${var.key}" }'),
      {
        vars: [`key=${value}`],
      },
    );
    expect(spec?.sensitive?.masked(`say ${value}`)).toBe("say (sensitive)");
    expect(spec?.sensitive?.masked("say a$${b}c-CANARY")).toBe("say (sensitive)");
  });
});
