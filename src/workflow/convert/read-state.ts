// Reads a Terraform state from a file or a stream of bounded size.

import { readRegularFile } from "../../core/regular-file.ts";
import { TERRAFORM_LIMITS } from "./terraform-state.ts";

/** Throws what the system says, or that the input is too large. `path`: undefined for the stream. */
export async function readState(
  stream: AsyncIterable<Uint8Array | string>,
  path: string | undefined,
): Promise<string> {
  if (path !== undefined) return readRegularFile(path, TERRAFORM_LIMITS.bytes).toString("utf8");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > TERRAFORM_LIMITS.bytes)
      throw new Error(`it has more than ${TERRAFORM_LIMITS.bytes} bytes, which is the limit`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
