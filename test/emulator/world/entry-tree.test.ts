import fc from "fast-check";
import { expect, test } from "vitest";
import { Store } from "../../../src/emulator/store/store.ts";
import { EntryTree, ROOT, type TreeEntry } from "../../../src/emulator/world/entry-tree.ts";

const root: TreeEntry = { parent: "", name: "", folder: true };

function inTree<T>(work: (tree: EntryTree<TreeEntry>) => T): T {
  return new Store().transact(0, (world) => {
    const tree = new EntryTree<TreeEntry>(world, "things");
    tree.plant(root);
    return work(tree);
  });
}

const names = (tree: EntryTree<TreeEntry>, id: string) => tree.children(id).map(({ entry }) => entry.name);

test("children come by name, whatever the order in which they were added", () => {
  inTree((tree) => {
    for (const name of ["b", "c", "a"]) tree.add({ parent: ROOT, name, folder: false });
    expect(names(tree, ROOT)).toEqual(["a", "b", "c"]);
  });
});

test("a moved folder takes along what is below it", () => {
  inTree((tree) => {
    const a = tree.add({ parent: ROOT, name: "a", folder: true });
    tree.add({ parent: a.id, name: "x", folder: false });
    const b = tree.add({ parent: ROOT, name: "b", folder: true });
    tree.move(a, b.id, "c");
    expect(tree.find(["a"])).toBeUndefined();
    expect(tree.find(["b", "c", "x"])?.entry.name).toBe("x");
  });
});

test("a subtree gives a folder after what it holds", () => {
  inTree((tree) => {
    const a = tree.add({ parent: ROOT, name: "a", folder: true });
    const b = tree.add({ parent: a.id, name: "b", folder: true });
    tree.add({ parent: b.id, name: "c", folder: false });
    tree.add({ parent: a.id, name: "d", folder: false });
    const order = [...tree.subtree(a)].map(({ entry }) => entry.name);
    expect(order.indexOf("c")).toBeLessThan(order.indexOf("b"));
    expect(order.at(-1)).toBe("a");
    expect([...order].sort()).toEqual(["a", "b", "c", "d"]);
  });
});

test("the deepest entry on a path is returned with the missing segments", () => {
  inTree((tree) => {
    const a = tree.add({ parent: ROOT, name: "a", folder: true });
    expect(tree.deepest(["a", "b", "c"])).toEqual({ node: a, rest: ["b", "c"] });
  });
});

test("any additions, removals and moves leave each folder with exactly its children", () => {
  const step = fc.record({
    verb: fc.constantFrom("add", "remove", "move"),
    name: fc.nat(8),
    other: fc.nat(8),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      inTree((tree) => {
        const one = tree.add({ parent: ROOT, name: "one", folder: true });
        const two = tree.add({ parent: ROOT, name: "two", folder: true });
        const model = { [one.id]: new Set<string>(), [two.id]: new Set<string>() };
        for (const { verb, name, other } of steps) {
          const [from, to] = other % 2 === 0 ? [one.id, two.id] : [two.id, one.id];
          const node = tree.child(from, `n${name}`);
          if (verb === "add" && node === undefined) {
            tree.add({ parent: from, name: `n${name}`, folder: false });
            model[from]?.add(`n${name}`);
          } else if (verb === "remove" && node !== undefined) {
            tree.remove(node);
            model[from]?.delete(`n${name}`);
          } else if (verb === "move" && node !== undefined && tree.child(to, `n${other}`) === undefined) {
            tree.move(node, to, `n${other}`);
            model[from]?.delete(`n${name}`);
            model[to]?.add(`n${other}`);
          }
        }
        for (const [id, expected] of Object.entries(model)) {
          expect(names(tree, id)).toEqual([...expected].sort());
          expect(tree.hasChildren(id)).toBe(expected.size > 0);
        }
      });
    }),
  );
});
