// Sorting and gathering by need: what an item needs comes before it, and otherwise the given order stands.

/** Iterative, since specs may chain thousands of resources. Throws on a circle: those are refused before. */
export function byNeed<T>(items: readonly T[], needsOf: (item: T) => readonly T[]): T[] {
  const out: T[] = [];
  const state = new Map<T, "open" | "done">();
  for (const start of items) {
    const stack = [enter(start)];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const needed = top.needs.next();
      if (needed.done === true) {
        if (state.get(top.item) !== "done") out.push(top.item);
        state.set(top.item, "done");
        stack.pop();
      } else if (state.get(needed.value) === "open") {
        throw new Error("items need each other in a circle: circles are refused before they are sorted");
      } else if (state.get(needed.value) === undefined) stack.push(enter(needed.value));
    }
  }
  return out;

  function enter(item: T): { item: T; needs: Iterator<T> } {
    const known = state.get(item) === "done";
    if (!known) state.set(item, "open");
    return { item, needs: (known ? [] : needsOf(item))[Symbol.iterator]() };
  }
}

/** The items with everything that they need, near or far. */
export function withNeeds<T>(items: Iterable<T>, needsOf: (item: T) => Iterable<T>): ReadonlySet<T> {
  const found = new Set<T>();
  const queue = [...items];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...needsOf(next));
  }
  return found;
}
