// The rendered spec: it loads to the same resources, does not depend on the order of the files, and contains no sensitive value.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { registry } from "../../../src/providers/index.ts";
import { renderedJson, renderedYaml } from "../../../src/report/inspect/rendered-spec.ts";
import { loadSpec } from "../../../src/spec/load-spec.ts";
import type { Spec } from "../../../src/spec/model/spec.ts";
import { renderSpec } from "../../../src/spec/render/render-spec.ts";
import { sampleOf } from "../../sample-size.ts";
import { type Files, folderWith } from "../folder.ts";

const made: string[] = [];

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

async function read(folder: string, file = "workspace.yaml", target?: string) {
  const { spec, declared, diagnostics } = await loadSpec({
    file: join(folder, file),
    cwd: folder,
    env: {},
    registry,
    secrets: "skip",
    keyed: () => "",
    ...(target === undefined ? {} : { target }),
  });
  if (spec === undefined || declared === undefined) throw new Error(JSON.stringify(diagnostics));
  return { spec, view: renderSpec(spec, declared, registry) };
}

/** Everything of a spec that a plan depends on. */
function meaning({ resources, policy, target, stateEntries }: Spec) {
  const { at: _, ...settings } = target ?? { at: undefined };
  const entries = (all: readonly object[] = []) => all.map((one) => ({ ...one, at: undefined }));
  return {
    resources: [...resources.values()]
      .map(({ address, key, name, values, references, dependsOn, owns, lifecycle, payload }) => ({
        ...{ address, key, name, values, dependsOn, owns: [...owns].sort(), lifecycle },
        references: references.toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1)),
        payload: JSON.stringify(payload),
      }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
    policy,
    settings,
    entries: [entries(stateEntries?.moved), entries(stateEntries?.removed), entries(stateEntries?.imports)],
  };
}

/** Renders, loads the result, and compares. Returns the YAML. */
async function holds(folder: string, target?: string): Promise<string> {
  const first = await read(folder, "workspace.yaml", target);
  const yaml = renderedYaml(first.view, [], false);
  writeFileSync(join(folder, "rendered.yaml"), yaml);
  const second = await read(folder, "rendered.yaml");
  expect(meaning(second.spec)).toEqual(meaning(first.spec));
  expect(renderedYaml(second.view, [], false)).toBe(yaml);
  writeFileSync(join(folder, "origins.yaml"), renderedYaml(first.view, [], true));
  expect(meaning((await read(folder, "origins.yaml")).spec)).toEqual(meaning(first.spec));
  expect(JSON.parse(renderedJson(first.view)).spec).toEqual(parse(yaml, { intAsBigInt: false }) ?? {});
  return yaml;
}

function copyOf(example: string): string {
  const folder = mkdtempSync(join(tmpdir(), "render-"));
  made.push(folder);
  cpSync(join("examples", example), folder, { recursive: true });
  return folder;
}

const EVERYTHING: Files = {
  "workspace.yaml": `
include: [more/*.yaml]
variables: { env: { default: dev }, key: { type: string, sensitive: true, default: do-not-show } }
locals: { prefix: "\${var.env.lowerAscii()}-ads" }
targets:
  dev: { default: true, host: "https://dev.example.com", state: states/dev }
  prod: { protected: true, variables: { env: PROD }, policy: { max_deletes: 5 } }
policy: { on_immutable_change: { default: error, pools: replace }, authoritative: [groups] }
modules:
  team: { source: ./team, for_each: [web, ads], with: { name: "\${each.key}", pool: "\${pools.shared.instance_pool_id}" } }
pools:
  shared: { instance_pool_name: "\${local.prefix}", node_type_id: Standard_DS3_v2, lifecycle: { prevent_destroy: true } }
  "10": { node_type_id: Standard_DS3_v2, custom_tags: { literal: "$\${x}", "$\${k}": "true" } }
  "9": { node_type_id: Standard_DS3_v2 }
moved: [{ from: pools.old, to: pools.shared }, { from: modules.a, to: modules.team/ads }]
removed: [{ address: pools.gone, destroy: false }]
import: [{ to: clusters.report, id: 0101-120000-abc }]
clusters:
  report:
    spark_version: 6.4.x-scala2.11
    num_workers: 1
    instance_pool_id: \${modules.team/ads.pool_id}
    spark_conf: { spark.x: "line\\nline", spark.y: "\${'%s!'.format([local.prefix])}" }
`,
  "more/a.yaml": `
notebooks: { /Shared/etl: { source_dir: code } }
scopes:
  etl: { acls: { ops: READ }, secrets: { k: { env: K }, f: { file: ../key } } }
  empty: { acls: {} }
`,
  "more/code/deep/x.py": "print(1)\n",
  "more/code/y.sql": "select 1\n",
  key: "not-a-real-key",
  "team/workspace.yaml": `
inputs: { name: { type: string }, pool: { type: string } }
outputs: { pool_id: "\${pools.own.instance_pool_id}" }
modules: { inner: { source: inner, with: { name: "\${input.name}", pool: "\${pools.own.instance_pool_id}" } } }
pools: { own: { instance_pool_name: "\${input.name}", node_type_id: Standard_DS3_v2, custom_tags: { team: "\${input.name}" } } }
files: { "/FileStore/\${input.name}.jar": { source: a.jar } }
`,
  "team/a.jar": "jar",
  "team/inner/workspace.yaml": `
inputs: { pool: { type: string }, name: { type: string } }
clusters: { c: { cluster_name: "\${input.name}", spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${input.pool}" } }
`,
};

describe("renderSpec", () => {
  it.each(["quickstart", "etl", "team", "secrets"])(
    "renders the example %s as an equal spec",
    async (name) => {
      await holds(copyOf(name));
    },
  );

  it.each(["dev", "prod"])("renders the example teams for the target %s as an equal spec", async (target) => {
    await holds(copyOf("teams"), target);
  });

  it("renders modules, entries, contents, secrets, escapes, and numbers as keys as an equal spec", async () => {
    const folder = folderWith(EVERYTHING);
    await holds(folder, "dev");
    expect(await holds(folder, "prod")).toMatchSnapshot();
  });

  it("keeps the rules of a spec as a list", async () => {
    const rules = `rules: [{ name: b, assert: "true", message: m }, { name: a, kinds: [pools], assert: "'$' != ''", message: m }]\n`;
    const folder = folderWith({ "workspace.yaml": `pools: { a: { node_type_id: x } }\n${rules}` });
    const { view } = await read(folder);
    expect(view.document.rules).toEqual([
      { name: "a", kinds: ["pools"], assert: "'$' != ''", message: "m" },
      { name: "b", assert: "true", message: "m" },
    ]);
    await holds(folder);
  });

  it("gives each value the place where it is written, and the modules through which it came", async () => {
    const { view } = await read(folderWith(EVERYTHING));
    const deep = view.origins.get("/clusters/team~1ads~1inner~1c/num_workers");
    expect(deep).toMatchObject({
      at: { file: "team/inner/workspace.yaml", line: 3 },
      module: "team/ads/inner",
      usedAt: [
        { file: "team/workspace.yaml", line: 4 },
        { file: "workspace.yaml", line: 10 },
      ],
    });
    expect(view.origins.get("/pools/shared/node_type_id")).toEqual({
      at: { file: "workspace.yaml", line: 12, column: 66 },
      usedAt: [],
    });
  });

  it("shows no sensitive value, also inside a longer text and in what functions make of it", async () => {
    const yaml = `
variables: { key: { type: string, sensitive: true, default: do-not-show }, pin: { type: string, sensitive: true, default: "12" } }
pools: { a: { node_type_id: x, custom_tags: { a: "\${var.key}", b: "x \${var.key.upperAscii()}", c: "\${var.pin}" } } }
`;
    const { view } = await read(folderWith({ "workspace.yaml": yaml }));
    const shown = `${renderedYaml(view, [], true)}${renderedJson(view)}`;
    expect(shown).not.toMatch(/do-not-show/i);
    expect(view.document.pools).toEqual({
      a: {
        custom_tags: { a: "(sensitive)", b: "(sensitive)", c: "(sensitive)" },
        instance_pool_name: "a",
        node_type_id: "x",
      },
    });
  });

  it("renders the same bytes for every order of keys", async () => {
    const { "workspace.yaml": main = "", ...rest } = EVERYTHING;
    const written = parse(String(main)) as Record<string, unknown>;
    const reference = renderedYaml((await read(folderWith(EVERYTHING), undefined, "dev")).view, [], false);
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
        const text = stringify(shuffled(written, numbers), { aliasDuplicateObjects: false });
        const { view } = await read(folderWith({ ...rest, "workspace.yaml": text }), undefined, "dev");
        expect(renderedYaml(view, [], false)).toBe(reference);
      }),
      { numRuns: sampleOf(20) },
    );
  });

  it("renders random teams as an equal spec", async () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
    const text = fc.string({ unit: "grapheme", maxLength: 12 });
    const teams = fc.dictionary(name, fc.record({ capacity: fc.integer({ min: 1, max: 99 }), tag: text }), {
      minKeys: 1,
      maxKeys: 4,
    });
    await fc.assert(
      fc.asyncProperty(teams, async (each) => {
        const use = { source: "./team", for_each: each, with: { name: "${each.key}", of: "${each.value}" } };
        const data = { targets: { dev: { default: true } }, modules: { team: use } };
        const module = `
inputs: { name: { type: string }, of: { type: object } }
pools: { p: { instance_pool_name: "\${input.name}", node_type_id: x, max_capacity: "\${input.of.capacity}", custom_tags: { tag: "\${input.of.tag}", "\${input.name}": a } } }
groups: { g: { displayName: "\${input.name}", members: { users: [] } } }
`;
        // Data can look like a template.
        const main = stringify({ ...data, locals: {} }).replaceAll("$${", "$$${");
        await holds(folderWith({ "workspace.yaml": main, "team/workspace.yaml": module }));
      }),
      { numRuns: sampleOf(40) },
    );
  });

  it("renders the whole test spec as an equal spec", async () => {
    const text = readFileSync("test/spec/whole.yaml", "utf8");
    if (text.includes("source")) return;
    await holds(folderWith({ "workspace.yaml": text }), "prod");
  });
});

/** A copy whose maps have another order. */
function shuffled(value: unknown, numbers: Iterator<number>): unknown {
  if (Array.isArray(value)) return value.map((one) => shuffled(one, numbers));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(
    ([key, one]) => [Number(numbers.next().value), key, shuffled(one, numbers)] as const,
  );
  // A list in `moved` or `for_each` keeps its order.
  return new Map(entries.toSorted((a, b) => a[0] - b[0]).map(([, key, one]) => [key, one]));
}
