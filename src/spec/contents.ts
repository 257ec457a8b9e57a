// Notebooks and files: their content is a file of the spec's folder, known by a digest and read when it is needed.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { digest } from "../core/canonical.ts";
import { error, Failure } from "../core/diagnostic.ts";
import type { Json } from "../core/json.ts";
import { sizeAndDigest } from "../resource/content-kinds.ts";
import type { Values } from "../resource/fields.ts";
import type { Payload, Provider } from "../resource/provider.ts";
import { namedPath, opened } from "./files.ts";
import type { Findings } from "./finding.ts";
import type { Written } from "./flatten.ts";
import { LIMITS } from "./limits.ts";
import type { Tree } from "./load.ts";
import { member, type Node } from "./tree.ts";

/** What an extension says of a notebook (part A, 2.6). A language is sent with the format SOURCE only. */
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

/** The extension of a notebook that is written out as source; the empty text where its language has none. */
export function extensionFor(values: Values): string {
  const { language } = values;
  if (language === undefined) return "";
  return NOTEBOOK_EXTENSIONS.find((one) => EXTENSIONS[one]?.language === language) ?? "";
}

/** Whether things of this kind have a language or format, as notebooks have. */
export function isNotebookKind(provider: Provider): boolean {
  return provider.fields.language !== undefined || provider.fields.format !== undefined;
}

/** `.py` of `etl/nightly.PY`; the empty text where there is none. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot).toLowerCase() : "";
}

/** The values that a content adds to a resource, and the payload; undefined after reporting a problem. */
export function contentOf(
  written: Written,
  values: Values,
  tree: Tree,
  findings: Findings,
): { readonly values: Values; readonly payload: Payload } | undefined {
  const node = member(written.fields, "source");
  if (node === undefined) {
    findings.error("SPEC_MISSING_FIELD", `${written.address} needs the field "source"`, written.at, {
      address: written.address,
      hint: "write source: and the path of a file, or source_dir: and the path of a folder",
    });
    return undefined;
  }
  const path = namedPath(written, node, findings);
  if (path === undefined) return undefined;
  const said = { ...fromExtension(written, path, values, node, findings), ...values };
  const read = summed(written, path, said, node, tree, findings);
  if (read === undefined) return undefined;
  const content: Values = written.provider.fields.content === undefined ? {} : { content: read.content };
  return {
    values: { ...said, ...content },
    payload: { digest: read.digest, bytes: () => again(written, path, read.digest, tree) },
  };
}

function fromExtension(
  written: Written,
  path: string,
  values: Values,
  node: Node,
  findings: Findings,
): Values {
  const { provider, address } = written;
  if (!isNotebookKind(provider)) return {};
  const extension = extensionOf(path);
  const said = EXTENSIONS[extension];
  if (said === undefined && values.format === undefined && values.language === undefined)
    findings.error(
      "SPEC_VALUE",
      `${address}: the extension of ${path} tells neither language nor format`,
      node,
      {
        address,
        hint: `use ${NOTEBOOK_EXTENSIONS.join(", ")}, or set format and language`,
      },
    );
  const known: { [field: string]: Json } = {};
  for (const [field, value] of Object.entries(said ?? {}))
    if (provider.fields[field] !== undefined && !overridden(field, values)) known[field] = value;
  return known;
}

/** A format that is set says that the extension does not count; the language goes with it. */
function overridden(field: string, values: Values): boolean {
  return (
    values[field] !== undefined ||
    (field === "language" && values.format !== undefined && values.format !== "SOURCE")
  );
}

/** Digests of the bytes and of what contents are compared by: the kind's own form, or size and digest. Large files pass through in pieces. */
function summed(
  written: Written,
  path: string,
  values: Values,
  node: Node,
  tree: Tree,
  findings: Findings,
): { readonly digest: string; readonly content: string } | undefined {
  const { provider, name } = written;
  const most = isNotebookKind(provider) ? LIMITS.notebookBytes : LIMITS.contentBytes;
  if (provider.contentDigest !== undefined) {
    const bytes = opened(written, path, node, tree.read(path, most), findings);
    return bytes === undefined
      ? undefined
      : { digest: digest(bytes), content: provider.contentDigest(bytes, values, name) };
  }
  const hash = sha256.create();
  const size = opened(
    written,
    path,
    node,
    tree.stream(path, most, (piece) => hash.update(piece)),
    findings,
  );
  if (size === undefined) return undefined;
  const sum = bytesToHex(hash.digest());
  return { digest: sum, content: sizeAndDigest(size, sum) };
}

/** The bytes once more, when they are sent; a file that changed since is not what the plan showed. */
function again(written: Written, path: string, sum: string, tree: Tree): Uint8Array {
  const read = tree.read(path, LIMITS.contentBytes);
  if (read.ok && digest(read.value) === sum) return read.value;
  const what = read.ok ? "changed while the program ran" : "cannot be read any more";
  throw new Failure(
    error("PLAN_STALE", `${tree.shown(path)} ${what}`, { address: written.address, hint: "plan again" }),
  );
}
