// Opens the sign-in of a run. Token endpoints have separate connections and proxy settings.

import type { RenewableCredential } from "../../api/auth/credential.ts";
import { createSignIn, type SignIn } from "../../api/auth/sign-in.ts";
import { type HttpTransport, httpTransport } from "../../api/http/transport.ts";
import type { Endpoint } from "../../config/settings.ts";
import { canonicalJson } from "../../core/digest.ts";
import type { JsonObject } from "../../core/json.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";

export interface OpenSignIn extends SignIn {
  /** Ends requests for a token that are in flight. */
  close(): Promise<void>;
}

type SignInPlace = Omit<Extract<Endpoint, { embedded: false }>, "credential"> & {
  readonly credential: RenewableCredential;
};

interface SharedSignIn {
  readonly signIn: SignIn;
  readonly transports: ReadonlyMap<string, HttpTransport>;
  /** Of the first connection that has one: once it aborts, failed requests for a token are repeated without a wait. */
  signal: AbortSignal | undefined;
  users: number;
}

/** By host and credential: a run and its state in the workspace sign in once. */
const opened = new Map<string, SharedSignIn>();

/** An ID token is no longer than a header may be, and an answer of a token endpoint is not much longer. */
const MOST_BYTES = 1024 * 1024;

export function openSignIn(place: SignInPlace, signal?: AbortSignal): OpenSignIn {
  const key = canonicalJson([place.identity, place.credential as unknown as JsonObject]);
  const shared = opened.get(key) ?? newSignIn(place);
  opened.set(key, shared);
  shared.signal ??= signal;
  shared.users += 1;
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    shared.users -= 1;
    if (shared.users > 0) return;
    opened.delete(key);
    await Promise.all([...shared.transports.values()].map((transport) => transport.destroy()));
  };
  return { ...shared.signIn, close };
}

function newSignIn({ identity, credential, networkTo, azureCli }: SignInPlace): SharedSignIn {
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
    pause: (ms) => pauseUnlessAborted(ms, shared.signal),
    random: Math.random,
    readFile: (path) => readRegularFile(path).toString("utf8"),
    azureCli,
  });
  const shared: SharedSignIn = { signIn, transports, signal: undefined, users: 0 };
  return shared;
}

function pauseUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return signal?.aborted === true ? Promise.resolve() : nodeClock.sleep(ms, signal).catch(() => undefined);
}
