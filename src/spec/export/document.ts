// The live workspace as a spec: sections, keys and values with comments, and the sources that belong to it. Pure.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import type { Live } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import { hasContent, secretField } from "../content-kinds.ts";
import { escaped } from "../template.ts";
import { type Placed, placed } from "./addresses.ts";
import { type Source, sourcesOf } from "./sources.ts";
import { type Writing, writtenValues } from "./values.ts";

export interface ExportInput {
  readonly registry: Registry;
  /** Ids in `names` fields are names already. */
  readonly live: Live;
  /** The kinds to export. Members of a kind are exported inside their parents. */
  readonly kinds: ReadonlySet<string>;
  readonly only?: (address: Address) => boolean;
  /** Also what every workspace has. */
  readonly builtIn: boolean;
  /** Also defaults, and what nobody has to manage. */
  readonly full: boolean;
  /** Secrets with a source that has to be filled, instead of a comment. */
  readonly secrets: boolean;
}

/** One key of a spec: a value, or further keys, with the comment above it. */
export type DocumentMember = {
  readonly key: string;
  readonly above?: readonly string[];
} & ({ readonly value: Json } | { readonly members: readonly DocumentMember[] });

export interface Exported {
  readonly document: readonly DocumentMember[];
  readonly sources: readonly Source[];
  readonly addresses: readonly Address[];
  /** What could have been exported, for suggestions. */
  readonly known: readonly Address[];
  /** Environment variables that an apply needs. */
  readonly variables: readonly string[];
  /** What could not be read. */
  readonly diagnostics: readonly Diagnostic[];
}

export function exported(input: ExportInput): Exported {
  return new Exporting(input).all();
}

class Exporting {
  readonly #input: ExportInput;
  readonly #chosen: ReadonlyMap<string, readonly Placed[]>;
  readonly #known: readonly Address[];
  readonly #sources: ReadonlyMap<Address, Source>;
  readonly #writing: Writing;
  /** Names for secrets by address; no two share one. */
  readonly #variables: ReadonlyMap<Address, string>;
  readonly #diagnostics: Diagnostic[] = [];

  constructor(input: ExportInput) {
    this.#input = input;
    const all = new Map(input.registry.kinds.map((provider) => [provider.kind, this.#placed(provider)]));
    this.#known = [...all.values()].flatMap((ones) => ones.map((one) => one.address));
    this.#chosen = this.#choose(all);
    const contents = input.registry.kinds.filter(hasContent).flatMap(({ kind }) => this.#of(kind));
    this.#sources = new Map(sourcesOf(contents).map((source) => [source.of.address, source]));
    this.#variables = variablesFor(
      input.registry.kinds
        .filter((provider) => secretField(provider) !== undefined)
        .flatMap(({ kind }) => this.#of(kind)),
    );
    this.#writing = this.#writer();
  }

  all(): Exported {
    const { registry } = this.#input;
    const document = registry.kinds
      .filter((provider) => provider.nested === undefined)
      .map((provider) => ({
        key: provider.kind,
        value: this.#of(provider.kind).map((one) => this.#member(one)),
      }))
      .filter((section) => section.value.length > 0);
    return {
      document,
      sources: [...this.#sources.values()],
      addresses: registry.kinds.flatMap((provider) =>
        this.#isComment(provider) ? [] : this.#of(provider.kind).map((one) => one.address),
      ),
      known: this.#known,
      variables: this.#input.secrets ? [...this.#variables.values()].sort() : [],
      diagnostics: this.#diagnostics,
    };
  }

  /** Secrets that stand in a comment only are no resources of the spec. */
  #isComment(provider: Provider): boolean {
    return !this.#input.secrets && secretField(provider) !== undefined;
  }

  #of(kind: string): readonly Placed[] {
    return this.#chosen.get(kind) ?? [];
  }

  #placed(provider: Provider): readonly Placed[] {
    const { live, kinds, builtIn } = this.#input;
    const found = live.get(provider.kind);
    if (found === undefined || !kinds.has(provider.kind)) return [];
    if (!found.readable) {
      this.#diagnostics.push(found.diagnostic);
      return [];
    }
    this.#diagnostics.push(...found.unreadableParents.values());
    const ours = found.objects.filter((one) => builtIn || !isBuiltIn(provider, one.name));
    return placed(provider, ours);
  }

  /** The things that were asked for, and the parents of members that were. */
  #choose(all: ReadonlyMap<string, readonly Placed[]>): ReadonlyMap<string, readonly Placed[]> {
    const { only, registry } = this.#input;
    if (only === undefined) return all;
    const wanted = new Set<Address>();
    for (const ones of all.values()) for (const one of ones) if (only(one.address)) wanted.add(one.address);
    for (const { kind, nested } of registry.kinds)
      if (nested !== undefined)
        for (const one of all.get(kind) ?? [])
          if (wanted.has(one.address))
            for (const parent of all.get(nested.kind) ?? [])
              if (parent.live.name === parentOf(one.live.name)) wanted.add(parent.address);
    return new Map([...all].map(([kind, ones]) => [kind, ones.filter((one) => wanted.has(one.address))]));
  }

  #writer(): Writing {
    const { registry, full } = this.#input;
    const references = new Map<string, string>();
    for (const [kind, ones] of this.#chosen)
      for (const { live, address } of ones)
        references.set(`${kind}\n${live.id}`, `\${${address}.${registry.get(kind).idAttribute}}`);
    return {
      full,
      reference: (kind, id) => references.get(`${kind}\n${id}`),
      writtenElsewhere: () => false,
    };
  }

  /** A user's own groups and the members of groups are two ends of one thing; the group's end is written. */
  #writingOf(provider: Provider): Writing {
    const { registry } = this.#input;
    const after = registry.kinds.slice(registry.kinds.indexOf(provider) + 1);
    return {
      ...this.#writing,
      writtenElsewhere: (kind) =>
        this.#of(kind).length > 0 && after.some((one) => one.kind === kind && namesKind(one, provider.kind)),
    };
  }

  #member(one: Placed): DocumentMember {
    const inner = this.#inner(one);
    const nested = this.#nestedIn(one);
    const above = [...sharedNote(one), ...nested.notes];
    const value = [...inner, ...nested.members];
    const short = one.provider.nested?.shorthand;
    const [only, ...more] = inner;
    return {
      key: escaped(one.provider.nested === undefined ? one.key : memberOf(one.key)),
      value: only !== undefined && more.length === 0 && only.key === short ? only.value : value,
      ...(above.length === 0 ? {} : { above }),
    };
  }

  #inner(one: Placed): readonly DocumentMember[] {
    const { provider, live } = one;
    const source = this.#sources.get(one.address);
    if (source !== undefined) return [{ key: "source", value: source.path }];
    const named: DocumentMember[] =
      one.renamed && provider.nameField !== undefined
        ? [{ key: provider.nameField, value: escaped(live.name) }]
        : [];
    const values = writtenValues(provider, live.values, this.#writingOf(provider));
    return [...named, ...Object.entries(values).map(([key, value]) => ({ key, value }))];
  }

  #nestedIn(parent: Placed): {
    readonly members: readonly DocumentMember[];
    readonly notes: readonly string[];
  } {
    const members: DocumentMember[] = [];
    const notes: string[] = [];
    for (const provider of this.#input.registry.kinds) {
      if (provider.nested?.kind !== parent.provider.kind) continue;
      const { under } = provider.nested;
      const inside = this.#of(provider.kind).filter((one) => parentOf(one.live.name) === parent.live.name);
      if (inside.length === 0) continue;
      if (secretField(provider) === undefined)
        members.push({ key: under, value: inside.map((one) => this.#member(one)) });
      else if (this.#input.secrets)
        members.push({ key: under, value: inside.map((one) => this.#secret(one)) });
      else notes.push(...this.#secretNotes(under, inside));
    }
    return { members, notes };
  }

  #secret(one: Placed): DocumentMember {
    return { key: memberOf(one.live.name), value: { env: this.#variables.get(one.address) ?? "" } };
  }

  #secretNotes(under: string, inside: readonly Placed[]): readonly string[] {
    return [
      "Values of secrets cannot be read back. To manage them, write under the scope, with a source for each:",
      `  ${under}:`,
      ...inside.map((one) => `    ${memberOf(one.live.name)}: { env: ${this.#variables.get(one.address)} }`),
    ];
  }
}

function isBuiltIn(provider: Provider, name: string): boolean {
  const folded = provider.ignoreCase === true ? name.toLowerCase() : name;
  return (
    provider.builtIn?.some((one) => (provider.ignoreCase === true ? one.toLowerCase() : one) === folded) ===
    true
  );
}

function sharedNote({ sharing, live, address, provider }: Placed): readonly string[] {
  if (sharing < 2 || provider.unique) return [];
  return [
    `One of ${sharing} ${provider.kind} with this name (id ${live.id}). To take over this one:`,
    `workspace import ${address} ${live.id}`,
  ];
}

/** `ETL_DB_PASSWORD` for `etl/db-password`, with a number where another secret has that word already. */
function variablesFor(secrets: readonly Placed[]): ReadonlyMap<Address, string> {
  const taken = new Set<string>();
  const found = new Map<Address, string>();
  for (const { address, live } of secrets) {
    const word = live.name
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_");
    let name = word;
    for (let number = 2; taken.has(name); number++) name = `${word}_${number}`;
    taken.add(name);
    found.set(address, name);
  }
  return found;
}

function namesKind(provider: Provider, kind: string): boolean {
  const inside = (fields: Provider["fields"]): boolean =>
    Object.values(fields).some(
      (field) => field.items?.names === kind || (field.properties !== undefined && inside(field.properties)),
    );
  return inside(provider.fields);
}

/** Scope names hold no slash, so the first one ends the parent. */
const parentOf = (name: string): string => name.slice(0, Math.max(0, name.indexOf("/")));
const memberOf = (name: string): string => name.slice(name.indexOf("/") + 1);
