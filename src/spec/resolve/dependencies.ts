// What each resource of a spec depends on, by references, names, and parents; and cycles among these dependencies.

import type { Address } from "../../core/address.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import { foldName, mentionedNames } from "../../resource/names.ts";
import { anyField } from "../../resource/walk.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { Resource, WrittenResource } from "../model/spec.ts";
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

  /** The object that a string means, also with a scheme, or with the prefix of the workspace tree. */
  findMentioned(kind: string, text: string): Address | undefined {
    const provider = this.#kinds.get(kind)?.provider;
    if (provider === undefined) return undefined;
    return [...mentionedNames(provider, text), withoutScheme(text)]
      .map((name) => this.find(kind, name))
      .find((address) => address !== undefined);
  }
}

const namesOthers = anyField(({ names, mentions }) => names !== undefined || mentions !== undefined);

const NO_DEPENDENCIES: readonly Address[] = [];

/** Whether a resource of a kind may depend on others without a reference to them. */
function refersByName({ fields, planning }: PlannedKind): boolean {
  if (planning.dependencies !== undefined) return true;
  for (const name in fields) if (namesOthers(fields[name] ?? {})) return true;
  return false;
}

export function dependenciesOf(
  written: WrittenResource,
  fields: MapNode,
  values: Values,
  targets: ReadonlySet<Address>,
  index: DeclaredNames,
): readonly Address[] {
  if (targets.size === 0 && !refersByName(written.provider))
    return written.parent === undefined ? NO_DEPENDENCIES : index.only(written.parent);
  const dependencies = new Set(targets);
  const add = (address: Address | undefined): void => {
    if (address !== undefined) dependencies.add(address);
  };
  add(written.parent);
  const needs = written.provider.planning.dependencies?.(written.name, values) ?? [];
  for (const need of needs) add(index.find(need.kind, need.name));
  walkFields(written.provider, fields, namesOthers, (node, _path, { names, mentions = [] }) => {
    const text = scalarText(node);
    if (text === undefined) return;
    if (names !== undefined) add(index.find(names, text));
    for (const kind of mentions) add(index.findMentioned(kind, text));
  });
  return [...dependencies].sort();
}

/** `/init/install.sh` of `fs:/init/install.sh`: a file URI names the path that it holds. */
function withoutScheme(text: string): string {
  return text.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/+/, "/");
}

/** Maximum number of cycles to report. */
const MOST_CYCLES = 20;
/** Addresses of a cycle that are shown. */
const MOST_SHOWN = 12;

type FindSpan = (address: Address) => Span | undefined;

/** Reports cycles. Uses an explicit stack, so that chains can have any length. */
export function reportCycles(
  resources: ReadonlyMap<Address, Pick<Resource, "dependsOn">>,
  spanOf: FindSpan,
  findings: Findings,
): void {
  const done = new Set<Address>();
  const path: Address[] = [];
  const depth = new Map<Address, number>();
  let reported = 0;
  for (const root of resources.keys()) {
    if (done.has(root)) continue;
    // Most resources come after what they need.
    if (resources.get(root)?.dependsOn.every((need) => done.has(need)) === true) {
      done.add(root);
      continue;
    }
    const stack: { readonly address: Address; next: number }[] = [{ address: root, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (top.next === 0) {
        depth.set(top.address, path.length);
        path.push(top.address);
      }
      const need = resources.get(top.address)?.dependsOn[top.next++];
      if (need === undefined) {
        stack.pop();
        path.pop();
        depth.delete(top.address);
        done.add(top.address);
      } else if (depth.has(need)) {
        if (reported++ < MOST_CYCLES) reportCycle(path.slice(depth.get(need)), spanOf, findings);
      } else if (!done.has(need)) stack.push({ address: need, next: 0 });
    }
  }
}

function reportCycle(cycle: readonly Address[], spanOf: FindSpan, findings: Findings): void {
  const [first] = cycle;
  if (first === undefined) return;
  const shown = cycle.length > MOST_SHOWN ? [...cycle.slice(0, MOST_SHOWN), "…"] : cycle;
  const message =
    cycle.length === 1 ? `${first} depends on itself` : `dependency cycle: ${[...shown, first].join(" -> ")}`;
  findings.error("SPEC_CYCLE", message, spanOf(first), {
    address: first,
    hint: "remove one of these references or memberships",
  });
}
