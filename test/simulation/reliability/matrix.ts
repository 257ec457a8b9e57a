// The crash matrix as rows: every operation that the kinds write with, and in how many points it is tried at each of the seven moments.

import { MOMENTS } from "../faults/moments.ts";
import { matrix, writesOfProviders } from "../suites/crashes/crash.ts";

export async function matrixRows(): Promise<Readonly<Record<string, readonly number[]>>> {
  const cells = await matrix();
  return Object.fromEntries(
    [...writesOfProviders()]
      .sort()
      .map((operation) => [operation, MOMENTS.map((moment) => cells.get(`${operation} ${moment}`) ?? 0)]),
  );
}
