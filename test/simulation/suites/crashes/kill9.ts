// Real processes over HTTP, on each form of state: kill -9 of a real apply at a chosen write, before the service saw it, after the
// commit, or in between.

import type { Side } from "../../faults/gate.ts";
import { stopServer } from "../../homes/in-postgres.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { kill, Real } from "../../run/real.ts";
import { inTurn, type Suite, shuffled } from "../../run/suite.ts";
import { type Form, formsHere, notTried } from "../../world/forms.ts";
import { scenarios } from "../../world/scenarios.ts";

const SIDES: readonly Side[] = ["before", "after", "late"];
/** Not at a write of the engine, but at the next one of its state, which is in the workspace too. */
const AT_STATE = "state-";
/** Requests at once: sometimes one, sometimes many. */
const PARALLELISM = ["1", "10"] as const;

let real: Promise<Real> | undefined;

function server(): Promise<Real> {
  real ??= Real.open();
  return real;
}

async function casesOn(form: Form): Promise<readonly string[]> {
  const sides = form === "workspace" ? [...SIDES, ...SIDES.map((side) => AT_STATE + side)] : SIDES;
  const names: string[] = [];
  for (const { name } of scenarios) {
    const { writes } = await faultFreeRun(name);
    for (let nth = 0; nth < writes.length; nth++)
      for (const side of sides)
        for (const parallel of PARALLELISM) names.push(`${form}/${name}/${nth}/${side}/${parallel}`);
  }
  return names;
}

export const kill9: Suite = {
  name: "kill9",
  what: "kill -9 of a real apply over HTTP at a chosen write, with each state backend",
  unit: "kills",
  sample: 2,
  ordered: true,

  async cases(seed) {
    const lists = await Promise.all(formsHere().map(casesOn));
    return inTurn(lists.map((names, at) => shuffled(names, seed + at)));
  },

  async run(name) {
    const [form = "", scenario = "", nth, side = "", parallel = "1"] = name.split("/");
    const at = await server();
    await at.begin(scenario, form as Form);
    const dying = at.apply({}, ["--parallelism", parallel]);
    let killed = false;
    at.gate.arm({
      nth: Number(nth),
      side: SIDES.find((one) => side.endsWith(one)) ?? "before",
      atState: side.startsWith(AT_STATE),
      act: async () => {
        killed = true;
        await kill(dying);
      },
    });
    await dying.ended;
    at.gate.arm();
    at.moveOn();
    const last = await at.apply().ended;
    const wrong = await at.violations(last);
    return killed ? wrong : ["the process was not killed", ...wrong];
  },

  notes: async () => notTried(),

  async close() {
    await (await real)?.close();
    real = undefined;
    await stopServer();
  },
};
