// The findings of a check as Markdown for a pull request.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { severityCounts } from "../text/diagnostic-text.ts";
import { COMMENT_SIZE, type Fitted, findingItem, fittedMarkdown } from "../text/markdown.ts";
import { markdownText } from "../text/printable.ts";
import { markdownMarker, type RunInfo, runMarkdown } from "../text/run-info.ts";

/** `valid`: the sentence about a spec that is; undefined if it is not. */
export function validationMarkdown(
  valid: string | undefined,
  found: readonly Diagnostic[],
  info?: RunInfo,
  size = COMMENT_SIZE,
): Fitted {
  return findingsMarkdown(valid ?? `The spec is not valid: ${severityCounts(found)}`, found, info, size);
}

/** Errors are left out last. */
export function findingsMarkdown(
  heading: string,
  found: readonly Diagnostic[],
  info?: RunInfo,
  size = COMMENT_SIZE,
): Fitted {
  const about = info === undefined ? "" : `\n${runMarkdown(info)}`;
  const head = `${markdownMarker(info?.target)}\n\n## ${markdownText(heading)}\n${about}`;
  const section = (rank: number, severity: Diagnostic["severity"]) => ({
    rank,
    open: "",
    blocks: found.filter((one) => one.severity === severity).map(findingItem),
  });
  return fittedMarkdown(head, [section(0, "error"), section(1, "warning")], size);
}
