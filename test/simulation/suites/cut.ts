// The parallel cut: four requests at once, the process dies, and each request that was on its way is received or not.

import type { HttpRequest, HttpResponse } from "../../../src/api/exchange.ts";
import type { Send } from "../../engine/site.ts";
import { calmRun } from "../calm.ts";
import { violations } from "../invariants.ts";
import type { Suite } from "../suite.ts";
import { doom, isWrite } from "../trace.ts";
import { Trial } from "../trial.ts";

const PARALLELISM = 4;
const SCENARIOS = ["create", "update", "replace", "delete", "mixed"] as const;
/** How long a request, and an answer, is on its way. */
const LATENCY_MS = 5;

interface Wire {
  readonly line: (request: HttpRequest, send: Send) => Promise<HttpResponse>;
  /** Writes that left the process and have not reached the service, in the order in which they left. */
  readonly onTheirWay: readonly HttpRequest[];
  /** From now on nothing arrives by itself. */
  cut(): void;
}

function wireOf(trial: Trial): Wire {
  const onTheirWay: HttpRequest[] = [];
  let isCut = false;
  return {
    onTheirWay,
    cut: () => {
      isCut = true;
    },
    line: async (request, send) => {
      if (!isWrite(request)) return send(request);
      onTheirWay.push(request);
      await trial.site.clock.sleep(LATENCY_MS);
      if (isCut) return new Promise<never>(() => {});
      onTheirWay.splice(onTheirWay.indexOf(request), 1);
      const answer = await send(request);
      await trial.site.clock.sleep(LATENCY_MS);
      return answer;
    },
  };
}

interface Died {
  readonly trial: Trial;
  readonly wire: Wire;
  readonly points: number;
}

async function dieAt(scenario: string, at: number | undefined): Promise<Died> {
  const { stage } = await calmRun(scenario);
  const trial = await Trial.of(stage);
  const wire = wireOf(trial);
  const end = doom(at, wire.line);
  void end.stopped.then(() => wire.cut());
  await trial.apply({ ...end.options, parallelism: PARALLELISM }, end);
  wire.cut();
  return { trial, wire, points: end.points.length };
}

export const cut: Suite = {
  name: "cut",
  what: "four requests at once, and at each event every request on its way is received or lost",
  unit: "cases",
  sample: 120,

  async cases() {
    const names: string[] = [];
    for (const scenario of SCENARIOS) {
      const whole = await dieAt(scenario, undefined);
      whole.trial.close();
      for (let at = 0; at < whole.points; at++) {
        const { trial, wire } = await dieAt(scenario, at);
        const subsets = 2 ** wire.onTheirWay.length;
        trial.close();
        for (let subset = 0; subset < subsets; subset++) names.push(`${scenario}/${at}/${subset}`);
      }
    }
    return names;
  },

  async run(name) {
    const [scenario = "", at, subset] = name.split("/");
    const calm = await calmRun(scenario);
    const { trial, wire } = await dieAt(scenario, Number(at));
    try {
      for (const [bit, request] of wire.onTheirWay.entries())
        if ((Number(subset) >> bit) % 2 === 1) await trial.site.send(request);
      await trial.apply({ parallelism: PARALLELISM });
      return await violations(trial, calm);
    } finally {
      trial.close();
    }
  },
};
