// The late commit: a request times out, and the service executes it later: some requests later, after the run, after the next.

import type { HttpRequest, HttpResponse } from "../../../../src/api/http/transport.ts";
import type { Send } from "../../../engine/site.ts";
import { violations } from "../../checks/invariants.ts";
import type { Ledger } from "../../checks/ledger.ts";
import { isWrite } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import type { Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { scenarios } from "../../world/scenarios.ts";

/** A number counts the requests in between. `between`: the next run has looked already, and has not written yet. */
const WHENS = ["1", "2", "5", "after exit", "between", "after the next run"] as const;

class Late {
  readonly #send: Send;
  readonly #ledger: Ledger;
  #nth: number;
  readonly #after: number;
  #held: HttpRequest | undefined;
  #passed = 0;

  constructor(trial: Trial, nth: number, when: string) {
    this.#send = (request) => trial.site.send(request);
    this.#ledger = trial.ledger;
    this.#nth = nth;
    this.#after = /^\d+$/.test(when) ? Number(when) : Number.POSITIVE_INFINITY;
  }

  readonly transport = async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    if (this.#held !== undefined && ++this.#passed >= this.#after) await this.commit();
    if (!isWrite(request) || this.#nth-- !== 0) return send(request);
    this.#held = request;
    this.#ledger.sentBy.set(request, this.#ledger.process);
    throw Object.assign(new Error("no complete answer in time"), { name: "TimeoutError" });
  };

  readonly beforeFirstWrite = async (request: HttpRequest, send: Send): Promise<HttpResponse> => {
    if (isWrite(request)) await this.commit();
    return send(request);
  };

  async commit(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#send(held);
  }
}

export const late: Suite = {
  name: "late",
  what: "a request times out, and the service executes it later",
  unit: "cases",
  sample: 50,

  async cases() {
    const names: string[] = [];
    for (const { name } of scenarios) {
      const { writes } = await faultFreeRun(name);
      writes.forEach((_, nth) => {
        for (const when of WHENS) names.push(`${name}/${nth}/${when}`);
      });
    }
    return names;
  },

  async run(name) {
    const [scenario = "", nth, when = ""] = name.split("/");
    const reference = await faultFreeRun(scenario);
    const trial = await Trial.of(reference.stage);
    try {
      const fate = new Late(trial, Number(nth), when);
      await trial.apply({ transport: fate.transport });
      if (when !== "between" && when !== "after the next run") await fate.commit();
      await trial.apply(when === "between" ? { transport: fate.beforeFirstWrite } : {});
      if (when === "between" || when === "after the next run") {
        await fate.commit();
        await trial.apply();
      }
      return await violations(trial, reference);
    } finally {
      trial.close();
    }
  },
};
