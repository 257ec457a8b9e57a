// Drift as text, with the recorded value on the left and the live one on the right.

import type { Colors } from "../text/color.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { printable } from "../text/printable.ts";
import { type RunInfo, runLines } from "../text/run-info.ts";
import type { DriftItem, DriftView } from "./drift-view.ts";
import { contentBlock, fieldBlock } from "./field-block.ts";

const SIGNS = { changed: "~", gone: "-", appeared: "+" } as const;

/** `alone`: no other output shows the findings about the run. */
export function driftText(view: DriftView, colors: Colors, info?: RunInfo, alone = false): string {
  const { title, drift, diagnostics } = view;
  const found = alone ? diagnostics.map((one) => diagnosticText(one, colors).trimEnd()) : [];
  const sections = [driftLines(drift, colors), found, [colors.bold(title)], runLines(info, colors)];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function remarks({ severity, remark }: DriftItem): string {
  return `  (${remark === "" ? severity : `${severity}; ${remark}`})`;
}

export function driftLines(drift: readonly DriftItem[], colors: Colors): readonly string[] {
  return drift.flatMap((one) => [
    `  ${colors.yellow(SIGNS[one.what])} ${colors.bold(printable(one.address))} ${one.verb}${colors.dim(remarks(one))}`,
    ...(one.origin === "" ? [] : [colors.dim(`      ${one.origin}`)]),
    ...fieldBlock(one.fields, colors),
    ...contentBlock(one.content, colors),
  ]);
}
