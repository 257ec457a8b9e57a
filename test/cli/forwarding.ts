// A request that a test server received, sent on to an emulator.

import type { IncomingMessage } from "node:http";

export async function forwarded(request: IncomingMessage, url: string, token: string) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const answer = await fetch(`${url}${request.url}`, {
    method: request.method ?? "GET",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body.length === 0 ? {} : { body }),
  });
  return { status: answer.status, text: await answer.text() };
}
