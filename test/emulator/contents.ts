// What tests of notebooks and files need: base64, form posts, and the look of a refusal.

import { ADMIN_TOKEN, type Answered, type TestWorld } from "./harness.ts";

export const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString("base64");
export const text = (content: string): string => Buffer.from(content, "base64").toString();
export const bytes = (content: string): Uint8Array => new Uint8Array(Buffer.from(content, "base64"));

/** Status and code of an answer, as one value to compare. */
export const refusal = ({ status, body }: Answered) => ({ status, code: body.error_code });
export const refused = (status: number, code: string) => ({ status, code });

export interface FormFile {
  readonly name: string;
  readonly content: Uint8Array | string;
}

/** Posts a multipart form with text fields and files. */
export function postForm(
  w: TestWorld,
  operation: string,
  fields: Readonly<Record<string, string>>,
  files: Readonly<Record<string, FormFile>> = {},
): Promise<Answered> {
  const boundary = "----a-boundary-of-a-test";
  const parts = [
    ...Object.entries(fields).map(([name, value]) =>
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
    ),
    ...Object.entries(files).map(([name, file]) =>
      Buffer.concat([
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${file.name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
        ),
        Buffer.from(file.content),
        Buffer.from("\r\n"),
      ]),
    ),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  return w.request({
    method: "POST",
    path: `/api/2.0/${operation}`,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
    body: new Uint8Array(Buffer.concat(parts)),
  });
}
