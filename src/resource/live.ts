// What the workspace holds now, by kind. A kind, or a parent, that could not be read is never taken for empty.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { LiveObject } from "./provider.ts";

export type LiveKind =
  | {
      readonly readable: true;
      readonly objects: readonly LiveObject[];
      /** For nested kinds: parents whose members could not be read. */
      readonly unreadableParents: ReadonlyMap<string, Diagnostic>;
    }
  | { readonly readable: false; readonly diagnostic: Diagnostic };

/** Kinds that nothing asked for are absent; nothing is planned of them. */
export type Live = ReadonlyMap<string, LiveKind>;
