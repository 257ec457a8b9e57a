// The client of one workspace: a reader, which cannot write, and a writer.

import type { JsonObject } from "../core/json.ts";
import type { SignIn } from "./auth/sign-in.ts";
import type { ReadOperation, WriteOperation } from "./contract/operations.ts";
import { readWholeList } from "./contract/pages.ts";
import type { Permit, Reader, WriteInput, Writer } from "./contract/reader.ts";
import { speaking } from "./dialect/exchange.ts";
import { CONTRACT_TABLE, type DialectTable } from "./dialect/table.ts";
import { redactor } from "./http/redact.ts";
import type { Transport } from "./http/transport.ts";
import { createHostConnection, type Scheme } from "./retry/connection.ts";
import { createRateLimit } from "./retry/rate-limit.ts";
import type { ReadTimeLimit } from "./retry/read-time-limit.ts";
import { createSend, type RequestEvent } from "./retry/send.ts";

/** The maximum time that a request may still be in flight; the next holder of a lock waits this long. */
const REQUEST_TIMEOUT_MS = 60_000;

export interface ClientOptions {
  readonly transport: Transport;
  /** `https://name[:port][/base]`. */
  readonly host: string;
  readonly token: string | SignIn;
  /** Default: bearer. For an access token. */
  readonly auth?: Scheme;
  /** The API dialect of the host (default: the contract). */
  readonly dialect?: DialectTable;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Settles early, either way, when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Maximum number of concurrent requests. Default 10. */
  readonly parallelism?: number;
  /** The most requests that begin in a second. Default: no limit. */
  readonly perSecond?: number;
  /** For one attempt. Default REQUEST_TIMEOUT_MS. */
  readonly timeoutMs?: number;
  /** For all reads together. Default: none. */
  readonly readLimit?: ReadTimeLimit;
  /** After an abort, requests do not wait and are not retried; a new request still gets one attempt. */
  readonly signal?: AbortSignal;
  /** Called before each attempt of a request leaves; `log`: after it. */
  readonly sending?: () => void;
  readonly log?: (event: RequestEvent) => void;
  /** The fix for a refused token. Default: to set WORKSPACE_TOKEN or the token of the profile. */
  readonly tokenHint?: string;
}

export interface Client {
  readonly reader: Reader;
  readonly writer: Writer;
  /** Requests and answers of the workspace's dialect; only paths are translated. */
  readonly direct: Writer;
}

/** Throws Failure where host or token can never work. */
export function createClient(options: ClientOptions): Client {
  const { clock, random, signal } = options;
  const stopped = (): boolean => signal?.aborted === true;
  const pause = (ms: number): Promise<void> =>
    stopped() ? Promise.resolve() : options.sleep(ms, signal).catch(() => undefined);
  const rateLimit = createRateLimit({
    parallelism: options.parallelism ?? 10,
    perSecond: options.perSecond,
    clock,
    pause,
    stopped,
  });
  const connection = createHostConnection({
    ...options,
    auth: options.auth ?? "bearer",
    timeoutMs: options.timeoutMs ?? REQUEST_TIMEOUT_MS,
    rateLimit,
  });
  const { token } = options;
  const redact = redactor(() => (typeof token === "string" ? [token] : token.secrets()));
  const { log, tokenHint } = options;
  const sent = createSend({
    connection,
    rateLimit,
    readLimit: options.readLimit,
    clock,
    random,
    pause,
    stopped,
    redact,
    log,
    tokenHint,
  });
  const { translated, direct } = speaking(options.dialect ?? CONTRACT_TABLE, sent, random);
  const writer = writerOver(translated);
  return { reader: { read: writer.read }, writer, direct: writerOver(direct) };
}

type Sending = (
  operation: ReadOperation | WriteOperation,
  input: WriteInput,
  permit?: Permit,
) => Promise<JsonObject>;

const SCIM_LISTS: ReadonlySet<string> = new Set([
  "scim/users/list",
  "scim/groups/list",
  "scim/service-principals/list",
]);

function writerOver(send: Sending): Writer {
  const read = (operation: ReadOperation, input: JsonObject = {}): Promise<JsonObject> =>
    SCIM_LISTS.has(operation)
      ? readWholeList(operation, input, (page) => send(operation, page))
      : send(operation, input);
  return { read, write: send };
}
