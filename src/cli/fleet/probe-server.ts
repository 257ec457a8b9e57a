// The probes and metrics of a worker over HTTP: /healthz, /readyz, and /metrics.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errorCode, failureOf, thrownText } from "../../core/diagnostic.ts";

export interface ProbeServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface Probes {
  /** Why the worker takes no jobs; undefined if it does. */
  readonly notReady: () => Promise<string | undefined>;
  readonly metrics: () => Promise<string>;
}

/** `address`: `127.0.0.1:9464`, or `:9464` for every interface. Throws Failure CLI_USAGE. */
export async function startProbes(address: string, { notReady, metrics }: Probes): Promise<ProbeServer> {
  const [, host, port] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined)
    throw failureOf("CLI_USAGE", `"${address}" is not an address to listen on`, {
      hint: "write HOST:PORT, such as 127.0.0.1:9464, or :9464 for every interface",
    });
  const answers: Readonly<Record<string, () => Promise<readonly [number, string]>>> = {
    "/healthz": () => Promise.resolve([200, "ok\n"]),
    "/readyz": async () => {
      const reason = await notReady();
      return reason === undefined ? [200, "ok\n"] : [503, `${reason}\n`];
    },
    "/metrics": async () => [200, await metrics()],
  };
  const server = createServer((request, response) => {
    const answer = answers[(request.url ?? "").split("?")[0] ?? ""];
    const send = ([status, text]: readonly [number, string]): void => {
      response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
    };
    if (request.method !== "GET" || answer === undefined) return send([404, "not found\n"]);
    answer().then(send, (problem: unknown) => send([500, `${thrownText(problem)}\n`]));
  });
  server.listen(Number(port), host === "" ? undefined : host);
  try {
    await once(server, "listening");
  } catch (problem) {
    throw failureOf("CLI_USAGE", `the worker cannot listen on ${address}`, {
      cause: errorCode(problem) ?? thrownText(problem),
      hint: "choose another port",
    });
  }
  const { address: bound, port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${bound.includes(":") ? `[${bound}]` : bound}:${listening}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
