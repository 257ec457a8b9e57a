// A transport over undici whose requests nock answers, so that tests see each request at the HTTP boundary.

import nock from "nock";
import { type HttpResponse, httpTransport, type Transport } from "../src/api/http/transport.ts";

export interface ArrivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
let hosts = 0;

/** An error that `answer` throws breaks the connection. Each transport has a separate host, so tests can run side by side. */
export function nockedTransport(
  answer: (request: ArrivedRequest) => HttpResponse | Promise<HttpResponse>,
): Transport {
  if (!nock.isActive()) nock.activate();
  hosts += 1;
  const origin = `http://nock-${hosts}.test`;
  const scope = nock(origin).persist();
  for (const method of METHODS)
    scope
      .intercept(() => true, method)
      .reply(async (request: Request) => {
        const { pathname, search } = new URL(request.url);
        const { host: _, ...headers } = Object.fromEntries(request.headers);
        const answered = await answer({
          method,
          path: pathname + search,
          headers,
          body: new Uint8Array(await request.arrayBuffer()),
        });
        const { status, body } = answered;
        return [status, typeof body === "string" ? body : Buffer.from(body), answered.headers];
      });
  const { transport } = httpTransport({ connections: 64 });
  return (request) => transport({ ...request, origin });
}
