// The session that plan, apply, drift, and destroy share: opens settings, spec, state, and connection, and closes them.

import type { ReadLimit } from "../../api/retry/read-limit.ts";
import type { Settings } from "../../config/settings.ts";
import { type Diagnostic, Failure, hasErrors } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { Clock, Loaded, StateStore } from "../../state/model/store.ts";
import { assertInCheckout } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { type Connection, connect, readLimitOf } from "./connect.ts";
import { withState } from "./open-state.ts";
import { prepareForLargeFile, readSpec } from "./read-spec.ts";
import { exposedState } from "./state-warnings.ts";

export interface Session {
  readonly invocation: Invocation;
  readonly settings: Settings;
  readonly store: StateStore;
  readonly key: Uint8Array;
  /** The digest of a secret, of contents, or of a difference, with the key of the state. */
  readonly secretDigest: SecretDigest;
  readonly spec: Spec;
  /** Warnings about the settings and the spec; the observer has them already. */
  readonly warnings: readonly Diagnostic[];
  readonly connection: Connection;
  /** For what is read to plan. */
  readonly readLimit: ReadLimit;
  readonly clock?: Clock;
  /** For runs without the lock, before the first request: with a newer state than the live values, objects would look deleted. */
  readState(): Promise<Loaded>;
}

export type SecretDigest = (value: string | Uint8Array) => string;

interface SessionRequirements {
  /** Whether to create the state's key if it does not exist: writers need a permanent one. */
  readonly makesKey: boolean;
  /** `optional`: values that are not there are warnings. */
  readonly secrets: "resolve" | "optional" | "skip";
  /** Runs as soon as the state's key is known, before the spec is read; what it throws ends the run. */
  readonly onKeyKnown?: (key: Uint8Array) => void;
  readonly signal?: AbortSignal;
}

/** Opens what a run needs, gives it to `work`, and closes it however that ends. */
export async function withSession<T>(
  invocation: Invocation,
  { makesKey, secrets, onKeyKnown, signal }: SessionRequirements,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { file, untrusted, observer, embeddedFolder, abandoned } = invocation;
  // The state may be next to the spec, so the folder is checked first.
  if (untrusted) assertInCheckout(invocation, file);
  prepareForLargeFile(file);
  const readLimit = readLimitOf(invocation.readTimeoutMs());
  const open = async (store: StateStore): Promise<T> => {
    const settings = invocation.settings();
    observer.found(settings.warnings);
    const key = await readLimit.during(() => store.key({ make: makesKey }));
    onKeyKnown?.(key);
    const secretDigest: SecretDigest = (value) => keyedDigest(key, value);
    const readsSecrets = secrets !== "skip";
    const { spec, warnings } = await readSpec(invocation, {
      digest: readsSecrets ? secretDigest : undefined,
      mayLackSecrets: secrets === "optional",
    });
    const exposed = exposedState(invocation, spec, { digests: readsSecrets });
    if (hasErrors(exposed)) throw new Failure(...exposed);
    observer.found(exposed);
    const connection = await connect({
      settings,
      embeddedFolder,
      abandoned,
      readLimit,
      signal,
      retrying: (event) => observer.retrying(event),
      requested: (event) => invocation.runObserver?.requested(event),
    });
    try {
      return await work({
        invocation,
        settings,
        store,
        key,
        secretDigest,
        spec,
        warnings: [...settings.warnings, ...warnings, ...exposed],
        connection,
        readLimit,
        readState: () => readLimit.during(() => store.read()),
      });
    } finally {
      await connection.close();
    }
  };
  return withState(invocation, open, { readLimit });
}
