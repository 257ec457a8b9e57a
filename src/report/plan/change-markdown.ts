// One change as Markdown: its line, side effects, reasons, and its fields as a diff whose signs have colors.

import type { Block } from "../text/markdown.ts";
import { markdownBlock, markdownCode, markdownSentence, markdownText } from "../text/printable.ts";
import type { ChangeView } from "./change-view.ts";
import type { DriftItem } from "./drift-view.ts";
import type { FieldLine } from "./field-lines.ts";
import { weightOf } from "./plan-text.ts";

export function changeBlock(view: ChangeView): Block {
  const said = [...weightOf(view), ...view.remarks];
  const remarks = said.length === 0 ? "" : ` (${markdownText(said.join("; "))})`;
  const head = `- **${view.verb}** ${markdownCode(view.address)}${remarks}`;
  const lines = [head];
  for (const sentence of view.consequences) lines.push(`  - ⚠ ${markdownSentence(sentence)}`);
  for (const reason of view.reasons) lines.push(`  - because ${markdownSentence(reason)}`);
  lines.push(...fence([...view.fields.flatMap(fieldDiff(view.action === "create")), ...view.content]));
  return block("change", head, lines);
}

/** The recorded value is on the left, the live one on the right. */
export function driftBlock(item: DriftItem): Block {
  const { address, verb, severity, fields, content, remark, origin } = item;
  const known = [severity, remark, origin].filter((text) => text !== "").map(markdownText);
  const head = `- ${markdownCode(address)} ${verb} (${known.join("; ")})`;
  return block("drifted resource", head, [head, ...fence([...fields.flatMap(fieldDiff(false)), ...content])]);
}

function block(what: string, head: string, lines: readonly string[]): Block {
  const text = `${lines.join("\n")}\n`;
  return lines.length === 1 ? { what, text } : { what, text, brief: `${head}\n` };
}

function fence(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", ...markdownBlock("diff", lines).map((line) => `  ${line}`), ""];
}

/** A longer pair of values takes two lines. */
const LONGEST_PAIR = 100;

/** Added lines have `+`, removed lines `-`, and changed lines `!`: these signs have colors in a `diff` block. */
function fieldDiff(isNew: boolean): (line: FieldLine) => readonly string[] {
  return ({ label, sign, was, text, note }) => {
    const name = label === "" ? "" : `${label}: `;
    const end = note === undefined ? "" : `  # ${note}`;
    if (sign !== undefined) return [`${sign} ${name}${text}${end}`];
    if (was === undefined) return [`${isNew ? "+" : " "} ${name}${text}${end}`];
    if (was.length + text.length <= LONGEST_PAIR) return [`! ${name}${was} → ${text}${end}`];
    return [`- ${name}${was}`, `+ ${name}${text}${end}`];
  };
}
