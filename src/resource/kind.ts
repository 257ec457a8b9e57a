// The definition of a kind: a table of fields, its identity, and its recovery class. Data only.

import type { FieldTable, Severity } from "./field-schema.ts";

/** How a crash between a request and its answer is resolved on the next run (design 6). */
export type RecoveryClass = "client-named" | "repeatable" | "tagged" | "two-phase";

/** How an object that cannot be changed in place is replaced (design 5). */
export type ReplaceStrategy = "create-first" | "rename-aside" | "delete-first";

export interface Kind {
  readonly kind: string;
  /** `pool` and `pools`, for sentences. */
  readonly singular: string;
  readonly description: string;
  readonly fields: FieldTable;
  /** How much it matters if an object comes or goes, or a field differs that names no severity; `other` where unset. */
  readonly severity?: Severity;
  /** The field that holds the natural key; unset in a spec it is the resource's own name. Undefined: the resource's name is the key itself. */
  readonly nameField: string | undefined;
  readonly unique: boolean;
  readonly ignoreCase?: true;
  /** The attribute under which the remote id is referred to: `instance_pool_id`. */
  readonly idAttribute: string;
  readonly recovery: RecoveryClass;
  readonly replaceStrategy: ReplaceStrategy;
  /** For kinds whose names are paths: the tree that contains them, and whether they are its folders. */
  readonly tree?: { readonly root: "workspace" | "files"; readonly folders: boolean };
  /** For kinds written inside another resource: `acls` inside `scopes` under the key `acls`. `shorthand` is the field that a bare value means. */
  readonly nested?: { readonly kind: string; readonly under: string; readonly shorthand?: string };
  /** The most that a workspace, or a parent, may hold. */
  readonly limit?: { readonly max: number; readonly per: "workspace" | "parent" };
  /** Kinds that may use an object of this kind, managed or not: they are read before a deletion. */
  readonly usedBy?: readonly string[];
  /** Names that exist in every workspace and are never created or deleted. */
  readonly builtIn?: readonly string[];
}
