// HTML: a page that shows the cells and contains the notebook itself, so that the page can be imported.

import { assertShallow } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import {
  type Cell,
  fromModel,
  type Notebook,
  notebookText,
  toBytes,
  toModel,
  unreadable,
} from "./notebook.ts";

const OPENING = '<script id="notebook-model" type="application/json">';
const CLOSING = "</script>";
/** The service's own pages hold the model as base64 of percent-encoded JSON. */
const ENCODED_MODEL = /__\w*NOTEBOOK_MODEL = ['"]([A-Za-z0-9+/=]*)['"]/;

export function readHtml(bytes: Uint8Array): Notebook {
  const page = notebookText(bytes);
  const model = modelIn(page);
  if (model === undefined) throw unreadable("HTML", "the page does not contain a notebook");
  return fromModel(model, "HTML");
}

export function writeHtml(notebook: Notebook, name: string): Uint8Array {
  // No "<" in the model can end the script.
  const model = JSON.stringify(toModel(notebook, name)).replaceAll("<", "\\u003c");
  const lines = [
    "<!DOCTYPE html>",
    `<html><head><meta charset="utf-8"><title>${escapedHtml(name)}</title>`,
    "<style>body{font-family:sans-serif;margin:2em}pre{background:#f4f4f4;padding:1em}.markdown{white-space:pre-wrap}</style>",
    `${OPENING}${model}${CLOSING}`,
    "</head><body>",
    `<h1>${escapedHtml(name)}</h1><p>${notebook.language.toLowerCase()}</p>`,
    ...notebook.cells.map(shown),
    "</body></html>",
  ];
  return toBytes(`${lines.join("\n")}\n`);
}

function shown({ kind, text, title }: Cell): string {
  const heading = title === undefined ? "" : `<h2>${escapedHtml(title)}</h2>`;
  const body = escapedHtml(text);
  return (
    heading +
    (kind === "markdown" ? `<div class="markdown">${body}</div>` : `<pre><code>${body}</code></pre>`)
  );
}

function modelIn(page: string): Json | undefined {
  try {
    const from = page.indexOf(OPENING);
    const to = page.indexOf(CLOSING, from);
    if (from >= 0 && to >= 0) return parsed(page.slice(from + OPENING.length, to));
    const encoded = ENCODED_MODEL.exec(page)?.[1];
    return encoded === undefined ? undefined : parsed(decodeURIComponent(atob(encoded)));
  } catch {
    throw unreadable("HTML", "the notebook in the page is damaged");
  }
}

function parsed(text: string): Json {
  assertShallow(text);
  return JSON.parse(text) as Json;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapedHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
