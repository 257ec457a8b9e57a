// The objects of the workspace: folders, notebooks and libraries in one tree (contract A 2.6).

import type { JsonObject } from "../../../core/json.ts";
import type { Document, DocumentFormat } from "../../notebook/formats.ts";
import type { Language } from "../../notebook/notebook.ts";
import { pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { type EmulatorNode, EntryTree, ROOT, type TreeEntry } from "../../world/entry-tree.ts";
import { ApiError, alreadyExists, notFound } from "../../world/errors.ts";
import type { World } from "../../world/world.ts";

/** Times that only a dialect shows. */
interface ObjectEntry extends TreeEntry {
  readonly created_at?: number;
  readonly modified_at?: number;
}

interface Folder extends ObjectEntry {
  readonly object_type: "DIRECTORY";
  /** Folders that every workspace has and that cannot be deleted. */
  readonly fixed?: true;
}

interface NotebookEntry extends ObjectEntry {
  readonly object_type: "NOTEBOOK";
  readonly language: Language;
  readonly format: DocumentFormat;
  /** Where the imported bytes lie. */
  readonly blob: string;
}

/** A file of any content. No call of the contract makes one; a dialect does. */
interface WorkspaceFileEntry extends ObjectEntry {
  readonly object_type: "FILE";
  readonly blob: string;
}

/** No call creates one, but a workspace may contain it. A repository is a folder. */
interface OtherEntry extends ObjectEntry {
  readonly object_type: "LIBRARY" | "REPO" | "DASHBOARD";
}

export type WorkspaceEntry = Folder | NotebookEntry | WorkspaceFileEntry | OtherEntry;
export type WorkspaceNode = EmulatorNode<WorkspaceEntry>;

/** Databricks takes every path of the tree with this before it, too. */
export const MOUNT = "/Workspace";

const MOUNTED = new RegExp(`^${MOUNT}(?=/|$)`);

export const unmountedPath = (path: string): string => (path === MOUNT ? "/" : path.replace(MOUNTED, ""));

export const objectsOf = (world: World): EntryTree<WorkspaceEntry> =>
  new EntryTree(world, "workspace.objects");

/** What lies at a path. Throws RESOURCE_DOES_NOT_EXIST when nothing does (contract A 4.4 rules 1, 2, 4). */
export function existingObject(world: World, segments: readonly string[]): WorkspaceNode {
  const node = objectsOf(world).find(segments);
  if (node === undefined) throw notFound(`Path (${pathOfSegments(segments)}) doesn't exist.`);
  return node;
}

/** ObjectInfo (contract A 2.6). */
export function objectInfo(world: World, path: string, { id, entry }: WorkspaceNode): JsonObject {
  const language: JsonObject = entry.object_type === "NOTEBOOK" ? { language: entry.language } : {};
  const size: JsonObject = entry.object_type === "FILE" ? { size: world.blobs.size(entry.blob) } : {};
  return { object_type: entry.object_type, path, ...language, object_id: Number(id), ...size };
}

export function pathOfNode(world: World, node: WorkspaceNode): string {
  const names = objectsOf(world)
    .above(node)
    .flatMap(({ id, entry }) => (id === ROOT ? [] : [entry.name]));
  return pathOfSegments([...names.reverse(), ...(node.id === ROOT ? [] : [node.entry.name])]);
}

/** The folder at a path, made with all above it where missing. Anything else on the way is refused (contract A 4.4 rule 5). */
export function makeFolders(world: World, segments: readonly string[], fixed = false): WorkspaceNode {
  const tree = objectsOf(world);
  let { node, rest } = tree.deepest(segments);
  if (!node.entry.folder) throw alreadyExists(`${node.entry.name} already exists and it is not a folder`);
  const kind = { folder: true, object_type: "DIRECTORY", ...(fixed ? { fixed } : {}) } as const;
  for (const name of rest) node = addObject(world, { parent: node.id, name, ...kind });
  return node;
}

export function addObject(world: World, entry: WorkspaceEntry): WorkspaceNode {
  return objectsOf(world).add({ ...entry, created_at: world.now, modified_at: world.now });
}

export function addNotebook(world: World, parent: string, name: string, document: Document): void {
  addObject(world, {
    parent,
    name,
    folder: false,
    object_type: "NOTEBOOK",
    language: document.language,
    format: document.format,
    blob: store(world, document.bytes),
  });
}

export function replaceNotebook(world: World, id: string, entry: NotebookEntry, document: Document): void {
  world.blobs.delete(entry.blob);
  const { language, format } = document;
  const blob = store(world, document.bytes);
  objectsOf(world).change(id, { ...entry, language, format, blob, modified_at: world.now });
}

/** Puts a file at a path whose parent exists, in the place of one that is there. */
export function putWorkspaceFile(world: World, parent: string, name: string, bytes: Uint8Array): void {
  const tree = objectsOf(world);
  const old = tree.child(parent, name);
  const blob = store(world, bytes);
  const entry: WorkspaceFileEntry = { parent, name, folder: false, object_type: "FILE", blob };
  if (old === undefined) {
    addObject(world, entry);
    return;
  }
  if ("blob" in old.entry) world.blobs.delete(old.entry.blob);
  tree.change(old.id, { ...old.entry, ...entry, modified_at: world.now });
}

export function fileBytes(world: World, { blob }: WorkspaceFileEntry): Uint8Array {
  return world.blobs.read(blob, 0, world.blobs.size(blob));
}

export function documentAt(world: World, { language, format, blob }: NotebookEntry): Document {
  return { language, format, bytes: world.blobs.read(blob, 0, world.blobs.size(blob)) };
}

export function removeObjects(world: World, top: WorkspaceNode): void {
  const tree = objectsOf(world);
  for (const node of tree.subtree(top)) {
    if ("blob" in node.entry) world.blobs.delete(node.entry.blob);
    tree.remove(node);
  }
}

/** The notebook at a path, for areas whose settings name one; undefined if the path is invalid or has no notebook. */
export function notebookAt(world: World, path: string): Document | undefined {
  try {
    const entry = objectsOf(world).find(segmentsOf(path))?.entry;
    return entry?.object_type === "NOTEBOOK" ? documentAt(world, entry) : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function store(world: World, bytes: Uint8Array): string {
  const blob = world.blobs.create();
  world.blobs.append(blob, bytes);
  return blob;
}
