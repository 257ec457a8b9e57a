// Reads the input of a command: a file, or stdin if the name is `-`.

import { resolve } from "node:path";
import { readRegularFile } from "../core/regular-file.ts";
import type { CommandContext } from "./environment.ts";
import { fileFailure } from "./files.ts";

export interface InputLimits {
  readonly maxBytes?: number;
  readonly hint?: string;
}

/** Throws Failure with CLI_FILE. */
export async function readCommandInput(
  { cwd, stdin }: Pick<CommandContext, "cwd" | "stdin">,
  file: string,
  { maxBytes = Number.POSITIVE_INFINITY, hint }: InputLimits = {},
): Promise<Buffer> {
  try {
    if (file === "-") return await streamBytes(stdin, maxBytes);
    return readRegularFile(resolve(cwd, file), maxBytes);
  } catch (problem) {
    throw fileFailure(`${inputName(file)} cannot be read`, problem, hint);
  }
}

export const inputName = (file: string): string => (file === "-" ? "stdin" : file);

async function streamBytes(stream: AsyncIterable<Uint8Array | string>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes, which is the limit`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
