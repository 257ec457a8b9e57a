// Machines whose clocks disagree by 5 hours: a live run keeps its lock, and that of a crashed or frozen one is acquired.

import { OffsetClock, type VirtualClock } from "../../../state/virtual-clock.ts";
import { kindOf } from "../../faults/state-request-faults.ts";
import { stopServer } from "../../homes/in-postgres.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { FEW_CASES, inTurn, type Suite, shuffled } from "../../run/suite.ts";
import { type Form, formsHere, notTried } from "../../world/forms.ts";
import { dieAndFinish } from "../crashes/crash.ts";
import { type ClockOf, freezeAndWake, momentsToFreeze, race } from "../crashes/zombie.ts";

const HOURS_MS = 5 * 3_600_000;
const SCENARIOS = ["create", "mixed", "delete"] as const;

/** The first pause of a process that waits for the lock; of one that has it at once, the first is between heartbeats. */
const POLL_MS = 1_000;

/** How the clock of the second process disagrees with that of the first, and of the workspace. */
const CLOCKS: Readonly<Record<string, ClockOf>> = {
  ahead: (base) => new OffsetClock(base, HOURS_MS),
  behind: (base) => new OffsetClock(base, -HOURS_MS),
  "set-ahead": (base) => new SetClock(base, HOURS_MS),
  "set-behind": (base) => new SetClock(base, -HOURS_MS),
};

/** Is set while its process waits for the lock. */
class SetClock extends OffsetClock {
  readonly #laterMs: number;
  #hasSlept = false;

  constructor(base: VirtualClock, laterMs: number) {
    super(base, 0);
    this.#laterMs = laterMs;
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms === POLL_MS && !this.#hasSlept) this.offsetMs = this.#laterMs;
    this.#hasSlept = true;
    return super.sleep(ms, signal);
  }
}

/** A fast clock and a live run. */
const FAST_RACE = /\/race\/(set-)?ahead\//;

/** What the first process does when the second one comes: it halts within its lease, freezes beyond it, or crashes. */
const WAYS = ["race", "zombie", "kill"] as const;

async function momentsOf(way: string, scenario: string, form: Form): Promise<readonly string[]> {
  if (way !== "kill") return momentsToFreeze(scenario, form);
  return (await faultFreeRun(scenario, form)).points.map(({ what, of }) => `${what} ${of}`);
}

export const clocks: Suite = {
  name: "clocks",
  what: "two machines whose clocks are 5 hours apart, or are set by 5 hours during a wait, with each state backend",
  unit: "cases",
  sample: 40,
  ordered: true,

  /** First one case for each backend, clock, and kind of moment, then all others; half of the first for fast clocks and live runs. */
  async cases(seed, count) {
    const scenarios = count !== undefined && count <= FEW_CASES ? SCENARIOS.slice(0, 1) : SCENARIOS;
    const first: string[][] = [];
    const others: string[] = [];
    for (const form of formsHere()) {
      const kinds = new Map<string, string>();
      for (const scenario of scenarios)
        for (const way of WAYS)
          (await momentsOf(way, scenario, form)).forEach((moment, at) => {
            for (const clock of Object.keys(CLOCKS)) {
              const name = `${form}/${scenario}/${way}/${clock}/${at}`;
              others.push(name);
              const kind = `${way} ${clock} ${kindOf(moment)}`;
              if (!kinds.has(kind)) kinds.set(kind, name);
            }
          });
      const names = shuffled([...kinds.values()], seed);
      first.push(
        names.filter((name) => FAST_RACE.test(name)),
        names.filter((name) => !FAST_RACE.test(name)),
      );
    }
    return [...new Set([...inTurn(first), ...shuffled(others, seed)])];
  },

  async run(name) {
    const [form, scenario = "", way, clock = "", at] = name.split("/");
    const clockOf = CLOCKS[clock];
    if (clockOf === undefined) throw new Error(`there is no clock ${clock}`);
    switch (way) {
      case "race":
        return race(scenario, Number(at), form as Form, clockOf);
      case "zombie":
        return freezeAndWake(scenario, Number(at), form as Form, clockOf);
      default:
        return dieAndFinish(scenario, "kill", Number(at), form as Form, clockOf);
    }
  },

  notes: async () => notTried(),

  close: stopServer,
};
