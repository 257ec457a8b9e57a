// Context for reading an object in detail: who may have created it, and its record.

import type { RemoteId } from "../../core/address.ts";
import { possibleCreators } from "../../core/past-run.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type { DetailsContext } from "../../resource/operations.ts";
import type { State } from "../../state/model/record.ts";

/** By kind and ID. An object without a record was created by any of the applies. */
export function detailsContexts(state: State): (kind: string, id: RemoteId) => DetailsContext {
  const owners = addressByObject(state.records);
  const creatorsOf = possibleCreators(state);
  return (kind, id) => {
    const address = owners.get(kind, id);
    const recorded = address === undefined ? undefined : state.records.get(address)?.applied;
    return { creators: creatorsOf(address), recorded };
  };
}
