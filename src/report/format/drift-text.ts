// Drift as text for a terminal.

import { type RunInfo, runLines } from "../text/run-info.ts";
import type { Colors } from "../text/terminal.ts";
import type { DriftView } from "../view/drift-view.ts";
import { nextOfDrift } from "../view/next-step.ts";
import { driftLines } from "./change-text.ts";
import { findingTexts, hiddenSection, LONG, sectionsText } from "./plan-text.ts";

/** `isOnlyOutput`: no other output shows the findings about the run. */
export function driftText(view: DriftView, colors: Colors, info?: RunInfo, isOnlyOutput = false): string {
  const { title, shown, hidden, diagnostics } = view;
  const next = info === undefined ? undefined : nextOfDrift(view, info);
  const findings = isOnlyOutput ? findingTexts(diagnostics, colors) : [];
  const sections = [
    shown.length < LONG ? [] : [colors.bold(title)],
    driftLines(shown, colors),
    hiddenSection(hidden, colors),
    ...findings,
    [colors.bold(title), ...(next === undefined ? [] : [`Next: ${next}.`])],
    runLines(info, colors),
  ];
  return sectionsText(sections);
}
