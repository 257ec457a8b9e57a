// New contents in the JSON of a plan: as lines where they are text, within limits, and without sensitive values.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const NOTEBOOK = "# Databricks notebook source\nprint(1)\n";

interface PlannedChange {
  readonly address: string;
  readonly action: string;
  readonly text_diff?: { readonly lines: readonly string[]; readonly added: number };
}

async function changesOf(folder: string, words: string): Promise<ReadonlyMap<string, PlannedChange>> {
  const context = contextWith({}, folder);
  await runProgram(context, words.split(" "));
  const { resource_changes } = JSON.parse(context.out()) as { resource_changes: readonly PlannedChange[] };
  return new Map(resource_changes.map((change) => [change.address, change]));
}

function folderOf(spec: string, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = folderWith(spec);
  for (const [path, bytes] of Object.entries(files)) writeFileSync(join(folder, path), bytes);
  return folder;
}

const fileSpec = (names: readonly string[]): string =>
  `files: { ${names.map((name) => `/Shared/${name}: { source: ${name} }`).join(", ")} }\n`;

test("a new notebook and a new file have their lines in a plan and in a saved one", async () => {
  const spec = "notebooks: { /Shared/n: { source: n.py } }\nfiles: { /Shared/a.sh: { source: a.sh } }\n";
  const folder = folderOf(spec, { "n.py": NOTEBOOK, "a.sh": "echo 1" });
  for (const words of ["plan --host embedded -o json --out saved", "show saved -o json"]) {
    const changes = await changesOf(folder, words);
    expect(changes.get("notebooks./Shared/n")?.text_diff?.lines.at(-1)).toBe("+print(1)");
    expect(changes.get("files./Shared/a.sh")?.text_diff).toEqual({
      lines: ["@@ -0,0 +1,1 @@", "+echo 1", "\\ No newline at end of file"],
      added: 1,
      removed: 0,
    });
  }
});

test("a new content that is not text or above 64 KiB has a digest only, and so have those after 1 MiB", async () => {
  const large = `${"x".repeat(1023)}\n`.repeat(64);
  const names = Array.from({ length: 18 }, (_, at) => `t${String(at).padStart(2, "0")}`);
  const files = Object.fromEntries(names.map((name) => [name, large]));
  const all = { ...files, binary: Buffer.from([0, 255, 1]), larger: `${large}\n` };
  const changes = await changesOf(folderOf(fileSpec(Object.keys(all)), all), "plan --host embedded -o json");
  const shown = [...changes.values()].flatMap(({ address, text_diff }) => (text_diff ? [address] : []));
  expect(changes.size).toBe(20);
  expect(shown).toEqual(names.slice(0, 16).map((name) => `files./Shared/${name}`));
});

test("a sensitive value in a new content is masked", async () => {
  const spec = `variables: { key: { type: string, sensitive: true, default: not-a-real-key } }
pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { key: "\${var.key}" } } }
${fileSpec(["a.sh"])}`;
  const changes = await changesOf(
    folderOf(spec, { "a.sh": "echo not-a-real-key\n" }),
    "plan --host embedded -o json",
  );
  expect(changes.get("files./Shared/a.sh")?.text_diff?.lines).toEqual([
    "@@ -0,0 +1,1 @@",
    "+echo (sensitive)",
  ]);
});

test("an untrusted and an offline plan have no lines of new contents", async () => {
  const folder = folderOf(fileSpec(["a.sh"]), { "a.sh": "echo 1\n" });
  for (const words of ["plan --offline -o json", "plan --host embedded --untrusted -o json"]) {
    const change = (await changesOf(folder, words)).get("files./Shared/a.sh");
    expect([words, change?.action, change?.text_diff]).toEqual([words, "create", undefined]);
  }
});
