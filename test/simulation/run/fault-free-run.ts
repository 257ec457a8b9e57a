// The fault-free run of a scenario, one request at a time: its trace, its writes, and the final world that every case must reach.

import { type FaultFreeResult, mailsOf, violations } from "../checks/invariants.ts";
import type { Written } from "../checks/ledger.ts";
import { crashingProcess, type Point } from "../faults/trace.ts";
import { type Form, stageKey } from "../world/forms.ts";
import { SETTLING_MS, type Stage, stageOf } from "../world/stage.ts";
import { worldLines } from "../world/world-text.ts";
import { Trial } from "./trial.ts";

export interface FaultFreeRun extends FaultFreeResult {
  readonly stage: Stage;
  readonly points: readonly Point[];
  readonly writes: readonly Written[];
}

const known = new Map<string, Promise<FaultFreeRun>>();

/** Throws if the fault-free run itself breaks a rule. */
export function faultFreeRun(scenario: string, form: Form = "file"): Promise<FaultFreeRun> {
  const key = `${stageKey(form)}/${scenario}`;
  const found = known.get(key) ?? stageOf(scenario, form).then(runWithoutFaults);
  known.set(key, found);
  return found;
}

export async function runWithoutFaults(stage: Stage): Promise<FaultFreeRun> {
  const trial = await Trial.of(stage);
  try {
    const trace = crashingProcess();
    await trial.apply(trace.options);
    await trial.site.clock.advance(SETTLING_MS);
    const reference = { lines: worldLines(trial.site.world), mails: mailsOf(trial.site) };
    const points = [...trace.points];
    const wrong = await violations(trial, reference);
    if (wrong.length > 0) throw new Error(`${stage.scenario.name} without faults: ${wrong.join("; ")}`);
    return { ...reference, stage, points, writes: trial.ledger.effective(1) };
  } finally {
    trial.close();
  }
}
