// A folder in the workspace's file system as a state backend. It has no transactions and no append, so every write creates a file; docs/state.md lists its limits.

import type { Writer } from "../../../api/contract/reader.ts";
import { Failure } from "../../../core/diagnostic.ts";
import { defined } from "../../../core/json.ts";
import { claimInFolder, claimText, fencesIn, lockFile } from "../../lock/claim-file.ts";
import { overtaken } from "../../lock/lock.ts";
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
import type { StateStore } from "../../model/store.ts";
import { BackedStateStore, type StoreOptions } from "../../store/state-store.ts";
import {
  copyAside,
  Files,
  findJournal,
  type JournalName,
  journalFolder,
  journalsIn,
  NO_STATE,
  readStoredText,
  type StateName,
  sameState,
  stateFile,
  statesIn,
} from "./files.ts";

const utf8 = new TextEncoder();

interface WorkspaceBackendOptions {
  readonly folder: string;
  readonly close?: () => Promise<void>;
}

export class WorkspaceBackend implements StateBackend {
  readonly names: BackendNames;
  readonly close: () => Promise<void>;
  readonly #files: Files;
  readonly #folder: string;
  /** The state that a journal continues: as loaded, or as last written. */
  #base: StateName = NO_STATE;
  #epoch = 0;

  constructor(files: Files, { folder, close = async () => undefined }: WorkspaceBackendOptions) {
    this.#files = files;
    this.close = close;
    this.#folder = folder;
    this.names = {
      location: `workspace:${folder}`,
      state: `${folder}/state`,
      journal: `${folder}/journal`,
      key: `${folder}/key`,
    };
  }

  prepare(): Promise<void> {
    return this.#files.makeFolder(this.#folder);
  }

  #list(): Promise<readonly string[]> {
    return this.#files.names(this.#folder);
  }

  #path(name: string): string {
    return `${this.#folder}/${name}`;
  }

  #piece(name: string): Promise<StoredText | undefined> {
    return readStoredText(this.#files, this.#path(name));
  }

  async load(): Promise<StoredState> {
    const names = await this.#list();
    const foundJournal = await findJournal(this.#files, this.#folder, names);
    this.#base = foundJournal?.name.base ?? statesIn(names)[0] ?? NO_STATE;
    const state = this.#base.serial === 0 ? undefined : await this.#piece(stateFile(this.#base));
    return defined({ state, journal: foundJournal?.piece });
  }

  /** The service keeps what it confirmed. */
  async syncJournal(): Promise<void> {}

  async serial(): Promise<undefined> {
    return undefined;
  }

  latestClaim(): Promise<LatestClaim | undefined> {
    return claimInFolder({
      list: () => this.#list(),
      read: (name) => this.#files.read(this.#path(name)),
      shown: (name) => `${this.#path(name)} in the workspace`,
    });
  }

  async claim(claim: LockClaim): Promise<boolean> {
    const { fence } = claim;
    const path = this.#path(lockFile(fence));
    if (!(await this.#files.create(path, utf8.encode(claimText(claim))))) return false;
    const [greatest, ...rest] = fencesIn(await this.#list());
    if (greatest !== fence) {
      await this.#files.remove(path);
      return false;
    }
    for (const old of rest) await this.#files.remove(this.#path(lockFile(old)));
    return true;
  }

  async renew(claim: LockClaim): Promise<void> {
    await this.#assertTop(claim);
    await this.#files.put(this.#path(lockFile(claim.fence)), utf8.encode(claimText(claim)));
  }

  async #assertTop({ fence }: LockClaim): Promise<readonly string[]> {
    const names = await this.#list();
    const [greatest] = fencesIn(names);
    if (greatest !== fence) throw overtaken(greatest);
    return names;
  }

  /** The new state becomes current when a journal continues it. */
  async putState(claim: LockClaim, { text, serial }: StateWrite): Promise<void> {
    await this.#assertTop(claim);
    const name = { serial, fence: claim.fence };
    await this.#files.put(this.#path(stateFile(name)), utf8.encode([...text].join("")));
    this.#base = name;
  }

  async beginJournal(claim: LockClaim, line: string): Promise<JournalSink> {
    await this.#assertTop(claim);
    this.#epoch += 1;
    const name = { fence: claim.fence, epoch: this.#epoch, base: this.#base };
    const folder = this.#path(journalFolder(name));
    await this.#files.makeFolder(folder);
    await this.#files.put(`${folder}/0`, utf8.encode(line));
    await this.#forgetOld(name);
    let segments = 1;
    return {
      write: async (present, lines) => {
        await this.#assertTop(present);
        await this.#files.put(`${folder}/${segments}`, utf8.encode(lines.join("")));
        segments += 1;
      },
      close: async () => undefined,
    };
  }

  /** Remaining files are never read, so a failure here is ignored. */
  async #forgetOld(present: JournalName): Promise<void> {
    try {
      const names = await this.#list();
      const journals = journalsIn(names).filter(
        (journalName) =>
          journalName.fence < present.fence ||
          (journalName.fence === present.fence && journalName.epoch < present.epoch),
      );
      const states = statesIn(names).filter((stateName) => !sameState(stateName, this.#base));
      const old = [...journals.map(journalFolder), ...states.slice(GENERATIONS).map(stateFile)];
      for (const name of old) await this.#files.remove(this.#path(name));
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
    }
  }

  async #older(): Promise<readonly StateName[]> {
    const names = await this.#list();
    const base = journalsIn(names)[0]?.base;
    return statesIn(names).filter((stateName) => base === undefined || stateName.serial < base.serial);
  }

  async generations(): Promise<readonly number[]> {
    return [...new Set((await this.#older()).map(({ serial }) => serial))];
  }

  async generation(serial: number): Promise<StoredText | undefined> {
    const name = (await this.#older()).find((stateName) => stateName.serial === serial);
    return name === undefined ? undefined : this.#piece(stateFile(name));
  }

  async putGeneration(claim: LockClaim, serial: number, text: Iterable<string>): Promise<void> {
    await this.#assertTop(claim);
    const name = (await this.#older()).find((stateName) => stateName.serial === serial);
    if (name !== undefined)
      await this.#files.put(this.#path(stateFile(name)), utf8.encode([...text].join("")));
  }

  async keepAside(claim: LockClaim): Promise<string> {
    const names = await this.#assertTop(claim);
    const copyPath = this.#path(`aside.${claim.fence}`);
    await copyAside(this.#files, this.#folder, names, copyPath);
    return copyPath;
  }

  async copies(): Promise<readonly string[]> {
    const names = await this.#list();
    return names.filter((name) => /^aside\.\d+$/.test(name)).map((name) => this.#path(name));
  }

  async key(): Promise<string | undefined> {
    const piece = await this.#piece("key");
    return piece === undefined ? undefined : new TextDecoder().decode(piece.bytes);
  }

  async makeKey(text: string): Promise<void> {
    await this.#files.create(this.#path("key"), utf8.encode(text));
  }

  async putKey(claim: LockClaim, text: string | undefined): Promise<void> {
    await this.#assertTop(claim);
    if (text === undefined) await this.#files.remove(this.#path("key"));
    else await this.#files.put(this.#path("key"), utf8.encode(text));
  }
}

interface WorkspaceStoreOptions extends StoreOptions {
  readonly api: Writer;
  /** Absolute, in the workspace's file system; made on first use. */
  readonly folder: string;
  readonly close?: () => Promise<void>;
}

export function openWorkspaceStore(options: WorkspaceStoreOptions): StateStore {
  const files = new Files(options.api);
  return new BackedStateStore(new WorkspaceBackend(files, options), options);
}
