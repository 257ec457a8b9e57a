// A farm with its fleet file, and a state for each workspace, as if each had been applied.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Farm, startFarm } from "./farm.ts";
import { copyState, nameOf, SECRETS, TOKEN, writeFleetFile, writeTemplateSpec } from "./template.ts";

const CLI = join(import.meta.dirname, "../../bin/workspace.js");

export interface FarmPlace {
  readonly folder: string;
  readonly count: number;
  readonly latencyMs?: number;
  readonly timeout?: string;
}

/** As `prepareFarm`, with empty workspaces and without states. */
export async function prepareEmptyFarm({
  folder,
  count,
  latencyMs = 0,
  timeout = "2m",
}: FarmPlace): Promise<Farm> {
  writeTemplateSpec(join(folder, "spec"));
  const farm = await startFarm({ count, latencyMs, fill: () => Promise.resolve() });
  writeFleetFile({ folder, urls: farm.urls, timeout });
  return farm;
}

export async function prepareFarm({
  folder,
  count,
  latencyMs = 0,
  timeout = "2m",
}: FarmPlace): Promise<Farm> {
  writeTemplateSpec(join(folder, "spec"));
  const state = join(folder, "template-state");
  const farm = await startFarm({ count, latencyMs, fill: (url) => apply(folder, url, state) });
  for (const [at, url] of farm.urls.entries())
    await copyState(state, join(folder, ".workspace/fleet", nameOf(at)), url);
  writeFleetFile({ folder, urls: farm.urls, timeout });
  return farm;
}

/** The service runs in this process, so the command must not block it. */
function apply(folder: string, url: string, state: string): Promise<void> {
  const words = ["apply", "--auto-approve", "--no-input", "-f", "spec/workspace.yaml", "--state", state];
  const child = spawn(process.execPath, [CLI, ...words, "--host", url], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WORKSPACE_TOKEN: TOKEN, ...SECRETS },
    stdio: "ignore",
  });
  return new Promise((resolve, reject) =>
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`apply ended with ${code}`)))),
  );
}
