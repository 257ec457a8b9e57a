// `workspace explain [KIND[.FIELD…]]`: describes a kind, a field, or a section of the spec.

import { dialectFrom } from "../../config/settings.ts";
import { registry as everyKind } from "../../providers/index.ts";
import { kindsText } from "../../report/inspect/explain-text.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { DIALECT_OPTIONS } from "../command/shared-options.ts";
import { explainPath } from "../help/explain-path.ts";
import { colorsOf } from "../output/diagnostics.ts";

export const explainCommand = defineCommand({
  name: "explain",
  summary: "describe a kind, a field, or a section of the spec",
  options: DIALECT_OPTIONS,
  args: [
    {
      name: "[what]",
      description: "kind (`pools`), field (`clusters.autoscale.min_workers`), or section (`policy`)",
      takes: everyKind.kinds.map((one) => one.kind),
    },
  ],
  async run(context, options, [what]) {
    const registry = registryIn(everyKind, dialectFrom(context, options));
    const colors = colorsOf(context, context.stdout);
    const [kind, ...path] = (what ?? "").split(".").filter((part) => part !== "");
    context.stdout.write(
      kind === undefined ? kindsText(registry, colors) : explainPath(registry, kind, path, colors),
    );
    return EXIT.ok;
  },
});
