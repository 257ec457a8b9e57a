// `workspace graph`: prints the dependencies between the resources of a spec.

import { registry } from "../../../providers/index.ts";
import {
  drawnGraph,
  graphDot,
  graphJson,
  graphMermaid,
  graphOf,
} from "../../../report/inspect/graph-text.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { readSpec } from "../../../workflow/session/read-spec.ts";
import { defineCommand } from "../../command/command.ts";
import { choiceOption, oneFormat } from "../../command/option.ts";
import { SPEC_OPTIONS } from "../../command/shared-options.ts";

export const graphCommand = defineCommand({
  jsonSchema: "graph",
  options: {
    ...SPEC_OPTIONS,
    output: oneFormat(
      choiceOption("-o, --output <format>", "output format", ["dot", "mermaid", "svg", "json"]),
    ),
  },
  async run(context, options) {
    const { spec } = await readSpec(context, {});
    const graph = graphOf(spec.resources.values());
    context.stdout.write(await drawn(options.output, graph));
  },
});

async function drawn(
  form: "dot" | "mermaid" | "svg" | "json",
  graph: ReturnType<typeof graphOf>,
): Promise<string> {
  switch (form) {
    case "dot":
      return graphDot(graph);
    case "mermaid":
      return graphMermaid(drawnGraph(graph, registry));
    case "json":
      return jsonDocument(graphJson(graph), 2);
    case "svg": {
      const { instance } = await import("@viz-js/viz");
      return (await instance()).renderString(graphDot(drawnGraph(graph, registry)), { format: "svg" });
    }
  }
  return form satisfies never;
}
