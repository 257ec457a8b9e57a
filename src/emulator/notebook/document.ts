// A stored notebook: the imported bytes, so that an export in their format returns the same bytes.

import { readHtml, writeHtml } from "./html.ts";
import { readJupyter, writeJupyter } from "./jupyter.ts";
import type { Language, Notebook } from "./notebook.ts";
import { readSource, writeSource } from "./source.ts";

/** The formats of one notebook; an archive is unpacked into them. */
export type DocumentFormat = "SOURCE" | "HTML" | "JUPYTER";

export interface Document {
  readonly format: DocumentFormat;
  readonly language: Language;
  readonly bytes: Uint8Array;
}

/** The document of imported bytes. Throws INVALID_PARAMETER_VALUE when they are not what the format says. */
export function documentOf(format: DocumentFormat, bytes: Uint8Array, language: Language): Document {
  const named = format === "SOURCE" ? language : FORMATS[format].read(bytes).language;
  return { format, bytes, language: named };
}

export function notebookOf({ format, bytes, language }: Document): Notebook {
  return FORMATS[format].read(bytes, language);
}

export function exportBytes(document: Document, format: DocumentFormat, name: string): Uint8Array {
  return document.format === format ? document.bytes : write(notebookOf(document), format, name);
}

export const write = (notebook: Notebook, format: DocumentFormat, name: string): Uint8Array =>
  FORMATS[format].write(notebook, name);

const FORMATS = {
  SOURCE: { read: readSource, write: writeSource },
  HTML: { read: readHtml, write: writeHtml },
  JUPYTER: { read: readJupyter, write: writeJupyter },
} as const;
