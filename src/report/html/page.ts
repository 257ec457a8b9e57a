// The frame of every page: one file with its style and script, without external resources.

import { digest } from "../../core/digest.ts";
import { markupText } from "../text/printable.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";

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

type Member = string | number | Html | readonly Html[];

function markup(member: Member): string {
  if (typeof member === "string") return markupText(member);
  if (typeof member === "number") return String(member);
  if ("html" in member) return member.html;
  return member.map((one) => one.html).join("");
}

export const NOTHING: Html = { html: "" };

/** Shown once the page's script runs. */
export const themeButton: Html = html`<button type="button" id="theme" data-control hidden>Dark mode</button>`;

function allowed(text: string): string {
  return `'sha256-${Buffer.from(digest(text), "hex").toString("base64")}'`;
}

/** The page's own style and script, by their digests, and nothing else: no request, no other script, no form, no other base. */
const POLICY = [
  "default-src 'none'",
  `style-src ${allowed(PAGE_STYLE)}`,
  `script-src ${allowed(PAGE_SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

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
<style>${{ html: PAGE_STYLE }}</style>
</head>
<body>
<main>
${body}
</main>
<script>${{ html: PAGE_SCRIPT }}</script>
</body>
</html>
`;
  return whole.html;
}
