import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

const BASE =
  "pools: { shared: { node_type_id: small, max_capacity: 7 }, 'a.b/c': { node_type_id: n } }\nusers: { ada@example.com: {} }\ngroups: { ops: { displayName: operators } }\n";

async function conf(text: string): ReturnType<typeof load> {
  return load(`${BASE}clusters: { c: { spark_conf: { k: "${text}" } } }`);
}

describe("a variable in the name of a reference", () => {
  const spec = (text: string) =>
    `variables: { env: { default: dev }, odd: { default: "x}y" }, none: }
pools: { "etl-\${var.env}": { node_type_id: n } }
clusters: { c: { spark_conf: { k: "${text}" } } }`;

  it("is inserted before the reference is resolved, as in keys", async () => {
    const { resource, told } = await load(spec("${pools.etl-${var.env}.instance_pool_id}"));
    expect(told).toEqual([]);
    expect(resource("clusters.c").references[0]?.parts).toEqual([
      { address: "pools.etl-dev", attribute: "instance_pool_id" },
    ]);
  });

  it("may be part of a string, with unchanged literals", async () => {
    const { resource } = await load(
      spec("$${var.env} ${pools.etl-${var.env}.node_type_id} $${pools.${var.env}}"),
    );
    expect(resource("clusters.c").values.spark_conf).toEqual({ k: "${var.env} n ${pools.dev}" });
  });

  it.each([
    ["${pools.etl-${var.nope}.node_type_id}", 'SPEC_VARIABLE the spec has no variable "nope"'],
    ["${pools.etl-${var.none}.node_type_id}", "SPEC_VARIABLE the variable none has no value"],
    [
      "${pools.etl-${var.odd}.node_type_id}",
      "SPEC_REFERENCE ${pools.etl-${var.odd}.node_type_id} is not a valid name after its variables are resolved",
    ],
    [
      "${${var.env}.a.node_type_id}",
      "SPEC_REFERENCE ${${var.env}.a.node_type_id} must contain only variables in a name",
    ],
    [
      "${pools.${pools.a.node_type_id}.node_type_id}",
      "SPEC_REFERENCE ${pools.${pools.a.node_type_id}.node_type_id} must contain only variables in a name",
    ],
    ["${pools.etl-${var.env}", "SPEC_REFERENCE a ${ is never closed"],
  ])("%s is refused", async (text, message) => {
    const { told } = await load(spec(text));
    expect(told.map((one) => one.replace(/ \d+:\d+/, ""))).toEqual([message]);
  });
});

describe("a reference in a local", () => {
  const errors = async (text: string) => {
    const { told, diagnostics } = await load(
      `locals: { l: "${text}" }\npools: { p: { node_type_id: n } }\nclusters: { c: { spark_conf: { k: "\${local.l}" } } }`,
    );
    return [...told, ...diagnostics.flatMap(({ usedAt }) => usedAt ?? [])];
  };

  it.each([
    ["${pools.p}", "is neither a variable nor a reference"],
    ["${pols.p.instance_pool_id}", 'refers to the kind "pols", which does not exist'],
    ["${pools.lost.instance_pool_id}", "refers to pools.lost, which is not in the spec"],
    ["${pools.p.nope}", 'refers to the attribute "nope", which pools do not have'],
  ])("that is wrong is reported where it is written, with its use: %s", async (text, message) => {
    const use = { file: "workspace.yaml", line: 3, column: 35 };
    expect(await errors(text)).toEqual([`SPEC_REFERENCE 1:14 ${text} ${message}`, use]);
  });
});

describe("a reference", () => {
  it("inside a string is kept, with its parsed parts", async () => {
    const { resource } = await conf("a ${pools.shared.instance_pool_id} b $${c}");
    expect(resource("clusters.c").values.spark_conf).toEqual({
      k: "a ${pools.shared.instance_pool_id} b $${c}",
    });
    expect(resource("clusters.c").references).toEqual([
      {
        path: ["spark_conf", "k"],
        parts: ["a ", { address: "pools.shared", attribute: "instance_pool_id" }, " b ${c}"],
      },
    ]);
  });

  it("reads a name with dots and slashes between the first dot and the last", async () => {
    const { resource } = await conf("${pools.a.b/c.instance_pool_id}${users.ada@example.com.id}");
    expect(resource("clusters.c").references[0]?.parts).toEqual([
      { address: "pools.a.b/c", attribute: "instance_pool_id" },
      { address: "users.ada@example.com", attribute: "id" },
    ]);
    expect(resource("clusters.c").dependsOn).toEqual(["pools.a.b/c", "users.ada@example.com"]);
  });

  it("to what the spec itself sets is put in, with its type, and the edge stays", async () => {
    const { resource } = await load(
      `${BASE}jobs: { j: { max_retries: "\${pools.shared.max_capacity}", notebook_path: "/\${groups.ops.displayName}" } }`,
    );
    expect(resource("jobs.j").values).toMatchObject({ max_retries: 7, notebook_path: "/operators" });
    expect(resource("jobs.j").references).toEqual([]);
    expect(resource("jobs.j").dependsOn).toEqual(["groups.ops", "pools.shared"]);
  });

  it("in a list of names stands for the name, whichever attribute is written", async () => {
    const { resource } = await load(
      `${BASE}`.replace(
        "{ displayName: operators }",
        "{ displayName: operators, members: { users: ['${users.ada@example.com.id}', '${users.ada@example.com.userName}'] } }",
      ),
    );
    expect(resource("groups.ops").values.members).toEqual({ users: ["ada@example.com", "ada@example.com"] });
  });

  it("in a list of names stands for the value of an attribute that is not the ID", async () => {
    const { told } = await load(
      "users: { ada: { active: true } }\ngroups: { g: { members: { users: ['${users.ada.active}'] } } }\n",
    );
    expect(told).toEqual(["SPEC_TYPE 2:35 groups.g: members.users[0] must be a string, not true"]);
  });

  it("to a name with a literal ${ is put in", async () => {
    const { resource } = await load(
      `groups: { g: { displayName: "a $\${x}" } }\njobs: { j: { notebook_path: "/\${groups.g.displayName}" } }\n`,
    );
    expect(resource("jobs.j").values.notebook_path).toBe("/a ${x}");
    expect(resource("jobs.j").references).toEqual([]);
  });

  it("to a field without a value adds no problem to that of the field", async () => {
    const { told } = await load(
      "pools: { p: { node_type_id: n, max_capacity: } }\njobs: { j: { notebook_path: '${pools.p.max_capacity}' } }\n",
    );
    expect(told).toEqual(["SPEC_TYPE 1:46 pools.p: max_capacity must be an integer, not null"]);
  });

  it("to the same attribute of another kind is not an ID", async () => {
    const { told } = await load(
      "clusters: { a: {}, b: { instance_pool_id: '${clusters.a.instance_pool_id}' } }\n",
    );
    expect(told).toEqual(["SPEC_REFERENCE 1:43 clusters.b: instance_pool_id must be the ID of a pool"]);
  });

  it("fits a field of numbers, where its text is not measured", async () => {
    const { told, resource } = await load(
      `${BASE}jobs: { j: { max_retries: "\${pools.shared.min_idle_instances}" } }`,
    );
    expect(told).toEqual([]);
    expect(resource("jobs.j").references).toHaveLength(1);
  });
});

describe("problems", () => {
  it.each([
    [
      "${pool.shared.instance_pool_id}",
      '${pool.shared.instance_pool_id} refers to the kind "pool", which does not exist',
      'did you mean "pools"?',
    ],
    [
      "${pools.share.instance_pool_id}",
      "${pools.share.instance_pool_id} refers to pools.share, which is not in the spec",
      'did you mean "shared"?',
    ],
    [
      "${pools.shared.pool_id}",
      '${pools.shared.pool_id} refers to the attribute "pool_id", which pools do not have',
      'did you mean "instance_pool_id"?',
    ],
    ["${pools.shared}", "${pools.shared} is neither a variable nor a reference", undefined],
    ["${vars.x.y}", '${vars.x.y} refers to the kind "vars", which does not exist', 'did you mean "var"?'],
    ["${open", "a ${ is never closed", "for a literal ${, write $${"],
  ])("%s is reported", async (text, message, hint) => {
    const { diagnostics } = await conf(text);
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code: "SPEC_REFERENCE", message, at: { line: 4, column: 35 } });
    if (hint !== undefined) expect(diagnostics[0]?.hint).toBe(hint);
  });

  it("a name cannot contain a reference", async () => {
    const { told } = await load(
      "pools: { p: { node_type_id: x, instance_pool_name: '${pools.q.node_type_id}' }, q: { node_type_id: x } }",
    );
    expect(told).toEqual([
      "SPEC_REFERENCE 1:52 instance_pool_name cannot contain a reference, because it is the name of the pool",
    ]);
  });

  it("a secret is not an attribute", async () => {
    const { told } = await load(
      "scopes: { s: { secrets: { k: { env: K } } } }\nclusters: { c: { spark_conf: { k: '${secrets.s/k.value}' } } }",
      { env: { K: "hunter2" } },
    );
    expect(told).toEqual([
      'SPEC_REFERENCE 2:35 ${secrets.s/k.value} refers to the attribute "value", which secrets do not have',
    ]);
  });

  it("a field of ids takes its own kind's id, alone", async () => {
    const { told } = await load(
      `${BASE}clusters: { a: { instance_pool_id: "\${users.ada@example.com.id}" }, b: { instance_pool_id: "x\${pools.shared.instance_pool_id}" }, c: { instance_pool_id: "\${pools.shared.node_type_id}" } }`,
    );
    expect(told.map((one) => one.replace(/^(\S+) \S+ /, "$1 "))).toEqual([
      "SPEC_REFERENCE clusters.a: instance_pool_id must be the ID of a pool",
      "SPEC_REFERENCE clusters.b: instance_pool_id must be the ID of a pool",
      "SPEC_REFERENCE clusters.c: instance_pool_id must be the ID of a pool",
    ]);
  });

  it("a name where an id belongs is a warning", async () => {
    const { spec, diagnostics } = await load(`${BASE}clusters: { c: { instance_pool_id: shared } }`);
    expect(spec).toBeDefined();
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "SPEC_REFERENCE",
        hint: "to refer to pools.shared, write ${pools.shared.instance_pool_id}",
      },
    ]);
  });
});

describe("a field of an ID", () => {
  const cluster = (value: string) => load(`${BASE}clusters: { c: { instance_pool_id: ${value} } }\n`);

  it.each(["'${pools.shared.instance_pool_id}'", "'${pools.a.b/c.instance_pool_id}'", "0101-pool", "''"])(
    "may be %s",
    async (value) => {
      expect((await cluster(value)).told).toEqual([]);
    },
  );

  it.each([
    "'${pools.shared.node_type_id}'",
    "'${users.ada@example.com.id}'",
    "'x${pools.shared.instance_pool_id}'",
    "'${pools.shared.instance_pool_id}${pools.shared.instance_pool_id}'",
    "'x-$${y}'",
  ])("must be a reference to that kind's ID, and not %s", async (value) => {
    const { diagnostics } = await cluster(value);
    expect(diagnostics).toMatchObject([
      {
        code: "SPEC_REFERENCE",
        message: "clusters.c: instance_pool_id must be the ID of a pool",
        address: "clusters.c",
        at: { line: 4, column: 36 },
        hint: "write ${pools.NAME.instance_pool_id}",
      },
    ]);
  });

  it("is a warning where it is the name of a resource", async () => {
    const { diagnostics, spec } = await cluster("shared");
    expect(spec).toBeDefined();
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "SPEC_REFERENCE",
        message: "clusters.c: instance_pool_id must be an ID, not a name",
        address: "clusters.c",
        hint: "to refer to pools.shared, write ${pools.shared.instance_pool_id}",
      },
    ]);
  });
});

describe("a known value", () => {
  const value = async (text: string) =>
    (await load(`${BASE}clusters: { c: { spark_conf: { k: "${text}", l: plain } } }\n`)).resource(
      "clusters.c",
    );

  it.each([
    ["${pools.shared.instance_pool_name}", "shared"],
    ["${groups.ops.displayName}", "operators"],
    ["${users.ada@example.com.userName}", "ada@example.com"],
    ["${pools.shared.node_type_id}/${pools.a.b/c.node_type_id}", "small/n"],
    ["a${pools.shared.max_capacity}", "a7"],
  ])("%s is %s", async (text, expected) => {
    const { values, references, dependsOn } = await value(text);
    expect(values.spark_conf).toEqual({ k: expected, l: "plain" });
    expect(references).toEqual([]);
    expect(dependsOn.length).toBeGreaterThan(0);
  });

  it.each(["${pools.shared.min_idle_instances}", "${pools.shared.custom_tags}", "${groups.ops.id}"])(
    "of %s is absent, because only an apply can know it",
    async (text) => {
      const { values, references } = await value(text);
      expect(values.spark_conf).toEqual({ k: text, l: "plain" });
      expect(references).toMatchObject([{ path: ["spark_conf", "k"] }]);
    },
  );

  it("of a field with a reference is absent", async () => {
    const { resource } = await load(`pools: { p: { node_type_id: n } }
clusters:
  b: { instance_pool_id: "\${pools.p.instance_pool_id}" }
  c: { spark_conf: { k: "\${clusters.b.instance_pool_id}" } }
`);
    expect(resource("clusters.c").references).toHaveLength(1);
  });

  it("of a field that is a list of text has a path with the position", async () => {
    const { resource } = await load(
      `${BASE}jobs: { j: { libraries: [{ jar: a }, { jar: "x\${pools.shared.instance_pool_id}" }] } }\n`,
    );
    expect(resource("jobs.j").references).toMatchObject([{ path: ["libraries", 1, "jar"] }]);
  });

  it("is the name where a list of names refers to an ID, and stays a reference elsewhere", async () => {
    const { resource } = await load(
      `${BASE}clusters: { c: { spark_conf: { k: "\${users.ada@example.com.id}" } } }\nscopes: { s: {} }\n`.replace(
        "{ displayName: operators }",
        "{ displayName: operators, members: { users: ['${users.ada@example.com.id}'] } }",
      ),
    );
    expect(resource("groups.ops").references).toEqual([]);
    expect(resource("clusters.c").references).toHaveLength(1);
  });
});

describe("the hint of a reference", () => {
  it.each([
    [
      "${zzzzzzzz.a.b}",
      "the kinds are users, groups, scopes, acls, secrets, pools, clusters, jobs, directories, notebooks and files",
    ],
    ["${pools.zzzzzzzz.node_type_id}", "declared pools: shared and a.b/c"],
    ["${jobs.zzzzzzzz.job_id}", "the spec declares no jobs"],
    ["${groups.ops.zzzzzzzz}", "the attributes are id, displayName and members"],
    [
      "${pools.shared.custom_tags[0]}",
      "name the reference under locals; an expression can choose and pass on such a local",
    ],
    ["${pools.a.}", "write ${var.name} or ${kind.name.attribute}; for a literal ${, write $${"],
  ])("%s lists what there is", async (text, hint) => {
    const { diagnostics } = await conf(text);
    expect(diagnostics).toMatchObject([{ code: "SPEC_REFERENCE", address: "clusters.c", hint }]);
  });
});

describe("the hint of a reference in a module", () => {
  const inModule = (text: string, main = "") =>
    load({
      "workspace.yaml": `pools: { outer: { node_type_id: n } }\nmodules: { m: { source: m } }\n${main}`,
      "m/workspace.yaml": `modules: { deep: { source: deep } }\npools: { inner: { node_type_id: n } }\n${text}`,
      "m/deep/workspace.yaml": "pools: { deepest: { node_type_id: n } }\n",
    });
  const conf = (text: string) => `clusters: { c: { spark_conf: { k: "${text}" } } }\n`;

  it.each([
    ["${pools.zzzzzzzz.node_type_id}", "declared pools: inner"],
    ["${pools.innr.node_type_id}", 'did you mean "inner"?'],
    ["${groups.zzzzzzzz.id}", "the module declares no groups"],
    ["${scopes.zzzzzzzz.name}", "the spec declares no scopes"],
  ])("names what the same instance declares, without its prefix: %s", async (text, hint) => {
    expect((await inModule(conf(text))).diagnostics).toMatchObject([{ hint }]);
    const unused = (await inModule(`locals: { l: "${text}" }\n`)).diagnostics;
    expect(unused).toMatchObject([{ severity: "warning", hint }]);
  });

  it("names the scopes of all modules, because their keys have no prefix", async () => {
    const { diagnostics } = await inModule(
      `scopes: { mine: {} }\n${conf("${scopes.zzzzzzzz.name}")}`,
      "scopes: { theirs: {} }\n",
    );
    expect(diagnostics).toMatchObject([{ hint: "declared scopes: theirs and mine" }]);
  });

  it("says how to get at what only a module declares", async () => {
    const { diagnostics } = await load({
      "workspace.yaml": `modules: { m: { source: m } }\n${conf("${pools.zzzzzzzz.node_type_id}")}`,
      "m/workspace.yaml": "pools: { inner: { node_type_id: n } }\n",
    });
    expect(diagnostics).toMatchObject([
      { hint: "the spec declares no pools; for one inside a module, write ${modules.NAME.OUTPUT}" },
    ]);
  });

  it("names what the user of the module declares for a reference that it passes on", async () => {
    const { diagnostics } = await load({
      "workspace.yaml": "modules: { m: { source: m } }\n",
      "m/workspace.yaml": `modules: { deep: { source: deep, with: { given: "\${pools.zzzzzzzz.node_type_id}" } } }\npools: { inner: { node_type_id: n } }\n`,
      "m/deep/workspace.yaml": `inputs: { given: { type: string } }\npools: { deepest: { node_type_id: n } }\n${conf("${input.given}")}`,
    });
    expect(diagnostics).toMatchObject([{ hint: "declared pools: inner" }]);
  });
});

it("a reference to a resource that its when leaves out is reported with a hint", async () => {
  const { diagnostics } = await load(
    `pools: { p: { when: false, node_type_id: n } }\nclusters: { c: { spark_conf: { k: "\${pools.p.node_type_id}" } } }\n`,
  );
  expect(diagnostics).toMatchObject([
    {
      severity: "error",
      message: "${pools.p.node_type_id} refers to pools.p, which its when leaves out",
      hint: "write a condition that chooses the reference only if the resource is declared",
    },
  ]);
});

it("a wrong reference in a local is reported once with each resource that uses it", async () => {
  const { told } = await load(
    'locals: { l: "${pools.lost.id}" }\nclusters: { c: { spark_conf: { k: "${local.l}" } }, d: { spark_conf: { k: "${local.l}" } } }\n',
  );
  expect(told).toEqual([
    "SPEC_REFERENCE 1:14 ${pools.lost.id} refers to pools.lost, which is not in the spec (and for clusters.d)",
  ]);
});

describe("a value without a reference", () => {
  it("is reported once, also in a field of an ID", async () => {
    for (const [value, told] of [
      ["'${open'", "SPEC_REFERENCE 4:36 a ${ is never closed"],
      ["'${var.nope}'", 'SPEC_VARIABLE 4:36 the spec has no variable "nope"'],
    ]) {
      const loaded = await load(`${BASE}clusters: { c: { instance_pool_id: ${value} } }\n`);
      expect(loaded.told).toEqual([told]);
    }
  });

  it("may be a number in a list of text, which the schema reports", async () => {
    const { told } = await load("pools: { p: { node_type_id: n, preloaded_spark_versions: [1, a] } }\n");
    expect(told).toEqual(["SPEC_TYPE 1:59 pools.p: preloaded_spark_versions[0] must be a string, not 1"]);
  });

  it("stays in a list next to known values", async () => {
    const { resource } = await load(
      "users: { ada@example.com: {}, bob@example.com: {} }\ngroups: { g: { members: { users: ['${users.ada@example.com.id}', bob@example.com] } } }\n",
    );
    expect(resource("groups.g").values.members).toEqual({ users: ["ada@example.com", "bob@example.com"] });
  });
});
