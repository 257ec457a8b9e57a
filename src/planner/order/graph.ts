// Orders items by their dependencies, and finds everything that some of them depend on.

/** Iterative, because specs may chain thousands of resources. Throws on a cycle; cycles are reported before. */
export function topologicalOrder<T>(items: readonly T[], needsOf: (item: T) => readonly T[]): T[] {
  const out: T[] = [];
  const state = new Map<T, "open" | "done">();
  for (const start of items) {
    if (state.has(start)) continue;
    // Most items need no search.
    if (needsOf(start).every((need) => state.has(need))) {
      out.push(start);
      state.set(start, "done");
      continue;
    }
    const stack = [enter(start)];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const needed = top.needs.next();
      if (needed.done === true) {
        out.push(top.item);
        state.set(top.item, "done");
        stack.pop();
      } else if (state.get(needed.value) === "open") {
        throw new Error("dependency cycle: cycles are reported before sorting");
      } else if (state.get(needed.value) === undefined) stack.push(enter(needed.value));
    }
  }
  return out;

  function enter(item: T): { item: T; needs: Iterator<T> } {
    state.set(item, "open");
    return { item, needs: needsOf(item)[Symbol.iterator]() };
  }
}

/** The items with everything that they need, near or far. */
export function transitiveClosure<T>(items: Iterable<T>, needsOf: (item: T) => Iterable<T>): ReadonlySet<T> {
  const closure = new Set<T>();
  const queue = [...items];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (closure.has(next)) continue;
    closure.add(next);
    queue.push(...needsOf(next));
  }
  return closure;
}
