// One request to the REST API of a code host, with bounded retries and pages.

export class ApiError extends Error {
  /** 0 when no response arrived. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly body?: unknown;
  readonly contentType?: string;
  /** A POST that may be sent twice, such as a query. */
  readonly repeatable?: boolean;
}

export interface ApiResponse {
  readonly json: unknown;
  readonly headers: Headers;
}

export interface ApiOptions {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The right that a 403 lacks, for the message. */
  readonly right: string;
  readonly log: (line: string) => void;
  readonly sleep?: (ms: number) => Promise<void>;
}

const ATTEMPTS = 5;
const TIMEOUT_MS = 30_000;
/** A longer Retry-After fails at once: a runner is paid by the minute. */
const LONGEST_WAIT_MS = 120_000;
const MOST_PAGES = 100;
/** Azure DevOps answers with a page to sign in on, also to a request that writes. */
const SIGN_IN: readonly number[] = [203, 302];
/** GitHub asks for a minute if its secondary limit names no time. */
const SECONDARY_WAIT_MS = 60_000;

export class Api {
  readonly #options: ApiOptions;
  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** Sends a request. Throws `ApiError` for a final refusal, or after the last attempt. */
  async send(path: string, request: ApiRequest = {}): Promise<ApiResponse> {
    const { method = "GET" } = request;
    const safe = method !== "POST" || request.repeatable === true;
    for (let attempt = 1; ; attempt += 1) {
      const { status, wait, message, answer } = await this.#once(path, request);
      if (answer !== undefined) return answer;
      // A POST without a clear answer may have created something: the caller reads before it tries again.
      const again = status === 429 || wait !== undefined || ((status === 0 || status >= 500) && safe);
      const pause = wait ?? 1000 * 2 ** (attempt - 1);
      if (!again || attempt === ATTEMPTS || pause > LONGEST_WAIT_MS) throw new ApiError(status, message);
      this.#options.log(`${message}; trying again in ${Math.ceil(pause / 1000)} s`);
      await (this.#options.sleep ?? sleep)(pause);
    }
  }

  /** Reads all pages, by the `Link` header (GitHub) or `x-next-page` (GitLab). */
  async list(path: string): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    let next: string | undefined = path;
    for (let page = 0; next !== undefined; page += 1) {
      if (page === MOST_PAGES) throw new ApiError(0, `${path} has more than ${MOST_PAGES} pages`);
      const { json, headers }: ApiResponse = await this.send(next);
      if (!Array.isArray(json)) throw new ApiError(0, `${path} did not return a list`);
      found.push(...json);
      next = this.#next(path, headers);
    }
    return found;
  }

  #next(path: string, headers: Headers): string | undefined {
    const numbered = headers.get("x-next-page");
    if (numbered) return withPage(path, numbered);
    const linked = /<([^>]+)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
    if (linked === undefined) return undefined;
    const base = new URL(this.#options.base);
    const url = new URL(linked, base);
    // The token goes to the configured host only.
    if (url.origin !== base.origin) throw new ApiError(0, `the next page of ${path} is on another host`);
    return url.href;
  }

  async #once(
    path: string,
    { method = "GET", body, contentType }: ApiRequest,
  ): Promise<{ status: number; message: string; wait?: number; answer?: ApiResponse }> {
    const url = path.startsWith("http") ? path : this.#options.base + path;
    const what = `${method} ${new URL(url).pathname}`;
    try {
      const response = await fetch(url, {
        method,
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          "user-agent": "workspace-ci",
          ...this.#options.headers,
          ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const { status, headers } = response;
      if (response.ok && !SIGN_IN.includes(status))
        return { status, message: "", answer: { json: parsed(text), headers } };
      const wait = waitOf(status, headers, text);
      return {
        status,
        message: this.#refusal(what, status, text, wait),
        ...(wait === undefined ? {} : { wait }),
      };
    } catch (failure) {
      const cause = failure instanceof Error && failure.cause instanceof Error ? failure.cause : failure;
      return {
        status: 0,
        message: `${what} got no response: ${cause instanceof Error ? cause.message : cause}`,
      };
    }
  }

  #refusal(what: string, status: number, text: string, wait: number | undefined): string {
    const detail = parsed(text);
    const said = isRecord(detail) && typeof detail.message === "string" ? detail.message.slice(0, 200) : "";
    if (status === 401 || SIGN_IN.includes(status))
      return `${what} returned ${status}: the API token is missing or not valid`;
    if (status === 403 && wait === undefined)
      return `${what} returned 403: the API token needs the right "${this.#options.right}"${said && ` (${said})`}`;
    if (status === 404) return `${what} returned 404: it does not exist, or the API token cannot see it`;
    return `${what} returned ${status}${said && `: ${said}`}`;
  }
}

/** The wait that the service asks for: 429, and 403 of a rate limit of GitHub. */
function waitOf(status: number, headers: Headers, text: string): number | undefined {
  const after = headers.get("retry-after");
  const exhausted = headers.get("x-ratelimit-remaining") === "0";
  const secondary = status === 403 && /secondary rate limit/i.test(text);
  if (status !== 429 && status !== 503 && !(status === 403 && (after !== null || exhausted || secondary)))
    return undefined;
  if (after !== null) {
    const seconds = Number(after);
    const ms = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1000;
    if (!Number.isNaN(ms)) return Math.max(0, ms);
  }
  const reset = Number(headers.get("x-ratelimit-reset"));
  if (exhausted && reset > 0) return Math.max(0, reset * 1000 - Date.now());
  return secondary ? SECONDARY_WAIT_MS : undefined;
}

function withPage(path: string, page: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}page=${encodeURIComponent(page)}`;
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
