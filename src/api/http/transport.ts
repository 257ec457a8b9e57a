// HTTP over sockets: undici's `request` with one pool of kept connections. The only file of the client that uses the network.

import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import type { Dispatcher } from "undici";

export interface HttpRequest {
  readonly method: string;
  /** Scheme, name and port of the workspace. */
  readonly origin: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the first byte to the last of the answer, connecting included. */
  readonly timeoutMs: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if the answer is compressed: such a body is not read. */
  readonly body: string | Uint8Array;
}

/** Sends once, without retries or redirects. Rejects if no complete answer came; see `transportFailure`. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** Loaded with the first transport: commands without requests do not pay for the package. */
const load = createRequire(import.meta.url);

/** No response of the service is larger: lists have pages, and contents are at most 10 MB per request. */
const ANSWER_BYTES = 128 * 1024 * 1024;

export interface ProxyRoute {
  /** `http://[user:password@]name:port`; never shown. */
  readonly address: string;
  /** Hosts that are reached directly, as NO_PROXY lists them. */
  readonly except: string;
}

export interface HttpOptions {
  readonly connections: number;
  /** An answer with more bytes ends with an error. Default 128 MiB. */
  readonly maxBytes?: number;
  /** An answer is complete with its status and headers. */
  readonly dropsBody?: boolean;
  readonly connectTimeoutMs?: number;
  readonly proxy?: ProxyRoute;
  /** All authorities that are trusted, in PEM. Default: Node's own. */
  readonly authorities?: readonly string[];
}

export interface HttpTransport {
  readonly transport: Transport;
  /** Closes the kept connections; without it a process ends only when the server drops them. */
  close(): Promise<void>;
  /** Ends every request in flight, and sends no other. */
  destroy(): Promise<void>;
}

export function httpTransport(options: HttpOptions): HttpTransport {
  const agent = agentOf(options);
  const send: Transport = (request) => exchange(agent, request, options.dropsBody === true);
  const { proxy } = options;
  return {
    transport:
      proxy === undefined
        ? send
        : (request) =>
            send(request).catch((problem: unknown) => {
              throw withProxy(problem, proxy, request.origin);
            }),
    close: () => agent.close(),
    destroy: () => agent.destroy(),
  };
}

function agentOf({
  connections,
  maxBytes,
  connectTimeoutMs = 10_000,
  proxy,
  authorities,
}: HttpOptions): Dispatcher {
  const limits = {
    connections,
    pipelining: 1,
    // Failures of a shared connection, such as GOAWAY, reveal less about the outcome of a request.
    allowH2: false,
    // Shorter than the idle time after which common servers hang up, so that a write seldom meets a closing connection.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    maxResponseSize: maxBytes ?? ANSWER_BYTES,
  };
  // With this explicit option, certificates are checked regardless of NODE_TLS_REJECT_UNAUTHORIZED.
  const tls = { rejectUnauthorized: true, ca: authorities && [...authorities] };
  const connect = { timeout: connectTimeoutMs, ...tls };
  const { Agent, EnvHttpProxyAgent, Pool } = load("undici") as typeof import("undici");
  if (proxy === undefined) return new Agent({ ...limits, connect });
  const through = {
    ...limits,
    connect,
    connectTimeout: connectTimeoutMs,
    httpProxy: proxy.address,
    httpsProxy: proxy.address,
    noProxy: proxy.except,
    requestTls: { ...tls, allowH2: false },
    proxyTls: { ...tls, allowH2: false },
    // Else requests that a proxy only forwards have no limits.
    factory: (origin: string | URL, own: object) => new Pool(origin, { ...limits, ...own }),
  };
  return new EnvHttpProxyAgent(through);
}

/** Adds the proxy, without its user and password, to the error of a connection to it. A request to a host of NO_PROXY has another address. */
function withProxy(problem: unknown, { address, except }: ProxyRoute, origin: string): unknown {
  const { hostname, host, port, protocol } = new URL(address);
  const number = portOf(port, protocol);
  const target = new URL(origin);
  const isAddress = (failed: ConnectError): boolean =>
    failed.hostname === hostname ||
    failed.port === number ||
    failed.message?.includes(`:${number},`) === true;
  const isKnown = number !== portOf(target.port, target.protocol) || except === "";
  if (!(problem instanceof Error) || !isKnown) return problem;
  const { errors = [] } = problem as { readonly errors?: readonly ConnectError[] };
  return [problem, ...errors].some(isAddress) ? Object.assign(problem, { proxy: host }) : problem;
}

interface ConnectError {
  readonly hostname?: string;
  readonly port?: number;
  readonly message?: string;
}

const portOf = (port: string, protocol: string): number => Number(port || (protocol === "https:" ? 443 : 80));

/** A signal that undici accepts like an AbortSignal, without the cost of one for each request. */
class Deadline extends EventEmitter {
  reason: DOMException | undefined;

  pass(): void {
    this.reason = new DOMException("no complete answer in time", "TimeoutError");
    this.emit("abort");
  }
}

/** Paths that URL parsing does not change. */
const PLAIN = /^\/(?!.*\/\.)[\w/.~%=&?+,:@*-]*$/;

function normalized(request: HttpRequest): string {
  const url = new URL(request.origin + request.path);
  return url.pathname + url.search;
}

async function exchange(agent: Dispatcher, request: HttpRequest, dropsBody: boolean): Promise<HttpResponse> {
  const tooLate = new Deadline();
  const timer = setTimeout(() => tooLate.pass(), request.timeoutMs);
  try {
    const answer = await agent.request({
      origin: request.origin,
      path: PLAIN.test(request.path) ? request.path : normalized(request),
      method: request.method as "GET",
      headers: request.headers,
      body: request.body ?? null,
      signal: tooLate,
    });
    const headers = single(answer.headers);
    const body = dropsBody || isCompressed(headers) ? dropped(answer.body) : await bytesOf(answer.body);
    return { status: answer.statusCode, headers, body };
  } finally {
    clearTimeout(timer);
  }
}

/** Unlike `bytes()` of undici, whose promise keeps the bytes of the last answer in memory until the event loop turns again. */
async function bytesOf(body: Dispatcher.ResponseData["body"]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** No request asks for it: expanded, a few bytes could be more than fits into memory. */
export function isCompressed(headers: HttpResponse["headers"]): boolean {
  return /\b(gzip|compress|deflate|br|zstd)\b/i.test(headers["content-encoding"] ?? "");
}

/** Closes the connection: a body without an end would keep it busy. */
function dropped(body: Dispatcher.ResponseData["body"]): Uint8Array {
  body.on("error", () => undefined).destroy();
  return new Uint8Array(0);
}

function single(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) out[name] = typeof value === "string" ? value : value.join(", ");
  }
  return out;
}
