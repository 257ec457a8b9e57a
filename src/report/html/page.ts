// The frame of every page: one file with its style and script, without external resources; and its controls.

import { digest } from "../../core/digest.ts";
import { grouped } from "../../core/sentences.ts";
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

/** `header`: below the title. */
export function page(title: string, header: readonly Html[], body: readonly Html[]): string {
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
<header><button type="button" id="theme" data-control hidden>Dark mode</button><h1>${title}</h1>${header}</header>
${body}
</main>
<script>${{ html: PAGE_SCRIPT }}</script>
</body>
</html>
`;
  return whole.html;
}

/** The properties that filters use. */
export interface Facets {
  readonly kind: string;
  /** The action, or what happened outside. */
  readonly action: string;
  readonly severity?: string | undefined;
  /** In a plan that was compared with a base. */
  readonly origin?: string | undefined;
  /** Of an apply: whether the change was applied, failed, or was not tried. */
  readonly result?: string | undefined;
}

/** The controls above the changes: text, action, kind, severity, origin. They are shown once the page's script runs; without it every change is listed. */
export function filterBar(items: readonly Facets[]): Html {
  if (items.length === 0) return NOTHING;
  return html`<div class="tools" role="search" aria-label="Filter the changes" data-control hidden>
<input type="search" id="search" placeholder="Search" aria-label="Search in addresses and values" autocomplete="off" spellcheck="false">
<fieldset><legend>Action</legend>${counted(items.map((one) => one.action)).map(chip)}</fieldset>
${choices(items)}
<button type="button" id="expand">Expand</button>
<button type="button" id="collapse">Collapse</button>
<button type="button" id="reset">Reset</button>
<output id="count"></output>
</div>
`;
}

const CHOICES = {
  kind: "All kinds",
  severity: "All severities",
  origin: "All origins",
  result: "All results",
} as const;

function choices(items: readonly Facets[]): readonly Html[] {
  return (Object.keys(CHOICES) as (keyof typeof CHOICES)[]).flatMap((name) => {
    const values = counted(items.flatMap((one) => one[name] ?? []));
    return values.length === 0 ? [] : [choice(name, CHOICES[name], values)];
  });
}

type Counted = readonly [value: string, times: number];

/** In the order of the page. */
function counted(values: readonly string[]): readonly Counted[] {
  return [...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]);
}

function chip([value, times]: Counted): Html {
  return html`<label class="chip ${value}"><input type="checkbox" name="action" value="${value}">${value} ${grouped(times)}</label>`;
}

function choice(id: string, all: string, values: readonly Counted[]): Html {
  return html`<select id="${id}" aria-label="${id}"><option value="">${all}</option>${values.map(
    ([value, times]) => html`<option value="${value}">${value} (${grouped(times)})</option>`,
  )}</select>`;
}

export const keyHelp: Html = html`<p class="keys" data-control hidden>Keys: <kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd> next and previous change, <kbd>Enter</kbd> open or close it, <kbd>/</kbd> search, <kbd>Esc</kbd> in the search resets the filter.</p>
`;
