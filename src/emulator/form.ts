// Multipart form posts: text fields and files.

import { Busboy } from "@fastify/busboy";
import type { FilePart } from "./call.ts";
import { ApiError } from "./errors.ts";

export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, FilePart>>;
}

/** Parses a multipart body. Rejects with MALFORMED_REQUEST when it is not one. */
export function parseForm(contentType: string, body: Uint8Array): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>();
    const files = new Map<string, FilePart>();
    const refuse = () =>
      reject(
        new ApiError(
          "MALFORMED_REQUEST",
          "Could not parse the multipart form: it is cut off, or its parts are not set apart by the boundary of its Content-Type",
        ),
      );
    try {
      const parser = new Busboy({
        headers: { "content-type": contentType },
        limits: { fieldSize: body.length + 1, fileSize: body.length + 1, parts: 64, headerPairs: 100 },
        isPartAFile: (_name, _type, fileName) => fileName !== undefined,
      });
      parser.on("field", (name, value) => fields.set(name, value));
      parser.on("file", (name, stream, fileName) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("error", refuse);
        stream.on("end", () => files.set(name, { name: fileName, content: joined(chunks) }));
      });
      parser.on("error", refuse);
      parser.on("finish", () =>
        resolve({ fields: Object.fromEntries(fields), files: Object.fromEntries(files) }),
      );
      parser.end(body);
    } catch {
      refuse();
    }
  });
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}
