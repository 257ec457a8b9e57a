// Many emulated workspaces in one process, each on a separate port. The farm notes which worker sent each request, so it
// sees whether two workers ever ran one workspace at the same time.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { App } from "../../src/emulator/http/message.ts";
import { Store } from "../../src/emulator/store/store.ts";
import { copyOf, serviceOver, TOKEN } from "./template.ts";

/** Every worker has its own token, `farm-worker-ID`. */
export const WORKER_TOKEN = "farm-worker-";

export interface Visit {
  readonly worker: string;
  readonly first: number;
  last: number;
  requests: number;
}

export interface Farm {
  readonly urls: readonly string[];
  /** The visits of each workspace, in the order of their first requests. */
  visits(): readonly (readonly Visit[])[];
  /** Requests of a worker to a workspace that another worker had begun to visit, or was still being answered. */
  overlaps(): number;
  /** Forgets the visits. */
  clear(): void;
  close(): Promise<void>;
}

export interface FarmOptions {
  readonly count: number;
  /** Applied once to the first workspace; its world is then copied to the others. */
  readonly fill: (url: string) => Promise<void>;
  /** Time that each answer takes, in milliseconds. */
  readonly latencyMs?: number;
}

export async function startFarm({ count, fill, latencyMs = 0 }: FarmOptions): Promise<Farm> {
  const key = new Uint8Array(32).fill(7);
  const template = new Store({ key });
  const watched = Array.from({ length: count }, () => new Watched());
  const servers: Server[] = [];
  const apps: App[] = [serviceOver(template).app];
  for (let at = 0; at < count; at++) {
    const server = createServer({ keepAliveTimeout: 5_000, noDelay: true }, (request, response) => {
      const app = apps[at];
      if (app !== undefined) void watched[at]?.serve(app, request, response, latencyMs);
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    servers.push(server);
  }
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await fill(urls[0] ?? "");
  for (let at = 1; at < count; at++) apps.push(serviceOver(copyOf(template, key)).app);
  return {
    urls,
    visits: () => watched.map(({ visits }) => visits),
    overlaps: () => watched.reduce((sum, one) => sum + one.overlaps, 0),
    clear: () => {
      for (const one of watched) one.clear();
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise<void>((done) => server.close(() => done()));
      }
    },
  };
}

class Watched {
  visits: Visit[] = [];
  overlaps = 0;
  /** Workers whose requests are being answered. */
  readonly #answering = new Map<string, number>();

  clear(): void {
    this.visits = [];
    this.overlaps = 0;
  }

  async serve(
    app: App,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    latencyMs: number,
  ): Promise<void> {
    const worker = workerOf(incoming);
    if (worker !== undefined) this.#note(worker);
    try {
      const body = await bodyOf(incoming);
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      );
      const { method = "GET", url: path = "/" } = incoming;
      const authorization = `Bearer ${TOKEN}`;
      const answer = await app({
        method,
        path,
        headers: { ...headers, authorization },
        body,
        remote: "127.0.0.1",
      });
      outgoing.writeHead(answer.status, answer.headers);
      outgoing.end(answer.body);
    } catch {
      outgoing.destroy();
    } finally {
      if (worker !== undefined) this.#answering.set(worker, (this.#answering.get(worker) ?? 1) - 1);
    }
  }

  #note(worker: string): void {
    const now = performance.now();
    const last = this.visits.at(-1);
    const others = [...this.#answering].some(([one, number]) => one !== worker && number > 0);
    // A worker that comes back after another one began has never left, or was let in twice.
    const returns = last?.worker !== worker && this.visits.some((visit) => visit.worker === worker);
    if (others || returns) this.overlaps++;
    if (last?.worker === worker) {
      last.last = now;
      last.requests++;
    } else this.visits.push({ worker, first: now, last: now, requests: 1 });
    this.#answering.set(worker, (this.#answering.get(worker) ?? 0) + 1);
  }
}

function workerOf(request: IncomingMessage): string | undefined {
  const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
  return token.startsWith(WORKER_TOKEN) ? token.slice(WORKER_TOKEN.length) : undefined;
}

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
