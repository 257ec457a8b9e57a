// What the cards of several pages have in their heads and bodies: the severity, and the place in the spec.

import type { Severity } from "../../resource/field-schema.ts";
import type { RunInfo } from "../text/run-info.ts";
import { filePage } from "../text/source-link.ts";
import type { SpecPlace } from "../view/change-view.ts";
import { type Html, html, NOTHING, placeLink } from "./page.ts";

/** So many are seen at a glance; more are read one by one. */
export const OPEN = 5;

/** `other` says nothing that a reader needs. */
export function severity(level: Severity | undefined): Html {
  return level === undefined || level === "other"
    ? NOTHING
    : html`<span class="remark severity">${level}</span>`;
}

export function place(at: SpecPlace | undefined): Html {
  return at === undefined ? NOTHING : html`<code class="remark">${placeName(at)}</code>`;
}

/** A link cannot be in the line that opens a card, so it is in the body. */
export function declared(at: SpecPlace | undefined, info: RunInfo | undefined): readonly Html[] {
  if (at === undefined || filePage(at, info) === undefined) return [];
  return [html`<li class="reasons">declared at ${placeLink(at, placeName(at), info)}</li>`];
}

export const placeName = ({ file, line }: SpecPlace): string => `${file}:${line}`;
