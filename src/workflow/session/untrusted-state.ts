// Whether the author of an untrusted spec may have written the state as well: then it could claim that every object is managed.

import type { ProcessContext } from "../../config/environment.ts";
import { fromEnv } from "../../config/settings.ts";
import { type Diagnostic, error, Failure, warning } from "../../core/diagnostic.ts";
import { stateExists } from "../../planner/decide/state-exists.ts";
import type { State } from "../../state/model/record.ts";
import { isInTreeOf } from "../target/spec-tree.ts";
import { specFile } from "../target/target.ts";
import { type StateOptions, stateFolderOf } from "./state-location.ts";

/**
 * Throws Failure with STATE_UNTRUSTED when a state in the spec's own tree is not signed, that is: not encrypted under the
 * key of WORKSPACE_STATE_KEY. With that key set, a store opens nothing else. Without a state a warning is enough.
 */
export function untrustedState(
  context: ProcessContext,
  options: StateOptions,
  state: State,
): readonly Diagnostic[] {
  const folder = stateFolderOf(context, options);
  if (folder === undefined || fromEnv(context, "WORKSPACE_STATE_KEY") !== undefined) return [];
  if (!isInTreeOf(specFile(context, options), folder)) return [];
  const hint =
    "pass --state with a location outside the checkout, or encrypt the state with WORKSPACE_STATE_KEY (`workspace state rekey`)";
  if (stateExists(state))
    throw new Failure(
      error(
        "STATE_UNTRUSTED",
        `the state at ${folder} is in the tree of the untrusted spec and is not encrypted`,
        {
          hint,
        },
      ),
    );
  return [
    warning("PLAN_MODE", "the state is stored next to the untrusted spec, so it is untrusted too", {
      hint,
    }),
  ];
}
