// Opens the sign-in of a run: token endpoints on other hosts are reached by connections of their own, with their own proxy.

import type { RenewableCredential } from "../../api/auth/credential.ts";
import { createSignIn, type SignIn } from "../../api/auth/sign-in.ts";
import type { Transport } from "../../api/http/message.ts";
import { type HttpTransport, httpTransport } from "../../api/http/transport.ts";
import type { HostTarget } from "../../config/settings.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";

export interface OpenSignIn extends SignIn {
  close(): Promise<void>;
}

type SignInPlace = Omit<Extract<HostTarget, { embedded: false }>, "credential"> & {
  readonly credential: RenewableCredential;
};

/** An ID token is no longer than a header may be; an answer of a token endpoint is not much longer. */
const MOST_BYTES = 1024 * 1024;

/** `transport` leads to the workspace. */
export function openSignIn(place: SignInPlace, transport: Transport, signal?: AbortSignal): OpenSignIn {
  const { identity, credential, networkTo, azureCli } = place;
  const { origin } = new URL(identity);
  const others = new Map<string, HttpTransport>();
  const to = (other: string): HttpTransport => {
    const known =
      others.get(other) ?? httpTransport({ connections: 2, maxBytes: MOST_BYTES, ...networkTo(other) });
    others.set(other, known);
    return known;
  };
  const signIn = createSignIn(credential, identity, {
    transport: (request) => (request.origin === origin ? transport : to(request.origin).transport)(request),
    clock: nodeClock.now,
    pause: (ms) =>
      signal?.aborted === true ? Promise.resolve() : nodeClock.sleep(ms, signal).catch(() => undefined),
    random: Math.random,
    readFile: (path) => readRegularFile(path).toString("utf8"),
    ...(azureCli === undefined ? {} : { azureCli }),
  });
  const close = async (): Promise<void> => {
    await Promise.all([...others.values()].map((one) => one.close()));
  };
  return { ...signIn, close };
}
