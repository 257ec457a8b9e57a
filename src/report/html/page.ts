// The frame of every page, one file with its style and script, its controls, and its parts: findings, collapsible sections,
// lines of fields, and both sides of a string.

import { type Diagnostic, type Location, placeText } from "../../core/diagnostic.ts";
import { digest } from "../../core/digest.ts";
import { count, grouped } from "../../core/sentences.ts";
import { type DiagnosticGroup, foldDiagnostics, ruleText, severityCounts } from "../text/diagnostic-text.ts";
import { markupText, printableLines } from "../text/printable.ts";
import { commitPart, hasHost, type RunInfo, runAuthor, runParts } from "../text/run-info.ts";
import { commitPage, filePage } from "../text/source-link.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** HTML that is safe in a page: `html` makes it, and escapes every text. */
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
  return member.map((html) => html.html).join("");
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

/** A page that loads itself again when the JSON file of the same report is newer. */
export interface LiveReport {
  /** From the page to the JSON file. */
  readonly file: string;
  /** `made_at` in that file. */
  readonly madeAt: string;
}

/** Such a page reads files next to it, and nothing else. */
const LIVE_POLICY = `${POLICY}; connect-src 'self'`;

function liveLine(live: LiveReport | undefined): Html {
  if (live === undefined) return NOTHING;
  return html`<p class="where" id="live" role="status" data-results="${live.file}" data-made="${live.madeAt}"></p>
`;
}

/** `header`: below the title. */
export function page(
  title: string,
  header: readonly Html[],
  body: Iterable<Html>,
  live?: LiveReport,
): string {
  return [...pageInPieces(title, header, body, live)].join("");
}

/** The same page while its body is made: one of 50,000 changes is never a single string. */
export function* pageInPieces(
  title: string,
  header: readonly Html[],
  body: Iterable<Html>,
  live?: LiveReport,
): Generator<string> {
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${live === undefined ? POLICY : LIVE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ html: PAGE_STYLE }}</style>
</head>
<body>
<main>
<header><button type="button" id="theme" data-control hidden>Dark mode</button><h1>${title}</h1>${header}${liveLine(live)}</header>
`.html;
  for (const part of body) yield part.html;
  yield html`
</main>
<script>${{ html: PAGE_SCRIPT }}</script>
</body>
</html>
`.html;
}

/** The page of a report on a run, whose head says where and when it ran. */
export function reportPage(
  title: string,
  info: RunInfo,
  body: Iterable<Html>,
  tiles: readonly Html[] = [],
): Generator<string> {
  return pageInPieces(title, [runLine(info.host, info.modes, info), ...tiles], body);
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
  /** Properties that only one report has, such as the labels of a workspace, by the name of their attribute. */
  readonly more?: Readonly<Record<string, string>>;
  /** Of how many changes the item is. */
  readonly number?: number;
}

/** The controls above the items: text, action, kind, severity, origin. They are shown once the page's script runs; without it every item is listed. */
export function filterBar(
  items: readonly Facets[],
  more: Readonly<Record<string, string>> = {},
  { legend, kinds, what }: FilterWords = CHANGE_WORDS,
): Html {
  if (items.length === 0) return NOTHING;
  return html`<div class="tools" role="search" aria-label="Filter the ${what}" data-control hidden>
<input type="search" id="search" placeholder="Search" aria-label="Search in addresses and values" autocomplete="off" spellcheck="false">
${choices(items, kinds)}${moreChoices(items, more)}
<button type="button" id="expand">Expand</button>
<button type="button" id="collapse">Collapse</button>
<button type="button" id="reset">Reset</button>
<fieldset><legend>${legend}</legend>${counted(items.map((facets) => facets.action)).map(chip)}</fieldset>
<output id="count" data-total="${items.reduce((sum, { number = 1 }) => sum + number, 0)}"></output>${pager("Pages")}
</div>
`;
}

const pager = (label: string): Html =>
  html`<nav class="pager" aria-label="${label}" hidden><button type="button" data-step="-1">Previous</button> <button type="button" data-step="1">Next</button></nav>`;

/** What a page calls its items, the kinds of them, and their actions. */
export interface FilterWords {
  readonly what: string;
  readonly kinds: string;
  readonly legend: string;
}

const CHANGE_WORDS: FilterWords = { what: "changes", kinds: "kinds", legend: "Action" };

const CHOICES = {
  kind: "",
  severity: "All severities",
  origin: "All origins",
  result: "All results",
} as const;

function choices(items: readonly Facets[], kinds: string): readonly Html[] {
  return (Object.keys(CHOICES) as (keyof typeof CHOICES)[]).flatMap((name) => {
    const values = counted(items.flatMap((facets) => facets[name] ?? []));
    return values.length === 0 ? [] : [choice(name, CHOICES[name] || `All ${kinds}`, values)];
  });
}

/** `more`: the name of each attribute, as its filter shows it. */
function moreChoices(items: readonly Facets[], more: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(more).map(([attribute, name]) => {
    const values = counted(items.flatMap((item) => item.more?.[attribute] ?? [])).toSorted();
    return choice(attribute, `All of ${name}`, values, `${name}=`);
  });
}

type Counted = readonly [value: string, times: number];

/** In the order of the page. */
function counted(values: readonly string[]): readonly Counted[] {
  return [...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]);
}

/** Drift, next to the actions of a plan. */
const CHIP_WORDS: Readonly<Record<string, string>> = {
  changed: "changed outside",
  deleted: "deleted outside",
  appeared: "created outside",
};

function chip([value, times]: Counted): Html {
  return html`<label class="chip ${value}"><input type="checkbox" name="action" value="${value}">${CHIP_WORDS[value] ?? value.replaceAll("-", " ")} ${grouped(times)}</label>`;
}

function choice(id: string, all: string, values: readonly Counted[], before = ""): Html {
  return html`<select id="${id}" class="facet" aria-label="${before === "" ? id : all}"><option value="">${all}</option>${values.map(
    ([value, times]) => html`<option value="${value}">${before}${value} (${grouped(times)})</option>`,
  )}</select>`;
}

export const keyHelp: Html = html`${pager("Pages, below the list")}<p class="keys" data-control hidden>Keys: <kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd> next and previous entry, <kbd>Enter</kbd> open or close it, <kbd>/</kbd> search, <kbd>Esc</kbd> in the search resets the filter.</p>
`;

/** The line below a heading: where the report is from. */
export function runLine(host: string, modes: readonly string[], info: RunInfo | undefined): Html {
  const where = hasHost({ host, modes }) ? [html`Workspace <code>${host}</code>`] : [];
  const commit = info?.commit === undefined ? undefined : commitPart(info.commit);
  const about = [...modes, ...(info === undefined ? [] : [...runAuthor(info), ...runParts(info)])].map(
    (part) =>
      html`<span>${part === commit ? linked(html`${part}`, commitPage(info)) : part === info?.madeAt ? momentHtml(part) : part}</span>`,
  );
  const link =
    info?.runUrl === undefined || !/^https?:/.test(info.runUrl)
      ? []
      : [html`<a href="${info.runUrl}" rel="noreferrer">run</a>`];
  const parts = [...where, ...about, ...link].map((part, at) => (at === 0 ? part : html` · ${part}`));
  return html`<p class="where">${parts}</p>`;
}

/** `2026-11-28 17:07 UTC` of `2026-11-28T17:07:33.949Z`. */
function momentHtml(time: string): Html {
  return html`<time datetime="${time}" title="${time}">${time.slice(0, 16).replace("T", " ")} UTC</time>`;
}

/** With a link to the page, or alone without one. */
function linked(text: Html, url: string | undefined): Html {
  return url === undefined ? text : html`<a href="${url}" rel="noreferrer">${text}</a>`;
}

/** A place in the spec, as a link to the file in the commit of the run. */
export function placeLink(
  at: Pick<Location, "file" | "line">,
  text: string,
  info: RunInfo | undefined,
): Html {
  return linked(html`<code>${text}</code>`, filePage(at, info));
}

/** More items in one element would make the text of a large page slow to read. */
const CHUNK = 500;

/** An item list as a whole, for pages with few items. */
export function itemList(title: string, items: readonly Html[]): Html {
  return html`${[...itemChunks(title, items)]}`;
}

/**
 * Changes or other items of a page, which its filter applies to. The items are text until the page's script shows some of them,
 * so that a page of any size opens at once; without the script a browser shows all of them.
 */
export function* itemChunks(title: string, items: Iterable<Html>): Generator<Html> {
  let chunk: Html[] = [];
  let isBegun = false;
  for (const item of items) {
    if (!isBegun) yield html`<section class="list"><h2>${title}</h2><div class="items"></div>\n`;
    isBegun = true;
    chunk.push(item);
    if (chunk.length < CHUNK) continue;
    yield html`<noscript>${chunk}</noscript>`;
    chunk = [];
  }
  if (chunk.length > 0) yield html`<noscript>${chunk}</noscript>`;
  if (isBegun) yield html`</section>\n`;
}

/** What a reader must know before the changes, a line each. */
export interface GlanceRow {
  readonly tone: string;
  readonly label: string;
  readonly text: Html;
  /** The filter that shows the changes of this line. */
  readonly filter?: string;
  /** More about the line. */
  readonly below?: Html;
}

export function glance(rows: readonly GlanceRow[]): Html {
  if (rows.length === 0) return NOTHING;
  return html`<dl class="glance">${rows.map(
    ({ tone, label, text, filter, below = NOTHING }) =>
      html`<div class="${tone}"><dt>${label}</dt><dd>${text}${filter === undefined ? NOTHING : html`<span data-control hidden> · <a href="#?${filter}">show</a></span>`}${below}</dd></div>`,
  )}</dl>
`;
}

/** The fragment that leads to an item: its address, in which a percent sign and a space would be read otherwise. */
export function anchorOf(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replaceAll("%2F", "/").replaceAll("%40", "@");
}

/** How many rows the filters of the command leave out. */
export function hiddenNote(hidden: string | undefined): Html {
  return hidden === undefined ? NOTHING : html`<p class="where">${hidden}</p>`;
}

export function tile(tone: string, number: number, what: string): Html {
  return html`<li class="${tone}${number === 0 ? " none" : ""}"><b>${grouped(number)}</b><span>${what}</span></li>`;
}

export function remark(text: string): Html {
  return text === "" ? NOTHING : html`<span class="remark">${text}</span>`;
}

/** Findings of an item of a page. */
export function findings(all: readonly Diagnostic[], info?: RunInfo): Html {
  return html`${all.map((diagnostic) => finding(diagnostic, info))}`;
}

/** More groups of findings go into one closed block, so that the changes are on the first screen. */
const MOST_SHOWN = 3;

/** So many findings with one code are shown. */
const MOST_ALIKE = 50;

/** Findings of the page: the first one whole if it is alone with its code, the others by their first line. */
export function findingSection(all: readonly Diagnostic[], info?: RunInfo): Html {
  if (all.length === 0) return NOTHING;
  const groups = foldDiagnostics(all);
  const shown = groups.slice(0, MOST_SHOWN).map((group, at) => findingGroup(group, at === 0, info));
  const rest = groups.slice(MOST_SHOWN);
  const more =
    rest.length === 0
      ? NOTHING
      : closed(
          `${count(rest.length, "more finding")}`,
          rest.map((group) => findingGroup(group, false, info)),
        );
  return html`<section class="findings" id="findings" aria-label="Findings">${shown}${more}</section>
`;
}

function findingGroup(group: DiagnosticGroup, isFirst: boolean, info: RunInfo | undefined): Html {
  const [first, ...rest] = group;
  if (rest.length === 0 && isFirst && first.at?.frame === undefined) return finding(first, info);
  const what =
    rest.length === 0
      ? `${first.severity} ${first.code}`
      : `${count(group.length, first.severity)} ${first.code}`;
  const isSame = rest.every(({ message }) => message === first.message);
  const summary = isSame ? first.message : `${first.message}, and ${grouped(rest.length)} more`;
  const omitted = group.length - MOST_ALIKE;
  const alike =
    omitted > 0
      ? html`<p class="hint">… and ${grouped(omitted)} more; the JSON of this plan has all.</p>`
      : NOTHING;
  return html`<details class="note ${first.severity}"><summary><strong>${what}</strong> <span>${summary}</span></summary><div class="body">${findings(group.slice(0, MOST_ALIKE), info)}${alike}</div></details>
`;
}

/** A closed block of less important parts. */
export function closed(title: string, body: readonly Html[], id?: string): Html {
  const named = id === undefined ? NOTHING : html` id="${id}"`;
  return html`<details class="more"${named}><summary>${title}</summary><div class="body">${body}</div></details>
`;
}

function finding(
  { severity, code, message, at, usedAt = [], rule, cause, hint }: Diagnostic,
  info: RunInfo | undefined,
): Html {
  const link = (place: Location) => placeLink(place, placeText(place), info);
  const uses = usedAt.map((use) => html`, used at ${link(use)}`);
  const place = at === undefined ? NOTHING : html`<p class="hint">at ${link(at)}${uses}</p>`;
  const frame =
    at?.frame === undefined ? NOTHING : html`<pre tabindex="0">${preLines(printableLines(at.frame))}</pre>`;
  const from = rule === undefined ? NOTHING : html`<p class="hint">${ruleText(rule)}</p>`;
  const beneath = cause === undefined ? NOTHING : html`<p class="hint">cause: ${cause}</p>`;
  const next = hint === undefined ? NOTHING : html`<p class="hint">hint: ${hint}</p>`;
  return html`<div class="note ${severity}"><p><strong>${severity} ${code}</strong> ${message}</p>${place}${frame}${from}${beneath}${next}</div>
`;
}

/** Text in a `pre`, where a line break is one of the page. */
export function preLines(all: readonly string[]): readonly Html[] {
  return all.map((line, at) =>
    at === 0
      ? html`${line}`
      : html`
${line}`,
  );
}

interface Folded {
  /** The action or the drift, which decides the color. */
  readonly tone: string;
  readonly open: boolean;
  /** Attributes that the filter of the page uses. */
  readonly facets?: Facets;
  readonly id?: string | undefined;
  readonly head: readonly Html[];
  readonly body: readonly Html[];
}

export function folded({ tone, open, head, body, facets, id }: Folded): Html {
  const all = body.filter((html) => html.html !== "");
  const bare = all.length === 0 ? " bare" : "";
  const shown = open ? html` open` : NOTHING;
  const inside = all.length === 0 ? NOTHING : html`<div class="body">${all}</div>`;
  const named = id === undefined ? NOTHING : html` id="${id}"`;
  return html`<details class="${tone}${bare}${facets === undefined ? "" : " item"}"${named}${facetAttributes(facets)}${shown}><summary>${head}</summary>${inside}</details>
`;
}

function facetAttributes(facets: Facets | undefined): Html {
  if (facets === undefined) return NOTHING;
  const { kind, action, severity, origin, result, more, number = 1 } = facets;
  const optional = { severity, origin, result, ...more };
  const rest = Object.entries(optional).map(([name, value]) =>
    value === undefined ? NOTHING : html` data-${name}="${value}"`,
  );
  const several = number === 1 ? NOTHING : html` data-number="${number}"`;
  return html` data-kind="${kind}" data-action="${action}"${rest}${several}`;
}

/** A page for a run that ended before it had anything else to show. */
export function failureHtml(title: string, diagnostics: readonly Diagnostic[], info: RunInfo): string {
  const heading = `${title}: ${severityCounts(diagnostics)}`;
  return [...reportPage(heading, info, [findingSection(diagnostics, info)])].join("");
}
