// A durable tree of named entries: a path takes one lookup per segment, and a folder knows its children.

import type { Collection, World } from "./world.ts";

/** Fields of every entry; `parent` is "" for the root alone. */
export interface TreeEntry {
  readonly parent: string;
  readonly name: string;
  readonly folder: boolean;
}

export interface EmulatorNode<T extends TreeEntry> {
  readonly id: string;
  readonly entry: T;
}

export const ROOT = "1";

export class EntryTree<T extends TreeEntry> {
  readonly #world: World;
  readonly #name: string;
  readonly #entries: Collection<T>;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
    this.#entries = world.collection(name);
  }

  /** The IDs of the children of a folder by name: a table for each folder, so that adding and removing take constant time. */
  #in(folder: string): Collection<string> {
    return this.#world.collection(`${this.#name}/${folder}`);
  }

  plant(entry: T): void {
    this.#entries.set(ROOT, entry);
  }

  node(id: string): EmulatorNode<T> {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`${this.#name} has no entry ${id}, although another names it`);
    return { id, entry };
  }

  /** The entry with an ID that a caller chose; undefined if there is none. */
  byId(id: string): EmulatorNode<T> | undefined {
    return this.#entries.has(id) ? this.node(id) : undefined;
  }

  /** The folders around an entry, the innermost first, the root last. */
  above({ entry }: EmulatorNode<T>): EmulatorNode<T>[] {
    const nodes: EmulatorNode<T>[] = [];
    for (let id = entry.parent; id !== ""; id = nodes.at(-1)?.entry.parent ?? "") nodes.push(this.node(id));
    return nodes;
  }

  child(parent: string, name: string): EmulatorNode<T> | undefined {
    const id = this.#in(parent).get(name);
    return id === undefined ? undefined : this.node(id);
  }

  find(segments: readonly string[]): EmulatorNode<T> | undefined {
    const { node, rest } = this.deepest(segments);
    return rest.length === 0 ? node : undefined;
  }

  /** The last entry on the way to a path that exists, and the segments after it. */
  deepest(segments: readonly string[]): { readonly node: EmulatorNode<T>; readonly rest: readonly string[] } {
    let node = this.node(ROOT);
    for (const [index, name] of segments.entries()) {
      const next = this.child(node.id, name);
      if (next === undefined) return { node, rest: segments.slice(index) };
      node = next;
    }
    return { node, rest: [] };
  }

  /** Hangs a new entry into its parent, which must have no child of that name. */
  add(entry: T): EmulatorNode<T> {
    const id = String(this.#world.next(this.#name, Number(ROOT) + 1));
    this.#entries.set(id, entry);
    this.#in(entry.parent).set(entry.name, id);
    return { id, entry };
  }

  /** Changes what an entry says; its place stays. */
  change(id: string, entry: T): void {
    this.#entries.set(id, entry);
  }

  /** Removes an entry that has no children. */
  remove(node: EmulatorNode<T>): void {
    this.#in(node.entry.parent).delete(node.entry.name);
    this.#entries.delete(node.id);
  }

  /** Gives an entry, and so all below it, another place. */
  move(node: EmulatorNode<T>, parent: string, name: string): void {
    this.#in(node.entry.parent).delete(node.entry.name);
    const moved = { ...node.entry, parent, name };
    this.#entries.set(node.id, moved);
    this.#in(parent).set(name, node.id);
  }

  hasChildren(id: string): boolean {
    return this.#in(id).size > 0;
  }

  children(id: string): EmulatorNode<T>[] {
    return [...this.#in(id).values()].map((child) => this.node(child)).sort(byName);
  }

  /** An entry and all below it, a folder after what it holds. */
  *subtree(top: EmulatorNode<T>): IterableIterator<EmulatorNode<T>> {
    const open: { node: EmulatorNode<T>; seen: boolean }[] = [{ node: top, seen: false }];
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (last.seen || !last.node.entry.folder) {
        open.pop();
        yield last.node;
      } else {
        last.seen = true;
        for (const node of this.children(last.node.id)) open.push({ node, seen: false });
      }
    }
  }
}

function byName<T extends TreeEntry>(a: EmulatorNode<T>, b: EmulatorNode<T>): number {
  return a.entry.name < b.entry.name ? -1 : 1;
}
