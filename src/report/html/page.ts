// The frame of every page: one file, no script, nothing from elsewhere, readable in the light and in the dark, and on paper.

import { markupText } from "../printable.ts";
import { STYLE } from "./style.ts";

/** HTML that is safe to stand in a page: made by `html` from text that went through the one sink. */
export interface Html {
  readonly html: string;
}

/** A template whose members are escaped, unless they are HTML themselves. */
export function html(pieces: TemplateStringsArray, ...members: readonly Member[]): Html {
  let text = pieces[0] ?? "";
  members.forEach((member, at) => {
    text += markup(member) + (pieces[at + 1] ?? "");
  });
  return { html: text };
}

export type Member = string | number | Html | readonly Html[];

function markup(member: Member): string {
  if (typeof member === "string") return markupText(member);
  if (typeof member === "number") return String(member);
  if ("html" in member) return member.html;
  return member.map((one) => one.html).join("");
}

export const NOTHING: Html = { html: "" };

/** Scripts, and anything that would be fetched, are refused by the page itself. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function page(title: string, body: readonly Html[]): string {
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return whole.html;
}
