// The zombie: a process is frozen at each of its moments, another one acquires the lock and finishes, then the first
// continues.

import type { HttpRequest, HttpResponse } from "../../../../src/api/http/transport.ts";
import { stateToJson } from "../../../../src/state/format/snapshot.ts";
import type { Clock } from "../../../../src/state/model/store.ts";
import type { ProcessOptions, Send } from "../../../engine/site.ts";
import type { VirtualClock } from "../../../state/virtual-clock.ts";
import { violations } from "../../checks/invariants.ts";
import { isWrite } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import { type Suite, shuffled } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import type { Form } from "../../world/forms.ts";

/** Short compared with the time for which a client retries a request. */
const TIMES = { leaseMs: 8000, requestMs: 8000 };
const SCENARIOS = ["create", "mixed", "delete"] as const;

/** The process stops at the point with this number until `thaw` is called. */
class Ice {
  readonly #at: number;
  readonly #trial: Trial;
  /** Every point that was passed. */
  readonly points: string[] = [];
  readonly #thaw = Promise.withResolvers<void>();
  readonly #frozen = Promise.withResolvers<void>();
  #isFrozen = false;
  #isThawed = false;
  readonly sentAfterwards: string[] = [];

  constructor(trial: Trial, at: number) {
    this.#trial = trial;
    this.#at = at;
  }

  get frozen(): Promise<void> {
    return this.#frozen.promise;
  }

  thaw(): void {
    this.#isThawed = true;
    this.#thaw.resolve();
  }

  async #pass(point: string): Promise<void> {
    this.points.push(point);
    if (this.points.length - 1 === this.#at) {
      this.#isFrozen = true;
      this.#frozen.resolve();
    }
    if (this.#isFrozen && !this.#isThawed) await this.#thaw.promise;
  }

  get options(): ProcessOptions {
    return {
      hooks: {
        before: (operation, path) => this.#pass(`${operation} ${path}`),
        after: (operation, path) => this.#pass(`${operation} done ${path}`),
      },
      // Requests of a state that is not a file arrive, even long after they were sent.
      line: async (what, changes, work) => {
        if (!changes) return work();
        await this.#pass(`ask ${what}`);
        const answer = await work();
        await this.#pass(`took effect ${what}`);
        return answer;
      },
      times: TIMES,
      transport: (request, send) => this.#carried(request, send),
    };
  }

  async #carried(request: HttpRequest, send: Send): Promise<HttpResponse> {
    this.#trial.ledger.sentBy.set(request, 1);
    if (!isWrite(request)) return send(request);
    if (this.#isThawed) this.sentAfterwards.push(`${request.method} ${request.path}`);
    await this.#pass(`send ${request.method} ${request.path}`);
    // Pending requests at the freeze did not arrive, or their answers did not.
    if (this.#isThawed) throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    const answer = await send(request);
    await this.#pass(`answered ${request.method} ${request.path}`);
    if (this.#isThawed) throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    return answer;
  }
}

/** Every moment at which a process of a scenario can be frozen. */
export async function momentsToFreeze(scenario: string, form?: Form): Promise<readonly string[]> {
  const { stage } = await faultFreeRun(scenario, form);
  const trial = await Trial.of(stage);
  try {
    const ice = new Ice(trial, -1);
    await trial.apply(ice.options);
    return ice.points;
  } finally {
    trial.close();
  }
}

/** Makes the clock of the second process. */
export type ClockOf = (base: VirtualClock) => Clock;
const sameClock: ClockOf = (base) => base;

export async function freezeAndWake(
  scenario: string,
  at: number,
  form?: Form,
  clockOf: ClockOf = sameClock,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  try {
    const ice = new Ice(trial, at);
    const first = trial.begin(ice.options);
    await trial.site.drive(Promise.race([first, ice.frozen]));
    await trial.apply({ times: TIMES, clock: clockOf(trial.site.clock) });
    const written = await stateOf(trial);
    ice.thaw();
    trial.runs.unshift(await trial.site.drive(first));
    const zombie = [
      ...ice.sentAfterwards.map((what) => `the one that had lost the lock sent ${what}`),
      ...((await holder(trial)) === 1 || (await stateOf(trial)) === written
        ? []
        : ["the one that had lost the lock wrote to the state"]),
    ];
    await trial.apply();
    const wrong = [...zombie, ...(await violations(trial, reference))];
    return wrong.map((one) => `frozen at ${ice.points[at]}: ${one}`);
  } finally {
    trial.close();
  }
}

/** The duration of a pause, well within its lease. */
const HALT_MS = 3000;

/** Two processes at once: one is paused for a moment, and the other one begins; each waits for the other's lock. */
export async function race(
  scenario: string,
  at: number,
  form?: Form,
  clockOf: ClockOf = sameClock,
): Promise<readonly string[]> {
  const reference = await faultFreeRun(scenario, form);
  const trial = await Trial.of(reference.stage);
  try {
    const ice = new Ice(trial, at);
    const first = trial.begin(ice.options);
    await trial.site.drive(Promise.race([first, ice.frozen]));
    const second = trial.begin({ times: TIMES, clock: clockOf(trial.site.clock) });
    void trial.site.clock.sleep(HALT_MS).then(() => ice.thaw());
    trial.runs.push(...(await trial.site.drive(Promise.all([first, second]))));
    const ends = `${trial.told.get("failure") ?? ""}${trial.told.get("outcome") ?? ""}`;
    const lost = ends.includes("STATE_LOCK_LOST") ? ["a run lost its lock within its lease"] : [];
    await trial.apply();
    const wrong = [...lost, ...(await violations(trial, reference))];
    return wrong.map((one) => `halted at ${ice.points[at]}: ${one}`);
  } finally {
    trial.close();
  }
}

export const zombie: Suite = {
  name: "zombie",
  what: "a process freezes, another process acquires the lock and finishes, and the first process continues",
  unit: "moments",
  sample: 60,
  ordered: true,

  /** First one moment for each kind of operation on each file and for each request, then all others. */
  async cases(seed) {
    const first = new Map<string, string>();
    const names: string[] = [];
    for (const scenario of SCENARIOS) {
      const points = await momentsToFreeze(scenario);
      points.forEach((point, at) => {
        names.push(`${scenario}/${at}`);
        first.set(`${scenario} ${point.replaceAll(/[0-9a-f]{16}|\d+/g, "#")}`, `${scenario}/${at}`);
      });
    }
    return [...new Set([...shuffled([...first.values()], seed), ...shuffled(names, seed)])];
  },

  run(name) {
    const [scenario = "", at] = name.split("/");
    return freezeAndWake(scenario, Number(at));
  },
};

/** The process that took the lock last: one that was frozen before it had it may take it afterwards. */
async function holder({ site }: Trial): Promise<number | undefined> {
  const top = await site.home.place(site, {}).latestClaim();
  return top !== undefined && "claim" in top ? top.claim.owner.pid : undefined;
}

async function stateOf({ site }: Trial): Promise<string> {
  return stateToJson({ state: await site.state(), key: "" });
}
