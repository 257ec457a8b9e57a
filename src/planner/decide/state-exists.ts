// Whether a state exists. A location without a state loads as an empty one.

import type { State } from "../../state/model/record.ts";

/** A lock or a key alone is not a state: runs that were refused or only planned leave these behind. */
export function stateExists(state: State): boolean {
  const { serial, host, caller, records, open, sweeps, nonces } = state;
  if (serial > 0 || host !== "" || caller !== undefined) return true;
  return records.size > 0 || open.length > 0 || sweeps.length > 0 || nonces.length > 0;
}
