// A state in a folder: state.json, journal.jsonl, lock.<fence>, key, and the generations state.<serial>.json.

import { Failure } from "../../core/diagnostic.ts";
import { emptyState } from "../fold.ts";
import { type Claim, isOver, LEASE_TIMES, type LeaseTimes, lockedBy, type Owner } from "../lock.ts";
import { type Clock, type FileSystem, type Random, randomHex } from "../ports.ts";
import type { Lease, Loaded, LockOptions, StateStore } from "../store.ts";
import { rewriteClaim, type Surroundings, takeLock, topClaim } from "./claims.ts";
import { ioFailure } from "./durable.ts";
import { openLease } from "./file-lease.ts";
import { keyCheck, keyFromText, keyInFolder, makeKey, otherKey } from "./key.ts";
import { loadFolder, type OnDisk } from "./load.ts";

export interface FileStoreOptions {
  /** Absolute; made on first use. */
  readonly folder: string;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: Owner;
  /** Whether the owner's process is certainly gone; then its lock need not be waited for. */
  readonly isDead?: (owner: Owner) => boolean;
  readonly times?: LeaseTimes;
  /** The text of WORKSPACE_STATE_KEY, where it is set. */
  readonly keyText?: string;
}

export function openFileStore(options: FileStoreOptions): StateStore {
  return new FileStore(options);
}

class FileStore implements StateStore {
  readonly #folder: string;
  readonly #around: Surroundings;
  readonly #keyText: string | undefined;
  /** Check of the key that this run uses; empty until it is asked for. */
  #check = "";

  constructor(options: FileStoreOptions) {
    this.#folder = options.folder;
    this.#keyText = options.keyText;
    this.#around = {
      fs: options.fs,
      clock: options.clock,
      random: options.random,
      owner: options.owner,
      isDead: options.isDead ?? (() => false),
      times: options.times ?? LEASE_TIMES,
    };
  }

  async read(): Promise<Loaded> {
    const disk = await loadFolder(this.#around.fs, this.#folder);
    if (disk === undefined) return { state: this.#fresh().state, diagnostics: [] };
    // Beside a run that is writing, an unfinished last line is nothing to tell about.
    const busy = disk.diagnostics.length > 0 && (await this.holder()) !== undefined;
    return { state: disk.state, diagnostics: busy ? [] : disk.diagnostics };
  }

  async lock(options: LockOptions): Promise<Lease> {
    const { fs } = this.#around;
    try {
      await fs.makeFolder(this.#folder);
      const seen = await loadFolder(fs, this.#folder);
      const claim = await takeLock(this.#folder, this.#around, { ...options, above: seen?.fence ?? 0 });
      return await this.#open(claim);
    } catch (failure) {
      throw ioFailure(failure, "taking the lock");
    }
  }

  async #open(claim: Claim): Promise<Lease> {
    try {
      const disk = (await loadFolder(this.#around.fs, this.#folder)) ?? this.#fresh();
      const check = (): string => (this.#check === "" ? (disk.snapshot?.key ?? "") : this.#check);
      return await openLease(this.#folder, this.#around, claim, disk, check);
    } catch (failure) {
      await rewriteClaim(this.#around.fs, this.#folder, { ...claim, released: true }).catch(() => undefined);
      throw failure;
    }
  }

  #fresh(): OnDisk {
    const state = emptyState(randomHex(this.#around.random, 16));
    return { state, snapshot: undefined, seq: 0, head: "", fence: 0, unfolded: false, diagnostics: [] };
  }

  async holder(): Promise<Claim | undefined> {
    const top = await topClaim(this.#around.fs, this.#folder);
    if (top === undefined || !("claim" in top)) return undefined;
    const over = isOver(top.claim, this.#around.clock.now()) || this.#around.isDead(top.claim.owner);
    return over ? undefined : top.claim;
  }

  async unlock(nonce: string): Promise<void> {
    const top = await topClaim(this.#around.fs, this.#folder);
    if (top === undefined || !("claim" in top) || top.claim.released === true) return;
    if (top.claim.nonce !== nonce) throw new Failure(lockedBy(top.claim, this.#around.clock.now()));
    const free = { ...top.claim, fence: top.claim.fence + 1, released: true as const };
    await rewriteClaim(this.#around.fs, this.#folder, free);
  }

  async key(options: { readonly make: boolean }): Promise<Uint8Array> {
    const { fs, random } = this.#around;
    const written = (await loadFolder(fs, this.#folder))?.snapshot?.key ?? "";
    const found =
      this.#keyText === undefined ? await keyInFolder(fs, this.#folder) : keyFromText(this.#keyText);
    if (written !== "" && (found === undefined || keyCheck(found) !== written))
      throw otherKey(found !== undefined);
    const key = found ?? (options.make ? await makeKey(fs, this.#folder, random) : random(32));
    if (found !== undefined || options.make) this.#check = keyCheck(key);
    return key;
  }
}
