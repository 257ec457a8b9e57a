// A scenario's run in peace, one request at a time: its trace, its writes, and the world in which every case must end.

import { type Calm, mailsOf, violations } from "../checks/invariants.ts";
import type { Written } from "../checks/ledger.ts";
import { crashingProcess, type Point } from "../faults/trace.ts";
import { type Form, stageKey } from "../world/forms.ts";
import { SETTLING_MS, type Stage, stageOf } from "../world/stage.ts";
import { worldLines } from "../world/world-text.ts";
import { Trial } from "./trial.ts";

export interface CalmRun extends Calm {
  readonly stage: Stage;
  readonly points: readonly Point[];
  readonly writes: readonly Written[];
}

const known = new Map<string, Promise<CalmRun>>();

/** Throws when the run in peace itself breaks a rule. */
export function calmRun(scenario: string, form: Form = "file"): Promise<CalmRun> {
  const key = `${stageKey(form)}/${scenario}`;
  const found = known.get(key) ?? stageOf(scenario, form).then(runInPeace);
  known.set(key, found);
  return found;
}

export async function runInPeace(stage: Stage): Promise<CalmRun> {
  const trial = await Trial.of(stage);
  try {
    const trace = crashingProcess();
    await trial.apply(trace.options);
    await trial.site.clock.advance(SETTLING_MS);
    const calm = { lines: worldLines(trial.site.world), mails: mailsOf(trial.site) };
    const points = [...trace.points];
    const wrong = await violations(trial, calm);
    if (wrong.length > 0) throw new Error(`${stage.scenario.name} in peace: ${wrong.join("; ")}`);
    return { ...calm, stage, points, writes: trial.ledger.effective(1) };
  } finally {
    trial.close();
  }
}
