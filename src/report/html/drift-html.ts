// Drift as one page for a browser: what was recorded on the left, what is there now on the right.

import type { Drift, Plan } from "../../planner/plan.ts";
import type { Registry } from "../../resource/registry.ts";
import { contentLines } from "../content-lines.ts";
import { DRIFT_WORDS, driftFields, driftLine } from "../drift-text.ts";
import { type Html, html, NOTHING, page } from "./page.ts";
import { fieldTable, findings, folded, textDifference } from "./parts.ts";

export function driftHtml(plan: Plan, registry: Registry): string {
  const { drift, host, diagnostics } = plan;
  const title = drift.length === 0 ? "No drift: the workspace is as it was left." : driftLine(drift);
  return page(title, [
    html`<header><h1>${title}</h1><p class="where">Workspace <code>${host}</code></p></header>
`,
    findings("Findings", diagnostics),
    drift.length === 0
      ? NOTHING
      : html`<section><h2>Since the last apply</h2>
${driftList(drift, registry)}</section>
`,
  ]);
}

export function driftList(drift: readonly Drift[], registry: Registry): readonly Html[] {
  return drift.map((one) =>
    folded({
      tone: one.what,
      open: drift.length <= OPEN,
      head: [
        html`<span class="address">${one.address}</span><span class="verb">${DRIFT_WORDS[one.what]}</span>`,
      ],
      body: [fieldTable(driftFields(one, registry)), textDifference(contentLines(one.content))],
    }),
  );
}

/** So many are seen at a glance; more are read one by one. */
const OPEN = 5;
