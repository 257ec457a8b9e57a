// Stores a state in a folder: state.json, journal.jsonl, lock.<fence>, key, and up to five earlier versions as
// state.<serial>.json.

import { digest } from "../../../core/digest.ts";
import { defined } from "../../../core/json.ts";
import { claimInFolder, claimText, fencesIn, lockFile, overtaken } from "../../lock/lock.ts";
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

  syncJournal(): Promise<void> {
    return this.#syncJournal();
  }

  async serial(): Promise<undefined> {
    return undefined;
  }

  latestClaim(): Promise<LatestClaim | undefined> {
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
      write: async (present, lines) => {
        await this.#assertTop(present);
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

interface FileStoreOptions extends StoreOptions {
  /** Absolute; made on first use. */
  readonly folder: string;
  readonly fs: FileSystem;
}

export function openFileStore(options: FileStoreOptions): StateStore {
  return new BackedStateStore(new FileBackend(filesWithFailures(options.fs), options.folder), options);
}

/** The caller syncs the folder once after all files. `check` throws right before the rename if the lock was lost. */
async function replaceFile(
  fs: FileSystem,
  folder: string,
  name: string,
  text: Iterable<string>,
  mark: string,
  check: () => Promise<void> = async () => {},
): Promise<void> {
  const temporary = `${folder}/${name}.${mark}.new`;
  await writeDurably(fs, temporary, text);
  try {
    await check();
    await fs.rename(temporary, `${folder}/${name}`);
  } catch (failure) {
    await check();
    throw failure;
  }
}

/** Creates a file only if none exists; false if one exists. */
async function claimFile(
  fs: FileSystem,
  folder: string,
  name: string,
  text: string,
  mark: string,
): Promise<boolean> {
  const temporary = `${folder}/${name}.${mark}.new`;
  try {
    await writeDurably(fs, temporary, [text]);
    return await fs.link(temporary, `${folder}/${name}`);
  } finally {
    await fs.remove(temporary);
  }
}

async function writeDurably(fs: FileSystem, path: string, text: Iterable<string>): Promise<void> {
  const file = await fs.open(path, "fresh");
  try {
    for (const piece of text) await file.write(new TextEncoder().encode(piece));
    await file.sync();
  } finally {
    await file.close();
  }
}

function latestClaim(fs: FileSystem, folder: string): Promise<LatestClaim | undefined> {
  return claimInFolder({
    list: () => fs.list(folder),
    read: (name) => fs.read(`${folder}/${name}`),
    shown: (name) => `${folder}/${name}`,
  });
}

/** Acquires the fencing token of a claim; false if it or a greater one exists. */
async function makeClaim(fs: FileSystem, folder: string, claim: LockClaim): Promise<boolean> {
  const { fence } = claim;
  if (!(await claimFile(fs, folder, lockFile(fence), claimText(claim), claim.nonce))) return false;
  const [greatest, ...rest] = fencesIn(await fs.list(folder));
  if (greatest !== fence) {
    // A folder listing is not a snapshot: a greater claim was created during the listing.
    await fs.remove(`${folder}/${lockFile(fence)}`);
    return false;
  }
  for (const old of rest) await fs.remove(`${folder}/${lockFile(old)}`);
  await fs.syncFolder(folder);
  return true;
}

/** Rewrites a claim: a heartbeat or its release. No other process writes this file. */
async function rewriteClaim(fs: FileSystem, folder: string, claim: LockClaim): Promise<void> {
  await replaceFile(fs, folder, lockFile(claim.fence), [claimText(claim)], claim.nonce);
}

/** Throws Failure with STATE_LOCK_LOST unless this claim is the greatest in the folder. */
async function assertLatestClaim(fs: FileSystem, folder: string, fence: number): Promise<void> {
  const [greatest] = fencesIn(await fs.list(folder));
  if (greatest !== fence) throw overtaken(greatest);
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
