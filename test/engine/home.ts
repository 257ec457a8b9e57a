// The states of a site. A state that is not a file is reached through a connection that a test can stop, interrupt, or
// delay.

import { FileBackend } from "../../src/state/backends/file/file-backend.ts";
import type { StateBackend } from "../../src/state/model/backend.ts";
import { memoryFiles } from "../state/memory-files.ts";
import type { ProcessOptions, Site } from "./site.ts";

export const FOLDER = "/state";

/** `what` names a request or a statement, `changes` says whether it may change something. */
export type Line = <T>(what: string, changes: boolean, work: () => Promise<T>) => Promise<T>;

export interface Home {
  /** Encrypts what is kept. */
  readonly keyText?: string;
  /** The duration of each request of the engine: long enough that the lock is renewed now and then. */
  readonly latencyMs?: number;
  /** The place as one process reaches it. */
  place(site: Site, options: ProcessOptions): StateBackend;
  /** Everything that is kept outside of the disk, by name. */
  texts(site: Site): Promise<ReadonlyMap<string, string>>;
  /** The same once more, for a copy of the site. */
  copy(): Promise<Home>;
  close?(): Promise<void>;
}

export const onDisk: Home = {
  place: (site, { hooks }) => new FileBackend(memoryFiles(site.disk, hooks), FOLDER),
  texts: async () => new Map(),
  copy: async () => onDisk,
};
