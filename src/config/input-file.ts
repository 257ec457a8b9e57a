// Reads the input of a command: a file, or stdin if the name is `-`.

import { resolve } from "node:path";
import type { Code } from "../core/codes.ts";
import { Failure, failureOf } from "../core/diagnostic.ts";
import { readRegularFile } from "../core/regular-file.ts";
import type { CommandContext } from "./environment.ts";
import { fileFailure } from "./files.ts";

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
