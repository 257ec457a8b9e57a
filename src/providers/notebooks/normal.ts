// The form in which notebooks are compared: what a service adds to a source or leaves out of it does not count.

import { digest, fingerprint } from "../../core/canonical.ts";
import { parseJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../spec-form.ts";

export const FORMATS = ["SOURCE", "HTML", "JUPYTER", "DBC"] as const;
export type Format = (typeof FORMATS)[number];

export const formatOf = (value: Json | undefined): Format => FORMATS.find((one) => one === value) ?? "SOURCE";

/** Whether what is exported can be compared with what was imported; the other two formats are archives of their own making. */
export const isComparable = (format: Format): boolean => format === "SOURCE" || format === "JUPYTER";

/** Digest of a notebook's content in its normal form. Bytes that are not of the format count as they are. */
export function contentDigest(bytes: Uint8Array, format: Format): string {
  switch (format) {
    case "SOURCE":
      return fingerprint(sourceCells(bytes));
    case "JUPYTER": {
      const cells = jupyterCells(bytes);
      return cells === undefined ? digest(bytes) : fingerprint(cells);
    }
    case "HTML":
    case "DBC":
      return digest(bytes);
    default:
      return format satisfies never;
  }
}

const HEADER = /^(?:#|--|\/\/) (?:\S+ )?notebook source[ \t]*\n?/i;
const SEPARATOR = /^(?:#|--|\/\/) COMMAND -+[ \t]*$/m;

/** Cells without the blank lines around them; the first comment that says "notebook source" is the service's. */
function sourceCells(bytes: Uint8Array): readonly string[] {
  const text = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n").replace(HEADER, "");
  const cells = text.split(SEPARATOR).map(withoutBlankEnds);
  return cells.length === 1 && cells[0] === "" ? [] : cells;
}

const withoutBlankEnds = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();

/** Kind and text of each cell; outputs, counters and the rest of the metadata are what running leaves behind. */
function jupyterCells(bytes: Uint8Array): readonly Json[] | undefined {
  const file = parsed(bytes);
  if (!isObject(file) || !Array.isArray(file.cells)) return undefined;
  return file.cells.filter(isObject).map((cell) => {
    const source = Array.isArray(cell.source) ? cell.source.map(String).join("") : String(cell.source ?? "");
    const text = withoutBlankEnds(source.replaceAll("\r\n", "\n"));
    const markdown = text.replace(/^%md(?:[ \t]*\n|[ \t]+|$)/, "");
    const kind = markdown !== text || cell.cell_type !== "code" ? "markdown" : "code";
    const title = isObject(cell.metadata) ? cell.metadata.title : undefined;
    return { kind, text: markdown, ...(typeof title === "string" ? { title } : {}) };
  });
}

function parsed(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
