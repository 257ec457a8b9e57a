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
  return { format, bytes, language: format === "SOURCE" ? language : read(format, bytes, language).language };
}

export function notebookOf({ format, bytes, language }: Document): Notebook {
  return read(format, bytes, language);
}

/** The bytes of a document in a format: its own where it is that already. */
export function exportBytes(document: Document, format: DocumentFormat, name: string): Uint8Array {
  return document.format === format ? document.bytes : write(notebookOf(document), format, name);
}

export function write(notebook: Notebook, format: DocumentFormat, name: string): Uint8Array {
  switch (format) {
    case "SOURCE":
      return writeSource(notebook);
    case "HTML":
      return writeHtml(notebook, name);
    case "JUPYTER":
      return writeJupyter(notebook, name);
  }
  return format satisfies never;
}

function read(format: DocumentFormat, bytes: Uint8Array, language: Language): Notebook {
  switch (format) {
    case "SOURCE":
      return readSource(bytes, language);
    case "HTML":
      return readHtml(bytes);
    case "JUPYTER":
      return readJupyter(bytes);
  }
  return format satisfies never;
}
