// Checks the syntax of expressions that are not evaluated: of other targets, and of modules without an instance.

import { isEvaluated, isTemplate } from "../../expressions/template.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { SpecNode } from "../model/tree.ts";
import type { Evaluator } from "./evaluator.ts";
import { partsOrReport } from "./expander.ts";

export function checkSyntax(node: SpecNode | undefined, evaluator: Evaluator, findings: Findings): void {
  const check = (text: string, at: Span): void => {
    if (!isTemplate(text)) return;
    for (const part of partsOrReport(text, at, findings) ?? []) {
      if (typeof part === "string") continue;
      if (isEvaluated(part)) evaluator.checkSyntax(part, at);
      else check(part.expression, at);
    }
  };
  const visit = (part: SpecNode): void => {
    if (part.kind === "list") for (const item of part.items) visit(item);
    else if (part.kind === "scalar") check(typeof part.value === "string" ? part.value : "", part);
    else
      for (const [name, { key, value }] of part.members) {
        check(name, key);
        visit(value);
      }
  };
  if (node !== undefined) visit(node);
}
