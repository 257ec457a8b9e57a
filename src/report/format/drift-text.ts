// Drift as text for a terminal.

import { type RunInfo, runLines } from "../text/run-info.ts";
import type { Colors } from "../text/terminal.ts";
import type { DriftView } from "../view/drift-view.ts";
import { nextOfDrift } from "../view/next-step.ts";
import { MANY_ROWS } from "../view/plan-view.ts";
import { driftLines } from "./change-text.ts";
import { findingTexts, hiddenSection, sectionsText } from "./plan-text.ts";

/** `showsNotes`: with the findings about the run, which standard error does not show. */
export function driftText(view: DriftView, colors: Colors, info?: RunInfo, showsNotes = false): string {
  const { title, shown, hidden, diagnostics } = view;
  // Without `info`, the options of the next command are not known.
  const next = info === undefined ? undefined : nextOfDrift(view, info);
  const findings = showsNotes ? findingTexts(diagnostics, colors) : [];
  const sections = [
    shown.length < MANY_ROWS ? [] : [colors.bold(title)],
    driftLines(shown, colors),
    hiddenSection(hidden, colors),
    ...findings,
    [colors.bold(title), ...(next === undefined ? [] : [`Next: ${next}.`])],
    runLines(info, colors),
  ];
  return sectionsText(sections);
}
