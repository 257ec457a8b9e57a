// Stores a state in a folder: state.json, journal.jsonl, lock.<fence>, key, and up to five earlier versions as
// state.<serial>.json.

import { digest } from "../../../core/digest.ts";
import { defined } from "../../../core/json.ts";
import {
  type BackendNames,
  GENERATIONS,
  type JournalSink,
  type LatestClaim,
  type LockClaim,
  type StateBackend,
  type StateWrite,
  type StoredState,
  type StoredText,
} from "../../model/backend.ts";
import { allMissing, ioFailure } from "../../model/failures.ts";
import type { FileSystem } from "../../model/ports.ts";
import type { StateStore } from "../../model/store.ts";
import { BackedStateStore, type StoreOptions } from "../../store/state-store.ts";
import { filesWithFailures } from "./files-with-failures.ts";
import {
  assertLatestClaim,
  claimFile,
  latestClaim,
  makeClaim,
  replaceFile,
  rewriteClaim,
} from "./state-files.ts";

const STATE_FILE = "state.json";
const JOURNAL_FILE = "journal.jsonl";
const KEY_FILE = "key";
/** Files that only a holder of the lock writes, before they have their name. */
const UNFINISHED = /^(state(\.\d+)?\.json|journal\.jsonl)\.[0-9a-f]+\.new$/;

export class FileBackend implements StateBackend {
  readonly names: BackendNames;
  readonly #fs: FileSystem;
  readonly #folder: string;

  constructor(fs: FileSystem, folder: string) {
    this.#fs = fs;
    this.#folder = folder;
    const key = `the file ${KEY_FILE} in its folder`;
    this.names = { place: folder, state: STATE_FILE, journal: JOURNAL_FILE, key };
  }

  prepare(): Promise<void> {
    return this.#fs.makeFolder(this.#folder);
  }

  async load(): Promise<StoredState> {
    const state = await this.#piece(STATE_FILE);
    const journal = await this.#piece(JOURNAL_FILE);
    if (state === undefined && journal === undefined && (await this.generations()).length > 0)
      throw allMissing(this.names);
    return defined({ state, journal });
  }

  async #piece(name: string): Promise<StoredText | undefined> {
    const bytes = await this.#fs.read(`${this.#folder}/${name}`);
    return bytes === undefined ? undefined : { name, bytes };
  }

  settle(): Promise<void> {
    return this.#syncJournal();
  }

  async serial(): Promise<undefined> {
    return undefined;
  }

  top(): Promise<LatestClaim | undefined> {
    return latestClaim(this.#fs, this.#folder);
  }

  async claim(claim: LockClaim): Promise<boolean> {
    if (!(await makeClaim(this.#fs, this.#folder, claim))) return false;
    await this.#removeUnfinished();
    return true;
  }

  /** A holder that was suspended after its last check of the lock could still rename its finished file; removing the file prevents that. */
  async #removeUnfinished(): Promise<void> {
    for (const name of await this.#fs.list(this.#folder))
      if (UNFINISHED.test(name)) await this.#fs.remove(`${this.#folder}/${name}`);
  }

  async renew(claim: LockClaim): Promise<void> {
    await this.#assertTop(claim);
    await rewriteClaim(this.#fs, this.#folder, claim);
  }

  #assertTop({ fence }: LockClaim): Promise<void> {
    return assertLatestClaim(this.#fs, this.#folder, fence);
  }

  async putState(claim: LockClaim, { text, before, keepsBefore }: StateWrite): Promise<void> {
    const [fs, folder] = [this.#fs, this.#folder];
    await this.#assertTop(claim);
    await this.#syncJournal();
    if (keepsBefore) await fs.link(`${folder}/${STATE_FILE}`, `${folder}/${generationFile(before)}`);
    await replaceFile(fs, folder, STATE_FILE, text, claim.nonce, () => this.#assertTop(claim));
    await fs.syncFolder(folder);
    await forgetOld(fs, folder);
  }

  /** Lines that a killed run wrote and never synced are made durable before a state that contains them can outlive them. */
  async #syncJournal(): Promise<void> {
    if (!(await this.#fs.list(this.#folder)).includes(JOURNAL_FILE)) return;
    const file = await this.#fs.open(`${this.#folder}/${JOURNAL_FILE}`, "append");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** A process that still has the old journal open writes to an unlinked file. */
  async beginJournal(claim: LockClaim, line: string): Promise<JournalSink> {
    const [fs, folder] = [this.#fs, this.#folder];
    await this.#assertTop(claim);
    await replaceFile(fs, folder, JOURNAL_FILE, [line], claim.nonce, () => this.#assertTop(claim));
    await fs.syncFolder(folder);
    const file = await fs.open(`${folder}/${JOURNAL_FILE}`, "append");
    return {
      write: async (lines) => {
        await this.#assertTop(claim);
        await file.write(new TextEncoder().encode(lines.join("")));
        await file.sync();
      },
      close: () => file.close(),
    };
  }

  generations(): Promise<readonly number[]> {
    return serialsIn(this.#fs, this.#folder);
  }

  generation(serial: number): Promise<StoredText | undefined> {
    return this.#piece(generationFile(serial));
  }

  async putGeneration(claim: LockClaim, serial: number, text: Iterable<string>): Promise<void> {
    await this.#replace(claim, generationFile(serial), text);
  }

  async keepAside(claim: LockClaim): Promise<string> {
    const [fs, folder] = [this.#fs, this.#folder];
    await this.#assertTop(claim);
    for (const name of [STATE_FILE, JOURNAL_FILE])
      if ((await fs.read(`${folder}/${name}`)) !== undefined)
        await fs.link(`${folder}/${name}`, `${folder}/${name}.aside-${claim.fence}`);
    await fs.syncFolder(folder);
    return `${folder}/*.aside-${claim.fence}`;
  }

  async key(): Promise<string | undefined> {
    const piece = await this.#piece(KEY_FILE);
    return piece === undefined ? undefined : new TextDecoder().decode(piece.bytes);
  }

  async makeKey(text: string): Promise<void> {
    try {
      // Two runs that make a key at once must not write the same temporary file.
      await claimFile(this.#fs, this.#folder, KEY_FILE, text, digest(text).slice(0, 16));
      await this.#fs.syncFolder(this.#folder);
    } catch (failure) {
      throw ioFailure(failure, "creating the state's key");
    }
  }

  async putKey(claim: LockClaim, text: string | undefined): Promise<void> {
    if (text !== undefined) return this.#replace(claim, KEY_FILE, [text]);
    await this.#assertTop(claim);
    await this.#fs.remove(`${this.#folder}/${KEY_FILE}`);
    await this.#fs.syncFolder(this.#folder);
  }

  async #replace(claim: LockClaim, name: string, text: Iterable<string>): Promise<void> {
    await this.#assertTop(claim);
    await replaceFile(this.#fs, this.#folder, name, text, claim.nonce, () => this.#assertTop(claim));
    await this.#fs.syncFolder(this.#folder);
  }

  async close(): Promise<void> {}
}

const GENERATION = /^state\.(\d{1,15})\.json$/;

function generationFile(serial: number): string {
  return `state.${serial}.json`;
}

async function serialsIn(fs: FileSystem, folder: string): Promise<readonly number[]> {
  return (await fs.list(folder))
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

async function forgetOld(fs: FileSystem, folder: string): Promise<void> {
  const serials = await serialsIn(fs, folder);
  for (const serial of serials.slice(GENERATIONS)) await fs.remove(`${folder}/${generationFile(serial)}`);
}

export interface FileStoreOptions extends StoreOptions {
  /** Absolute; made on first use. */
  readonly folder: string;
  readonly fs: FileSystem;
}

export function openFileStore(options: FileStoreOptions): StateStore {
  return new BackedStateStore(new FileBackend(filesWithFailures(options.fs), options.folder), options);
}
