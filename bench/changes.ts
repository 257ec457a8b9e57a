// A plan in which nearly everything changes: 50,000 pools that differ from each other. The plan, each display of its file, and its apply.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, mustRun, type Ran } from "./process.ts";
import { mib, ms, type Row } from "./table.ts";
import { startWorkspace, TOKEN } from "./workspace.ts";

const POOLS = 50_000;
/** Files of the spec, each below the size limit of a file. */
const FILES = 5;
const FORMATS = ["text", "json", "markdown", "html", "junit"] as const;
const ENVIRONMENT = { WORKSPACE_TOKEN: TOKEN, CI: "1" };

/** Of a plan in which every pool is created, or every pool is updated. */
export interface ChangesFigures {
  readonly what: "creations" | "updates";
  readonly pools: number;
  readonly plan: Ran;
  readonly shown: readonly (readonly [format: string, ran: Ran])[];
  readonly apply: Ran;
}

export function measureChanges(program: string, pools = POOLS): Promise<readonly ChangesFigures[]> {
  return inFolder(async (folder) => {
    const file = join(folder, "workspace.yaml");
    const state = join(folder, "state");
    const saved = join(folder, "saved.plan");
    const workspace = await startWorkspace();
    const on = (...words: string[]) => mustRun([program, ...words, "--state", state], ENVIRONMENT);
    const at = ["--file", file, "--host", workspace.url];
    const measured = async (what: ChangesFigures["what"], capacity: number): Promise<ChangesFigures> => {
      writeLargeSpec(folder, pools, capacity);
      const plan = await on("plan", ...at, "--out", saved);
      const shown: [string, Ran][] = [];
      for (const format of FORMATS)
        shown.push([format, await on("show", saved, "--file", file, "-o", format)]);
      return { what, pools, plan, shown, apply: await on("apply", saved, ...at, "--auto-approve") };
    };
    try {
      return [await measured("creations", 1), await measured("updates", 2)];
    } finally {
      await workspace.stop();
    }
  });
}

function writeLargeSpec(folder: string, pools: number, capacity: number): void {
  const each = Math.ceil(pools / FILES);
  const names = Array.from({ length: FILES }, (_, file) => `pools-${file}.yaml`);
  for (const [file, name] of names.entries()) {
    const lines = ["pools:"];
    for (let n = file * each; n < Math.min(pools, (file + 1) * each); n++)
      lines.push(
        `  pool-${String(n).padStart(5, "0")}:`,
        "    node_type_id: Standard_DS3_v2",
        `    max_capacity: ${capacity + (n % 50)}`,
        "    custom_tags:",
        `      cost: c${n}`,
      );
    writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  }
  writeFileSync(join(folder, "workspace.yaml"), `include: [${names.join(", ")}]\n`);
}

const MB = 1e6;

export function changesRows({ what, pools, plan, shown, apply }: ChangesFigures): Row[] {
  const memory = (what: string, { peak }: Ran, allowed: number): Row => ({
    what,
    measured: mib(peak),
    against: `${mib(allowed * MB)} allowed`,
    ratio: peak / (allowed * MB),
    aim: 1,
  });
  const changes = `${pools.toLocaleString("en")} ${what}`;
  return [
    {
      what: `plan of ${changes}, on processors`,
      measured: ms(plan.cpuMs),
      against: "20000 ms allowed",
      ratio: plan.cpuMs / 20_000,
      aim: 1,
    },
    memory("  peak memory", plan, 600),
    ...shown.map(([format, ran]) => memory(`show as ${format}, peak memory`, ran, 350)),
    { what: `apply of ${changes}, on processors`, measured: ms(apply.cpuMs) },
    memory("  peak memory", apply, 600),
  ];
}
