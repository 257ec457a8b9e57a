// Splits strings with `${…}` into literal parts and expressions. `$${` is an escaped `${`.

/** A part in braces; `raw` is the whole of it, braces included. */
export interface Expression {
  readonly expression: string;
  readonly raw: string;
}

export type TemplatePart = string | Expression;

/** The first words of paths. Other expressions are references to resources. */
export const ROOTS = ["var", "local", "input", "each", "target", "modules"] as const;
export type Root = (typeof ROOTS)[number];

const EVALUATED = new RegExp(`^(?:(?:${ROOTS.join("|")})[.[]|[A-Za-z_]\\w*\\()`);
const CALL = /^\s*[A-Za-z_]\w*\(/;

/** Whether a part is an expression that is evaluated when the spec is read: a path or a call, and not a reference. */
export function isEvaluated(part: TemplatePart): boolean {
  return typeof part !== "string" && EVALUATED.test(part.expression);
}

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
    const close = closeOf(text, open);
    if (close === undefined) return undefined;
    plain += text.slice(at, open);
    if (plain !== "") parts.push(plain);
    plain = "";
    parts.push({ expression: text.slice(open + 2, close).trim(), raw: text.slice(open, close + 1) });
    at = close + 1;
  }
  plain += text.slice(at);
  if (plain !== "") parts.push(plain);
  return parts;
}

/** Where the braces that open here are closed; those inside them, as in `${kind.a-${var.b}.id}`, are closed before. Strings of calls are skipped. */
function closeOf(text: string, open: number): number | undefined {
  let depth = 1;
  const isCall = CALL.test(text.slice(open + 2, open + 100));
  let quote: string | undefined;
  for (let at = open + 2; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (isCall && quote !== undefined) {
      if (character === "\\") at += 1;
      else if (character === quote) quote = undefined;
    } else if (isCall && (character === '"' || character === "'")) quote = character;
    else if (text[at] === "{" && text[at - 1] === "$" && text[at - 2] !== "$") depth += 1;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return undefined;
}

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
