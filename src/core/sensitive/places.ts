// The places of sensitive values in a resource: as trees of paths, in every form of the kind.

import { type Path, toPointer } from "../pointer.ts";

/** The places of sensitive values in a resource. Entries of a list move, so a recorded place has no index. */
export interface PlaceTree {
  isPlace: boolean;
  readonly inner: Map<string | number, PlaceTree>;
}

const EVERY_INDEX = 0;

export const emptyTree = (): PlaceTree => ({ isPlace: false, inner: new Map() });

export const withoutIndexes = (path: Path): Path =>
  path.map((key) => (typeof key === "number" ? EVERY_INDEX : key));

export function addPlace(tree: PlaceTree, path: Path): void {
  let at = tree;
  for (const step of path) {
    const next = at.inner.get(step) ?? emptyTree();
    at.inner.set(step, next);
    at = next;
  }
  at.isPlace = true;
}

/** Where a kind has a value, in any of its forms. */
export interface Place {
  /** The beginning of the path that another form may write in another way, such as that of a task. */
  readonly holder?: Path;
  /** The same for all paths at which the value can be. */
  readonly place: Path;
}

/** The sensitive places of a resource in a spec or a state. */
export class Places {
  /** In the holders that the spec or the state has. */
  readonly #here = emptyTree();
  /** In any holder: a live object has others if another user changed its form. */
  readonly #anywhere = emptyTree();
  readonly #holders = new Set<string>();

  add({ holder = [], place }: Place): void {
    addPlace(this.#here, withoutIndexes([...holder, ...place]));
    addPlace(this.#anywhere, withoutIndexes(place));
  }

  addHolder({ holder }: Place): void {
    if (holder !== undefined) this.#holders.add(toPointer(holder));
  }

  get isEmpty(): boolean {
    return this.#here.inner.size === 0 && !this.#here.isPlace;
  }

  has({ holder = [], place }: Place): boolean {
    return isIn(this.#here, withoutIndexes([...holder, ...place]));
  }

  hasAnywhere({ place }: Place): boolean {
    return isIn(this.#anywhere, withoutIndexes(place));
  }

  hasHolder({ holder }: Place): boolean {
    return holder === undefined || this.#holders.has(toPointer(holder));
  }
}

/**
 * Whether a path is a sensitive place, is inside of one, or has one below it: a value there takes its place. An answer can
 * have a list in place of a map with keys.
 */
export function isIn(tree: PlaceTree, path: Path): boolean {
  let at = tree;
  for (const [step, key] of path.entries()) {
    if (at.isPlace) return true;
    const next = at.inner.get(key);
    if (next === undefined) return step > 0 && typeof key === "number" && hasKeys(at);
    at = next;
  }
  return at.isPlace || at.inner.size > 0;
}

/** Whether the place is one of them, or is in a holder that the spec or the state lacks. */
export const hasPlace = (places: Places, place: Place): boolean =>
  places.has(place) || (!places.hasHolder(place) && places.hasAnywhere(place));

const hasKeys = ({ inner }: PlaceTree): boolean => [...inner.keys()].some((key) => typeof key === "string");
