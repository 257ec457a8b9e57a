// `workspace destroy`: deletes everything that the state says is ours.

import { defineCommand } from "../command.ts";
import { applyEnding } from "../ending.ts";
import { makeSo } from "../make-so.ts";
import { texts } from "../option.ts";
import { ASK_OPTIONS, HOST_OPTIONS, OUTPUT_OPTION, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";

export const destroy = defineCommand({
  name: "destroy",
  summary: "delete everything that the spec manages",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...STATE_OPTIONS,
    only: texts("--only <address-glob>", "only these addresses and what needs them; can be repeated"),
    ...OUTPUT_OPTION,
    ...ASK_OPTIONS,
  },
  ending: applyEnding,
  notes: "Preview it with: workspace plan --destroy",
  async run(context, options) {
    const wish = { destroy: true, only: options.only };
    return makeSo(context, options, { wish, question: "Delete all of this?" });
  },
});
