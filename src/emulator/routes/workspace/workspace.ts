// Workspace objects: notebooks and folders, their status, listing, import, export and deletion (contract A 4.4).

import { type ArchiveEntry, packArchive, tooLarge } from "../../notebook/archive.ts";
import { exportBytes } from "../../notebook/formats.ts";
import type { Language, NotebookFormat } from "../../notebook/notebook.ts";
import { administratorName } from "../../world/directory.ts";
import { childPath, encodeBase64, pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { ApiError, badRequest, invalidValue } from "../../world/errors.ts";
import { WORKSPACE } from "../../world/limits.ts";
import type { Area, Call, Operations, Reply, World } from "../../world/world.ts";
import { importObject } from "./import.ts";
import {
  documentAt,
  existingObject,
  fileBytes,
  makeFolders,
  objectInfo,
  objectsOf,
  removeObjects,
  type WorkspaceNode,
} from "./objects.ts";

const operations: Operations = {
  "workspace/import": importObject,
  "workspace/export": exportObject,

  "workspace/delete": ({ input }, world) => {
    const segments = segmentsOf(String(input.path));
    const path = pathOfSegments(segments);
    const node = existingObject(world, segments);
    if (node.entry.object_type === "DIRECTORY" && node.entry.fixed)
      throw invalidValue(`Folder (${path}) is protected and cannot be deleted.`);
    if (input.recursive !== true && objectsOf(world).hasChildren(node.id))
      throw new ApiError("DIRECTORY_NOT_EMPTY", `Folder (${path}) is not empty`);
    removeObjects(world, node);
  },

  "workspace/get-status": ({ input }, world) => {
    const segments = segmentsOf(String(input.path));
    return { json: objectInfo(world, pathOfSegments(segments), existingObject(world, segments)) };
  },

  "workspace/list": ({ input }, world) => {
    const segments = segmentsOf(String(input.path));
    const path = pathOfSegments(segments);
    const node = existingObject(world, segments);
    if (!node.entry.folder) return { json: { objects: [objectInfo(world, path, node)] } };
    const children = objectsOf(world).children(node.id);
    const objects = children.map((child) => objectInfo(world, childPath(path, child.entry.name), child));
    return { json: objects.length === 0 ? {} : { objects } };
  },

  "workspace/mkdirs": ({ input }, world) => {
    makeFolders(world, segmentsOf(String(input.path)));
  },
};

export const workspaceArea: Area = {
  operations,
  seed: (world) => {
    const root = { parent: "", name: "", folder: true, object_type: "DIRECTORY", fixed: true } as const;
    objectsOf(world).plant(root);
    makeFolders(world, ["Shared"], true);
    makeFolders(world, ["Users", administratorName(world)], true);
  },
};

/** A notebook in any format, or a whole folder as an archive (contract A 4.4 rule 2). */
function exportObject({ input, allows }: Call, world: World): Reply {
  const segments = segmentsOf(String(input.path));
  const format = String(input.format ?? "SOURCE") as NotebookFormat;
  const node = existingObject(world, segments);
  const bytes = content(world, segments, node, format);
  const isLargeFile =
    allows?.largeFiles && input.direct_download === true && node.entry.object_type === "FILE";
  const most = WORKSPACE.content_bytes;
  if (bytes.length > most && !isLargeFile)
    throw node.entry.object_type === "FILE"
      ? badRequest(`File size imported is (${bytes.length} bytes), exceeded max size (${most} bytes)`)
      : tooLarge("exported content", bytes.length);
  if (input.direct_download !== true) return { json: { content: encodeBase64(bytes) } };
  return { bytes, ...fileHeaders(segments.at(-1) ?? "workspace", node, format) };
}

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
  const isFile = entry.object_type === "FILE";
  const fileName = isFile ? name : `${name}.${extension}`;
  const file = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    contentType: isFile ? "application/octet-stream" : TYPES[format],
    headers: { "content-disposition": `attachment; filename*=UTF-8''${file}` },
  };
}

function refused(segments: readonly string[], why: string): ApiError {
  return invalidValue(`Path (${pathOfSegments(segments)}) ${why}.`);
}
