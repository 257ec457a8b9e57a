// `workspace explain [KIND[.FIELD…]]`: what a kind and its fields mean, from the kind's own table.

import { error, Failure } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { fieldText, findField, kindsText, kindText } from "../../report/explain-text.ts";
import { colorsOf } from "../colors.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { nearestHint } from "../nearest.ts";

export const explain = defineCommand({
  name: "explain",
  summary: "explain a kind or a field",
  options: {},
  args: [{ name: "[what]", description: "a kind (`pools`) or a field (`clusters.autoscale.min_workers`)" }],
  async run(context, _options, [what]) {
    const colors = colorsOf(context, context.stdout);
    const [kind, ...path] = (what ?? "").split(".").filter((part) => part !== "");
    if (kind === undefined) {
      context.stdout.write(kindsText(registry, colors));
      return EXIT.ok;
    }
    const provider = registry.find(kind);
    if (provider === undefined)
      throw unknown(
        "kind",
        kind,
        registry.kinds.map((one) => one.kind),
      );
    if (path.length === 0) {
      context.stdout.write(kindText(provider, colors));
      return EXIT.ok;
    }
    const found = findField(provider, path);
    if ("missing" in found) throw unknown(`field of ${kind}`, found.missing, found.known);
    context.stdout.write(fieldText([kind, ...path].join("."), found.schema, colors));
    return EXIT.ok;
  },
});

function unknown(what: string, name: string, known: readonly string[]): Failure {
  const hint = nearestHint(name, known, `known: ${known.join(", ")}`);
  return new Failure(error("CLI_USAGE", `there is no ${what} "${name}"`, { hint }));
}
