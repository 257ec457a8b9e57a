// A state in the workspace that it describes: no other service is needed. docs/state.md says what that cannot promise.

import type { Writer } from "../../resource/verbs.ts";
import { KeptStore, type StoreOptions } from "../kept-store.ts";
import type { StateStore } from "../store.ts";
import { Files, type Tell } from "./files.ts";
import { WorkspacePlace } from "./workspace-place.ts";

export interface WorkspaceStoreOptions extends StoreOptions {
  readonly api: Writer;
  readonly tell: Tell;
  /** Absolute, in the workspace's file system; made on first use. */
  readonly folder: string;
  /** Ends what the API goes through. */
  readonly close?: () => Promise<void>;
}

export function openWorkspaceStore(options: WorkspaceStoreOptions): StateStore {
  const files = new Files(options.api, options.tell);
  return new KeptStore(new WorkspacePlace(files, options), options);
}
