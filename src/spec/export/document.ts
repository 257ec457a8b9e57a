// Converts the workspace to a spec: sections, keys, values with comments, and sources. Pure.

import { type Address, memberOf, parentOf } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { membersWhere, type YamlMember } from "../../core/json.ts";
import { count, listed, shellWord } from "../../core/sentences.ts";
import { escaped } from "../../expressions/template.ts";
import { hasContent, type Provider, type Registry, secretField } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import { isBuiltIn } from "../../resource/names.ts";
import { extensionOf } from "../files/notebook-format.ts";
import {
  addressObjects,
  bundleFolder,
  type ExportedObject,
  type ExportSource,
  omittedObjects,
  secretNotes,
  sourcesOf,
  variablesFor,
} from "./addresses.ts";
import { type ExportWriter, namesKind, writtenValues } from "./values.ts";

export interface ExportInput {
  readonly registry: Registry;
  /** Ids in `names` fields are names already. */
  readonly live: Live;
  /** The kinds to export; members are nested in their parents. */
  readonly kinds: ReadonlySet<string>;
  readonly only?: (address: Address) => boolean;
  /** Also what every workspace has. */
  readonly builtIn: boolean;
  /** Include defaults and optional values. */
  readonly full: boolean;
  /** Secrets with a source that has to be filled, instead of a comment. */
  readonly secrets: boolean;
  /**
   * Another tool manages the objects: with single values that a spec usually leaves unmanaged, values that the service does not
   * return, and an import entry for each resource that a plan does not adopt without one.
   */
  readonly managed?: boolean;
  /** The expression to write in place of a value, if it stands for one. */
  expressionOf?(text: string): string | undefined;
  /** The file of a content that is in the folder already, relative to it. */
  sourceAt?(object: ExportedObject): string | undefined;
}

export interface ExportedSpec {
  readonly document: readonly YamlMember[];
  readonly sources: readonly ExportSource[];
  readonly addresses: readonly Address[];
  readonly objects: readonly ExportedObject[];
  readonly variables: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly losses: ExportLosses;
}

/** What the workspace has and the document has not. */
interface ExportLosses {
  readonly objects: number;
  readonly fields: number;
}

export function exportSpec(input: ExportInput): ExportedSpec {
  return new Exporting(input).all();
}

/** Every address that an export could have, for globs and suggestions. */
export function exportable(input: Omit<ExportInput, "only">): readonly Address[] {
  return input.registry.kinds.flatMap((provider) =>
    candidates(input, provider).map((object) => object.address),
  );
}

function candidates(input: Omit<ExportInput, "only">, provider: Provider): readonly ExportedObject[] {
  const liveKind = input.live.get(provider.kind);
  if (liveKind?.readable !== true || !input.kinds.has(provider.kind)) return [];
  const omitted = omittedObjects(provider, liveKind.objects);
  return addressObjects(
    provider,
    liveKind.objects.filter(
      (live) => !omitted.has(live) && (input.builtIn || !isBuiltIn(provider, live.name)),
    ),
  );
}

/** Fields of a content that the extension of its file says, if it has one. */
const SAID_BY_EXTENSION: ReadonlySet<string> = new Set(["format", "language"]);

class Exporting {
  readonly #input: ExportInput;
  readonly #chosen: ReadonlyMap<string, readonly ExportedObject[]>;
  readonly #sources: ReadonlyMap<Address, ExportSource>;
  readonly #variables: ReadonlyMap<Address, string>;
  readonly #references: ReadonlyMap<string, string>;

  constructor(input: ExportInput) {
    const { kinds } = input.registry;
    this.#input = input;
    this.#chosen = chosen(
      input,
      new Map(kinds.map((provider) => [provider.kind, candidates(input, provider)])),
    );
    const contents = kinds.filter(hasContent).flatMap(({ kind }) => this.#of(kind));
    this.#sources = new Map(
      sourcesOf(contents).map(({ of, path }) => [of.address, { of, path: input.sourceAt?.(of) ?? path }]),
    );
    const secrets = kinds
      .filter((provider) => secretField(provider) !== undefined)
      .flatMap(({ kind }) => this.#of(kind));
    this.#variables = variablesFor(secrets);
    this.#references = new Map(
      kinds.flatMap(({ kind, idAttribute }) =>
        this.#of(kind).map(
          (object) => [`${kind}\n${object.live.id}`, `\${${object.address}.${idAttribute}}`] as const,
        ),
      ),
    );
  }

  all(): ExportedSpec {
    const { kinds } = this.#input.registry;
    const written = kinds.filter((provider) => this.#input.secrets || secretField(provider) === undefined);
    const objects = written.flatMap(({ kind }) => this.#of(kind));
    const omitted = leftOut(this.#input);
    const incomplete = kinds.flatMap(({ kind }) => this.#of(kind)).flatMap(unknownFieldsOf);
    return {
      document: [
        ...kinds
          .filter((provider) => provider.nested === undefined && this.#of(provider.kind).length > 0)
          .map(({ kind }) => ({ key: kind, members: this.#of(kind).map((object) => this.#member(object)) })),
        ...(this.#input.managed === true ? importEntries(objects) : []),
      ],
      sources: [...this.#sources.values()],
      addresses: objects.map((object) => object.address),
      objects,
      variables: this.#input.secrets ? [...this.#variables.values()].sort() : [],
      diagnostics: [
        ...unread(this.#input),
        ...omitted.diagnostics,
        ...incomplete.map(({ diagnostic }) => diagnostic),
      ],
      losses: {
        objects: omitted.objects,
        fields: incomplete.reduce((sum, { fields }) => sum + fields.length, 0),
      },
    };
  }

  #of(kind: string): readonly ExportedObject[] {
    return this.#chosen.get(kind) ?? [];
  }

  #member(object: ExportedObject): YamlMember {
    const { provider, key } = object;
    const own = this.#fields(object);
    const nested = this.#nestedIn(object);
    const above = [...(this.#input.managed === true ? [] : sharedNotes(object)), ...nested.notes];
    const head = {
      key: escaped(provider.nested === undefined ? key : memberOf(key)),
      ...(above.length === 0 ? {} : { above }),
    };
    const [only, ...more] = own;
    if (more.length === 0 && only !== undefined && only.key === provider.nested?.shorthand && "value" in only)
      return { ...head, value: only.value };
    return { ...head, members: [...own, ...nested.members] };
  }

  #fields(object: ExportedObject): readonly YamlMember[] {
    const { provider, live } = object;
    if (secretField(provider) !== undefined)
      return [{ key: "env", value: this.#variables.get(object.address) ?? "" }];
    const source = this.#sources.get(object.address);
    const isSaid = source !== undefined && extensionOf(source.path) !== "";
    const own = isSaid ? membersWhere(live.values, (name) => !SAID_BY_EXTENSION.has(name)) : live.values;
    const values = Object.entries(writtenValues(provider, own, this.#writing(provider)));
    return [
      ...(source === undefined ? [] : [{ key: "source", value: source.path }]),
      ...(object.renamed ? [{ key: provider.nameField ?? "", value: escaped(live.name) }] : []),
      ...values.map(([key, value]) => ({ key, value })),
    ];
  }

  /** A user's groups and a group's members describe the same memberships; only the later kind's side is written. */
  #writing(provider: Provider): ExportWriter {
    const { kinds } = this.#input.registry;
    const later = new Set(kinds.slice(kinds.indexOf(provider) + 1));
    return {
      full: this.#input.full,
      managed: this.#input.managed === true,
      reference: (kind, id) => this.#references.get(`${kind}\n${id}`),
      expressionOf: (text) => this.#input.expressionOf?.(text),
      isWrittenAt: (kind) => {
        const other = this.#input.registry.get(kind);
        return this.#input.kinds.has(kind) && later.has(other) && namesKind(other, provider.kind);
      },
    };
  }

  #nestedIn(parent: ExportedObject): {
    readonly members: readonly YamlMember[];
    readonly notes: readonly string[];
  } {
    const members: YamlMember[] = [];
    const notes: string[] = [];
    for (const provider of this.#input.registry.kinds) {
      if (provider.nested?.kind !== parent.provider.kind) continue;
      const { under } = provider.nested;
      const inside = this.#of(provider.kind).filter(
        (object) => parentOf(object.live.name) === parent.live.name,
      );
      if (inside.length === 0) continue;
      if (secretField(provider) !== undefined && !this.#input.secrets)
        notes.push(...secretNotes(under, inside, this.#variables));
      else members.push({ key: under, members: inside.map((object) => this.#member(object)) });
    }
    return { members, notes };
  }
}

/** An ACL needs none: a plan adopts those of a managed scope. */
function importEntries(objects: readonly ExportedObject[]): readonly YamlMember[] {
  const value = objects
    .filter(({ provider }) => provider.nested === undefined || secretField(provider) !== undefined)
    .map(({ address, live }) => ({ to: escaped(address), id: escaped(live.id) }));
  return value.length === 0 ? [] : [{ key: "import", value }];
}

/** The requested objects, and the parents of requested members. */
function chosen(
  { only, registry }: ExportInput,
  all: ReadonlyMap<string, readonly ExportedObject[]>,
): ReadonlyMap<string, readonly ExportedObject[]> {
  if (only === undefined) return all;
  const wanted = new Set([...all.values()].flat().filter((object) => only(object.address)));
  for (const object of [...wanted]) {
    const kind = object.provider.nested?.kind;
    const parents = kind === undefined ? [] : (all.get(registry.get(kind).kind) ?? []);
    for (const parent of parents) if (parent.live.name === parentOf(object.live.name)) wanted.add(parent);
  }
  return new Map([...all].map(([kind, ones]) => [kind, ones.filter((object) => wanted.has(object))]));
}

/** Objects that no spec can express. What bundles deploy into one folder is reported together. */
function leftOut({ registry, live, kinds }: ExportInput) {
  const omitted = registry.kinds.flatMap((provider) => {
    const liveKind = live.get(provider.kind);
    if (liveKind?.readable !== true || !kinds.has(provider.kind)) return [];
    return [...omittedObjects(provider, liveKind.objects)].map(([omitted, reason]) => {
      const object = `the ${provider.singular} ${JSON.stringify(omitted.name)} (${omitted.id}) is`;
      return { object, reason, folder: bundleFolder(provider, omitted) };
    });
  });
  const messages = omitted.flatMap(({ object, reason, folder }) =>
    folder === undefined ? [`${object} not exported: ${reason}`] : [],
  );
  for (const [folder, { length }] of Map.groupBy(omitted, (content) => content.folder))
    if (folder !== undefined) {
      const objects = `${count(length, "object")} in the folder ${JSON.stringify(folder)}`;
      messages.push(`${objects} ${length === 1 ? "is" : "are"} not exported: bundles deploy to it`);
    }
  return {
    objects: omitted.length,
    diagnostics: messages.map((message) => warning("PLAN_UNMANAGEABLE", message)),
  };
}

/** Names only: a value may be secret. */
function unknownFieldsOf({ address, live }: ExportedObject) {
  const fields = live.unknownFields ?? [];
  if (fields.length === 0) return [];
  const message = `${address} is exported without ${listed(fields, "and", 20)}, which a spec cannot express`;
  const hint = "keep them elsewhere: a new object made from this spec lacks them";
  return [{ fields, diagnostic: warning("EXPORT_INCOMPLETE", message, { address, hint }) }];
}

function unread({ registry, live, kinds }: ExportInput): readonly Diagnostic[] {
  return registry.kinds.flatMap(({ kind }) => {
    const liveKind = kinds.has(kind) ? live.get(kind) : undefined;
    if (liveKind === undefined) return [];
    return liveKind.readable ? [...liveKind.unreadableParents.values()] : [liveKind.diagnostic];
  });
}

function sharedNotes({ sharing, live, address, provider }: ExportedObject): readonly string[] {
  if (sharing < 2 || provider.unique) return [];
  return [
    `One of ${sharing} ${provider.kind} with this name. To adopt this one, run:`,
    `  workspace import ${shellWord(address)} ${shellWord(live.id)}`,
  ];
}
