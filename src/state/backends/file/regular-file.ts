// Reads a file that somebody named, where it is one: a pipe that nobody writes to would be waited for without an end.

import { readFileSync, statSync } from "node:fs";

/** Throws what the system says, or that the path is not a regular file or is too large. */
export function readRegularFile(path: string, maxBytes = Number.POSITIVE_INFINITY): Buffer {
  assertRegular(path);
  const { size } = statSync(path);
  if (size > maxBytes) throw new Error(`it has ${size} bytes; the limit is ${maxBytes}`);
  return readFileSync(path);
}

/** Throws what the system says, or that the path is not a regular file. */
export function assertRegular(path: string): void {
  if (!statSync(path).isFile() && !neverWaits(path)) throw new Error(`${path} is not a regular file`);
}

/** The empty file, the shell's `<(command)`, and files that are opened already: somebody writes there. */
function neverWaits(path: string): boolean {
  return /^\/dev\/(null$|stdin$|fd\/\d)|^\/proc\/(self|\d+)\/fd\/\d/.test(path);
}
