import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SpecEdits } from "../../../src/spec/edit/spec-edits.ts";
import { type DecidedOrigin, originOfValue } from "../../../src/spec/edit/value-origin.ts";
import { type LoadOptions, loadSpec } from "../../../src/spec/load-spec.ts";
import { nodeAt } from "../../../src/spec/model/tree.ts";
import { type Files, folderWith } from "../folder.ts";
import { registry } from "../kinds.ts";

async function originOf(
  files: Files,
  address: string,
  path: readonly string[],
  options: Partial<LoadOptions> = {},
): Promise<DecidedOrigin> {
  const folder = folderWith(files);
  const file = join(folder, "workspace.yaml");
  const input = { file, cwd: folder, env: {}, registry, secrets: "skip" as const, keyed: () => "" };
  const { declared, diagnostics } = await loadSpec({ ...input, ...options });
  const written = declared?.resources.find((resource) => resource.address === address);
  const node = written && nodeAt(written.fields, path);
  if (node === undefined) throw new Error(`${address} has no ${path}: ${JSON.stringify(diagnostics)}`);
  return originOfValue(node, new SpecEdits((name) => readFileSync(join(folder, name))));
}

const lines = ({ sources }: DecidedOrigin): readonly string[] =>
  sources.map(({ what, name, at, target }) =>
    [what, name, at && `${at.file.split("/").at(-1)}:${at.line}`, target].filter(Boolean).join(" "),
  );

const POOL = "pools: { p: { node_type_id: S, max_capacity: ";

test("a value that is written where it is used has no source", async () => {
  const origin = await originOf({ "workspace.yaml": `${POOL}5 } }\n` }, "pools.p", ["max_capacity"]);
  expect(origin).toMatchObject({ at: { line: 1 }, sources: [] });
  expect(origin.expression).toBeUndefined();
});

test("a value comes from a local, which comes from the variable of the selected target", async () => {
  const text = `variables: { size: { type: integer, default: 5 } }
locals: { most: "\${var.size}" }
targets:
  dev: { default: true }
  prod:
    variables: { size: 9 }
${POOL}"\${local.most}" } }
`;
  const origin = await originOf({ "workspace.yaml": text }, "pools.p", ["max_capacity"], { target: "prod" });
  expect(origin).toMatchObject({ at: { line: 7 }, expression: "${local.most}" });
  expect(lines(origin)).toEqual(["local most workspace.yaml:2", "variable size workspace.yaml:6 prod"]);
});

test("every value that an expression reads is a source", async () => {
  const text = `variables: { size: { type: integer, default: 5 } }
locals: { sizes: [1, 2, 3] }
${POOL}'\${var.size + local.sizes[1]}' } }
`;
  const origin = await originOf({ "workspace.yaml": text }, "pools.p", ["max_capacity"]);
  expect(lines(origin)).toEqual(["variable size workspace.yaml:1", "local sizes workspace.yaml:2"]);
});

test("a value of the command line, the environment, or a file of variables has no place in the spec", async () => {
  const text = `variables: { size: { type: integer, default: 5 } }\n${POOL}"\${var.size}" } }\n`;
  const files = { "workspace.yaml": text };
  const size = ["max_capacity"];
  expect(lines(await originOf(files, "pools.p", size, { vars: ["size=7"] }))).toEqual(["outside --var size"]);
  expect(lines(await originOf(files, "pools.p", size, { env: { WORKSPACE_VAR_size: "7" } }))).toEqual([
    "outside WORKSPACE_VAR_size",
  ]);
});

test("a field that the section of a target sets names the target", async () => {
  const text = `${POOL}5 } }
targets:
  prod: { default: true, pools: { p: { max_capacity: 8 } } }
`;
  const origin = await originOf({ "workspace.yaml": text }, "pools.p", ["max_capacity"]);
  expect(origin).toMatchObject({ at: { line: 3 }, target: "prod", sources: [] });
});

test("a value of a module comes from the input that its user passes, or from the default there", async () => {
  const files = {
    "workspace.yaml": "modules: { team: { source: team, with: { size: 4 } } }\n",
    "team/workspace.yaml": `inputs: { size: { type: integer }, node: { default: S } }
pools: { p: { node_type_id: "\${input.node}", max_capacity: "\${input.size}" } }
`,
  };
  const size = await originOf(files, "pools.team/p", ["max_capacity"]);
  expect(lines(size)).toEqual(["input size of modules.team workspace.yaml:1"]);
  expect(size.at.file).toMatch(/team.workspace\.yaml$/);
  expect(lines(await originOf(files, "pools.team/p", ["node_type_id"]))).toEqual([
    "input node workspace.yaml:1",
  ]);
});

test("the values of an entry come from its for_each, and those inside a map are sources of the map", async () => {
  const text = `pools:
  "p-\${each.key}":
    for_each: { a: { size: 3 } }
    node_type_id: S
    max_capacity: "\${each.value.size}"
    custom_tags: { team: "t-\${each.key}", size: "s\${each.value.size}" }
`;
  const size = await originOf({ "workspace.yaml": text }, "pools.p-a", ["max_capacity"]);
  expect(lines(size)).toEqual(["for_each pools.p-${each.key} workspace.yaml:3"]);
  const tags = await originOf({ "workspace.yaml": text }, "pools.p-a", ["custom_tags"]);
  expect(lines(tags)).toEqual(["for_each pools.p-${each.key} workspace.yaml:3"]);
});
