// Bad specs: good ones, damaged at random. Each is valid and can be planned, or is refused with a place; none breaks the program.

import { Damages } from "../../../spec/damage.ts";
import type { Suite } from "../../run/suite.ts";

const MANY = 20_000;

let damages: Damages | undefined;

async function ready(): Promise<Damages> {
  if (damages !== undefined) return damages;
  // Loading modules during the first spec does not count as reading time.
  const warming = new Damages();
  for (let at = 0; at < 8; at++) await warming.verdict(0, at);
  warming.close();
  damages = new Damages();
  return damages;
}

export const specs: Suite = {
  name: "specs",
  what: "randomly damaged specs: planned, or rejected with a location",
  unit: "specs",
  sample: 400,
  endless: true,

  async cases(seed, count) {
    return Array.from({ length: Math.max(count ?? 0, MANY) }, (_, at) => `${seed}/${at}`);
  },

  async run(name) {
    const [seed = 1, at = 0] = name.split("/").map(Number);
    return (await ready()).verdict(seed, at);
  },

  async notes() {
    const { tried, refused, long, longestMs } = await ready();
    return [
      `${tried - refused} were valid and planned, ${refused} refused`,
      `over a second = ${long}, the longest took ${(longestMs / 1000).toFixed(2)} s`,
    ];
  },

  async close() {
    damages?.close();
    damages = undefined;
  },
};
