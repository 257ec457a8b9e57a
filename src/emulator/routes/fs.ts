// The file system: ten calls on a tree of directories and files whose contents are on disk (contract A 2.8, contract A 4.5).

import type { Json, JsonObject } from "../../core/json.ts";
import { childPath, decodeBase64, encodeBase64, pathOfSegments, segmentsOf } from "../world/encoding.ts";
import { type EmulatorNode, EntryTree, ROOT, type TreeEntry } from "../world/entry-tree.ts";
import { ApiError, alreadyExists, invalidValue, notFound } from "../world/errors.ts";
import { FILES } from "../world/limits.ts";
import type { Area, Call, Collection, Operations, World } from "../world/world.ts";

/** A handle that collects a file in blocks until it is closed or idle for too long (contract A 3, contract A 4.5 rules 1, 3, 4). */
interface Upload {
  readonly path: string;
  readonly overwrite: boolean;
  readonly blob: string;
  readonly used: number;
}

const uploadsOf = (world: World): Collection<Upload> => world.collection("files.uploads");

const EXPIRE = "fs/expire";

const operations: Operations = {
  "fs/create": ({ input }, world) => {
    const segments = fileSegments(String(input.path));
    const overwrite = input.overwrite === true;
    checkFree(fileTree(world).find(segments), segments, overwrite);
    makeDirectories(world, segments.slice(0, -1));
    const handle = world.next("files.uploads");
    const path = pathOfSegments(segments);
    const upload: Upload = { path, overwrite, blob: world.blobs.create(), used: world.now };
    uploadsOf(world).set(String(handle), upload);
    watch(world, String(handle), upload);
    return { json: { handle } };
  },

  "fs/add-block": ({ input }, world) => {
    const { handle, upload } = openUpload(world, input);
    const data = decodeBase64("data", String(input.data));
    checkBlock("data", data);
    world.blobs.append(upload.blob, data);
    uploadsOf(world).set(handle, { ...upload, used: world.now });
  },

  "fs/close": ({ input }, world) => {
    const { handle, upload } = openUpload(world, input);
    putFile(world, fileSegments(upload.path), upload.blob, upload.overwrite);
    uploadsOf(world).delete(handle);
    world.timers.cancel(timerOf(handle));
  },

  "fs/put": (call, world) => {
    const segments = fileSegments(String(call.input.path));
    const overwrite = call.input.overwrite === true;
    const contents = postedContents(call);
    if (call.files.contents === undefined || call.allows?.largeFiles !== true)
      checkBlock("contents", contents);
    checkFree(fileTree(world).find(segments), segments, overwrite);
    const blob = world.blobs.create();
    world.blobs.append(blob, contents);
    putFile(world, segments, blob, overwrite);
  },

  "fs/get-status": ({ input }, world) => {
    const segments = fileSegments(String(input.path));
    const { entry } = existingFile(world, segments);
    return { json: fileInfo(world, pathOfSegments(segments), entry) };
  },

  "fs/list": ({ input }, world) => {
    const segments = fileSegments(String(input.path));
    const path = pathOfSegments(segments);
    const { id, entry } = existingFile(world, segments);
    if (!entry.folder) return { json: { files: [fileInfo(world, path, entry)] } };
    const children = fileTree(world).children(id);
    const files = children.map((child) => fileInfo(world, childPath(path, child.entry.name), child.entry));
    return { json: files.length === 0 ? {} : { files } };
  },

  "fs/mkdirs": ({ input }, world) => {
    makeDirectories(world, fileSegments(String(input.path)));
  },

  /** A missing path counts as deleted, because the contract defines no error for it (contract A 4.5 rule 5; facts 4.6). */
  "fs/delete": ({ input }, world) => {
    const segments = fileSegments(String(input.path));
    const node = fileTree(world).find(segments);
    if (node === undefined) return;
    if (node.id === ROOT) throw new ApiError("IO_ERROR", "The root of the file system cannot be deleted.");
    if (input.recursive !== true && fileTree(world).hasChildren(node.id))
      throw new ApiError("IO_ERROR", `The directory ${pathOfSegments(segments)} is not empty.`);
    removeFiles(world, node);
  },

  "fs/move": ({ input }, world) => {
    const source = fileSegments(String(input.source_path));
    const destination = fileSegments(String(input.destination_path));
    const tree = fileTree(world);
    const node = existingFile(world, source);
    const there = tree.find(destination);
    if (there?.entry.folder === false) throw fileExistsError(destination);
    if (node.entry.folder && source.every((name, at) => destination[at] === name))
      throw invalidValue(
        `Cannot move the directory ${pathOfSegments(source)} into itself (${pathOfSegments(destination)}).`,
      );
    if (there !== undefined) throw fileExistsError(destination);
    const parent = makeDirectories(world, destination.slice(0, -1));
    tree.move(node, parent.id, destination.at(-1) ?? "");
  },

  "fs/read": ({ input }, world) => {
    const segments = fileSegments(String(input.path));
    const { offset: from = 0, length: bytes = FILES.read_default_bytes } = input;
    checkRange(from, bytes);
    const [offset, length] = [Number(from), Number(bytes)];
    const { entry } = existingFile(world, segments);
    if (entry.blob === undefined) throw invalidValue(`Cannot read a directory: ${pathOfSegments(segments)}`);
    if (offset > byteSize(world, entry))
      throw invalidValue(`Cannot read when offset is greater than file size. Found offset = ${from}`);
    const data = world.blobs.read(entry.blob, offset, length);
    return { json: { bytes_read: data.length, data: encodeBase64(data) } };
  },
};

/** The contents of a put: a posted file, or base64 in a field (contract A 4.5 rule 2). */
function postedContents({ input, files }: Call): Uint8Array {
  const file = files.contents;
  if (file !== undefined) return file.content;
  const { contents } = input;
  if (typeof contents === "string") return decodeBase64("contents", contents);
  throw invalidValue("Missing required field: contents");
}

/** Numbers, or integers beyond 2^53, which the messages show digit for digit. */
function checkRange(offset: Json, length: Json): void {
  if (Number(offset) < 0) throw negative("offset", offset);
  if (Number(length) < 0) throw negative("length", length);
  if (Number(length) > FILES.read_bytes)
    throw new ApiError(
      "MAX_READ_SIZE_EXCEEDED",
      `Cannot read more than ${FILES.read_bytes} bytes in one read, please paginate your request. Request: ${length} bytes.`,
    );
}

function negative(field: string, value: Json): ApiError {
  return invalidValue(`The ${field} cannot be negative. Found ${field} = ${value}`);
}

/** One block, or one whole file, is at most 1 MB before encoding (contract A 8). */
function checkBlock(field: string, data: Uint8Array): void {
  if (data.length > FILES.block_bytes)
    throw new ApiError(
      "MAX_BLOCK_SIZE_EXCEEDED",
      `The '${field}' data cannot exceed ${FILES.block_bytes} bytes. Found: ${data.length} bytes.${field === "contents" ? " You might want to use streaming upload instead." : ""}`,
    );
}

function openUpload(world: World, input: JsonObject): { readonly handle: string; readonly upload: Upload } {
  const handle = String(input.handle);
  const upload = uploadsOf(world).get(handle);
  if (upload === undefined || expiry(upload) <= world.now)
    throw notFound(`No such stream with handle: ${handle}.`);
  return { handle, upload };
}

const expiry = (upload: Upload): number => upload.used + FILES.handle_idle_ms;
const timerOf = (handle: string): string => `${EXPIRE}/${handle}`;

/** One timer for each handle: when it comes due, it checks whether the handle was used since. */
function watch(world: World, handle: string, upload: Upload): void {
  world.timers.set(timerOf(handle), expiry(upload), EXPIRE, { handle });
}

function expireUpload(world: World, payload: JsonObject, at: number): void {
  const handle = String(payload.handle);
  const upload = uploadsOf(world).get(handle);
  if (upload === undefined) return;
  if (expiry(upload) > at) {
    watch(world, handle, upload);
    return;
  }
  uploadsOf(world).delete(handle);
  world.blobs.delete(upload.blob);
}

export const fsArea: Area = {
  operations,
  timers: { [EXPIRE]: expireUpload },
  seed: (world) => fileTree(world).plant({ parent: "", name: "", folder: true, modified: world.now }),
};

interface FsEntry extends TreeEntry {
  /** Where the contents lie; a directory has none. */
  readonly blob?: string;
  readonly modified: number;
}

type FsNode = EmulatorNode<FsEntry>;

const fileTree = (world: World): EntryTree<FsEntry> => new EntryTree(world, "files");

/** The segments of a path as requests write it: `fs:` before it is allowed, answers come without (facts 4.6). */
function fileSegments(path: string): readonly string[] {
  return segmentsOf(path.startsWith("fs:/") ? path.slice("fs:".length) : path);
}

/** What lies at a path. Throws RESOURCE_DOES_NOT_EXIST when nothing does (contract A 4.5 rules 6, 8, 9). */
function existingFile(world: World, segments: readonly string[]): FsNode {
  const node = fileTree(world).find(segments);
  if (node === undefined) throw notFound(`No file or directory exists on path ${pathOfSegments(segments)}.`);
  return node;
}

function fileExistsError(segments: readonly string[]): ApiError {
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
function putFile(world: World, segments: readonly string[], blob: string, overwrite: boolean): void {
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
function checkFree(node: FsNode | undefined, segments: readonly string[], overwrite: boolean): void {
  if (node !== undefined && (node.entry.folder || !overwrite)) throw fileExistsError(segments);
}

function removeFiles(world: World, top: FsNode): void {
  const tree = fileTree(world);
  for (const node of tree.subtree(top)) {
    if (node.entry.blob !== undefined) world.blobs.delete(node.entry.blob);
    tree.remove(node);
  }
}

function byteSize(world: World, { blob }: FsEntry): number {
  return blob === undefined ? 0 : world.blobs.size(blob);
}

/** FileInfo (contract A 2.8); its last field is an addition of later versions (facts 4.6). */
function fileInfo(world: World, path: string, entry: FsEntry): JsonObject {
  const { folder, modified } = entry;
  return { path, is_dir: folder, file_size: byteSize(world, entry), modification_time: modified };
}
