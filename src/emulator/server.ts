// The service over HTTP on loopback; where a fault says that the connection closes, the socket is really destroyed.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Service } from "./app.ts";
import type { DialectChoice } from "./dialect/databricks.ts";
import { DEFAULT_ADMIN, openService, pause } from "./embedded.ts";
import { type AppRequest, type AppResponse, bytesOf, ConnectionLost, jsonAnswer } from "./http/message.ts";
import { openStore } from "./store/sqlite.ts";
import { Store } from "./store/store.ts";
import { EmulatorClock } from "./world/clock.ts";
import { REQUESTS } from "./world/limits.ts";

interface ServerOptions extends DialectChoice {
  /** 0 takes any free port. */
  readonly port: number;
  /** A folder, or `:memory:` for a world that ends with the process. */
  readonly dataDir: string;
  readonly token: string;
  readonly admin?: string;
}

export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Requests that commit late do so this exactly. */
const TICK_MS = 20;

/** Starts the service. Rejects when the port is taken, and with `DataInUse` when the data is. */
export async function startEmulator(options: ServerOptions): Promise<RunningServer> {
  const folder = options.dataDir === ":memory:" ? undefined : options.dataDir;
  const store = folder === undefined ? new Store() : openStore(folder);
  const { token, admin = DEFAULT_ADMIN } = options;
  const clock = new EmulatorClock(Date.now);
  const service = openService({ store, token, admin, clock, sleep: pause }, options, folder);
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    void serve(service, request, response);
  });
  try {
    await listen(server, options.port);
  } catch (error) {
    store.close();
    throw error;
  }
  const ticking = setInterval(() => tick(service), TICK_MS).unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${port}`,
    close: () =>
      new Promise((resolve) => {
        clearInterval(ticking);
        server.close(() => {
          store.close();
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** A bug in background work must not end the server; the next request meets it and answers 500. */
function tick(service: Service): void {
  try {
    service.tick();
  } catch (error) {
    report(error);
  }
}

function report(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`emulator: ${text}\n`);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => resolve());
  });
}

async function serve(service: Service, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    const head = headOf(incoming);
    const admission = service.admit(head);
    const body = "refused" in admission ? undefined : await readBody(incoming, admission.bodyBytes);
    if (body !== undefined) return send(outgoing, await service.app({ ...head, body }));
    send(outgoing, "refused" in admission ? admission.refused : tooLarge(admission.bodyBytes));
    discard(incoming);
  } catch (error) {
    if (error instanceof ConnectionLost && error.partial !== undefined) cutShort(outgoing, error.partial);
    else outgoing.destroy();
    if (!(error instanceof ConnectionLost) && !incoming.errored) report(error);
  }
}

function headOf(incoming: IncomingMessage): Omit<AppRequest, "body"> {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return {
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers: Object.fromEntries(headers),
    remote: incoming.socket.remoteAddress ?? "",
  };
}

function tooLarge(limit: number): AppResponse {
  const message = `The request is larger than ${limit} bytes.`;
  return jsonAnswer(413, { error_code: "REQUEST_TOO_LARGE", message });
}

/** The whole body, or undefined when it announces more bytes than the limit, or brings more. */
function readBody(incoming: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= limit) return;
      incoming.off("data", take);
      resolve(undefined);
    };
    incoming.on("data", take);
    incoming.once("end", () => resolve(Buffer.concat(chunks)));
    incoming.once("error", reject);
  });
}

/** The rest of a refused request is read and dropped: a closed connection would lose the answer. */
function discard(incoming: IncomingMessage): void {
  let left = REQUESTS.any_body_bytes;
  incoming.on("error", () => undefined);
  incoming.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) incoming.destroy();
  });
}

function send(outgoing: ServerResponse, response: AppResponse): void {
  if (outgoing.destroyed) return;
  const length = typeof response.body === "string" ? Buffer.byteLength(response.body) : response.body.length;
  outgoing.writeHead(response.status, {
    ...response.headers,
    ...(response.status === 204 ? {} : { "content-length": length }),
  });
  outgoing.end(response.body);
}

/** Sends the head and half of the body that the head announced, then closes. */
function cutShort(outgoing: ServerResponse, response: AppResponse): void {
  const bytes = bytesOf(response.body);
  outgoing.writeHead(response.status, { ...response.headers, "content-length": Math.max(bytes.length, 2) });
  outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => outgoing.destroy());
  if (bytes.length < 2) outgoing.flushHeaders();
}
