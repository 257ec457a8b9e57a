// Evaluates rules in a separate thread. A rule that exceeds its time or memory limit ends the thread, not the run.

import { Worker } from "node:worker_threads";
import type { RuleResult } from "./rule.ts";
import type { RuleJob } from "./rule-worker.ts";

/** Times in milliseconds. `ruleMs`: for one rule and all changes. `totalMs`: after it, no further rule is evaluated. */
export interface RuleLimits {
  readonly ruleMs: number;
  readonly totalMs: number;
  readonly heapMb: number;
}

export const RULE_LIMITS: RuleLimits = { ruleMs: 5_000, totalMs: 30_000, heapMb: 512 };

/** For an untrusted spec. */
export const STRICT_RULE_LIMITS: RuleLimits = { ruleMs: 2_000, totalMs: 10_000, heapMb: 256 };

/** Starting a thread and receiving the plan are not the fault of a rule. */
const START_MS = 30_000;

/** The results in the order of the rules. Never throws for what a rule does. */
export async function runRules(
  job: Omit<RuleJob, "from">,
  limits: RuleLimits,
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = [];
  const end = performance.now() + limits.totalMs;
  while (results.length < job.rules.length) {
    if (performance.now() > end) {
      const told = `the rules did not finish within ${limits.totalMs / 1000} s, so this rule was not evaluated`;
      results.push(unfinished(told));
    } else {
      const ending = await runFrom({ ...job, from: results.length }, limits, (one) => results.push(one));
      if (ending !== undefined) results.push(unfinished(ending));
    }
  }
  return results;
}

function unfinished(message: string): RuleResult {
  return { violations: [], problem: { part: "assert", offset: 0, message, subjects: [] } };
}

/** Undefined if all rules were evaluated; otherwise, why the next one was not. */
function runFrom(
  job: RuleJob,
  limits: RuleLimits,
  take: (result: RuleResult) => void,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(workerUrl(), {
      workerData: job,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: 64 },
    });
    let left = job.rules.length - job.from;
    let timer: NodeJS.Timeout;
    const finish = (why: string | undefined): void => {
      clearTimeout(timer);
      worker.removeAllListeners();
      worker.on("error", () => undefined);
      void worker.terminate().then(() => resolve(why));
    };
    const wait = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(`the rule did not finish within ${ms / 1000} s`), ms);
    };
    wait(START_MS);
    worker.on("message", (message: "ready" | RuleResult) => {
      if (message !== "ready") {
        take(message);
        left -= 1;
      }
      if (left === 0) finish(undefined);
      else wait(limits.ruleMs);
    });
    worker.on("error", (problem: Error & { readonly code?: string }) =>
      finish(
        problem.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? `the rule needs more than ${limits.heapMb} MB of memory`
          : `the rule could not be evaluated: ${problem.message}`,
      ),
    );
    worker.on("exit", () => finish("the thread of the rules ended early"));
  });
}

/** The build of the single file replaces the URL by one that contains the code of the thread. */
function workerUrl(): URL {
  const file = import.meta.url.endsWith(".ts") ? "./rule-worker.ts" : "./rule-worker.js";
  return new URL(file, import.meta.url);
}
