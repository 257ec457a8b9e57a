// Export: a notebook in any format, or a whole folder as an archive (contract A 4.4 rule 2).

import { type ArchiveEntry, packArchive, tooLarge } from "../../notebook/archive.ts";
import { exportBytes } from "../../notebook/document.ts";
import type { Language, NotebookFormat } from "../../notebook/notebook.ts";
import { encodeBase64, pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { type ApiError, invalidValue } from "../../world/errors.ts";
import { WORKSPACE } from "../../world/limits.ts";
import type { Operation } from "../../world/operation.ts";
import type { World } from "../../world/world.ts";
import { documentAt, existingObject, fileBytes, objectsOf, type WorkspaceNode } from "./objects.ts";

export const exportObject: Operation = ({ input }, world) => {
  const segments = segmentsOf(String(input.path));
  const format = String(input.format ?? "SOURCE") as NotebookFormat;
  const node = existingObject(world, segments);
  const bytes = content(world, segments, node, format);
  if (bytes.length > WORKSPACE.content_bytes) throw tooLarge("exported content", bytes.length);
  if (input.direct_download !== true) return { json: { content: encodeBase64(bytes) } };
  return { bytes, ...fileHeaders(segments.at(-1) ?? "workspace", node, format) };
};

function content(
  world: World,
  segments: readonly string[],
  node: WorkspaceNode,
  format: NotebookFormat,
): Uint8Array {
  const { entry } = node;
  const name = segments.at(-1) ?? "workspace";
  switch (entry.object_type) {
    case "DIRECTORY":
      if (format === "DBC") return packArchive(packedTree(world, name, node));
      throw refused(segments, "is a folder; folders can be exported only as DBC");
    case "LIBRARY":
      throw refused(segments, "is a library; libraries cannot be exported");
    case "REPO":
    case "DASHBOARD":
      throw refused(segments, `is a ${entry.object_type}; it cannot be exported`);
    case "FILE":
      if (format === "SOURCE") return fileBytes(world, entry);
      throw refused(segments, "is a file; files can be exported only as SOURCE");
    case "NOTEBOOK": {
      const document = documentAt(world, entry);
      return format === "DBC"
        ? packArchive([{ segments: [name], document }])
        : exportBytes(document, format, name);
    }
  }
  return entry satisfies never;
}

/** A folder and what it holds, folders first; libraries are left out. */
function* packedTree(world: World, name: string, top: WorkspaceNode): IterableIterator<ArchiveEntry> {
  const open = [{ segments: [name], node: top }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { segments, node } = next;
    if (node.entry.object_type === "NOTEBOOK") yield { segments, document: documentAt(world, node.entry) };
    if (!node.entry.folder) continue;
    yield { segments };
    const children = objectsOf(world).children(node.id).reverse();
    open.push(...children.map((child) => ({ segments: [...segments, child.entry.name], node: child })));
  }
}

const EXTENSIONS: Readonly<Record<Language, string>> = { PYTHON: "py", R: "r", SCALA: "scala", SQL: "sql" };

const TYPES: Readonly<Record<NotebookFormat, string>> = {
  SOURCE: "text/plain; charset=utf-8",
  HTML: "text/html; charset=utf-8",
  JUPYTER: "application/octet-stream",
  DBC: "application/zip",
};

/** A download is a file with the notebook's name; it is never shown in place of a page. */
function fileHeaders(name: string, { entry }: WorkspaceNode, format: NotebookFormat) {
  const source = entry.object_type === "NOTEBOOK" ? EXTENSIONS[entry.language] : "dbc";
  const extension = { SOURCE: source, HTML: "html", JUPYTER: "ipynb", DBC: "dbc" }[format];
  const file = encodeURIComponent(`${name.toWellFormed()}.${extension}`).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    contentType: TYPES[format],
    headers: { "content-disposition": `attachment; filename*=UTF-8''${file}` },
  };
}

function refused(segments: readonly string[], why: string): ApiError {
  return invalidValue(`Path (${pathOfSegments(segments)}) ${why}.`);
}
