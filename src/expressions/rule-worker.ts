// The thread that evaluates rules: it receives data, and answers with one result for each rule.

import { parentPort, workerData } from "node:worker_threads";
import { evaluateRule, prepareSubject, prepareSurroundings } from "./evaluate-rules.ts";
import type { RuleLogic, RuleSubject, RuleSurroundings } from "./rule.ts";

/** `from`: the first rule to evaluate. */
export interface RuleJob {
  readonly rules: readonly RuleLogic[];
  readonly subjects: readonly RuleSubject[];
  readonly surroundings: RuleSurroundings;
  readonly from: number;
}

const { rules, subjects, surroundings, from } = workerData as RuleJob;
const prepared = subjects.map((subject) => prepareSubject(subject, surroundings));
const once = prepareSurroundings(surroundings);
parentPort?.postMessage("ready");
for (const rule of rules.slice(from)) parentPort?.postMessage(evaluateRule(rule, prepared, once));
