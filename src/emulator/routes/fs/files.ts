// The files and directories of the file system: their tree, their paths, and the contents behind them
// (contract A 2.8, contract A 4.5).

import type { JsonObject } from "../../../core/json.ts";
import { pathOfSegments, segmentsOf } from "../../world/encoding.ts";
import { type EmulatorNode, EntryTree, type TreeEntry } from "../../world/entry-tree.ts";
import { type ApiError, alreadyExists, notFound } from "../../world/errors.ts";
import type { World } from "../../world/world.ts";

export interface FsEntry extends TreeEntry {
  /** Where the contents lie; a directory has none. */
  readonly blob?: string;
  readonly modified: number;
}

export type FsNode = EmulatorNode<FsEntry>;

export const fileTree = (world: World): EntryTree<FsEntry> => new EntryTree(world, "files");

/** The segments of a path as requests write it: `fs:` before it is allowed, answers come without (facts 4.6). */
export function fileSegments(path: string): readonly string[] {
  return segmentsOf(path.startsWith("fs:/") ? path.slice("fs:".length) : path);
}

/** What lies at a path. Throws RESOURCE_DOES_NOT_EXIST when nothing does (contract A 4.5 rules 6, 8, 9). */
export function existingFile(world: World, segments: readonly string[]): FsNode {
  const node = fileTree(world).find(segments);
  if (node === undefined) throw notFound(`No file or directory exists on path ${pathOfSegments(segments)}.`);
  return node;
}

export function fileExistsError(segments: readonly string[]): ApiError {
  return alreadyExists(`A file or directory already exists at the input path fs:${pathOfSegments(segments)}`);
}

/** The directory at a path, made with all above it where missing. A file on the way is refused (contract A 4.5 rule 7). */
export function makeDirectories(world: World, segments: readonly string[]): FsNode {
  const tree = fileTree(world);
  let { node, rest } = tree.deepest(segments);
  if (!node.entry.folder) throw fileExistsError(segments.slice(0, segments.length - rest.length));
  for (const name of rest) node = tree.add({ parent: node.id, name, folder: true, modified: world.now });
  return node;
}

/** Makes a blob the file at a path; an earlier file is removed in the same step (contract A 3: visible at close). */
export function putFile(world: World, segments: readonly string[], blob: string, overwrite: boolean): void {
  const tree = fileTree(world);
  const old = tree.find(segments);
  checkFree(old, segments, overwrite);
  if (old !== undefined) {
    if (old.entry.blob !== undefined) world.blobs.delete(old.entry.blob);
    tree.change(old.id, { ...old.entry, blob, modified: world.now });
    return;
  }
  const parent = makeDirectories(world, segments.slice(0, -1));
  const name = segments.at(-1) ?? "";
  tree.add({ parent: parent.id, name, folder: false, blob, modified: world.now });
}

/** A directory is never overwritten by a file; a file only when the caller says so (contract A 4.5 rule 4). */
export function checkFree(node: FsNode | undefined, segments: readonly string[], overwrite: boolean): void {
  if (node !== undefined && (node.entry.folder || !overwrite)) throw fileExistsError(segments);
}

export function removeFiles(world: World, top: FsNode): void {
  const tree = fileTree(world);
  for (const node of tree.subtree(top)) {
    if (node.entry.blob !== undefined) world.blobs.delete(node.entry.blob);
    tree.remove(node);
  }
}

export function byteSize(world: World, { blob }: FsEntry): number {
  return blob === undefined ? 0 : world.blobs.size(blob);
}

/** FileInfo (contract A 2.8); its last field is an addition of later versions (facts 4.6). */
export function fileInfo(world: World, path: string, entry: FsEntry): JsonObject {
  const { folder, modified } = entry;
  return { path, is_dir: folder, file_size: byteSize(world, entry), modification_time: modified };
}
