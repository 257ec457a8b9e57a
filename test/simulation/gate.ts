// A line between a real process and a real emulator: it counts writes, and at a chosen one stops the sender before or after the commit.

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from "node:http";
import type { AddressInfo } from "node:net";

/** `before`: the write never reaches the service. `late`: it does after the sender is dead. `after`: it does, and the answer is lost. */
export type Side = "before" | "late" | "after";

export interface Stop {
  /** Which write, counted from 0. */
  readonly nth: number;
  readonly side: Side;
  /** Ends or halts the sender; resolves when that is certain. */
  readonly act: () => Promise<void>;
}

export interface Gate {
  readonly url: string;
  /** Writes that passed since the last `arm`. */
  readonly writes: readonly string[];
  arm(stop?: Stop): void;
  close(): Promise<void>;
}

export async function openGate(target: string): Promise<Gate> {
  let stop: Stop | undefined;
  let writes: string[] = [];
  const server: Server = createServer((request, response) => {
    void passed(request, response);
  });
  const passed = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const isWrite = request.method !== "GET" && request.url?.endsWith("/clusters/events") !== true;
    const meets = isWrite && stop !== undefined && writes.length === stop.nth ? stop : undefined;
    if (isWrite) writes.push(`${request.method} ${request.url}`);
    if (meets === undefined) return reply(response, await forwarded(target, request, body));
    if (meets.side === "after") await forwarded(target, request, body);
    await meets.act();
    if (meets.side === "late") await forwarded(target, request, body);
    response.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get writes() {
      return writes;
    },
    arm: (next) => {
      stop = next;
      writes = [];
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

function forwarded(target: string, request: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host: _, connection: __, "transfer-encoding": ___, ...headers } = request.headers;
    const onward = send(
      new URL(request.url ?? "/", target),
      { method: request.method ?? "GET", headers: { ...headers, "content-length": body.length } },
      (answer) => {
        Array.fromAsync(answer as AsyncIterable<Buffer>).then(
          (chunks) =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
          reject,
        );
      },
    );
    onward.on("error", reject);
    onward.end(body);
  });
}

function reply(response: ServerResponse, { status, headers, body }: Answer): void {
  const { "transfer-encoding": _, connection: __, ...rest } = headers;
  response.writeHead(status, rest);
  response.end(body);
}
