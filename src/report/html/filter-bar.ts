// The controls above the changes: text, action, kind, severity, origin. They are shown once the page's script runs; without it every change is listed.

import { grouped } from "../../core/sentences.ts";
import { type Html, html, NOTHING } from "./page.ts";

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
