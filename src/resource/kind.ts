// A kind in three parts (its definition, its planning rules, and its operations), and the registry of kinds.

import { type Address, kindOf } from "../core/address.ts";
import type { FieldDialect, FieldSchema, FieldTable, Severity } from "./field-schema.ts";
import type { ProviderOperations } from "./operations.ts";
import type { PlanningRules } from "./planning.ts";

/**
 * How the next run resolves a crash between a creation and its answer (design 6): it finds the object by its unique name, sends the request
 * again, or finds it by a token, in a tag, or in a name that a second request replaces.
 */
type CreationRecovery = "client-named" | "repeatable" | "tagged" | "two-phase";

/**
 * How an object that cannot be changed in place is replaced (design 5): the new one is created before the old one is deleted, also after the
 * old one got another name, or after the deletion.
 */
export type ReplaceStrategy = "create-first" | "rename-aside" | "delete-first";

export interface Kind {
  readonly kind: string;
  /** `pool` and `pools`, for sentences. */
  readonly singular: string;
  readonly description: string;
  readonly fields: FieldTable;
  /** The fields of all dialects and clouds, for messages; unset where `fields` has all. */
  readonly allFields?: FieldTable;
  /** How much it matters if an object comes or goes, or a field differs that names no severity; `other` where unset. */
  readonly severity?: Severity;
  /** The field that holds the natural key; unset in a spec it is the resource's own name. Undefined: the resource's name is the key itself. */
  readonly nameField: string | undefined;
  /** Objects have IDs of the service, although their key in a spec is their name: Git folders. */
  readonly numbered?: true;
  readonly unique: boolean;
  /** Names that differ only in case are equal; if they are of principals, those of users and application IDs. */
  readonly ignoreCase?: true | "principals";
  /** The attribute under which the remote id is referred to: `instance_pool_id`. */
  readonly idAttribute: string;
  readonly creationRecovery: CreationRecovery;
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
  /** The only dialect that has the kind. */
  readonly dialect?: FieldDialect["dialect"];
  /** The only cloud that has the kind. */
  readonly cloud?: FieldDialect["cloud"];
}

/** A kind as planning needs it. Of the operations it asks only whether an object can be renamed. */
export interface PlannedKind extends Kind {
  readonly planning: PlanningRules;
  readonly operations: { readonly rename?: unknown };
}

export interface Provider extends PlannedKind {
  readonly operations: ProviderOperations;
}

/** `K`: how much of a kind the code needs that gets the registry. */
export interface Registry<K extends Kind = Provider> {
  readonly kinds: readonly K[];
  /** Kinds that this dialect or cloud does not have, for messages. */
  readonly elsewhere: readonly Kind[];
  find(kind: string): K | undefined;
  /** The provider of a kind that must be known; asserts. */
  get(kind: string): K;
  of(address: Address): K;
}

export type KindRegistry = Registry<Kind>;
export type PlanningRegistry = Registry<PlannedKind>;

export function registryOf(kinds: readonly Provider[], elsewhere: readonly Kind[] = []): Registry {
  const byName = new Map(kinds.map((provider) => [provider.kind, provider]));
  const get = (kind: string): Provider => {
    const provider = byName.get(kind);
    if (provider === undefined)
      throw new Error(`no provider for kind ${kind}: addresses are checked when a spec or a state is read`);
    return provider;
  };
  return { kinds, elsewhere, find: (kind) => byName.get(kind), get, of: (address) => get(kindOf(address)) };
}

/** A value that a spec never holds: it is named by its source instead. */
export function isSecretValue(field: FieldSchema): boolean {
  return field.writeOnly === true && field.sensitive === true;
}

/** The most bytes that a secret holds (contract A 8). */
export const SECRET_BYTES = 128 << 10;

/** Cached, because each resource needs it several times. */
export function secretField({ fields }: Pick<Kind, "fields">): string | undefined {
  if (!secretFields.has(fields))
    secretFields.set(
      fields,
      Object.keys(fields).find((name) => isSecretValue(fields[name] ?? {})),
    );
  return secretFields.get(fields);
}

const secretFields = new WeakMap<FieldTable, string | undefined>();

/** Kinds whose payload is a file of the spec's folder: notebooks and files. */
export function hasContent(provider: Kind): boolean {
  return provider.fields.source?.source === true && secretField(provider) === undefined;
}

/** The fields with the digest of a content. */
export const CONTENT_FIELDS = ["content", "imported"] as const;

/** The content of a file that has no other form to be compared in: `12 bytes, sha256 9f86…`. */
export function sizeAndDigest(size: number, sha256: string): string {
  return `${size} bytes, sha256 ${sha256}`;
}

/** Whether a value is the digest of a content: of its cells, or of a file after its size. */
export const isContentDigest = (value: string): boolean =>
  /^(?:\d+ bytes, sha256 )?[0-9a-f]{64}$/.test(value);

/** Set from the file's bytes, never written. */
export function isContentField(provider: Kind, name: string): boolean {
  return CONTENT_FIELDS.some((field) => field === name) && hasContent(provider);
}
