// A state in a folder.

import { KeptStore, type StoreOptions } from "../kept-store.ts";
import type { FileSystem } from "../ports.ts";
import type { StateStore } from "../store.ts";
import { FilePlace } from "./file-place.ts";
import { toldFiles } from "./told-files.ts";

export interface FileStoreOptions extends StoreOptions {
  /** Absolute; made on first use. */
  readonly folder: string;
  readonly fs: FileSystem;
}

export function openFileStore(options: FileStoreOptions): StateStore {
  return new KeptStore(new FilePlace(toldFiles(options.fs), options.folder, options.clock), options);
}
