// The full disk: the n-th file operation fails, once or from then on. Nothing leaves that is not written down; the next run finishes.

import { violations } from "../../checks/invariants.ts";
import { isWrite } from "../../faults/trace.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import type { Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { scenarios } from "../../world/scenarios.ts";

const HOWS = ["once", "always"] as const;
const CHANGES = new Set(["write", "sync", "rename", "link", "remove", "syncFolder", "open", "makeFolder"]);

/** Fails the n-th operation that changes a disk. */
class Full {
  readonly #at: number;
  readonly #how: string;
  count = 0;
  failed = false;
  journalFailed = false;
  readonly sentAfter: string[] = [];

  constructor(at: number, how: string) {
    this.#at = at;
    this.#how = how;
  }

  readonly before = (operation: string, path: string): void => {
    if (!CHANGES.has(operation)) return;
    const at = this.count++;
    if (at !== this.#at && !(this.#how === "always" && this.failed)) return;
    this.failed = true;
    if (path.endsWith("/journal.jsonl") && operation !== "open") this.journalFailed = true;
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  };
}

export const disk: Suite = {
  name: "disk",
  what: "the n-th file operation fails, once or from then on",
  unit: "operations",
  sample: 40,

  async cases() {
    const names: string[] = [];
    for (const { name } of scenarios) {
      const { stage } = await faultFreeRun(name);
      const trial = await Trial.of(stage);
      const counting = new Full(-1, "once");
      await trial.apply({ hooks: { before: counting.before } });
      trial.close();
      for (const how of HOWS) for (let at = 0; at < counting.count; at++) names.push(`${name}/${how}/${at}`);
    }
    return names;
  },

  async run(name) {
    const [scenario = "", how = "", at] = name.split("/");
    const reference = await faultFreeRun(scenario);
    const trial = await Trial.of(reference.stage);
    try {
      const full = new Full(Number(at), how);
      const sentAfter: string[] = [];
      await trial.apply({
        hooks: { before: full.before },
        transport: (request, send) => {
          if (full.journalFailed && isWrite(request))
            sentAfter.push(`sent after the journal failed: ${request.path}`);
          return send(request);
        },
      });
      await trial.apply();
      return [...sentAfter, ...(await violations(trial, reference))];
    } finally {
      trial.close();
    }
  },
};
