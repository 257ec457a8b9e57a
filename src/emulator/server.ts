// The service over HTTP on loopback; where a fault says that the connection closes, the socket is really destroyed.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { jsonAnswer } from "./answers.ts";
import { createApp, type Service } from "./app.ts";
import { Clock } from "./clock.ts";
import { CONTROL_BASE } from "./control.ts";
import { DEFAULT_ADMIN } from "./embedded.ts";
import { REQUESTS } from "./limits.ts";
import { type AppRequest, type AppResponse, bytesOf, ConnectionLost } from "./message.ts";
import { Store } from "./store.ts";
import { contractFile } from "./store-contract.ts";
import { openStore } from "./store-sqlite.ts";

export interface ServerOptions {
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
  const service = createApp({
    store,
    contract: contractFile(folder),
    clock: new Clock(Date.now),
    token: options.token,
    admin: options.admin ?? DEFAULT_ADMIN,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    void serve(service, request, response);
  });
  try {
    await listen(server, options.port);
  } catch (error) {
    store.close();
    throw error;
  }
  const ticking = setInterval(() => quietly(() => service.tick()), TICK_MS).unref();
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
function quietly(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.stderr.write(
      `emulator: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => resolve());
  });
}

async function serve(service: Service, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    const body = await readBody(incoming);
    if (body === undefined) {
      send(
        outgoing,
        jsonAnswer(413, {
          error_code: "REQUEST_TOO_LARGE",
          message: `A request has at most ${bodyLimit(incoming)} bytes.`,
        }),
        "close",
      );
      return;
    }
    send(outgoing, await service.app(plainRequest(incoming, body)), undefined);
  } catch (error) {
    if (error instanceof ConnectionLost && error.partial !== undefined) cutShort(outgoing, error.partial);
    else outgoing.destroy();
    if (!(error instanceof ConnectionLost) && !incoming.errored)
      quietly(() => {
        throw error;
      });
  }
}

function plainRequest(incoming: IncomingMessage, body: Uint8Array): AppRequest {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return {
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers: Object.fromEntries(headers),
    body,
    remote: incoming.socket.remoteAddress ?? "",
  };
}

/** Larger bodies are cut off while they arrive; every operation's own limit is lower. */
function bodyLimit(incoming: IncomingMessage): number {
  return incoming.url?.startsWith(CONTROL_BASE) ? REQUESTS.control_body_bytes : REQUESTS.any_body_bytes;
}

/** The whole body, or undefined when it is larger than any request may be. */
async function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  const limit = bodyLimit(incoming);
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(outgoing: ServerResponse, response: AppResponse, connection: "close" | undefined): void {
  if (outgoing.destroyed) return;
  const length = typeof response.body === "string" ? Buffer.byteLength(response.body) : response.body.length;
  outgoing.writeHead(response.status, {
    ...response.headers,
    ...(response.status === 204 ? {} : { "content-length": length }),
    ...(connection === undefined ? {} : { connection }),
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
