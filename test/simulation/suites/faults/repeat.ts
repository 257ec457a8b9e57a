// Every write arrives twice, and either answer comes back: the world must be the one of a single sending.

import { violations } from "../../checks/invariants.ts";
import { isWrite } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import type { Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { scenarios } from "../../world/scenarios.ts";

const ANSWERS = ["first", "second"] as const;

export const repeat: Suite = {
  name: "repeat",
  what: "a write arrives twice, and the client receives the first or the second response",
  unit: "writes",
  sample: 30,

  async cases() {
    const names: string[] = [];
    for (const { name } of scenarios) {
      const { writes } = await faultFreeRun(name);
      for (const answer of ANSWERS)
        names.push(`${name}/all/${answer}`, ...writes.map((_, nth) => `${name}/${nth}/${answer}`));
    }
    return names;
  },

  async run(name) {
    const [scenario = "", nth, answer] = name.split("/");
    const reference = await faultFreeRun(scenario);
    const trial = await Trial.of(reference.stage);
    try {
      let count = 0;
      await trial.apply({
        transport: async (request, send) => {
          if (!isWrite(request)) return send(request);
          if (nth !== "all" && count++ !== Number(nth)) return send(request);
          const first = await send(request);
          const second = await send(request);
          return answer === "first" ? first : second;
        },
      });
      await trial.apply();
      return await violations(trial, reference, reference.stage.spec, { repeats: true });
    } finally {
      trial.close();
    }
  },
};
