// Hostile files: bombs, nests, pipes, links, and bytes that are not text. A real process refuses each with a location.

import { cpus, loadavg } from "node:os";
import { HOSTILE_FILES } from "../../../cli/hostile/hostile-files.ts";
import { meet } from "../../../cli/hostile/met.ts";
import type { Suite } from "../../run/suite.ts";

const LONG_MS = 1000;

let times: { readonly name: string; readonly ms: number }[] = [];

export const files: Suite = {
  name: "files",
  what: "files that try to hang, overload, or mislead their reader, planned by a real process",
  unit: "folders",
  sample: 10,

  cases: async () => HOSTILE_FILES.map(({ name }) => name),

  async run(name) {
    const one = HOSTILE_FILES.find((each) => each.name === name);
    if (one === undefined) return [`there is no case ${name}`];
    const { wrong, ms } = meet(one);
    times.push({ name, ms });
    return wrong;
  },

  async notes() {
    const long = times.filter(({ ms }) => ms > LONG_MS).length;
    const most = times.toSorted((a, b) => b.ms - a.ms).slice(0, 3);
    const told = most.map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(2)} s`).join(", ");
    const load = `${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`;
    return [
      `over a second, with the start of the process = ${long}; the longest: ${told} (load at the end: ${load})`,
    ];
  },

  async close() {
    times = [];
  },
};
