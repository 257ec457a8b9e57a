// Stores a state in a folder: state.json, journal.jsonl, lock.<fence>, key, and up to five earlier versions as
// state.<serial>.json.

import { digest } from "../../../core/digest.ts";
import { defined } from "../../../core/json.ts";
import { claimInFolder, claimText, fencesIn, lockFile } from "../../lock/claim-file.ts";
import { overtaken } from "../../lock/lock.ts";
import {
  allMissing,
  type BackendNames,
  GENERATIONS,
  ioFailure,
  type JournalSink,
  type LatestClaim,
  type LockClaim,
  type StateBackend,
  type StateWrite,
  type StoredState,
  type StoredText,
} from "../../model/backend.ts";
import type { FileSystem, StateStore } from "../../model/store.ts";
import { BackedStateStore, type StoreOptions } from "../../store/state-store.ts";

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
    this.names = { location: folder, state: STATE_FILE, journal: JOURNAL_FILE, key };
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

  /** Lines that a killed run wrote and never synced are made durable before a state that contains them can outlive them. */
  async syncJournal(): Promise<void> {
    if (!(await this.#list()).includes(JOURNAL_FILE)) return;
    const file = await this.#fs.open(`${this.#folder}/${JOURNAL_FILE}`, "append");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async serial(): Promise<undefined> {
    return undefined;
  }

  latestClaim(): Promise<LatestClaim | undefined> {
    return claimInFolder({
      list: () => this.#list(),
      read: (name) => this.#fs.read(`${this.#folder}/${name}`),
      shown: (name) => `${this.#folder}/${name}`,
    });
  }

  /** Acquires the fencing token of a claim; false if it or a greater one exists. */
  async claim(claim: LockClaim): Promise<boolean> {
    const { fence, nonce } = claim;
    if (!(await this.#create(lockFile(fence), claimText(claim), nonce))) return false;
    const [greatest, ...rest] = fencesIn(await this.#list());
    if (greatest !== fence) {
      // A folder listing is not a snapshot: a greater claim was created during the listing.
      await this.#remove(lockFile(fence));
      return false;
    }
    for (const old of rest) await this.#remove(lockFile(old));
    await this.#syncFolder();
    // A holder that was suspended after its last check of the lock could still rename its finished file.
    for (const name of await this.#list()) if (UNFINISHED.test(name)) await this.#remove(name);
    return true;
  }

  /** No other process writes this file. */
  async renew(claim: LockClaim): Promise<void> {
    await this.#assertTop(claim);
    await this.#replace(claim.nonce, lockFile(claim.fence), [claimText(claim)]);
  }

  /** Throws Failure with STATE_LOCK_LOST unless this claim is the greatest in the folder. */
  async #assertTop({ fence }: LockClaim): Promise<void> {
    const [greatest] = fencesIn(await this.#list());
    if (greatest !== fence) throw overtaken(greatest);
  }

  async putState(claim: LockClaim, { text, before, keepsBefore }: StateWrite): Promise<void> {
    await this.#assertTop(claim);
    await this.syncJournal();
    if (keepsBefore) await this.#link(STATE_FILE, generationFile(before));
    await this.#replaceHeld(claim, STATE_FILE, text);
    const serials = await this.generations();
    for (const serial of serials.slice(GENERATIONS)) await this.#remove(generationFile(serial));
  }

  /** A process that still has the old journal open writes to an unlinked file. */
  async beginJournal(claim: LockClaim, line: string): Promise<JournalSink> {
    await this.#assertTop(claim);
    await this.#replaceHeld(claim, JOURNAL_FILE, [line]);
    const file = await this.#fs.open(`${this.#folder}/${JOURNAL_FILE}`, "append");
    return {
      write: async (present, lines) => {
        await this.#assertTop(present);
        await file.write(new TextEncoder().encode(lines.join("")));
        await file.sync();
      },
      close: () => file.close(),
    };
  }

  async generations(): Promise<readonly number[]> {
    return (await this.#list())
      .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => b - a);
  }

  generation(serial: number): Promise<StoredText | undefined> {
    return this.#piece(generationFile(serial));
  }

  async putGeneration(claim: LockClaim, serial: number, text: Iterable<string>): Promise<void> {
    await this.#assertTop(claim);
    await this.#replaceHeld(claim, generationFile(serial), text);
  }

  async keepAside(claim: LockClaim): Promise<string> {
    await this.#assertTop(claim);
    for (const name of [STATE_FILE, JOURNAL_FILE])
      if ((await this.#piece(name)) !== undefined) await this.#link(name, `${name}.aside-${claim.fence}`);
    await this.#syncFolder();
    return `${this.#folder}/*.aside-${claim.fence}`;
  }

  async copies(): Promise<readonly string[]> {
    const fences = (await this.#list()).flatMap((name) => /\.aside-(\d+)$/.exec(name)?.[1] ?? []);
    return [...new Set(fences)].map((fence) => `${this.#folder}/*.aside-${fence}`);
  }

  async key(): Promise<string | undefined> {
    const piece = await this.#piece(KEY_FILE);
    return piece === undefined ? undefined : new TextDecoder().decode(piece.bytes);
  }

  async makeKey(text: string): Promise<void> {
    try {
      // Two runs that make a key at once must not write the same temporary file.
      await this.#create(KEY_FILE, text, digest(text).slice(0, 16));
      await this.#syncFolder();
    } catch (failure) {
      throw ioFailure(failure, "creating the state's key");
    }
  }

  async putKey(claim: LockClaim, text: string | undefined): Promise<void> {
    await this.#assertTop(claim);
    if (text !== undefined) return this.#replaceHeld(claim, KEY_FILE, [text]);
    await this.#remove(KEY_FILE);
    await this.#syncFolder();
  }

  async close(): Promise<void> {}

  #list(): Promise<readonly string[]> {
    return this.#fs.list(this.#folder);
  }

  #remove(name: string): Promise<void> {
    return this.#fs.remove(`${this.#folder}/${name}`);
  }

  #link(from: string, to: string): Promise<boolean> {
    return this.#fs.link(`${this.#folder}/${from}`, `${this.#folder}/${to}`);
  }

  #syncFolder(): Promise<void> {
    return this.#fs.syncFolder(this.#folder);
  }

  /** Replaces a file that only the holder of the lock may write; checks the lock right before the file gets its name. */
  async #replaceHeld(claim: LockClaim, name: string, text: Iterable<string>): Promise<void> {
    await this.#replace(claim.nonce, name, text, () => this.#assertTop(claim));
    await this.#syncFolder();
  }

  async #replace(
    mark: string,
    name: string,
    text: Iterable<string>,
    check: () => Promise<void> = async () => {},
  ): Promise<void> {
    const temporary = `${this.#folder}/${name}.${mark}.new`;
    await this.#writeDurably(temporary, text);
    try {
      await check();
      await this.#fs.rename(temporary, `${this.#folder}/${name}`);
    } catch (failure) {
      await check();
      throw failure;
    }
  }

  /** Creates a file only if none exists; false if one exists. */
  async #create(name: string, text: string, mark: string): Promise<boolean> {
    const temporary = `${name}.${mark}.new`;
    try {
      await this.#writeDurably(`${this.#folder}/${temporary}`, [text]);
      return await this.#link(temporary, name);
    } finally {
      await this.#remove(temporary);
    }
  }

  async #writeDurably(path: string, text: Iterable<string>): Promise<void> {
    const file = await this.#fs.open(path, "fresh");
    try {
      for (const piece of text) await file.write(new TextEncoder().encode(piece));
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

const GENERATION = /^state\.(\d{1,15})\.json$/;

function generationFile(serial: number): string {
  return `state.${serial}.json`;
}

interface FileStoreOptions extends StoreOptions {
  /** Absolute; made on first use. */
  readonly folder: string;
  readonly fs: FileSystem;
}

export function openFileStore(options: FileStoreOptions): StateStore {
  return new BackedStateStore(new FileBackend(filesWithFailures(options.fs), options.folder), options);
}

function filesWithFailures(fs: FileSystem): FileSystem {
  const withFailure = async <T>(doing: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (failure) {
      throw ioFailure(failure, doing);
    }
  };
  return {
    read: (path) => withFailure(`reading ${path}`, fs.read(path)),
    list: (folder) => withFailure(`reading the folder ${folder}`, fs.list(folder)),
    makeFolder: (path) => withFailure(`creating the state's folder ${path}`, fs.makeFolder(path)),
    open: (path, how) => withFailure(`writing ${path}`, fs.open(path, how)),
    rename: (from, to) => withFailure(`writing ${to}`, fs.rename(from, to)),
    link: (from, to) => withFailure(`writing ${to}`, fs.link(from, to)),
    remove: (path) => withFailure(`removing ${path}`, fs.remove(path)),
    syncFolder: (path) => withFailure(`writing the folder ${path}`, fs.syncFolder(path)),
  };
}
