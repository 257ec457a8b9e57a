// A page for a run that ended before it had anything else to show.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { severityCounts } from "../text/diagnostic-text.ts";
import type { RunInfo } from "../text/run-info.ts";
import { html, page, themeButton } from "./page.ts";
import { findings, runLine } from "./parts.ts";

export function failureHtml(title: string, found: readonly Diagnostic[], info: RunInfo): string {
  const heading = `${title}: ${severityCounts(found)}`;
  return page(heading, [
    html`<header>${themeButton}<h1>${heading}</h1>${runLine(info.host, info.modes, info)}</header>
`,
    findings("Findings", found),
  ]);
}
