// A multipart form (RFC 7578) with one file: how content goes up that base64 would make too large for a request.

export interface Form {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Text fields first, then the file; values of text fields hold no line ends where the contract uses this. */
export function formOf(
  fields: Readonly<Record<string, string>>,
  file: { readonly field: string; readonly content: Uint8Array },
): Form {
  const boundary = boundaryFor(file.content);
  const part = (name: string, rest: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}`;
  const head = Object.entries(fields).map(([name, value]) => `${part(name, "")}\r\n\r\n${value}\r\n`);
  const announce = `${part(file.field, '; filename="content"')}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(head.join("") + announce),
    file.content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

/** A line that the content does not hold. */
function boundaryFor(content: Uint8Array): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (let n = 0; ; n++) {
    const boundary = `workspace-form-${n}`;
    if (!bytes.includes(`--${boundary}`)) return boundary;
  }
}
