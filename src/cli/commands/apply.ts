// `workspace apply [PLANFILE]`: makes the workspace as the spec, or a saved plan, says.

import { applySaved } from "../apply-saved.ts";
import { defineCommand } from "../command.ts";
import { applyEnding } from "../ending.ts";
import { makeSo } from "../make-so.ts";
import { flag } from "../option.ts";
import {
  ASK_OPTIONS,
  HOST_OPTIONS,
  ONLY_OPTION,
  OUTPUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../options.ts";

export const apply = defineCommand({
  name: "apply",
  summary: "make the workspace as the spec says",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...STATE_OPTIONS,
    ...ONLY_OPTION,
    ...OUTPUT_OPTION,
    ...ASK_OPTIONS,
    adopt: flag("--adopt", "take over what exists under the names of the spec"),
  },
  args: [
    { name: "[planfile]", description: "a plan saved with `plan --out`: applied as it is, without asking" },
  ],
  ending: applyEnding,
  notes:
    "Exit codes: 0 done, 1 error or failures, 3 refused, 4 stale or moved, 5 locked, 130 and 143 stopped by a signal.",
  async run(context, options, [planfile]) {
    if (planfile !== undefined) return applySaved(context, options, planfile);
    return makeSo(context, options, { wish: options, question: "Apply this plan?" });
  },
});
