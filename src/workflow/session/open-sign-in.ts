// Opens the sign-in of a run. Token endpoints have separate connections and proxy settings.

import type { RenewableCredential } from "../../api/auth/credential.ts";
import { createSignIn, type SignIn } from "../../api/auth/sign-in.ts";
import { type HttpTransport, httpTransport } from "../../api/http/transport.ts";
import type { Endpoint } from "../../config/settings.ts";
import { canonicalJson } from "../../core/digest.ts";
import type { JsonObject } from "../../core/json.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";

interface OpenSignIn extends SignIn {
  /** Ends requests for a token that are in flight. */
  close(): Promise<void>;
}

type SignInEndpoint = Omit<Extract<Endpoint, { embedded: false }>, "credential"> & {
  readonly credential: RenewableCredential;
};

interface SharedSignIn {
  readonly signIn: SignIn;
  readonly transports: ReadonlyMap<string, HttpTransport>;
  /** Those that use it now, each with its signal: once all have aborted, failed requests for a token are repeated without a wait. */
  readonly users: Set<{ readonly signal: AbortSignal | undefined }>;
}

/** By host and credential: a run and its state in the workspace sign in once. */
const opened = new Map<string, SharedSignIn>();

/** An ID token is no longer than a header may be, and an answer of a token endpoint is not much longer. */
const MOST_BYTES = 1024 * 1024;

export function openSignIn(endpoint: SignInEndpoint, signal?: AbortSignal): OpenSignIn {
  const key = canonicalJson([endpoint.identity, endpoint.credential as unknown as JsonObject]);
  const shared = opened.get(key) ?? newSignIn(endpoint);
  opened.set(key, shared);
  const user = { signal };
  shared.users.add(user);
  const close = async (): Promise<void> => {
    if (!shared.users.delete(user) || shared.users.size > 0) return;
    opened.delete(key);
    await Promise.all([...shared.transports.values()].map((transport) => transport.destroy()));
  };
  return { ...shared.signIn, close };
}

function newSignIn({ identity, credential, networkTo, azureCli }: SignInEndpoint): SharedSignIn {
  const transports = new Map<string, HttpTransport>();
  const to = (origin: string): HttpTransport => {
    const transport =
      transports.get(origin) ?? httpTransport({ connections: 2, maxBytes: MOST_BYTES, ...networkTo(origin) });
    transports.set(origin, transport);
    return transport;
  };
  const signIn = createSignIn(credential, identity, {
    transport: (request) => to(request.origin).transport(request),
    clock: nodeClock.now,
    pause: (ms) => pauseForUsers(ms, shared.users),
    random: Math.random,
    readFile: (path) => readRegularFile(path).toString("utf8"),
    azureCli,
  });
  const shared: SharedSignIn = { signIn, transports, users: new Set() };
  return shared;
}

/** Ends early once every user that has a signal has aborted. */
async function pauseForUsers(ms: number, users: SharedSignIn["users"]): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    const signals = [...users].flatMap(({ signal }) => signal ?? []);
    const waiting = signals.find(({ aborted }) => !aborted);
    if (signals.length > 0 && waiting === undefined) return;
    await nodeClock.sleep(left, waiting).catch(() => undefined);
  }
}
