// A state at a location: operations that are the same for every backend, including the forced release of its lock.

import { Failure } from "../../core/diagnostic.ts";
import { Cipher, fromHex, keptKey, keyCheck, keyFromText, otherKey } from "../format/encryption.ts";
import { nextFence } from "../lock/claim-file.ts";
import { LEASE_TIMES } from "../lock/heartbeat.ts";
import {
  holderName,
  isCertainlyFree,
  lockContended,
  lockIdMismatch,
  lockUnreadable,
  newClaim,
  silenceOf,
} from "../lock/lock.ts";
import type { LeaseTimes, LockClaim, LockOwner, StateBackend } from "../model/backend.ts";
import type { State } from "../model/record.ts";
import {
  type Clock,
  type Generation,
  type Incoming,
  type LastLock,
  type Lease,
  type Loaded,
  type LockOptions,
  type Random,
  type Rekeyed,
  type Restored,
  type StateReadOptions,
  type StateStore,
  toHex,
  type UnlockRequest,
  type UnlockResult,
} from "../model/store.ts";
import { type DigestKey, emptyLoadedState, lockAndOpen, type StoreContext } from "./lease.ts";
import { type LoadedState, loadFrom, snapshotIn } from "./load.ts";
import { assertNotMoved, mergeRestored, rekey, restore } from "./migrate.ts";

export interface StoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: LockOwner;
  /** Whether the owner's process has certainly ended, so that its lock can be acquired at once. */
  readonly isCrashed?: (owner: LockOwner) => boolean;
  readonly times?: LeaseTimes;
  /** The text of WORKSPACE_STATE_KEY, where it is set: then what is written is encrypted. */
  readonly keyText?: string;
  /** The previous key, for `rekey`. */
  readonly oldKeyText?: string;
}

export class BackedStateStore implements StateStore {
  readonly #context: StoreContext;
  readonly #options: StoreOptions;
  /** The key of this run, after its first use. */
  #digestKey: DigestKey | undefined;

  constructor(backend: StateBackend, options: StoreOptions) {
    const { keyText, random } = options;
    this.#options = options;
    this.#context = {
      backend,
      cipher: new Cipher({ random, keyText }),
      environment: {
        clock: options.clock,
        random,
        owner: options.owner,
        isCrashed: options.isCrashed ?? (() => false),
        times: options.times ?? LEASE_TIMES,
      },
    };
  }

  get location(): string {
    return this.#backend.names.location;
  }

  get #backend(): StateBackend {
    return this.#context.backend;
  }

  #load(): Promise<LoadedState | undefined> {
    return loadFrom(this.#backend, this.#context.cipher);
  }

  async read({ to, evenIfMoved = false }: StateReadOptions = {}): Promise<Loaded> {
    const { state, snapshot, unfolded, diagnostics } =
      (await this.#load()) ?? emptyLoadedState(this.#context);
    if (!evenIfMoved) assertNotMoved(state, to);
    const nextSerial = withNextSerial({ state, unfolded }).serial;
    // While another run writes, an incomplete last line is not reported.
    const busy = diagnostics.length > 0 && (await this.lastLock()).heldBy !== undefined;
    return { state, nextSerial, key: snapshot?.key ?? "", diagnostics: busy ? [] : diagnostics };
  }

  lock(options: LockOptions): Promise<Lease> {
    return this.#lock(options, (loadedState) => assertNotMoved(loadedState.state, options.to));
  }

  #lock(options: LockOptions, check: (loadedState: LoadedState) => void, lineage?: string) {
    const keyOf = (loadedState: LoadedState): DigestKey => this.#digestKey ?? digestKeyOf(loadedState);
    return lockAndOpen(this.#context, options, check, keyOf, lineage);
  }

  async lastLock(): Promise<LastLock> {
    const latest = await this.#backend.latestClaim();
    if (latest === undefined) return { fence: 0 };
    const { fence } = latest;
    const { environment } = this.#context;
    if (await isCertainlyFree(this.#backend, latest, environment)) return { fence };
    const [holder, nonce] = "claim" in latest ? [holderName(latest.claim), latest.claim.nonce] : [];
    return { fence, heldBy: { holder, nonce, silenceMs: silenceOf(latest, environment.times) } };
  }

  unlock(how: UnlockRequest): Promise<UnlockResult> {
    return unlockState(this.#context, how);
  }

  async key({ make }: { readonly make: boolean }): Promise<Uint8Array> {
    const snapshot = (await this.#load())?.snapshot;
    const hex = snapshot?.digestKey;
    const bytes = await this.#knownKey(hex);
    const written = snapshot?.key ?? "";
    if (written !== "" && (bytes === undefined || keyCheck(bytes) !== written))
      throw otherKey(bytes !== undefined, this.#backend.names.key);
    const key = bytes ?? (make ? await this.#makeKey() : this.#context.environment.random(32));
    if (bytes !== undefined || make) this.#digestKey = { check: keyCheck(key), hex };
    return key;
  }

  async #knownKey(carried: string | undefined): Promise<Uint8Array | undefined> {
    if (carried !== undefined) return fromHex(carried);
    if (this.#options.keyText !== undefined) return keyFromText(this.#options.keyText);
    const text = await this.#backend.key();
    return text === undefined ? undefined : keptKey(text, this.#backend.names.key);
  }

  async #makeKey(): Promise<Uint8Array> {
    await this.#backend.prepare();
    await this.#backend.makeKey(`${toHex(this.#context.environment.random(32))}\n`);
    const key = await this.#knownKey(undefined);
    if (key === undefined) throw otherKey(false, this.#backend.names.key);
    return key;
  }

  async generations(): Promise<readonly Generation[]> {
    const serials = await this.#backend.generations();
    return Promise.all(serials.map((serial) => this.#generation(serial)));
  }

  async #generation(serial: number): Promise<Generation> {
    try {
      const piece = await this.#backend.generation(serial);
      if (piece === undefined) return { serial, diagnostics: [] };
      return { serial, state: snapshotIn(piece, this.#context.cipher).state, diagnostics: [] };
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      return { serial, diagnostics: failure.diagnostics };
    }
  }

  async restore(
    serial: number,
    options: LockOptions,
    check: (older: State) => void = () => undefined,
  ): Promise<Restored> {
    const key = await this.#knownKey(undefined);
    return restore(this.#context, serial, key === undefined ? "" : keyCheck(key), options, check);
  }

  async replace(incoming: Incoming, options: LockOptions): Promise<State> {
    let present: DigestKey = { check: "" };
    const look = (loadedState: LoadedState): void => {
      present = this.#digestKey ?? digestKeyOf(loadedState);
      incoming.check(withNextSerial(loadedState));
    };
    const lease = await this.#lock(options, look, incoming.state.lineage);
    try {
      await incoming.ready?.(lease.state());
      this.#digestKey = await this.#keyFor(incoming, present, lease.claim);
      const { state } = incoming;
      const before = lease.state();
      const isOlder =
        before.lineage === state.lineage && before.moved === undefined && state.serial < before.serial;
      lease.substitute(isOlder ? mergeRestored(state, before) : state);
      return await lease.publish();
    } finally {
      await lease.release();
    }
  }

  /** A state without digests, or with those of our own key, does not change the key. */
  async #keyFor({ key, digestKey }: Incoming, present: DigestKey, claim: LockClaim): Promise<DigestKey> {
    if (key === "" || key === present.check) return present;
    if (digestKey === undefined) return { check: key };
    const hex = toHex(digestKey);
    if (this.#context.cipher.encrypts) return { check: key, hex };
    await this.#backend.putKey(claim, `${hex}\n`);
    return { check: key };
  }

  async rekey(options: LockOptions, check: (state: State) => void = () => undefined): Promise<Rekeyed> {
    const { keyText, oldKeyText, random } = this.#options;
    const oldTexts = oldKeyText === undefined ? [] : [oldKeyText];
    const cipher = new Cipher({ random, opensPlain: true, oldTexts, keyText });
    return rekey({ ...this.#context, cipher }, [keyText ?? [], oldTexts].flat(), options, check);
  }

  close(): Promise<void> {
    return this.#backend.close();
  }
}

/** The state as its next version: entries of an interrupted run are newer than the state that has its serial. */
function withNextSerial({ state, unfolded }: Pick<LoadedState, "state" | "unfolded">): State {
  return unfolded ? { ...state, serial: state.serial + 1 } : state;
}

function digestKeyOf({ snapshot }: LoadedState): DigestKey {
  return { check: snapshot?.key ?? "", hex: snapshot?.digestKey };
}

/** A holder with a heartbeat in between is read again. */
const TRIES = 5;

export async function unlockState(
  storeContext: Pick<StoreContext, "backend" | "environment">,
  how: UnlockRequest,
): Promise<UnlockResult> {
  const { backend, environment } = storeContext;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const latest = await backend.latestClaim();
    if (latest === undefined) return "was free";
    if ("claim" in latest) {
      const { claim } = latest;
      const isFree = await isCertainlyFree(backend, latest, environment);
      // The lock of an ended run is still there, and another ID is not its.
      const isChecked = how.nonce !== undefined && claim.released !== true;
      if (claim.nonce !== how.nonce && (!isFree || isChecked)) throw lockIdMismatch(claim, how.nonce, isFree);
      if (isFree) return claim.nonce === how.nonce ? "has ended" : "was free";
      const fence = nextFence(claim.fence, backend.names);
      if (await backend.claim({ ...claim, fence, released: true }, latest)) return "unlocked";
    } else {
      if (how.force !== true && !latest.released)
        throw new Failure(lockUnreadable(latest.name, silenceOf(latest, environment.times)));
      const claim = newClaim(environment, nextFence(latest.fence, backend.names));
      if (await backend.claim({ ...claim, released: true }, latest)) return "unlocked";
    }
  }
  throw lockContended(backend);
}
