// A connection between a real process and a real emulator. It counts the engine's writes, and stops the sender before
// or after the commit of one of them, or of the next write of a state in the workspace.

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from "node:http";
import type { AddressInfo } from "node:net";
import { STATES_FOLDER } from "../homes/in-workspace.ts";

/**
 * `before`: the write never reaches the service. `late`: it does after the sender was killed. `after`: it does, and
 * the answer is lost.
 */
export type Side = "before" | "late" | "after";

export interface Stop {
  /** Which write of the engine, counted from 0. */
  readonly nth: number;
  readonly side: Side;
  /** Not at that write, but at the first one of the state after it. */
  readonly atState?: boolean;
  /** Ends or halts the sender; resolves when that is certain. */
  readonly act: () => Promise<void>;
}

export interface Gate {
  readonly url: string;
  /** Writes of the engine that passed since the last `arm`. */
  readonly writes: readonly string[];
  arm(stop?: Stop): void;
  close(): Promise<void>;
}

export async function openGate(target: string): Promise<Gate> {
  let stop: Stop | undefined;
  let writes: string[] = [];
  let isOfState = requestsOfState();
  const server: Server = createServer((request, response) => {
    void passed(request, response);
  });
  const passed = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const isWrite = request.method !== "GET" && request.url?.endsWith("/clusters/events") !== true;
    const { ofState, learn } = isOfState(request, body);
    const forward = async (): Promise<Answer> => learn(await forwarded(target, request, body));
    const meets = isWrite && stop !== undefined && isMet(stop, ofState, writes.length) ? stop : undefined;
    if (isWrite && !ofState) writes.push(`${request.method} ${request.url}`);
    if (meets === undefined) return reply(response, await forward());
    stop = undefined;
    if (meets.side === "after") await forward();
    await meets.act();
    if (meets.side === "late") await forward();
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
      isOfState = requestsOfState();
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function isMet({ nth, atState = false }: Stop, ofState: boolean, writes: number): boolean {
  return atState === ofState && (ofState ? writes > nth : writes === nth);
}

/** Tells the requests of a state in the workspace from those of the engine: by its folder, and by the handles of files opened there. */
function requestsOfState() {
  const handles = new Set<string>();
  const handleIn = (text: string): string | undefined => /"handle":"?(\w+)/.exec(text)?.[1];
  return ({ url }: IncomingMessage, body: Buffer) => {
    const text = `${decodeURIComponent(url ?? "")} ${body.toString("latin1")}`;
    const ofState = text.includes(`${STATES_FOLDER}/`) || handles.has(handleIn(text) ?? "");
    const learn = (answer: Answer): Answer => {
      const handle = handleIn(answer.body.toString());
      if (ofState && handle !== undefined) handles.add(handle);
      return answer;
    };
    return { ofState, learn };
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
