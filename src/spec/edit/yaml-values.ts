// Writes values as YAML in the style of the text around them: the quotes of the old value, flow where a line has room, else a block.

import type { Document, Node, Scalar } from "yaml";
import { isObject, type Json } from "../../core/json.ts";
import { yaml } from "../yaml/lexical-limits.ts";

/** A map or list takes one line if it fits into this many characters. */
const WIDTH = 100;
const STEP = "  ";

/** Characters that a terminal or an editor does not show. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

const OPTIONS = { lineWidth: 0, blockQuote: false, doubleQuotedAsJSON: true } as const;

/** The style of the value that a new one replaces. */
interface ValueStyle {
  readonly quote?: "single" | "double" | "literal";
  /** Inside braces or brackets. */
  readonly inFlow?: boolean;
}

export function styleOf(node: Node | null | undefined, inFlow: boolean): ValueStyle {
  if (!yaml().isScalar(node)) return { inFlow };
  const quotes = { QUOTE_SINGLE: "single", QUOTE_DOUBLE: "double", BLOCK_LITERAL: "literal" } as const;
  return { inFlow, quote: quotes[(node as Scalar).type as keyof typeof quotes] };
}

/** A value on one line. */
export function flowText(value: Json, style: ValueStyle = {}): string {
  if (value === null || typeof value !== "object") return scalarText(value, style);
  const items = Array.isArray(value)
    ? value.map((item: Json) => flowText(item, { inFlow: true }))
    : Object.entries(value).map(([key, member]) => `${keyText(key)}: ${flowText(member, { inFlow: true })}`);
  if (Array.isArray(value)) return `[${items.join(", ")}]`;
  return items.length === 0 ? "{}" : `{ ${items.join(", ")} }`;
}

/** A plain `<<` merges maps. */
export function keyText(key: string): string {
  return scalarText(key, { inFlow: true, quote: key === "<<" ? "double" : undefined });
}

/**
 * The text after `key:` or `- `, with the space before it. `indent`: of the key or dash. A block starts on the next line, or
 * after a dash on the same line.
 */
export function blockText(value: Json, indent: string, style: ValueStyle, isItem = false): string {
  if (style.quote === "literal" && typeof value === "string" && isLiteral(value))
    return ` ${literalText(value, indent)}`;
  const flow = flowText(value, style);
  if (value === null || typeof value !== "object" || isShort(value, flow, indent)) return ` ${flow}`;
  const inner = `${indent}${STEP}`;
  const lines = Array.isArray(value)
    ? value.map((item: Json) => `-${blockText(item, inner, {}, true)}`)
    : Object.entries(value).map(([key, member]) => `${keyText(key)}:${blockText(member, inner, {})}`);
  return isItem ? ` ${lines.join(`\n${inner}`)}` : lines.map((line) => `\n${inner}${line}`).join("");
}

/** A map of maps gets lines: a flow of them hides what belongs together. */
function isShort(value: Json, flow: string, indent: string): boolean {
  if (Object.keys(value as object).length === 0) return true;
  const members: readonly Json[] = Object.values(value as object);
  const isDeep =
    isObject(value) && members.some((member) => isObject(member) && Object.keys(member).length > 1);
  return !isDeep && indent.length + flow.length <= WIDTH;
}

function scalarText(value: Json, { quote, inFlow = false }: ValueStyle): string {
  if (typeof value !== "string") return String(value);
  if (INVISIBLE.test(value)) return doubleQuoted(value);
  if (quote === "single") return `'${value.replaceAll("'", "''")}'`;
  if (quote === "double") return doubleQuoted(value);
  const { Document: YamlDocument } = yaml();
  const document: Document = new YamlDocument(inFlow ? [value] : { k: value });
  if (inFlow) (document.contents as { flow?: boolean }).flow = true;
  const text = document.toString(OPTIONS).trimEnd();
  return inFlow ? text.slice(1, -1).trim() : text.slice("k: ".length);
}

/** As in JSON, with an escape for every character that is not visible. */
function doubleQuoted(value: string): string {
  const every = new RegExp(INVISIBLE.source, "gu");
  return JSON.stringify(value).replace(every, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function isLiteral(value: string): boolean {
  const lines = value.replace(/\n$/, "").split("\n");
  return !/^\s|\n\n$/.test(value) && value.trim() !== "" && lines.every((line) => !INVISIBLE.test(line));
}

function literalText(value: string, indent: string): string {
  const lines = value.replace(/\n$/, "").split("\n");
  const text = lines.map((line) => (line === "" ? "" : `${indent}${STEP}${line}`)).join("\n");
  return `|${value.endsWith("\n") ? "" : "-"}\n${text}`;
}
