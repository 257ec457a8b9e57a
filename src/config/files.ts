// Files of the command line: the default spec, input from a file or stdin, and their errors.

import { realpathSync, type Stats, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Code } from "../core/codes.ts";
import { errorCode, Failure, failureOf, thrownText } from "../core/diagnostic.ts";
import { readRegularFile } from "../core/regular-file.ts";
import type { CommandContext } from "./environment.ts";

export const DEFAULT_FILE = "workspace.yaml";

/** CLI_FILE; the cause is the system's message. */
export function fileFailure(message: string, problem: unknown, hint?: string): Failure {
  return failureOf("CLI_FILE", message, { cause: thrownText(problem), hint });
}

/** Does what makes a file. Throws Failure with CLI_FILE; `otherwise` is what to do where the file is there already. */
export function withFileCreation<T>(file: string, otherwise: string, work: () => T): T {
  try {
    return work();
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    throw errorCode(problem) === "EEXIST"
      ? failureOf("CLI_FILE", `${file} already exists`, { hint: otherwise })
      : fileFailure(`${file} cannot be written`, problem);
  }
}

/** Undefined if the path cannot be examined: no file, a loop of links, a name that is too long, or no permission. */
export function fileStatsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

export interface InputLimits {
  readonly maxBytes?: number;
  /** The code for stdin beyond the limit. */
  readonly tooLarge?: Code;
  readonly hint?: string;
}

/** Throws Failure with CLI_FILE, or with `tooLarge` for stdin beyond the limit. */
export async function readCommandInput(
  { cwd, stdin }: Pick<CommandContext, "cwd" | "stdin">,
  file: string,
  { maxBytes = Number.POSITIVE_INFINITY, tooLarge = "CLI_FILE", hint }: InputLimits = {},
): Promise<Buffer> {
  try {
    if (file === "-") return await streamBytes(stdin, maxBytes, tooLarge);
    return readRegularFile(resolve(cwd, file), maxBytes);
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    throw fileFailure(`${inputName(file)} cannot be read`, problem, hint);
  }
}

export const inputName = (file: string): string => (file === "-" ? "stdin" : file);

async function streamBytes(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
  tooLarge: Code,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes)
      throw failureOf(tooLarge, `stdin has at least ${size} bytes; the limit is ${maxBytes}`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** The path without links; the same path if it cannot be resolved. */
export function resolvedPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whether a path is the folder or below it; links are not resolved. */
export function isInFolder(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
