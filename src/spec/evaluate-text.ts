// Evaluates expressions that a user types, with the values of a spec and its target. Sends no request.

import type { Diagnostic } from "../core/diagnostic.ts";
import { isObject, type Json } from "../core/json.ts";
import { SENSITIVE_TEXT, type SensitiveTexts } from "../core/sensitive/texts.ts";
import { FUNCTION_FORMS } from "../expressions/functions.ts";
import { isReference, isTemplate } from "../expressions/template.ts";
import { dataOf } from "./evaluate/node-values.ts";
import { type OpenedSpec, openExpandedSpec, type SpecInput, sensitiveOutside } from "./load-spec.ts";
import { Findings } from "./model/findings.ts";
import { SourceText } from "./model/source.ts";
import { hasSensitive, member, plain, type SpecNode, scalarAt } from "./model/tree.ts";

export interface EvaluatedText {
  /** Without sensitive values; references are text. Absent after an error. */
  readonly value?: Json;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExpressionScope {
  /** `${…}` in a string, or one expression without braces. */
  evaluate(text: string): EvaluatedText;
  /** What an expression can begin with: `var.env`, `local.tags`, `size(`. Sorted. */
  readonly names: readonly string[];
}

/** The scope of a spec, and the problems of its variables, locals, and modules. Without a scope the files cannot be read. */
export async function openExpressions(
  options: SpecInput,
): Promise<{ readonly scope?: ExpressionScope; readonly diagnostics: readonly Diagnostic[] }> {
  const { alsoSensitive, contained } = await sensitiveOutside(options);
  const findings = new Findings();
  findings.sensitive.addAll(alsoSensitive.texts);
  const opened = await openExpandedSpec({ ...options, alsoSensitive }, findings);
  const diagnostics = findings.drain();
  if (opened === undefined) return { diagnostics };
  const { evaluator, scope, expander } = opened.expanded;
  const nodeOf = (text: string): SpecNode | undefined => {
    const span = { source: new SourceText("expression", text), start: 0, end: text.length };
    if (isTemplate(text)) return expander.node(scalarAt(span, text));
    const expression = text.trim();
    const start = text.indexOf(expression);
    const part = { expression, raw: `\${${expression}}`, text, start, isReference: isReference(expression) };
    if (part.isReference) return expander.node(scalarAt(span, part.raw));
    return evaluator.evaluate(part, scope, span);
  };
  return {
    diagnostics: [...diagnostics, ...contained],
    scope: {
      names: namesIn(opened),
      evaluate(text) {
        const node = nodeOf(text);
        const hasFailed = node === undefined || findings.failed;
        const diagnostics = findings.drain();
        if (hasFailed) return { diagnostics };
        return { value: masked(shown(node), findings.sensitive), diagnostics };
      },
    },
  };
}

/** The value as data, with a placeholder for each part of it that is sensitive. */
function shown(node: SpecNode): Json {
  if (node.sensitive === true) return SENSITIVE_TEXT;
  if (!hasSensitive(node)) return dataOf(node) ?? plain(node);
  if (node.kind === "list") return node.items.map(shown);
  const members = node.kind === "map" ? [...node.members] : [];
  return Object.fromEntries(members.map(([key, { value }]) => [key, shown(value)]));
}

/** Keys are values of the user, too. */
function masked(value: Json, sensitive: SensitiveTexts): Json {
  if (typeof value === "string") return sensitive.masked(value);
  if (Array.isArray(value)) return value.map((item: Json) => masked(item, sensitive));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [sensitive.masked(key), masked(member, sensitive)]),
  );
}

function namesIn({ written, target }: OpenedSpec): readonly string[] {
  const keys = (section: string): readonly string[] => {
    const node = member(written, section);
    return node?.kind === "map" ? [...node.members.keys()] : [];
  };
  const names = [
    ...keys("variables").map((name) => `var.${name}`),
    ...keys("locals").map((name) => `local.${name}`),
    ...keys("modules").map((name) => `modules.${name}`),
    ...(target === undefined ? [] : ["target.name"]),
    ...FUNCTION_FORMS.flatMap((form) => /^(?!text|list\.|map|value)[a-z.]+\(/.exec(form)?.[0] ?? []),
  ];
  return names.sort();
}
