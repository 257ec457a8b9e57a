// Reads a file that the user named if it is a regular file; reading a pipe without a writer would block forever.

import { readFileSync, statSync } from "node:fs";

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
