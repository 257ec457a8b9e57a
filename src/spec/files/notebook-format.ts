// The language and format of a notebook, by the extension of its file.

import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { Findings } from "../model/findings.ts";
import type { WrittenResource } from "../model/spec.ts";
import type { SpecNode } from "../model/tree.ts";

/** The format and language of a notebook by file extension (contract A 2.6). */
const EXTENSIONS: Readonly<Record<string, Values>> = {
  ".py": { language: "PYTHON", format: "SOURCE" },
  ".scala": { language: "SCALA", format: "SOURCE" },
  ".sql": { language: "SQL", format: "SOURCE" },
  ".r": { language: "R", format: "SOURCE" },
  ".ipynb": { format: "JUPYTER" },
  ".html": { format: "HTML" },
  ".dbc": { format: "DBC" },
};

export const NOTEBOOK_EXTENSIONS = Object.keys(EXTENSIONS);

/** The values of a resource, with the language and format of a notebook that has none in the spec; reported if nothing says them. */
export function withFormat(
  { provider, address }: WrittenResource,
  node: SpecNode,
  path: string,
  values: Values,
  findings: Findings,
): Values {
  if (!isNotebookKind(provider)) return values;
  const format = formatOf(path, values);
  if (format !== undefined) return { ...format, ...values };
  const message = `${address}: cannot infer the language or format from the extension of ${path}`;
  const hint = `use ${NOTEBOOK_EXTENSIONS.join(", ")}, or set format and language`;
  findings.error("SPEC_VALUE", message, node, { address, hint });
  return values;
}

/** The language and format of a file where the spec does not set them; undefined if nothing says either. A declared format overrides the language of the extension. */
function formatOf(path: string, declared: Values): Values | undefined {
  const byExtension = EXTENSIONS[extensionOf(path)];
  const { language, format } = declared;
  if (byExtension === undefined) return language === undefined && format === undefined ? undefined : {};
  return format === undefined || format === "SOURCE" ? byExtension : { format };
}

/** The extension of a notebook that is written out: by its language, else by its format; the empty text where there is none. */
export function extensionFor({ language, format }: Values): string {
  const field = language === undefined ? "format" : "language";
  const value = language ?? format;
  if (value === undefined) return "";
  return NOTEBOOK_EXTENSIONS.find((text) => EXTENSIONS[text]?.[field] === value) ?? "";
}

export function isNotebookKind(provider: PlannedKind): boolean {
  return provider.fields.language !== undefined || provider.fields.format !== undefined;
}

/** `.py` of `etl/nightly.PY`; the empty text where there is none. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot).toLowerCase() : "";
}
