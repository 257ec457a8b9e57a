// Splits strings with `${…}` into literal parts, paths, references to resources, and CEL expressions. `$${` is an escaped `${`.

/** A part in braces. */
export interface Expression {
  readonly expression: string;
  /** The whole of it, braces included. */
  readonly raw: string;
  /** The string that contains it, and where in it the expression begins. */
  readonly text: string;
  readonly start: number;
  /** Whether it refers to a resource. The others are evaluated when the spec is read. */
  readonly isReference: boolean;
}

export type TemplatePart = string | Expression;

/** The first words of paths. Other paths are references to resources. */
export const ROOTS = ["var", "local", "input", "each", "target", "modules"] as const;
export type Root = (typeof ROOTS)[number];

export type PathStep = string | number;

export interface ValuePath {
  readonly root: Root;
  readonly path: readonly PathStep[];
}

/** `pools.team-a.instance_pool_id`: a word before the first dot that neither is a root nor belongs to CEL. */
const REFERENCE = new RegExp(
  `^\\s*(?:\\$\\{|(?!(?:${ROOTS.join("|")}|cel|optional|lists)\\.)[A-Za-z_][\\w-]*\\.)`,
);

/** Whether the text between braces refers to a resource. */
export function isReference(expression: string): boolean {
  return REFERENCE.test(expression);
}

/** Whether a part is evaluated when the spec is read. The others refer to resources. */
export function isEvaluated(part: TemplatePart): boolean {
  return typeof part !== "string" && !part.isReference;
}

const SEGMENT = String.raw`\.[\w-]+`;
const INDEX = String.raw`\[(?:\d+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]`;
const PATH = new RegExp(
  `^(?:(var|local|input|each|target)((?:${SEGMENT}|${INDEX})+)|(modules)(\\.[\\w-]+(?:/[\\w-]+)*(?:${SEGMENT}|${INDEX})*))$`,
);
const STEP = /\.([\w-]+(?:\/[\w-]+)*)|\[(?:(\d+)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/g;

/** `local.sizes[0]` as its steps; undefined for any other expression. In a path, names may contain dashes. */
export function valuePathOf(expression: string): ValuePath | undefined {
  const match = PATH.exec(expression);
  if (match === null) return undefined;
  const root = ROOTS.find((name) => name === (match[1] ?? match[3]));
  if (root === undefined) return undefined;
  const path = Array.from((match[2] ?? match[4] ?? "").matchAll(STEP), (step): PathStep => {
    const [, name, index, double, single] = step;
    return name ?? (index === undefined ? unescaped(double ?? single ?? "") : Number(index));
  });
  return { root, path };
}

/** Whether a string consists of one path or reference, as `${var.key}`, and contains no value. */
export function isPathAlone(text: string): boolean {
  const [only, ...more] = isTemplate(text) ? (templateParts(text) ?? []) : [];
  if (only === undefined || typeof only === "string" || more.length > 0) return false;
  return only.isReference
    ? /^[^\s"'()+]+$/.test(only.expression)
    : valuePathOf(only.expression) !== undefined;
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));

/** The parts of a string, or undefined if a `${` is never closed. Literal parts are unescaped. */
export function templateParts(text: string): readonly TemplatePart[] | undefined {
  const parts: TemplatePart[] = [];
  let plain = "";
  let at = 0;
  for (let open = text.indexOf("${"); open >= 0; open = text.indexOf("${", at)) {
    if (open > at && text[open - 1] === "$") {
      plain += `${text.slice(at, open - 1)}\${`;
      at = open + 2;
      continue;
    }
    const refers = isReference(text.slice(open + 2, open + 100));
    const close = refers ? endOfReference(text, open + 2) : endOfCel(text, open + 2);
    if (close === undefined) return undefined;
    plain += text.slice(at, open);
    if (plain !== "") parts.push(plain);
    plain = "";
    const inside = text.slice(open + 2, close);
    const expression = inside.trim();
    const start = open + 2 + inside.indexOf(expression);
    parts.push({ expression, raw: text.slice(open, close + 1), text, start, isReference: refers });
    at = close + 1;
  }
  plain += text.slice(at);
  if (plain !== "") parts.push(plain);
  return parts;
}

/** A string of CEL, or a comment. The alternatives begin with different characters, so that matching is linear. */
const QUOTED =
  /"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""|'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''|"(?:[^"\\\n\r]|\\[\s\S])*"|'(?:[^'\\\n\r]|\\[\s\S])*'|\/\/[^\n]*/y;

/** The end of a string or comment that begins here; the same offset if none does. */
function quotedEnd(text: string, at: number): number {
  const first = text[at];
  if (first !== '"' && first !== "'" && first !== "/") return at;
  QUOTED.lastIndex = at;
  return QUOTED.test(text) ? QUOTED.lastIndex : at;
}

/** Where a reference ends; those inside it, as in `${kind.a-${var.b}.id}`, end before. */
function endOfReference(text: string, start: number): number | undefined {
  let depth = 1;
  for (let at = start; at < text.length; at += 1)
    if (text[at] === "{" && text[at - 1] === "$" && text[at - 2] !== "$") depth += 1;
    else if (text[at] === "}" && --depth === 0) return at;
  return undefined;
}

/** Where an expression ends, behind the braces of its maps and in its strings. */
function endOfCel(text: string, start: number): number | undefined {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    const end = quotedEnd(text, at);
    if (end > at) at = end - 1;
    else if (text[at] === "{") depth += 1;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return undefined;
}

/** The text with the word `var` replaced by a word of the same length, because CEL reserves it. */
export function withoutReserved(text: string): string {
  if (!text.includes("var")) return text;
  const word = /[A-Za-z_]\w*/y;
  let out = "";
  for (let at = 0; at < text.length; ) {
    word.lastIndex = at;
    const end = word.test(text) ? word.lastIndex : Math.max(quotedEnd(text, at), at + 1);
    const token = text.slice(at, end);
    out += token === "var" && !/\.\s*\??\s*$/.test(out.slice(-8)) ? VAR : token;
    at = end;
  }
  return out;
}

/** The replacement for `var` in CEL. */
export const VAR = "_v_";

/** Whether a string needs parsing; most do not. */
export function isTemplate(text: string): boolean {
  return text.includes("${");
}

/** Escapes a string so that it is literal as a template. */
export function escaped(text: string): string {
  // A function, since "$$" in a replacement text means one dollar sign.
  return text.replaceAll("${", () => "$${");
}

/** The text of a template without expressions, with its escapes undone; undefined if it contains an expression. */
export function literalOf(text: string): string | undefined {
  if (!isTemplate(text)) return text;
  const parts = templateParts(text);
  if (parts === undefined || parts.some((part) => typeof part !== "string")) return undefined;
  return parts.join("");
}

/** A string, the same with escapes, and the same with its escapes undone: specs and outputs differ in which of them they have. */
export function escapeForms(text: string): readonly string[] {
  return [text, escaped(text), literalOf(text) ?? text];
}
