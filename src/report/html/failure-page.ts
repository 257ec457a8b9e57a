// A page for a run that ended before it had anything else to show.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { severityCounts } from "../text/diagnostic-text.ts";
import { html, page, themeButton } from "./page.ts";
import { findings } from "./parts.ts";

export function failureHtml(title: string, found: readonly Diagnostic[]): string {
  const heading = `${title}: ${severityCounts(found)}`;
  return page(heading, [
    html`<header>${themeButton}<h1>${heading}</h1></header>
`,
    findings("Findings", found),
  ]);
}
