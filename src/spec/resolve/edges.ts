// The edges of the graph: what a resource depends on, by references, names, and its parent.

import type { Address } from "../../core/address.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import { foldName } from "../../resource/names.ts";
import { anyField } from "../../resource/walk.ts";
import type { WrittenResource } from "../model/spec.ts";
import { type MapNode, scalarText } from "../model/tree.ts";
import { walkFields } from "./field-walk.ts";

/** Managed resources by kind and natural name. */
export class DeclaredNames {
  readonly #kinds = new Map<
    string,
    { readonly provider: PlannedKind; readonly names: Map<string, Address> }
  >();
  readonly #members = new Map<Address, readonly Address[]>();

  constructor(resources: Iterable<WrittenResource>) {
    for (const { provider, name, address } of resources) {
      const kindNames = this.#kinds.get(provider.kind) ?? { provider, names: new Map<string, Address>() };
      const { names } = kindNames;
      this.#kinds.set(provider.kind, kindNames);
      const folded = foldName(provider, name);
      if (!names.has(folded)) names.set(folded, address);
    }
  }

  only(parent: Address): readonly Address[] {
    const addresses = this.#members.get(parent) ?? [parent];
    this.#members.set(parent, addresses);
    return addresses;
  }

  find(kind: string, name: string): Address | undefined {
    const kindNames = this.#kinds.get(kind);
    return kindNames?.names.get(foldName(kindNames.provider, name));
  }
}

const namesOthers = anyField(({ names, mentions }) => names !== undefined || mentions !== undefined);

const NO_EDGES: readonly Address[] = [];

/** Whether a resource of a kind may depend on others without a reference to them. */
function refersByName({ fields, planning }: PlannedKind): boolean {
  if (planning.dependencies !== undefined) return true;
  for (const name in fields) if (namesOthers(fields[name] ?? {})) return true;
  return false;
}

export function edgesOf(
  written: WrittenResource,
  fields: MapNode,
  values: Values,
  targets: ReadonlySet<Address>,
  index: DeclaredNames,
): readonly Address[] {
  if (targets.size === 0 && !refersByName(written.provider))
    return written.parent === undefined ? NO_EDGES : index.only(written.parent);
  const edges = new Set(targets);
  const add = (address: Address | undefined): void => {
    if (address !== undefined) edges.add(address);
  };
  add(written.parent);
  const needs = written.provider.planning.dependencies?.(written.name, values) ?? [];
  for (const need of needs) add(index.find(need.kind, need.name));
  walkFields(written.provider, fields, namesOthers, (node, _path, { names, mentions = [] }) => {
    const text = scalarText(node);
    if (text === undefined) return;
    if (names !== undefined) add(index.find(names, text));
    for (const kind of mentions) add(index.find(kind, text) ?? index.find(kind, withoutScheme(text)));
  });
  return [...edges].sort();
}

/** `/init/install.sh` of `fs:/init/install.sh`: a file URI names the path that it holds. */
function withoutScheme(text: string): string {
  return text.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/+/, "/");
}
