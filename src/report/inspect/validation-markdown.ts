// The findings of a check as Markdown for a pull request.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { severityCounts } from "../text/diagnostic-text.ts";
import { COMMENT_SIZE, type FittedReport, findingItem, fittedMarkdown } from "../text/markdown.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";

/** The findings of `validate`. `sentence`: about a valid spec. */
export interface ValidationView {
  readonly sentence: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export function validationMarkdown(
  { sentence, diagnostics }: ValidationView,
  info?: RunInfo,
  size = COMMENT_SIZE,
): FittedReport {
  const heading = sentence ?? `The spec is not valid: ${severityCounts(diagnostics)}`;
  return findingsMarkdown(heading, diagnostics, info, size);
}

/** Errors are left out last. */
export function findingsMarkdown(
  heading: string,
  found: readonly Diagnostic[],
  info?: RunInfo,
  size = COMMENT_SIZE,
): FittedReport {
  const section = (rank: number, severity: Diagnostic["severity"]) => ({
    rank,
    open: "",
    blocks: found.filter((one) => one.severity === severity).map(findingItem),
  });
  return fittedMarkdown(markdownHead(heading, info), [section(0, "error"), section(1, "warning")], size);
}
