// Sensitive values in a spec that are not in effect in a run: those of other targets, and defaults that a run does not use.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = "Asdf4321Tim";
const HEAD = `variables: { key: { type: string, sensitive: true, default: dd } }
targets:
  a: { default: true }
  prod: { variables: { key: ${VALUE} } }
`;

function site(spec: string, prepare: (folder: string) => void = () => {}) {
  const folder = folderWith(spec);
  prepare(folder);
  const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: join(folder, "state") };
  return async (line: string) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
}

test.each(["validate", "plan"])(
  "the default of a sensitive input is in no line around an error: %s",
  async (line) => {
    const run = site("modules: { m: { source: ./m, with: { tok: x } } }\n", (folder) => {
      mkdirSync(join(folder, "m"));
      const inputs = `inputs: { tok: { type: string, sensitive: true, default: ${VALUE} } }\n`;
      writeFileSync(join(folder, "m/workspace.yaml"), `${inputs}pols: {}\n`);
    });
    const { code, all } = await run(line);
    expect([code, all]).toEqual([1, expect.stringContaining("pols: {}")]);
    expect(all).not.toContain(VALUE);
  },
);

describe("the value for a sensitive input that no instance takes", () => {
  const given = `with: { tok: ${VALUE} }`;
  const MODULE = "inputs: { tok: { type: string, sensitive: true } }\n";
  const use = (...fields: readonly string[]) => `modules: { m: { ${[...fields, given].join(", ")} } }`;
  const other = "with: { tok: x }";
  test.each([
    ["without an instance: when", use("source: ./m", "when: false")],
    ["without an instance: for_each", use("source: ./m", "for_each: {}")],
    [
      "of another target",
      `targets: { a: { default: true }, b: { ${use()} } }\nmodules: { m: { source: ./m, ${other} } }`,
    ],
    [
      "of another target, with a module of its own",
      `targets: { a: { default: true }, b: { ${use("source: ./m")} } }`,
    ],
    [
      "that the target replaces",
      `${use("source: ./m")}\ntargets: { a: { default: true, modules: { m: { ${other} } } } }`,
    ],
    ["of a module that does not exist", use("source: ./absent")],
    ["of a module in one without an instance", "modules: { m: { source: ./outer, when: false } }"],
  ])("is in no line around an error: %s", async (_, spec) => {
    const run = site(`pols: {}\n${spec}\n`, (folder) => {
      for (const [name, text] of [
        ["m", MODULE],
        ["outer", `pols: { a: "\${1 +}" }\n${use("source: ../m")}\n`],
      ] as const) {
        mkdirSync(join(folder, name));
        writeFileSync(join(folder, name, "workspace.yaml"), text);
      }
    });
    for (const line of ["validate", "plan"]) {
      const { code, all } = await run(line);
      expect([line, code, all]).toEqual([line, 1, expect.stringContaining("pols")]);
      expect(all).not.toContain(VALUE);
    }
  });
});

describe("the sensitive value of another target", () => {
  test.each([
    "validate",
    "plan",
    "plan --var key=other",
    "plan -o json",
    "plan -o sarif",
    "drift",
    "apply --auto-approve",
    "graph",
    "render",
  ])("is in no line around an error: %s", async (line) => {
    const { code, all } = await site(`${HEAD}pols: {}\n`)(line);
    expect([code, all]).toEqual([1, expect.stringContaining("SPEC_UNKNOWN_KIND")]);
    expect(all).not.toContain(VALUE);
  });

  test.each(["text", "json", "markdown", "html", "junit"])(
    "is not shown where a live object contains it: %s",
    async (format) => {
      const cluster =
        "spark_version: 6.4.x-scala2.11, num_workers: 1, node_type_id: Standard_DS3_v2, custom_tags: { t: x }";
      const run = site(`${HEAD}clusters: { c: { ${cluster} } }\n`);
      expect((await run("apply --auto-approve")).code).toBe(0);
      const { clusters } = JSON.parse((await run("api clusters/list")).out);
      const edit = `cluster_id=${clusters[0].cluster_id} cluster_name=c spark_version=6.4.x-scala2.11 num_workers=1`;
      const tags = `custom_tags.t=${VALUE}`;
      // A cluster that is about to start cannot be edited.
      const edited = async () =>
        expect(await run(`api clusters/edit ${edit} node_type_id=Standard_DS3_v2 ${tags}`)).toMatchObject({
          code: 0,
        });
      await vi.waitFor(edited, { timeout: 20_000, interval: 100 });
      expect((await run("api clusters/list")).out).toContain(VALUE);
      for (const line of ["plan", "drift", "plan --destroy"])
        expect([line, (await run(`${line} -o ${format}`)).all]).toEqual([
          line,
          expect.not.stringContaining(VALUE),
        ]);
    },
  );
});
