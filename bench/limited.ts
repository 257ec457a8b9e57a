// A first apply against a service with latency and a limit of requests a second for each endpoint, compared with the least time that the limit allows.

import { join } from "node:path";
import { inFolder, mustRun } from "./process.ts";
import { resourcesOf, type Sizes } from "./sizes.ts";
import { SECRET_VARIABLE, writeSpec } from "./spec.ts";
import { startWorkspace, TOKEN } from "./workspace.ts";
import { worldOf } from "./world.ts";

export const LIMIT = { perSecond: 30, latencyMs: 100 };
/** Enough requests at once that the limit, and not the latency, decides the time. */
const PARALLELISM = 64;
/** Requests that wait for one another: a list, what the first job needs, a job in two phases, and the list that verifies it. */
const CHAIN = 5;

export interface LimitedFigures {
  readonly resources: number;
  readonly ms: number;
  readonly leastMs: number;
  readonly refused: number;
  /** Requests that were refused after the first ten seconds. */
  readonly lateRefused: number;
}

export function measureLimited(sizes: Sizes, program: string): Promise<LimitedFigures> {
  return inFolder(async (folder) => {
    writeSpec(folder, worldOf(sizes));
    const workspace = await startWorkspace();
    try {
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const rule = {
        path: "/api/*",
        fate: "rate",
        per_second: LIMIT.perSecond,
        delay_ms: LIMIT.latencyMs,
      };
      const body = JSON.stringify({ rules: [rule] });
      await fetch(`${workspace.url}/__emulator/faults`, { method: "PUT", headers, body });
      const file = join(folder, "workspace.yaml");
      const args = [program, "apply", "--file", file, "--host", workspace.url, "--auto-approve"];
      const refusals = async (): Promise<number> => {
        const log = await fetch(`${workspace.url}/__emulator/requests`, { headers });
        const { requests } = (await log.json()) as { requests: { readonly status: number }[] };
        return requests.filter(({ status }) => status === 429).length;
      };
      const running = mustRun([...args, "--parallelism", `${PARALLELISM}`], {
        WORKSPACE_TOKEN: TOKEN,
        [SECRET_VARIABLE]: "a secret of the benchmark",
        CI: "1",
      });
      const early = new Promise<number>((resolve) => {
        setTimeout(() => resolve(refusals()), 10_000);
      });
      const { ms } = await running;
      const refused = await refusals();
      return {
        resources: resourcesOf(sizes),
        ms,
        leastMs: leastMs(sizes),
        refused,
        lateRefused: refused - Math.min(refused, await early),
      };
    } finally {
      await workspace.stop();
    }
  });
}

/** A window of a second admits its requests at once, so the last request of the busiest endpoint waits for all full windows. */
function leastMs({ jobs, users, secrets }: Sizes): number {
  const busiest = Math.max(jobs, users, secrets);
  return Math.floor((busiest - 1) / LIMIT.perSecond) * 1_000 + CHAIN * LIMIT.latencyMs;
}
