// The parallel cut: four requests at once, the process crashes, and each pending request is received or not.

import type { HttpRequest, HttpResponse } from "../../../../src/api/http/transport.ts";
import type { Send } from "../../../engine/site.ts";
import { violations } from "../../checks/invariants.ts";
import { crashingProcess, isWrite, type Point } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { randomFrom, type Suite, shuffled } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import type { Form } from "../../world/forms.ts";

const PARALLELISM = 4;
const SCENARIOS = ["create", "update", "replace", "delete", "mixed", "names"] as const;
/** The duration of a request and of an answer. */
const LATENCY_MS = 5;

interface Wire {
  readonly line: (request: HttpRequest, send: Send) => Promise<HttpResponse>;
  /** Writes that left the process and have not reached the service, in the order in which they left. */
  readonly onTheirWay: readonly HttpRequest[];
  /** From now on nothing arrives unless the case says so. */
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
  readonly points: readonly Point[];
}

async function dieAt(scenario: string, at: number | undefined, form?: Form): Promise<Died> {
  const { stage } = await faultFreeRun(scenario, form);
  const trial = await Trial.of(stage);
  const wire = wireOf(trial);
  const end = crashingProcess(at, wire.line);
  void end.stopped.then(() => wire.cut());
  await trial.apply({ ...end.options, parallelism: PARALLELISM }, end);
  wire.cut();
  return { trial, wire, points: [...end.points] };
}

/** Every moment of a process with four requests at once. */
export async function momentsToCut(scenario: string, form?: Form): Promise<readonly Point[]> {
  const { trial, points } = await dieAt(scenario, undefined, form);
  trial.close();
  return points;
}

/** The process crashes; of the pending requests, those whose bits are set are received. */
export async function cutAt(
  scenario: string,
  at: number,
  subset: number,
  form?: Form,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const { trial, wire } = await dieAt(scenario, at, form);
  try {
    for (const [bit, request] of wire.onTheirWay.entries())
      if ((subset >> bit) % 2 === 1) await trial.site.drive(trial.site.send(request));
    await trial.apply({ parallelism: PARALLELISM });
    return await violations(trial, reference);
  } finally {
    trial.close();
  }
}

export const cut: Suite = {
  name: "cut",
  what: "four concurrent requests, and at each event every pending request is received or lost",
  unit: "cases",
  sample: 40,

  /** Some cases: one of each of as many moments. To know all cases, every moment is run once. */
  async cases(seed, count) {
    const lists = await Promise.all(
      SCENARIOS.map(async (scenario) =>
        (await momentsToCut(scenario)).map((_, at) => [scenario, at] as const),
      ),
    );
    const moments = shuffled(lists.flat(), seed);
    const isSome = count !== undefined && count < moments.length;
    const random = randomFrom(seed);
    const names: string[] = [];
    for (const [scenario, at] of isSome ? moments.slice(0, count) : moments) {
      const { trial, wire } = await dieAt(scenario, at);
      const subsets = 2 ** wire.onTheirWay.length;
      trial.close();
      if (isSome) names.push(`${scenario}/${at}/${Math.floor(random() * subsets)}`);
      else names.push(...Array.from({ length: subsets }, (_, subset) => `${scenario}/${at}/${subset}`));
    }
    return names;
  },

  run(name) {
    const [scenario = "", at, subset] = name.split("/");
    return cutAt(scenario, Number(at), Number(subset));
  },
};
