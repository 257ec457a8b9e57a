// Which resource needs which: by references, by the names that fields hold, by its own name, and by being nested.

import type { Address } from "../core/address.ts";
import { type FieldSchema, somewhere, type Values } from "../resource/fields.ts";
import { foldName } from "../resource/names.ts";
import type { Registry } from "../resource/registry.ts";
import { walkFields } from "./field-walk.ts";
import type { Written } from "./flatten.ts";
import { type MapNode, textOf } from "./tree.ts";

/** Managed things by kind and natural name. */
export class NameIndex {
  readonly #kinds = new Map<string, Map<string, Address>>();
  readonly #registry: Registry;

  constructor(resources: Iterable<Written>, registry: Registry) {
    this.#registry = registry;
    for (const { provider, name, address } of resources) {
      const names = this.#kinds.get(provider.kind) ?? new Map<string, Address>();
      this.#kinds.set(provider.kind, names);
      const folded = foldName(provider, name);
      if (!names.has(folded)) names.set(folded, address);
    }
  }

  find(kind: string, name: string): Address | undefined {
    const provider = this.#registry.find(kind);
    return provider === undefined ? undefined : this.#kinds.get(kind)?.get(foldName(provider, name));
  }
}

const namesOthers = somewhere(({ names, mentions }) => names !== undefined || mentions !== undefined);

/** Everything that a resource needs, sorted. */
export function edgesOf(
  written: Written,
  fields: MapNode,
  values: Values,
  targets: ReadonlySet<Address>,
  index: NameIndex,
): readonly Address[] {
  const edges = new Set(targets);
  const add = (address: Address | undefined): void => {
    if (address !== undefined) edges.add(address);
  };
  add(written.parent);
  for (const need of needsOf(written, values)) add(index.find(need.kind, need.name));
  walkFields(written.provider, fields, namesOthers, (node, _path, schema) => {
    const text = textOf(node);
    if (text !== undefined) for (const address of named(text, schema, index)) edges.add(address);
  });
  return [...edges].sort();
}

function needsOf(
  written: Written,
  values: Values,
): readonly { readonly kind: string; readonly name: string }[] {
  return written.provider.needs?.(written.name, values) ?? [];
}

function named(text: string, schema: FieldSchema, index: NameIndex): readonly Address[] {
  const found: Address[] = [];
  const add = (address: Address | undefined): void => {
    if (address !== undefined) found.push(address);
  };
  if (schema.names !== undefined) add(index.find(schema.names, text));
  for (const kind of schema.mentions ?? [])
    add(index.find(kind, text) ?? index.find(kind, withoutScheme(text)));
  return found;
}

/** `/init/install.sh` of `fs:/init/install.sh`: a file URI names the path that it holds. */
function withoutScheme(text: string): string {
  return text.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/+/, "/");
}
