// Brings the data of older formats to the current one, a step for each version.

import type { JsonObject } from "../core/json.ts";
import { FORMAT_VERSION, newerFormat } from "./format.ts";

/** From the version that is the key to the next one. There is only one format so far. */
export type Upgrades = Readonly<Record<number, (old: JsonObject) => JsonObject>>;

const UPGRADES: Upgrades = {};

/** Throws STATE_FORMAT for data from a newer version of the program. */
export function upgraded(
  data: JsonObject,
  version: number,
  file: string,
  upgrades: Upgrades = UPGRADES,
  current = FORMAT_VERSION,
): JsonObject {
  if (version > current) throw newerFormat(file, version);
  let result = data;
  for (let from = version; from < current; from++) {
    const step = upgrades[from];
    if (step === undefined) throw new Error(`no upgrade from format ${from}: each released format has one`);
    result = step(result);
  }
  return result;
}
