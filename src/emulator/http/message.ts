// A request and a response as plain data, so that the service runs with or without a socket.

/** One HTTP request. `path` carries its query string; header names are lower case. */
export interface AppRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Address of the peer; absent inside the process. Only loopback is served. */
  readonly remote?: string;
}

export interface AppResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The service. Rejects with `ConnectionLost` where a fault closes the connection. */
export type App = (request: AppRequest) => Promise<AppResponse>;

/** The connection ended before the answer was complete. `partial` contains the bytes sent before the end. */
export class ConnectionLost extends Error {
  readonly code = "ECONNRESET";
  readonly partial: AppResponse | undefined;
  constructor(message: string, partial?: AppResponse) {
    super(message);
    this.name = "ConnectionLost";
    this.partial = partial;
  }
}

export function pathOf(request: Pick<AppRequest, "path">): string {
  return request.path.split("?", 1)[0] ?? "";
}

/** The query of a request without its question mark; "" when there is none. */
export function queryOf(request: AppRequest): string {
  return request.path.slice(pathOf(request).length + 1);
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** The body as text. Throws TypeError when its bytes are not UTF-8. */
export function bodyText(body: string | Uint8Array | undefined): string {
  if (body === undefined) return "";
  return typeof body === "string" ? body : decoder.decode(body);
}

export function bytesOf(body: string | Uint8Array | undefined): Uint8Array {
  if (body === undefined) return new Uint8Array(0);
  return typeof body === "string" ? encoder.encode(body) : body;
}
