// Formats a YAML file. Only spaces and line breaks change; each result is checked to have the same values.

import type { Findings } from "../model/findings.ts";
import { SourceText } from "../model/source.ts";
import type { SpecNode } from "../model/tree.ts";
import { lexicalTokens } from "../yaml/lexical-limits.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { laidOut } from "./layout.ts";
import { piecesOf } from "./pieces.ts";

export function formatYaml(source: SourceText, findings: Findings): string | undefined {
  const tree = readYaml(source, findings);
  if (tree === undefined) return undefined;
  const ending = /\r?\n/.exec(source.text)?.[0] ?? "\n";
  const text = source.text.replaceAll("\r\n", "\n");
  const tokens = lexicalTokens(new SourceText(source.file, text), findings);
  if (tokens === undefined) return undefined;
  const formatted = laidOut(text, piecesOf(text, tokens)).replaceAll("\n", ending);
  const again = readYaml(new SourceText(source.file, formatted), findings);
  if (again !== undefined && isSame(tree, again) && squeezed(source.text) === squeezed(formatted))
    return formatted;
  findings.error("SPEC_YAML", "the file cannot be formatted without changing its values", tree, {
    hint: "it is left unchanged; format it by hand, and report this file as a bug",
  });
  return undefined;
}

function isSame(a: SpecNode, b: SpecNode): boolean {
  if (a.kind === "scalar") return b.kind === "scalar" && Object.is(a.value, b.value);
  if (a.kind === "list")
    return (
      b.kind === "list" &&
      a.items.length === b.items.length &&
      a.items.every((item, at) => isSameAt(item, b.items[at]))
    );
  if (b.kind !== "map" || a.members.size !== b.members.size) return false;
  const others = b.members.entries();
  for (const [key, { value }] of a.members) {
    const [name, other] = others.next().value ?? [];
    if (key !== name || !isSameAt(value, other?.value)) return false;
  }
  return true;
}

function isSameAt(a: SpecNode, b: SpecNode | undefined): boolean {
  return b !== undefined && isSame(a, b);
}

function squeezed(text: string): string {
  return text.replace(/[ \t\r\n]+/g, "");
}
