// Connects to the workspace of a run: over HTTP, or to the emulator in this process.

import type { SignIn } from "../../api/auth/sign-in.ts";
import { rejectedTokenHint } from "../../api/auth/token-request.ts";
import { type Client, createClient } from "../../api/client.ts";
import { httpTransport, type Transport } from "../../api/http/transport.ts";
import { ReadTimeLimit } from "../../api/retry/read-time-limit.ts";
import { dialectTable } from "../../config/dialect.ts";
import type { Network } from "../../config/network.ts";
import type { Settings } from "../../config/settings.ts";
import { errorCode, failureOf, thrownText } from "../../core/diagnostic.ts";
import { makeFolder } from "../../core/regular-file.ts";
import type { DialectChoice } from "../../emulator/dialect/databricks.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import type { Invocation } from "../invocation/invocation.ts";

export interface Connection extends Client {
  readonly host: string;
  /** Ends requests in flight. */
  close(): Promise<void>;
}

/** `observer` and `figures` receive the requests; `abandoned` ends those in flight, too. */
interface ConnectionOptions
  extends Pick<Invocation, "embeddedFolder">,
    Partial<Pick<Invocation, "abandoned" | "observer" | "figures">> {
  readonly settings: Settings;
  readonly signal?: AbortSignal;
  readonly readLimit?: ReadTimeLimit | undefined;
}

/** The limit for one plan. Throws Failure with CLI_USAGE. */
export function readLimitOf(ms: number): ReadTimeLimit {
  const { elapsed, sleep } = nodeClock;
  return new ReadTimeLimit({ ms, elapsed, sleep });
}

export async function connect(connectionOptions: ConnectionOptions): Promise<Connection> {
  const { endpoint } = connectionOptions.settings;
  if (endpoint.embedded) return connectEmbedded(connectionOptions, endpoint);
  const options = { ...connectionOptions, ...endOf(connectionOptions) };
  const { transport, closed, close } = openTransport(options, endpoint.network);
  const { credential, identity: host } = endpoint;
  const tokenHint = rejectedTokenHint(credential.method, endpoint.signInFrom);
  const signal = options.signal === undefined ? closed : AbortSignal.any([options.signal, closed]);
  const from = { ...options, signal, tokenHint };
  if (credential.method === "pat")
    return { ...clientOver(transport, host, credential.token, from, credential.scheme), host, close };
  const { openSignIn } = await import("./open-sign-in.ts");
  const signIn = openSignIn({ ...endpoint, credential }, options.signal);
  const closeAll = async (): Promise<void> => {
    await Promise.all([close(), signIn.close()]);
  };
  return { ...clientOver(transport, host, signIn, from, "bearer"), host, close: closeAll };
}

/** The client does not retry after either signal. */
function endOf({ signal, abandoned }: ConnectionOptions): Pick<ConnectionOptions, "signal"> {
  const both = [signal, abandoned].filter((signal) => signal !== undefined);
  const [first] = both;
  if (first === undefined) return {};
  return { signal: both.length === 1 ? first : AbortSignal.any(both) };
}

function openTransport({ settings, abandoned }: ConnectionOptions, network: Network) {
  const { transport, destroy } = httpTransport({ connections: settings.parallelism, ...network });
  const closed = new AbortController();
  const end = (): void => void destroy();
  if (abandoned?.aborted === true) end();
  abandoned?.addEventListener("abort", end, { once: true });
  const close = async (): Promise<void> => {
    abandoned?.removeEventListener("abort", end);
    closed.abort();
    await destroy();
  };
  return { transport, closed: closed.signal, close };
}

type Embedded = ReturnType<typeof import("../../emulator/embedded.ts").openEmbedded>;

/** A run and its state share one embedded workspace if the state is stored there. */
const openedEmbedded = new Map<string, { readonly embedded: Promise<Embedded>; users: number }>();

async function connectEmbedded(options: ConnectionOptions, dialect: DialectChoice): Promise<Connection> {
  const { embeddedFolder: folder } = options;
  const shared = openedEmbedded.get(folder) ?? { embedded: openedAt(folder, dialect), users: 0 };
  openedEmbedded.set(folder, shared);
  shared.embedded.catch(() => openedEmbedded.delete(folder));
  const { app, token, close: closeEmbedded } = await shared.embedded;
  shared.users += 1;
  const transport = transportTo(app);
  const client = clientOver(transport, "embedded", token, options, "bearer");
  const close = async (): Promise<void> => {
    shared.users -= 1;
    if (shared.users > 0) return;
    openedEmbedded.delete(folder);
    closeEmbedded();
  };
  return { ...client, host: "embedded", close };
}

export function transportTo(app: Embedded["app"]): Transport {
  return async ({ method, path, headers, body }) => {
    const answer = await app({ method, path, headers, body });
    return { status: answer.status, headers: answer.headers, body: answer.body };
  };
}

async function openedAt(folder: string, dialect: DialectChoice): Promise<Embedded> {
  const { openEmbedded } = await import("../../emulator/embedded.ts");
  const { DataInUse } = await import("../../emulator/store/sqlite.ts");
  try {
    makeFolder(folder, 0o700);
    return openEmbedded({ ...dialect, dataDir: folder });
  } catch (problem) {
    // Of the file system, or of the database over it.
    if (errorCode(problem) !== undefined)
      throw failureOf("STATE_IO", `the embedded workspace cannot store its data in ${folder}`, {
        cause: thrownText(problem),
        hint: "check that this user can write there and that the disk has space, or pass another host with --host",
      });
    if (!(problem instanceof DataInUse)) throw problem;
    throw failureOf("API_UNREACHABLE", "another run uses the embedded workspace", {
      hint: "wait for that run; or start `workspace emulator` and pass its URL with --host",
    });
  }
}

function clientOver(
  transport: Transport,
  host: string,
  token: string | SignIn,
  options: ConnectionOptions & { readonly tokenHint?: string },
  auth: "basic" | "bearer",
): Client {
  const { signal, tokenHint, settings, readLimit } = options;
  return createClient({
    transport,
    host,
    token,
    auth,
    dialect: dialectTable(settings.dialect),
    parallelism: settings.parallelism,
    clock: nodeClock.now,
    sleep: nodeClock.sleep,
    random: Math.random,
    signal,
    timeoutMs: settings.requestMs,
    tokenHint,
    readLimit,
    sending: () => options.figures?.sending?.(),
    log: (event) => {
      options.figures?.requested(event);
      if (event.waitMs !== undefined) options.observer?.retrying(event);
    },
  });
}

export async function withConnection<T>(
  invocation: Invocation,
  work: (connection: Connection) => Promise<T>,
  { readLimit }: Pick<ConnectionOptions, "readLimit"> = {},
): Promise<T> {
  const { observer, embeddedFolder, abandoned } = invocation;
  const settings = invocation.settings();
  observer.report(settings.warnings);
  const connection = await connect({ settings, embeddedFolder, readLimit, abandoned, observer });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
