import { describe, expect, it } from "vitest";
import { type Files, load } from "../folder.ts";

const TEAM = `
inputs:
  team: { type: string, description: name of the team }
  size: { type: integer, minimum: 1, default: 10 }
  tags: { type: object, additionalProperties: { type: string }, default: {} }
  pool: { type: string, default: "" }
outputs:
  pool_id: \${pools.shared.instance_pool_id}
  team: { value: "\${input.team.upperAscii()}", description: in upper case }
locals:
  name: "\${input.team.lowerAscii()}-\${target.name}"
pools:
  shared:
    instance_pool_name: "\${local.name}"
    node_type_id: n
    max_capacity: "\${input.size}"
    custom_tags: "\${input.tags.merge(local.own)}"
clusters:
  adhoc:
    cluster_name: "\${local.name}-adhoc"
    num_workers: 1
    instance_pool_id: \${pools.shared.instance_pool_id}
scopes:
  "\${local.name}": { acls: { ops: READ } }
`.replace("locals:", "locals:\n  own: { team: '${input.team}' }");

const MAIN = `
targets: { dev: { default: true }, prod: {} }
variables: { capacity: 20 }
modules:
  team:
    source: ./modules/team
    for_each: { ads: { size: "\${var.capacity}" }, web: {} }
    with: { team: "\${each.key}", size: "\${each.value.?size.orValue(5)}" }
clusters:
  all:
    num_workers: 2
    instance_pool_id: \${modules.team/ads.pool_id}
    cluster_name: "of \${modules.team/web.team}"
`;

const FILES: Files = { "workspace.yaml": MAIN, "modules/team/workspace.yaml": TEAM };

describe("a module", () => {
  it("declares its resources once for each instance, under addresses of their own", async () => {
    const { told, spec } = await load(FILES);
    expect(told).toEqual([]);
    expect([...(spec?.resources.keys() ?? [])].sort()).toEqual([
      "acls.ads-dev/ops",
      "acls.web-dev/ops",
      "clusters.all",
      "clusters.team/ads/adhoc",
      "clusters.team/web/adhoc",
      "pools.team/ads/shared",
      "pools.team/web/shared",
      "scopes.ads-dev",
      "scopes.web-dev",
    ]);
  });

  it("gets its inputs, and binds references to its own resources", async () => {
    const { resource } = await load(FILES);
    expect(resource("pools.team/ads/shared")).toMatchObject({
      name: "ads-dev",
      values: { max_capacity: 20, custom_tags: { team: "ads" } },
    });
    expect(resource("pools.team/web/shared").values.max_capacity).toBe(5);
    expect(resource("clusters.team/web/adhoc")).toMatchObject({
      dependsOn: ["pools.team/web/shared"],
      values: { instance_pool_id: "${pools.team/web/shared.instance_pool_id}" },
    });
  });

  it("gives its outputs to its user", async () => {
    const { resource } = await load(FILES);
    expect(resource("clusters.all")).toMatchObject({ name: "of WEB", dependsOn: ["pools.team/ads/shared"] });
  });

  it("keeps every address when an instance is added or removed, and whatever the order", async () => {
    const all = await load(FILES);
    const fewer = await load({
      ...FILES,
      "workspace.yaml": MAIN.replace(", web: {}", "").replace("web.team", "ads.team"),
    });
    const turned = await load({
      ...FILES,
      "workspace.yaml": MAIN.replace(
        /for_each: .*/,
        'for_each: { web: {}, ads: { size: "${var.capacity}" } }',
      ),
    });
    const kept = [...(all.spec?.resources.keys() ?? [])].filter((one) => !one.includes("web"));
    expect([...(fewer.spec?.resources.keys() ?? [])].sort()).toEqual(kept.sort());
    for (const [address, { values }] of all.spec?.resources ?? [])
      expect(turned.resource(address).values).toEqual(values);
  });

  it("can be used without for_each, and with a list of keys", async () => {
    const one = await load({
      ...FILES,
      "workspace.yaml":
        "targets: { dev: { default: true } }\nmodules: { team: { source: modules/team, with: { team: ads } } }",
    });
    expect(one.resource("pools.team/shared").name).toBe("ads-dev");
    const listed = await load({
      ...FILES,
      "workspace.yaml":
        "targets: { dev: { default: true } }\nlocals: { teams: [ads, web] }\nmodules: { team: { source: modules/team, for_each: '${local.teams}', with: { team: '${each.value}' } } }",
    });
    expect(listed.resource("pools.team/web/shared").name).toBe("web-dev");
  });

  it("nests, and passes references and outputs on", async () => {
    const { told, resource } = await load({
      "workspace.yaml":
        "modules: { outer: { source: outer, with: { name: a, pool: '${pools.p.instance_pool_id}' } } }\npools: { p: { node_type_id: n } }\nclusters: { c: { num_workers: 1, instance_pool_id: '${modules.outer.pool}', cluster_name: '${modules.outer.deep}' } }",
      "outer/workspace.yaml":
        "inputs: { name: { type: string }, pool: { type: string } }\noutputs: { pool: '${input.pool}', deep: '${modules.inner/x.label}' }\nmodules: { inner: { source: ../inner, for_each: [x], with: { name: '${input.name}-${each.key}', pool: '${input.pool}' } } }",
      "inner/workspace.yaml":
        "inputs: { name: { type: string }, pool: { type: string, maxLength: 4 } }\noutputs: { label: 'label ${input.name}' }\nclusters: { c: { cluster_name: '${input.name}', num_workers: 1, instance_pool_id: '${input.pool}' } }",
    });
    expect(told).toEqual([]);
    expect(resource("clusters.outer/inner/x/c")).toMatchObject({ name: "a-x", dependsOn: ["pools.p"] });
    expect(resource("clusters.c")).toMatchObject({ name: "label a-x", dependsOn: ["pools.p"] });
  });

  it("reads files in its folder, and each of them counts as a file of the spec", async () => {
    const { told, spec, resource } = await load({
      "workspace.yaml": "modules: { m: { source: modules/m } }",
      "modules/m/workspace.yaml": "include: more.yaml\nnotebooks: { /Shared/a: { source: a.py } }",
      "modules/m/more.yaml": "users: { ada: {} }",
      "modules/m/a.py": "print(1)\n",
    });
    expect(told).toEqual([]);
    expect(resource("notebooks./Shared/a").payload).toBeDefined();
    expect(spec?.files.map(({ path }) => path)).toEqual([
      "workspace.yaml",
      "modules/m/workspace.yaml",
      "modules/m/more.yaml",
    ]);
  });

  it("may be overlaid by a target where it is used", async () => {
    const files = {
      ...FILES,
      "workspace.yaml": MAIN.replace(
        "prod: {}",
        "prod: { modules: { team: { for_each: { web: null, ads: { size: 99 } } } }, clusters: { all: { cluster_name: x } } }",
      ),
    };
    const { spec, resource } = await load(files, { target: "prod" });
    expect(resource("pools.team/ads/shared").values.max_capacity).toBe(99);
    expect(spec?.resources.has("pools.team/web/shared" as never)).toBe(false);
  });
});

async function told(files: Record<string, string>, options = {}) {
  const { diagnostics } = await load(files, options);
  return diagnostics.map(({ code, message, at, usedAt = [] }) =>
    [
      code,
      ...(at === undefined ? [] : [`${at.file}:${at.line}:${at.column}`]),
      message,
      ...usedAt.map((use) => `used at ${use.file}:${use.line}:${use.column}`),
    ].join(" "),
  );
}

describe("a resource inside a module", () => {
  const withCluster = (reference: string, more = ""): Files => ({
    ...FILES,
    "workspace.yaml": `${MAIN}  direct: { num_workers: 1, instance_pool_id: "${reference}" }\n${more}`,
  });

  it("is not reached by a reference from outside, written directly or with an expression in its name", async () => {
    for (const reference of [
      "${pools.team/ads/shared.instance_pool_id}",
      "${pools.team/${'ADS'.lowerAscii()}/shared.instance_pool_id}",
    ]) {
      const { told } = await load(withCluster(reference));
      expect(told, reference).toEqual([
        expect.stringMatching(
          /^SPEC_MODULE .*refers to a resource inside modules\.team\/ads, and only its outputs can be used/,
        ),
      ]);
    }
  });

  it("is not reached from the module around it either, but by outputs through both", async () => {
    const files = (value: string): Files => ({
      "workspace.yaml":
        "modules: { outer: { source: outer } }\nclusters: { c: { num_workers: 1, instance_pool_id: '${modules.outer.id}' } }\n",
      "outer/workspace.yaml": `modules: { inner: { source: inner } }\noutputs: { id: '${value}' }\n`,
      "outer/inner/workspace.yaml":
        "outputs: { id: '${pools.p.instance_pool_id}' }\npools: { p: { node_type_id: n } }\n",
    });
    expect((await load(files("${modules.inner.id}"))).told).toEqual([]);
    const { told } = await load(files("${pools.inner/p.instance_pool_id}"));
    expect(told[0]).toMatch(/^SPEC_MODULE .*inside modules\.inner/);
  });

  it("does not hide a resource of the spec whose own key looks like one", async () => {
    const files = withCluster("${pools.team/x.instance_pool_id}", "pools: { team/x: { node_type_id: n } }\n");
    expect((await load(files)).told).toEqual([]);
  });
});

describe("an error in a module", () => {
  it("names the line of the module and the line that uses it", async () => {
    expect(
      await told({
        "workspace.yaml": "modules:\n  m: { source: m }\n",
        "m/workspace.yaml": "pools:\n  p: { node_type_id: n, max_size: 5 }\n",
      }),
    ).toEqual([
      'SPEC_UNKNOWN_FIELD m/workspace.yaml:2:25 pools.m/p has no field "max_size" used at workspace.yaml:2:3',
    ]);
  });

  it("suggests for an unknown reference only what can be written there", async () => {
    const clusters = (name: string) =>
      `clusters: { c: { instance_pool_id: "\${pools.${name}.instance_pool_id}" } }\n`;
    const hints = async (main: string, module: string) => {
      const { diagnostics } = await load({
        "workspace.yaml": `modules: { team: { source: m, for_each: { ads: {} }, with: { pool: "\${pools.shraed.instance_pool_id}" } } }\n${main}`,
        "m/workspace.yaml": `inputs: { pool: { type: string } }\n${module}`,
      });
      return diagnostics.filter(({ code }) => code === "SPEC_REFERENCE").map(({ hint }) => hint);
    };
    const pools = "pools: { main: { node_type_id: n } }\n";
    expect(await hints(clusters("main"), pools)).toEqual([
      "the spec declares no pools; for one inside a module, write ${modules.NAME.OUTPUT}",
    ]);
    expect(await hints("", `${pools}${clusters("mian")}`)).toEqual(['did you mean "main"?']);
    expect(await hints("", `${pools}${clusters("other")}`)).toEqual(["declared pools: main"]);
    const shared = "pools: { shared: { node_type_id: n } }\n";
    const passed = 'clusters: { c: { instance_pool_id: "${input.pool}" } }\n';
    expect(await hints(shared, `${pools}${passed}`)).toEqual(['did you mean "shared"?']);
  });

  it("in a reference is where the reference is written, and names what uses it", async () => {
    expect(
      await told({
        "workspace.yaml": `modules: { m: { source: m, with: { pool: "\${pools.none.instance_pool_id}" } } }
locals: { l: "\${pools.lost.instance_pool_id}" }
clusters:
  a: { instance_pool_id: "\${modules.m.out}" }
  b: { instance_pool_id: "\${local.l}" }
`,
        "m/workspace.yaml": `inputs: { pool: { type: string } }
outputs: { out: "\${pools.gone.instance_pool_id}" }
clusters: { c: { instance_pool_id: "\${input.pool}" } }
`,
      }),
    ).toEqual([
      "SPEC_REFERENCE m/workspace.yaml:2:17 ${pools.m/gone.instance_pool_id} refers to pools.m/gone, which is not in the spec used at workspace.yaml:4:26",
      "SPEC_REFERENCE workspace.yaml:1:42 ${pools.none.instance_pool_id} refers to pools.none, which is not in the spec used at m/workspace.yaml:3:36",
      "SPEC_REFERENCE workspace.yaml:2:14 ${pools.lost.instance_pool_id} refers to pools.lost, which is not in the spec used at workspace.yaml:5:26",
    ]);
  });

  it("in a reference of a local or an output is found when nothing uses the value", async () => {
    expect(
      await told({
        "workspace.yaml": `modules: { m: { source: m } }
locals: { l: "\${pools.lost.instance_pool_id}", k: ["\${poolz.p.id}"], fine: "\${pools.p.instance_pool_id}" }
pools: { p: { node_type_id: n } }
`,
        "m/workspace.yaml": `locals: { l: "\${pools.gone.instance_pool_id}" }
outputs: { out: "\${pools.q.nope}" }
pools: { q: { node_type_id: n } }
`,
      }),
    ).toEqual([
      "SPEC_REFERENCE workspace.yaml:2:14 ${pools.lost.instance_pool_id} refers to pools.lost, which is not in the spec",
      'SPEC_REFERENCE workspace.yaml:2:52 ${poolz.p.id} refers to the kind "poolz", which does not exist',
      "SPEC_REFERENCE m/workspace.yaml:1:14 ${pools.m/gone.instance_pool_id} refers to pools.m/gone, which is not in the spec used at workspace.yaml:1:12",
      'SPEC_REFERENCE m/workspace.yaml:2:17 ${pools.m/q.nope} refers to the attribute "nope", which pools do not have used at workspace.yaml:1:12',
    ]);
  });

  it("is a warning when only a value that nothing uses refers to what another target may declare", async () => {
    const text = 'locals: { l: "${pools.lost.instance_pool_id}" }\npools: { p: { node_type_id: n } }\n';
    const { diagnostics, spec } = await load(text);
    expect(diagnostics.map(({ severity }) => severity)).toEqual(["warning"]);
    expect(spec).toBeDefined();
  });

  it("in a value of a local or an output is where the value is written, and names what uses it", async () => {
    expect(
      await told({
        "workspace.yaml": `modules: { m: { source: m } }
variables: { v: { default: [x] } }
locals: { size: ten, tags: [a], whole: { max_capacity: x }, l: "\${pools.lost.instance_pool_id}", bad: pi }
pools:
  a: { node_type_id: n, max_capacity: "\${local.size}", custom_tags: "\${local.tags}" }
  b: "\${local.whole}"
  c: { node_type_id: "\${modules.m.out}" }
  d: { node_type_id: "\${var.v}" }
  e: { node_type_id: "n-\${local.l}" }
  f: { node_type_id: "\${local.bad.upperAscii()}", max_capacity: "\${local.bad.upperAscii()}" }
`,
        "m/workspace.yaml": "outputs: { out: [x] }\n",
      }),
    ).toEqual([
      'SPEC_TYPE workspace.yaml:3:17 pools.a: max_capacity must be an integer, not the string "ten" used at workspace.yaml:5:39',
      "SPEC_TYPE workspace.yaml:3:28 pools.a: custom_tags must be a map, not a list used at workspace.yaml:5:69",
      'SPEC_TYPE workspace.yaml:3:56 pools.b: max_capacity must be an integer, not the string "x" used at workspace.yaml:6:6',
      "SPEC_REFERENCE workspace.yaml:3:64 ${pools.lost.instance_pool_id} refers to pools.lost, which is not in the spec used at workspace.yaml:9:22",
      'SPEC_MISSING_FIELD workspace.yaml:6:3 pools.b requires the field "node_type_id"',
      "SPEC_TYPE workspace.yaml:8:22 pools.d: node_type_id must be a string, not a list",
      'SPEC_TYPE workspace.yaml:10:65 pools.f: max_capacity must be an integer, not the string "PI"',
      "SPEC_TYPE m/workspace.yaml:1:17 pools.c: node_type_id must be a string, not a list used at workspace.yaml:7:22",
    ]);
  });

  it("names every line on the way through nested modules, and counts the instances", async () => {
    expect(
      await told({
        "workspace.yaml": "modules:\n  m: { source: m, for_each: [a, b, c] }\n",
        "m/workspace.yaml": "modules:\n  n: { source: ../n }\n",
        "n/workspace.yaml":
          "pools:\n  p: { instance_pool_name: '${input.nam}', node_type_id: n }\ninputs: { name: { default: x } }\n",
      }),
    ).toEqual([
      'SPEC_INPUT n/workspace.yaml:2:28 the module has no input "nam" (and in 2 other instances of the module) used at m/workspace.yaml:2:3 used at workspace.yaml:2:3',
    ]);
  });

  it.each([
    ["a syntax error", "pools: [\n", "SPEC_YAML m/workspace.yaml:2:1 a bracket or brace is not closed"],
    [
      "a duplicate key",
      "pools: {}\npools: {}\n",
      'SPEC_DUPLICATE_KEY m/workspace.yaml:2:1 duplicate key "pools"',
    ],
    [
      "an input schema",
      "inputs: { x: { $ref: x, default: 1 } }\n",
      "SPEC_UNKNOWN_FIELD m/workspace.yaml:1:16 ",
    ],
    [
      "an output",
      "outputs: { x: {} }\n",
      'SPEC_MISSING_FIELD m/workspace.yaml:1:15 outputs.x needs the field "value"',
    ],
    ["an include", "include: [x.yaml]\n", "SPEC_NOT_FOUND m/workspace.yaml:1:11 m/x.yaml does not exist"],
  ])("in %s names the line that uses the module, too", async (_name, text, message) => {
    const [found = "", ...more] = await told({
      "workspace.yaml": "modules:\n  n: { source: n }\n",
      "n/workspace.yaml": "modules:\n  m: { source: ../m, for_each: [a, b] }\n",
      "m/workspace.yaml": text,
    });
    expect(more).toEqual([]);
    expect(found).toContain(message);
    expect(found).toMatch(/ used at n\/workspace\.yaml:2:3 used at workspace\.yaml:2:3$/);
  });

  it.each([
    [
      "{ type: integer, sensitive: true, default: 1 }",
      "inputs.x: only an input of type string can be sensitive",
    ],
    ["{ sensitive: true, default: 1 }", "inputs.x: only an input of type string can be sensitive"],
    [
      "{ properties: { y: { type: string, sensitive: true } }, default: {} }",
      "inputs.x.properties.y: only a complete input can be sensitive, not a part of it",
    ],
  ])("says that only a complete input of type string can be sensitive, for %s", async (input, message) => {
    const found = await told({
      "workspace.yaml": "modules: { m: { source: m } }\n",
      "m/workspace.yaml": `inputs: { x: ${input} }\n`,
    });
    expect(found[0]).toContain(message);
  });

  it("in the path of a module is at its use only", async () => {
    const files = { "workspace.yaml": "modules: { n: { source: n } }\n" };
    expect(await told(files)).toEqual(["SPEC_NOT_FOUND workspace.yaml:1:25 n/workspace.yaml does not exist"]);
    expect(await told({ ...files, "n/workspace.yaml": "modules: { m: { source: m } }\n" })).toEqual([
      "SPEC_NOT_FOUND n/workspace.yaml:1:25 n/m/workspace.yaml does not exist used at workspace.yaml:1:12",
    ]);
  });

  it("counts each other instance once, and says that a module has no inputs", async () => {
    const diagnostics = await load({
      "workspace.yaml": "modules:\n  a: { source: m, with: { x: 1 } }\n  b: { source: m }\n",
      "m/workspace.yaml": "users: { '${each.key}': { active: '${x' } }\n",
    }).then((loaded) => loaded.diagnostics);
    expect(diagnostics.filter(({ message }) => message.includes("other instance"))).toEqual(
      diagnostics.filter(({ message }) => message.endsWith(" (and in 1 other instance of the module)")),
    );
    expect(diagnostics).toContainEqual(expect.objectContaining({ hint: "the module has no inputs" }));
  });

  it("is at the user's line where an input is wrong", async () => {
    expect(
      await told({
        "workspace.yaml":
          "modules:\n  m: { source: m, with: { size: big, colour: red } }\nusers: { ada: {} }",
        "m/workspace.yaml":
          "inputs: { size: { type: integer }, color: { type: string, pattern: '^[a-z]+$' } }\n",
      }),
    ).toEqual([
      'SPEC_INPUT workspace.yaml:2:3 modules.m needs the input "color"',
      'SPEC_INPUT workspace.yaml:2:33 modules.m: size must be an integer, not the string "big"',
      'SPEC_INPUT workspace.yaml:2:38 modules.m has no input "colour"',
    ]);
    expect(
      await told({
        "workspace.yaml": "modules:\n  m: { source: m, with: { size: 2, color: RED } }\nusers: { ada: {} }",
        "m/workspace.yaml":
          "inputs: { size: { type: integer }, color: { type: string, pattern: '^[a-z]+$' } }\n",
      }),
    ).toEqual(['SPEC_INPUT workspace.yaml:2:43 modules.m: color must match ^[a-z]+$, but "RED" does not']);
  });

  it.each([
    [
      "a missing folder",
      "modules: { m: { source: nowhere } }",
      "SPEC_NOT_FOUND workspace.yaml:1:25 nowhere/workspace.yaml does not exist",
    ],
    [
      "a folder outside",
      "modules: { m: { source: ../m } }",
      `SPEC_OUTSIDE workspace.yaml:1:25 modules.m: "../m" is outside the spec's folder`,
    ],
    [
      "an absolute path",
      "modules: { m: { source: /etc } }",
      `SPEC_OUTSIDE workspace.yaml:1:25 modules.m: "/etc" is outside the spec's folder`,
    ],
    [
      "an expression as source",
      "modules: { m: { source: '${var.x}' } }",
      'SPEC_MODULE workspace.yaml:1:25 modules.m: source must be the path of a folder, not "${var.x}"',
    ],
    ["no source", "modules: { m: {} }", "SPEC_MODULE workspace.yaml:1:12 modules.m has no source"],
    [
      "a name with a dot",
      "modules: { a.b: { source: m } }",
      'SPEC_MODULE workspace.yaml:1:12 "a.b" cannot name a module',
    ],
    [
      "a key with a slash",
      "modules: { m: { source: m, for_each: { a/b: {} } } }",
      'SPEC_MODULE workspace.yaml:1:40 modules.m: "a/b" cannot be a key of for_each',
    ],
    [
      "a number as for_each",
      "modules: { m: { source: m, for_each: 3 } }",
      "SPEC_TYPE workspace.yaml:1:38 modules.m: for_each must be a map or a list of strings, not the number 3",
    ],
    [
      "null as for_each",
      "modules: { m: { source: m, for_each: null } }",
      "SPEC_TYPE workspace.yaml:1:38 modules.m: for_each must be a map or a list of strings, not null",
    ],
    [
      "an expression that is null as for_each",
      "locals: { l: null }\nmodules: { m: { source: m, for_each: '${local.l}' } }",
      "SPEC_TYPE workspace.yaml:2:38 modules.m: for_each must be a map or a list of strings, not null",
    ],
    [
      "inputs in the main spec",
      "inputs: { a: { type: string } }\nusers: { ada: {} }",
      "SPEC_MODULE workspace.yaml:1:1 inputs can be declared only in a module",
    ],
  ])("refuses %s", async (_name, main, message) => {
    const all = await told({ "workspace.yaml": `${main}\n`, "m/workspace.yaml": "users: { bo: {} }" });
    expect(all.filter((one) => !one.startsWith("SPEC_EMPTY"))).toEqual([message]);
  });

  it("refuses a section of the main spec in a module, and variables", async () => {
    expect(
      await told({
        "workspace.yaml": "variables: { x: 1 }\nmodules: { m: { source: m } }\n",
        "m/workspace.yaml": "policy: { max_deletes: 5 }\nusers: { '${var.x}': {} }\n",
      }),
    ).toEqual([
      "SPEC_MODULE m/workspace.yaml:1:1 a module cannot contain policy used at workspace.yaml:2:12",
      "SPEC_EXPRESSION m/workspace.yaml:2:10 a module cannot use variables used at workspace.yaml:2:12",
    ]);
  });

  it("refuses two instances that declare one name, and shows both", async () => {
    const { diagnostics } = await load({
      "workspace.yaml": "modules: { m: { source: m, for_each: [a, b] } }\n",
      "m/workspace.yaml": "scopes: { etl: {} }\npools: { p: { node_type_id: n } }\n",
    });
    expect(diagnostics).toMatchObject([
      { code: "SPEC_DUPLICATE_NAME", message: "scopes.etl is declared twice", usedAt: [{ line: 1 }] },
      { code: "SPEC_DUPLICATE_NAME", message: 'pools.m/b/p has the same name as pools.m/a/p: "p"' },
    ]);
  });

  it("checks the syntax of expressions of a module without an instance", async () => {
    const all = await told({
      "workspace.yaml":
        "modules: { m: { source: m, for_each: [], with: { x: '${var.}' } } }\nusers: { ada: {} }",
      "m/workspace.yaml":
        "inputs: { x: { type: string } }\nlocals: { l: '${input.}' }\noutputs: { y: '${local.}' }\ngroups: { g: { entitlements: ['${each.}', '${input.x}'] } }\n",
    });
    expect(all.map((one) => one.replace(/: the .*/, ""))).toEqual([
      "SPEC_EXPRESSION workspace.yaml:1:60 ${var.}",
      "SPEC_EXPRESSION m/workspace.yaml:2:23 ${input.}",
      "SPEC_EXPRESSION m/workspace.yaml:3:24 ${local.}",
      "SPEC_EXPRESSION m/workspace.yaml:4:39 ${each.}",
    ]);
  });

  it("refuses inputs and outputs that form a cycle", async () => {
    const all = await told({
      "workspace.yaml":
        "modules: { a: { source: m, with: { x: '${modules.b.y}' } }, b: { source: m, with: { x: '${modules.a.y}' } } }\nusers: { ada: {} }",
      "m/workspace.yaml": "inputs: { x: { type: string } }\noutputs: { y: '${input.x}' }\n",
    });
    expect(all).toEqual([expect.stringContaining("SPEC_MODULE")]);
    expect(all[0]).toContain(
      "inputs and outputs form a cycle: modules.a.input.x -> modules.b.y -> modules.b.input.x -> modules.a.y -> modules.a.input.x",
    );
  });

  it("shows a cycle through the locals of the spec and of a module as a whole", async () => {
    const all = await told({
      "workspace.yaml":
        "locals: { l: '${modules.m.y}' }\nmodules: { m: { source: m, with: { x: '${local.l}' } } }\nusers: { ada: {} }",
      "m/workspace.yaml":
        "inputs: { x: { type: string } }\nlocals: { l: '${input.x}' }\noutputs: { y: '${local.l}' }\n",
    });
    expect(all).toEqual([
      "SPEC_VARIABLE workspace.yaml:1:11 locals form a cycle: local.l -> modules.m.y -> modules.m.local.l -> modules.m.input.x -> local.l",
    ]);
  });

  it.each([
    ["an output that there is not", "modules.m.z", 'modules.m has no output "z"'],
    ["a module that there is not", "modules.n.y", 'unknown module "n"'],
    [
      "an instance of a module without for_each",
      "modules.m/a.y",
      'modules.m has no for_each, so it has no instance "a"',
    ],
  ])("refuses %s", async (_name, path, message) => {
    const all = await told({
      "workspace.yaml": `modules: { m: { source: m, with: { x: a } } }\nusers: { '\${${path}}': {} }`,
      "m/workspace.yaml": "inputs: { x: { type: string } }\noutputs: { y: '${input.x}' }\n",
    });
    expect(all).toEqual([expect.stringContaining(message)]);
  });
});
