// `moved`, `removed`, and `import`: entries about records of the state, checked against the spec.

import {
  type Address,
  addressOf,
  isInModule,
  isModuleAddress,
  kindOf,
  nameOf,
  parseAddress,
} from "../../core/address.ts";
import { lazily } from "../../core/lazily.ts";
import { literalOf } from "../../expressions/template.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { addressesOf, isIdItsName } from "../../resource/names.ts";
import type { Findings } from "../model/findings.ts";
import { locationOf, type Span } from "../model/source.ts";
import type { ImportEntry, MovedEntry, RemovedEntry, StateEntries } from "../model/spec.ts";
import { describeNode, isFlag, isNull, type MapNode, member, type SpecNode } from "../model/tree.ts";

interface StateEntryChecks {
  readonly findings: Findings;
  readonly registry: PlanningRegistry;
  readonly declared: ReadonlySet<Address>;
}

/** The entries of the spec; undefined without any. */
export function stateEntriesOf(root: SpecNode, checks: StateEntryChecks): StateEntries | undefined {
  const reader = new EntryReader(checks);
  const moved = reader.entries(root, "moved", ["from", "to"], (node) => reader.moved(node));
  const removed = reader.entries(root, "removed", ["address", "destroy"], (node) => reader.removed(node));
  const imports = reader.entries(root, "import", ["to", "id"], (node) => reader.imported(node));
  const ends = new Set([...checks.declared, ...removed.map(({ address }) => address)]);
  checkChains(moved, ends, (move) => reader.spanOf(move), checks.findings);
  return moved.length + removed.length + imports.length === 0 ? undefined : { moved, removed, imports };
}

const FIXED_NAME = "the key is the name of the object";
const RENAME_FIXED = "declare both and apply, then delete the old one; docs/moves.md shows how";

class EntryReader {
  readonly #checks: StateEntryChecks;
  readonly #addresses = {
    from: new Set<string>(),
    to: new Set<string>(),
    removed: new Set<string>(),
    imported: new Set<string>(),
    ids: new Set<string>(),
  };
  /** The first resource that each module declares. */
  readonly #inModules = lazily(() => {
    const { declared, registry } = this.#checks;
    const modules = new Map<Address, Address>();
    for (const address of declared)
      for (const owner of addressesOf(registry.get(kindOf(address)), address))
        if (!modules.has(owner)) modules.set(owner, address);
    return modules;
  });
  readonly #spans = new Map<MovedEntry, Span>();

  constructor(checks: StateEntryChecks) {
    this.#checks = checks;
  }

  entries<T>(
    root: SpecNode,
    section: string,
    fields: readonly string[],
    read: (node: MapNode) => T | undefined,
  ): readonly T[] {
    const node = member(root, section);
    if (node === undefined || isNull(node)) return [];
    if (node.kind !== "list") {
      this.#error(`${section} must be a list of entries, not ${describeNode(node)}`, node);
      return [];
    }
    const entries: T[] = [];
    for (const item of node.items) {
      if (item.kind !== "map") {
        this.#error(`an entry of ${section} must be a map, not ${describeNode(item)}`, item);
        continue;
      }
      for (const [field, { key }] of item.members) {
        const message = `an entry of ${section} has no field ${JSON.stringify(field)}`;
        if (!fields.includes(field)) this.#error(message, key, `known fields: ${fields.join(" and ")}`);
      }
      const entry = read(item);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  spanOf(move: MovedEntry): Span | undefined {
    return this.#spans.get(move);
  }

  moved(node: MapNode): MovedEntry | undefined {
    const from = this.#address(node, "from");
    const to = this.#address(node, "to");
    if (from === undefined || to === undefined) return undefined;
    const at = this.#span(node, "from");
    if (kindOf(from) !== kindOf(to)) return this.#error(`${from} and ${to} are of different kinds`, at);
    if (from === to) return this.#error(`${from} is moved to itself`, at);
    const isFixed = !isModuleAddress(from) && this.#checks.registry.get(kindOf(from)).nameField === undefined;
    const fixed = `${from} cannot be moved, because its key is the name of the object`;
    if (isFixed) return this.#error(fixed, at, RENAME_FIXED);
    if (this.#checks.declared.has(from))
      return this.#error(`${from} is moved, but the spec still declares it`, at);
    const inside = this.#declaredIn(from, to);
    if (inside !== undefined)
      return this.#error(`${from} is moved, but the spec still declares ${inside}`, at);
    if (!isFirst(this.#addresses.from, from)) return this.#error(`${from} is moved twice`, at);
    if (!isFirst(this.#addresses.to, to))
      return this.#error(`two entries move to ${to}`, this.#span(node, "to"));
    const entry = { from, to, at: locationOf(at) };
    this.#spans.set(entry, at);
    return entry;
  }

  /** A declared resource of the module `from`. Nested modules are not checked, because each can declare resources of the other. */
  #declaredIn(from: Address, to: Address): Address | undefined {
    if (isInModule(from, to) || isInModule(to, from)) return undefined;
    return this.#inModules().get(from);
  }

  removed(node: MapNode): RemovedEntry | undefined {
    const address = this.#address(node, "address");
    if (address === undefined) return undefined;
    const at = this.#span(node, "address");
    const destroy = member(node, "destroy");
    if (destroy !== undefined && !isFlag(destroy))
      return this.#error(`destroy must be true or false, not ${describeNode(destroy)}`, destroy);
    const declared = isModuleAddress(address) ? this.#inModules().get(address) : undefined;
    if (declared !== undefined || this.#checks.declared.has(address))
      return this.#error(`${address} is removed, but the spec still declares ${declared ?? "it"}`, at);
    if (!isFirst(this.#addresses.removed, address)) return this.#error(`${address} is removed twice`, at);
    return { address, destroy: !(destroy?.kind === "scalar" && destroy.value === false), at: locationOf(at) };
  }

  imported(node: MapNode): ImportEntry | undefined {
    const to = this.#address(node, "to");
    const id = this.#text(node, "id");
    if (to === undefined || id === undefined) return undefined;
    const at = this.#span(node, "to");
    const { declared, findings } = this.#checks;
    if (!declared.has(to)) {
      const { hint } = findings.didYouMean(to, declared, "declare the resource first", "names");
      return this.#error(`${to} is imported, but the spec does not declare it`, at, hint);
    }
    if (!isFirst(this.#addresses.imported, to)) return this.#error(`${to} is imported twice`, at);
    if (!isFirst(this.#addresses.ids, addressOf(kindOf(to), id)))
      return this.#error(`two entries import ${id}`, this.#span(node, "id"));
    if (isIdItsName(this.#checks.registry.get(kindOf(to))) && id !== nameOf(to))
      return this.#error(`${to} can only be ${nameOf(to)}, not ${id}`, this.#span(node, "id"), FIXED_NAME);
    return { to, id, at: locationOf(at) };
  }

  #address(node: MapNode, field: string): Address | undefined {
    const text = this.#text(node, field);
    if (text === undefined) return undefined;
    const address = parseAddress(text);
    const { registry, findings } = this.#checks;
    const kind = address === undefined ? text : kindOf(address);
    const isKnown = isModuleAddress(text)
      ? field !== "to" || member(node, "id") === undefined
      : registry.find(kind) !== undefined;
    if (address !== undefined && isKnown) return address;
    const kinds = registry.kinds.map(({ kind }) => kind);
    const { hint } = findings.didYouMean(kind, kinds, "an address is KIND.NAME");
    this.#error(`${JSON.stringify(text)} is not the address of a resource`, this.#span(node, field), hint);
    return undefined;
  }

  #text(node: MapNode, field: string): string | undefined {
    const value = member(node, field);
    const data = value?.kind === "scalar" ? value.value : undefined;
    const number = typeof data === "number" || typeof data === "bigint" ? String(data) : undefined;
    const text = typeof data === "string" ? literalOf(data) : number;
    if (text !== undefined && text !== "") return text;
    const name = JSON.stringify(field);
    const wrong = text === "" ? "is empty" : `must be a string, not ${describeNode(value ?? node)}`;
    const missing = `this entry requires the field ${name}`;
    this.#error(value === undefined ? missing : `the field ${name} of this entry ${wrong}`, value ?? node);
    return undefined;
  }

  #span(node: MapNode, field: string): Span {
    return member(node, field) ?? node;
  }

  #error(message: string, at: Span, hint?: string): undefined {
    this.#checks.findings.error("SPEC_STATE_ENTRY", message, at, { hint });
    return undefined;
  }
}

function isFirst(earlier: Set<string>, text: string): boolean {
  if (earlier.has(text)) return false;
  earlier.add(text);
  return true;
}

/** How many addresses of a cycle the message shows. */
const SHOWN = 10;

function checkChains(
  moved: readonly MovedEntry[],
  ends: ReadonlySet<Address>,
  placeOf: (move: MovedEntry) => Span | undefined,
  findings: Findings,
): void {
  const next = new Map(moved.map((entry) => [entry.from, entry]));
  const checked = new Set<Address>();
  for (const entry of moved) {
    const passed = new Set<Address>();
    let step: MovedEntry | undefined = entry;
    while (step !== undefined && !checked.has(step.from) && !passed.has(step.from)) {
      passed.add(step.from);
      step = next.get(step.to);
    }
    if (step !== undefined && passed.has(step.from))
      findings.error("SPEC_STATE_ENTRY", `moved entries form a cycle: ${cycleText(passed)}`, placeOf(step));
    for (const address of passed) checked.add(address);
    if (!next.has(entry.to) && !isModuleAddress(entry.to) && !ends.has(entry.to))
      findings.warning(
        "SPEC_STATE_ENTRY",
        `${entry.from} is moved to ${entry.to}, which the spec does not declare`,
        placeOf(entry),
        { address: entry.to, hint: "without a declaration, a plan deletes the object" },
      );
  }
}

/** No two entries move to one address, so the whole path is the cycle. */
function cycleText(passed: ReadonlySet<Address>): string {
  const cycle = [...passed];
  const shown = cycle.length > SHOWN ? [...cycle.slice(0, SHOWN), "…"] : cycle;
  return [...shown, ...cycle.slice(0, 1)].join(" -> ");
}
