// Real processes over HTTP: kill -9 of a real apply at a chosen write, before the service saw it, after the commit, or in between.

import { calmRun } from "../calm.ts";
import type { Side } from "../gate.ts";
import { kill, Real } from "../real.ts";
import { scenarios } from "../scenarios.ts";
import type { Suite } from "../suite.ts";

const SIDES: readonly Side[] = ["before", "after", "late"];
/** Requests at once: sometimes one, sometimes many. */
const PARALLELISM = ["1", "10"] as const;

let real: Promise<Real> | undefined;

function server(): Promise<Real> {
  real ??= Real.open();
  return real;
}

/** Brings a fresh workspace to where a scenario begins. */
async function begin(at: Real, name: string): Promise<void> {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  await at.fresh();
  if (scenario.before !== undefined) {
    at.spec(scenario.before);
    const { code, stderr } = await at.apply().ended;
    if (code !== 0) throw new Error(`the first apply failed: ${stderr}`);
    await at.settle();
  }
  at.spec(scenario.after);
  at.gate.arm();
}

export const kill9: Suite = {
  name: "kill9",
  what: "kill -9 of a real apply over HTTP at a chosen write",
  unit: "kills",
  sample: 4,

  async cases() {
    const names: string[] = [];
    for (const { name } of scenarios) {
      const { writes } = await calmRun(name);
      for (let nth = 0; nth < writes.length; nth++)
        for (const side of SIDES)
          for (const parallel of PARALLELISM) names.push(`${name}/${nth}/${side}/${parallel}`);
    }
    return names;
  },

  async run(name) {
    const [scenario = "", nth, side = "", parallel = "1"] = name.split("/");
    const at = await server();
    await begin(at, scenario);
    const dying = at.apply({}, ["--parallelism", parallel]);
    let killed = false;
    at.gate.arm({
      nth: Number(nth),
      side: SIDES.find((one) => one === side) ?? "before",
      act: async () => {
        killed = true;
        await kill(dying);
      },
    });
    await dying.ended;
    at.gate.arm();
    const last = await at.apply().ended;
    const wrong = await at.violations(last);
    return killed ? wrong : ["the process was not killed", ...wrong];
  },

  async close() {
    await (await real)?.close();
    real = undefined;
  },
};
