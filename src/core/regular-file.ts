// Files and folders that the user named: reads regular files only, because a pipe without a writer would block forever.

import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Throws the system's error, or an error if the path is not a regular file or is too large. */
export function readRegularFile(path: string, maxBytes = Number.POSITIVE_INFINITY): Buffer {
  assertRegular(path);
  const { size } = statSync(path);
  if (size > maxBytes) throw new Error(`it has ${size} bytes; the limit is ${maxBytes}`);
  return readFileSync(path);
}

/** Throws the system's error, or an error if the path is not a regular file. */
export function assertRegular(path: string): void {
  if (!statSync(path).isFile() && !neverWaits(path)) throw new Error(`${path} is not a regular file`);
}

/** Special paths with a writer: the empty file, the shell's `<(command)`, and files that are already open. */
function neverWaits(path: string): boolean {
  return /^\/dev\/(null$|stdin$|fd\/\d)|^\/proc\/(self|\d+)\/fd\/\d/.test(path);
}

/**
 * Creates the folders one by one. Node's own recursion never ends where a file system refuses a new folder as missing,
 * such as /proc and mounts on demand. Throws the system's error. `mode`: of each new folder.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (problem) {
    if (!isFolder(path)) throw problem;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
