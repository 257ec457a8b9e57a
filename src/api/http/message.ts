// One HTTP request and its response as plain data, and the type of the function that sends it.

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
  readonly body: string | Uint8Array;
}

/** Sends once, without retries or redirects. Rejects if no complete answer came; see `breakOf` (transport-failure.ts). */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;
