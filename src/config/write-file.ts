// Writes files atomically, and the files of a new spec folder.

import {
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join, relative, sep } from "node:path";
import { errorCode, failureOf } from "../core/diagnostic.ts";
import { readRegularFile } from "../core/regular-file.ts";
import { isInFolder } from "./files.ts";

interface FileWrite {
  /** Overwrite an existing file; otherwise, it is refused with EEXIST. */
  readonly over: boolean;
  /** Permissions of the file; else those that it has, or the usual ones. */
  readonly mode?: number;
  /** Refused with EEXIST while another process writes the file, for changes of what it contains. */
  readonly alone?: true;
}

/** Throws the system's error; the previous content is then unchanged. A large content can come in pieces. */
export function writeWholeFile(
  path: string,
  content: string | Uint8Array | Iterable<string>,
  how: FileWrite,
): void {
  const file = openWholeFile(path, how);
  const encoder = new TextEncoder();
  try {
    if (typeof content === "string") file.write(encoder.encode(content));
    else if (content instanceof Uint8Array) file.write(content);
    else for (const piece of content) file.write(encoder.encode(piece));
    file.keep();
  } finally {
    file.drop();
  }
}

/** A file that is written in pieces; `keep` puts it in place, `drop` leaves nothing of one that was not kept. */
interface WholeFile {
  write(piece: Uint8Array): void;
  keep(): void;
  drop(): void;
}

export function openWholeFile(path: string, { over, mode, alone }: FileWrite): WholeFile {
  const here = (): void => undefined;
  if (!over) return written(path, openSync(path, "wx", mode), here);
  const before = statSync(path, { throwIfNoEntry: false });
  // A device or a pipe takes what it is given.
  if (before?.isFile() === false) return written(undefined, openSync(path, "w"), here);
  const real = before === undefined ? path : realpathSync(path);
  // A process ID is not unique: each container can have a process 1, and a killed run leaves its file.
  const beside = alone === true ? `${real}.lock` : `${real}.${crypto.randomUUID().slice(0, 8)}.new`;
  const permissions = mode ?? (before === undefined ? undefined : permissionsOf(before));
  const descriptor = besideOrNone(beside, permissions);
  if (descriptor === undefined) return written(undefined, openSync(real, "w", mode), here);
  // The umask may have removed some. Not every file system can change them.
  if (before !== undefined && mode === undefined && permissionsOf(fstatSync(descriptor)) !== permissions)
    fchmodSync(descriptor, permissionsOf(before));
  return written(beside, descriptor, () => moved(beside, real));
}

const permissionsOf = ({ mode }: { readonly mode: number }): number => mode & 0o777;

/** A file that a container was given alone cannot be replaced, only filled. */
function moved(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (problem) {
    if (errorCode(problem) !== "EBUSY") throw problem;
    copyFileSync(from, to);
    rmSync(from);
  }
}

/** The part of `path` below `folder` that is a symbolic link, relative to the folder; undefined if none is. */
export function symbolicLinkBelow(folder: string, path: string): string | undefined {
  const parts = isInFolder(folder, path) ? relative(folder, path).split(sep) : [];
  return parts
    .map((_, at) => parts.slice(0, at + 1).join(sep))
    .find((part) => lstatSync(join(folder, part), { throwIfNoEntry: false })?.isSymbolicLink() === true);
}

/** Throws Failure with CLI_FILE if a link would lead what is written below a folder to another place. */
export function assertNoLinkBelow(folder: string, path: string): void {
  const link = symbolicLinkBelow(folder, path);
  if (link === undefined) return;
  throw failureOf("CLI_FILE", `${path} is not written: ${link} is a symbolic link`, {
    hint: "replace the link with what it points to, or name another folder",
  });
}

/** Some folders do not permit new files although an existing file is writable: it is then overwritten directly. */
function besideOrNone(path: string, mode: number | undefined): number | undefined {
  try {
    return openSync(path, "wx", mode);
  } catch (problem) {
    if (/^(EACCES|EPERM|EROFS)$/.test(errorCode(problem) ?? "")) return undefined;
    throw problem;
  }
}

/** `ours`: paths to delete if the file is not kept. */
function written(ours: string | undefined, descriptor: number, putInPlace: () => void): WholeFile {
  let open = true;
  let isInPlace = false;
  const close = (): void => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return {
    write(piece) {
      for (let at = 0; at < piece.length; ) at += writeSync(descriptor, piece, at);
    },
    keep() {
      if (ours !== undefined) fsyncSync(descriptor);
      close();
      putInPlace();
      isInPlace = true;
    },
    drop() {
      close();
      if (ours !== undefined && !isInPlace) rmSync(ours, { force: true });
    },
  };
}

/** Comments, without their sign. */
export const SCHEMA_LINES: readonly string[] = [
  "For completion in editors, write the schema: workspace schema > workspace.schema.json",
  "yaml-language-server: $schema=./workspace.schema.json",
];

/** The state belongs to this machine; shared states are stored elsewhere. False if the line exists. */
export function ignoreState(folder: string): boolean {
  const text = missingIgnore(folder);
  if (text !== undefined) writeWholeFile(join(folder, ".gitignore"), text, { over: true });
  return text !== undefined;
}

/** Before the first file of a folder is written. Throws Failure with CLI_FILE if `ignoreState` would. */
export function assertCanIgnoreState(folder: string): void {
  missingIgnore(folder);
}

/** The new text of .gitignore; undefined if it contains the line, also in a file that a link points to. */
function missingIgnore(folder: string): string | undefined {
  const path = join(folder, ".gitignore");
  const before = existsSync(path) ? readRegularFile(path).toString("utf8") : "";
  if (before.split(/\r?\n/).some((line) => line.trim() === ".workspace/" || line.trim() === ".workspace"))
    return undefined;
  assertNoLinkBelow(folder, path);
  const glue = before === "" || before.endsWith("\n") ? "" : "\n";
  return `${before}${glue}.workspace/\n`;
}

/** A file with its new content. Without `before`, it does not exist yet. */
interface FileChange {
  readonly path: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
}

/**
 * Writes all files or none: first each next to its place, then one after the other into it; if that fails, those in place get their
 * previous content again. Throws Failure with CLI_FILE if a file changed after it was read, and the system's error.
 */
export function writeFilesTogether(files: readonly FileChange[]): void {
  for (const { path, before } of files) assertUnchanged(path, before);
  const opened: WholeFile[] = [];
  const placed: FileChange[] = [];
  try {
    for (const { path, before, after } of files) {
      const file = openWholeFile(path, { over: before !== undefined });
      opened.push(file);
      file.write(after);
    }
    for (const [at, file] of opened.entries()) {
      file.keep();
      const change = files[at];
      if (change !== undefined) placed.push(change);
    }
  } catch (problem) {
    for (const { path, before } of placed) {
      if (before === undefined) rmSync(path, { force: true });
      else writeWholeFile(path, before, { over: true });
    }
    throw problem;
  } finally {
    for (const file of opened) file.drop();
  }
}

function assertUnchanged(path: string, before: Uint8Array | undefined): void {
  const now = existsSync(path) ? readRegularFile(path) : undefined;
  const isSame = before === undefined ? now === undefined : now?.equals(before) === true;
  if (isSame) return;
  throw failureOf(
    "CLI_FILE",
    `${path} was changed by another program in the meantime, so nothing is written`,
    { hint: "run the command again" },
  );
}
