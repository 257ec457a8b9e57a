// Drift as Markdown, for the issue that a nightly run opens.

import type { Drift } from "../planner/plan.ts";
import type { Registry } from "../resource/registry.ts";
import { colorsFor } from "./color.ts";
import { driftLine, driftLines } from "./drift-text.ts";
import { keptWithin } from "./markdown-fit.ts";
import { MARKDOWN_LIMIT } from "./plan-markdown.ts";
import { markdownBlock, markdownText } from "./printable.ts";

export function driftMarkdown(drift: readonly Drift[], registry: Registry, limit = MARKDOWN_LIMIT): string {
  if (drift.length === 0) return "## No drift\n";
  const plain = colorsFor(false);
  const parts = drift.map((one) => ({
    what: "resource",
    text: `${markdownBlock(
      "diff",
      driftLines([one], registry, plain).map((line) => line.replace(/^ {2}/, "")),
    ).join("\n")}\n`,
  }));
  return keptWithin([{ what: "heading", text: `## ${markdownText(driftLine(drift))}\n` }, ...parts], limit);
}
