// Live objects by kind. An unreadable kind or parent is never treated as empty.

import type { RemoteId } from "../core/address.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";
import type { Values } from "./field-schema.ts";

/** A live object, in spec form. */
export interface LiveObject {
  readonly id: RemoteId;
  /** Its name in an address: the natural key, or for kinds without one the name that the service shows (not unique). */
  readonly name: string;
  /** Spec form, defaults included; ids in `names` fields are turned into names by the engine. */
  readonly values: Values;
  /**
   * Metadata for planning: states, the creator (`creator_user_name`), timestamps, the token. Never compared. `implied`: the service makes
   * the object together with another one, so a spec that declares it adopts it.
   */
  readonly facts: JsonObject;
  /** Why no resource can be this object, such as `it has 2 tasks`. It is listed and otherwise ignored. */
  readonly unmanageable?: string;
  /** Fields that the caller may not read, which makes the object unmanageable: nothing is known of them, so they are not compared. */
  readonly unreadFields?: readonly string[];
  /** Dotted names of fields with a value that the kind does not know: an update keeps them, a new object lacks them. */
  readonly unknownFields?: readonly string[];
}

export type LiveKind =
  | {
      readonly readable: true;
      readonly objects: readonly LiveObject[];
      /** For kinds whose names are paths: known names with an object of another kind there, or where their folder must be. */
      readonly others?: ReadonlyMap<string, OtherObject>;
      /** For nested kinds: parents whose members could not be read. */
      readonly unreadableParents: ReadonlyMap<string, Diagnostic>;
    }
  | { readonly readable: false; readonly diagnostic: Diagnostic };

/** `type` in lower case: "folder", "notebook". */
export interface OtherObject {
  readonly path: string;
  readonly type: string;
}

/** Kinds that nothing asked for are absent; nothing is planned of them. */
export type Live = ReadonlyMap<string, LiveKind>;
