// The time to load 1,000 instances of a module with 20 resources, and the same spec written out.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registry } from "../src/providers/index.ts";
import { loadSpec } from "../src/spec/load-spec.ts";

export const INSTANCES = 1_000;
const REPEATS = 5;

/** 20 resources of a team, with one string for its name. */
function team(name: string): string {
  const kinds: Record<string, string[]> = { pools: [], clusters: [], groups: [] };
  for (let at = 0; at < 6; at++)
    kinds.pools?.push(
      `  p${at}:\n    instance_pool_name: ${name}-p${at}\n    node_type_id: Standard_DS3_v2\n    max_capacity: 20\n    custom_tags: { team: ${name}, cost: "c${at}" }`,
    );
  for (let at = 0; at < 10; at++)
    kinds.clusters?.push(
      `  c${at}:\n    cluster_name: ${name}-c${at}\n    spark_version: 6.4.x-scala2.11\n    instance_pool_id: \${pools.PREFIXp${at % 6}.instance_pool_id}\n    autoscale: { min_workers: 1, max_workers: 4 }\n    autotermination_minutes: 60`,
    );
  for (let at = 0; at < 4; at++) kinds.groups?.push(`  g${at}: { displayName: ${name}-g${at} }`);
  return JSON.stringify(kinds);
}

function writtenOut(): string {
  const sections: Record<string, string[]> = { pools: [], clusters: [], groups: [] };
  for (let at = 0; at < INSTANCES; at++)
    for (const [kind, texts] of Object.entries(JSON.parse(team(`t${at}`)) as Record<string, string[]>))
      for (const text of texts)
        sections[kind]?.push(text.replace(/^ {2}/, `  t${at}-`).replaceAll("PREFIX", `t${at}-`));
  return Object.entries(sections)
    .map(([kind, texts]) => `${kind}:\n${texts.join("\n")}\n`)
    .join("");
}

function moduleText(): string {
  const kinds = JSON.parse(team("${input.team}")) as Record<string, string[]>;
  const sections = Object.entries(kinds).map(([kind, texts]) => `${kind}:\n${texts.join("\n")}\n`);
  return `inputs:\n  team: { type: string }\n${sections.join("")}`
    .replaceAll("PREFIX", "")
    .replaceAll("{ team: ${input.team},", '{ team: "${input.team}",')
    .replaceAll(/displayName: (\S+) \}/g, 'displayName: "$1" }');
}

async function load(folder: string): Promise<number> {
  const begun = performance.now();
  const { spec, diagnostics } = await loadSpec({
    file: join(folder, "workspace.yaml"),
    env: {},
    registry,
    secrets: "skip",
    keyed: () => "",
  });
  if (spec?.resources.size !== INSTANCES * 20)
    throw new Error(`${spec?.resources.size} resources: ${diagnostics[0]?.message}`);
  return performance.now() - begun;
}

export interface ModuleFigures {
  readonly flatMs: number;
  readonly modularMs: number;
}

/** The fastest of several loads of each. */
export async function measureModules(): Promise<ModuleFigures> {
  const root = mkdtempSync(join(tmpdir(), "bench-modules-"));
  try {
    const [flat, modular] = [join(root, "flat"), join(root, "modular")];
    mkdirSync(flat);
    mkdirSync(join(modular, "team"), { recursive: true });
    writeFileSync(join(flat, "workspace.yaml"), writtenOut());
    writeFileSync(join(modular, "team/workspace.yaml"), moduleText());
    const keys = Array.from({ length: INSTANCES }, (_, at) => `      t${at}: {}`).join("\n");
    writeFileSync(
      join(modular, "workspace.yaml"),
      `modules:\n  team:\n    source: ./team\n    for_each:\n${keys}\n    with: { team: "\${each.key}" }\n`,
    );
    const times: { flat: number[]; modular: number[] } = { flat: [], modular: [] };
    for (let at = 0; at < REPEATS; at++) {
      times.flat.push(await load(flat));
      times.modular.push(await load(modular));
    }
    return { flatMs: Math.min(...times.flat), modularMs: Math.min(...times.modular) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
