// Texts that hold `${…}`: cut into plain parts and expressions. `$${` stands for `${` itself.

/** A part in braces; `raw` is the whole of it, braces included. */
export interface Expression {
  readonly expression: string;
  readonly raw: string;
}

export type TemplatePart = string | Expression;

const VARIABLE = "var.";

/** The name of the variable that a part stands for, or undefined where it is something else. */
export function variableIn(part: TemplatePart): string | undefined {
  return typeof part !== "string" && part.expression.startsWith(VARIABLE)
    ? part.expression.slice(VARIABLE.length)
    : undefined;
}

/** The parts of a text, or undefined where a `${` is never closed. Plain parts have their escapes undone. */
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

/** Where the braces that open here are closed; those inside them, as in `${kind.a-${var.b}.id}`, are closed before. */
function closeOf(text: string, open: number): number | undefined {
  let depth = 1;
  for (let at = open + 2; at < text.length; at += 1) {
    if (text[at] === "{" && text[at - 1] === "$" && text[at - 2] !== "$") depth += 1;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return undefined;
}

/** Whether a text has to be looked at; most have not. */
export function isTemplate(text: string): boolean {
  return text.includes("${");
}

/** A text that stands for itself when it is read as a template. */
export function escaped(text: string): string {
  // A function, since "$$" in a replacement text means one dollar sign.
  return text.replaceAll("${", () => "$${");
}
