// Where entries of `moved` lead, by address and by module.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { type Move, MovePaths } from "../../../src/engine/recover/move-records.ts";
import { registry } from "../../../src/providers/index.ts";

const move = (from: string, to: string): Move => ({
  from: from as Address,
  to: to as Address,
  at: { file: "workspace.yaml", line: 1, column: 1 },
});

const paths = (moves: readonly Move[], declared: readonly string[] = []): MovePaths =>
  new MovePaths(moves, { registry, declared: new Set(declared as Address[]) });

function end(of: MovePaths, from: string): string {
  return of.follow(from as Address).to;
}

describe("the path of a moved address", () => {
  test("follows a chain, whatever the order of its entries", () => {
    const moves = [move("pools.b", "pools.c"), move("pools.a", "pools.b"), move("pools.c", "pools.m/x")];
    for (const order of [moves, moves.toReversed()]) {
      const found = paths(order);
      expect(found.follow("pools.a" as Address)).toEqual({ to: "pools.m/x", first: moves[1] });
      expect(found.used.size).toBe(3);
    }
  });

  test("takes the entry of the innermost module, whatever the order of the entries", () => {
    const moves = [move("modules.a", "modules.x"), move("modules.a/b", "modules.y")];
    for (const order of [moves, moves.toReversed()]) {
      expect(end(paths(order), "pools.a/b/p")).toBe("pools.y/p");
      expect(end(paths(order), "pools.a/p")).toBe("pools.x/p");
    }
  });

  test("leads into a new instance once, and does not touch other instances and nested modules", () => {
    const moves = [move("modules.team", "modules.team/ads")];
    const found = paths(moves, ["pools.team/ads/shared", "pools.team/web/shared"]);
    expect(end(found, "pools.team/shared")).toBe("pools.team/ads/shared");
    expect(end(found, "pools.team/ads/shared")).toBe("pools.team/ads/shared");
    expect(end(found, "pools.team/web/shared")).toBe("pools.team/web/shared");
    expect(end(found, "pools.team/old/shared")).toBe("pools.team/old/shared");
  });

  test("leads out of an instance once", () => {
    const moves = [move("modules.team/ads", "modules.team")];
    const found = paths(moves, ["pools.team/shared", "pools.team/ads/inner"]);
    expect(end(found, "pools.team/ads/shared")).toBe("pools.team/shared");
    expect(end(found, "pools.team/ads/inner")).toBe("pools.team/ads/inner");
    expect(end(found, "pools.team/shared")).toBe("pools.team/shared");
  });

  test("leads out of an instance once, also when the path of another record leads on from there", () => {
    const found = paths([move("modules.team/ads", "modules.team")], ["pools.team/shared"]);
    expect(end(found, "pools.team/ads/shared")).toBe("pools.team/shared");
    expect(end(found, "pools.team/ads/ads/shared")).toBe("pools.team/ads/ads/shared");
  });

  test("leads from an instance through a chain to a declared address", () => {
    const moves = [move("modules.team", "modules.team/ads"), move("modules.team/ads", "modules.crew/ads")];
    expect(end(paths(moves, ["pools.crew/ads/shared"]), "pools.team/shared")).toBe("pools.crew/ads/shared");
  });

  test("does not mistake a scope for a module", () => {
    const moves = [move("modules.etl", "modules.crew")];
    for (const address of ["acls.etl/data-eng", "secrets.etl/key"])
      expect(end(paths(moves), address)).toBe(address);
  });

  test("names the first entry of each address, also of one on the path of another", () => {
    const moves = [move("pools.a", "pools.b"), move("pools.b", "pools.c")];
    const found = paths(moves);
    expect(found.follow("pools.a" as Address)).toEqual({ to: "pools.c", first: moves[0] });
    expect(found.follow("pools.b" as Address)).toEqual({ to: "pools.c", first: moves[1] });
    expect(found.follow("pools.c" as Address)).toEqual({ to: "pools.c" });
    expect(paths(moves).follow("pools.x" as Address)).toEqual({ to: "pools.x" });
  });

  test("names the first entry of an address that two paths lead through", () => {
    const moves = [
      move("modules.a", "modules.m"),
      move("pools.b", "pools.m/x"),
      move("pools.m/x", "pools.z"),
    ];
    const found = paths(moves);
    for (const [at, from] of ["pools.a/x", "pools.b", "pools.m/x"].entries())
      expect(found.follow(from as Address)).toEqual({ to: "pools.z", first: moves[at] });
    expect(found.used).toEqual(new Set(moves));
  });

  test("ends before an instance that does not declare the address", () => {
    const moves = [move("pools.a", "pools.team/shared"), move("modules.team", "modules.team/ads")];
    expect(end(paths(moves), "pools.a")).toBe("pools.team/shared");
    expect(end(paths(moves, ["pools.team/ads/shared"]), "pools.a")).toBe("pools.team/ads/shared");
  });

  test("leaves an address that the spec declares, also where the instance has a module of its name", () => {
    const found = paths(
      [move("modules.team", "modules.team/ads")],
      ["pools.team/ads/shared", "pools.team/ads/ads/shared"],
    );
    expect(end(found, "pools.team/ads/shared")).toBe("pools.team/ads/shared");
  });

  test("of 20,000 records in one chain is followed once", () => {
    const moves = Array.from({ length: 20_000 }, (_, at) => move(`pools.${at}`, `pools.${at + 1}`));
    const found = paths(moves);
    const ends = new Set(moves.map(({ from }) => end(found, from)));
    expect([...ends]).toEqual(["pools.20000"]);
    expect(found.used.size).toBe(20_000);
  });

  test("ends where modules move into each other", () => {
    const moves = [move("modules.a", "modules.b/x"), move("modules.b", "modules.a/y")];
    expect(end(paths(moves), "pools.a/p")).toBe("pools.a/y/x/p");
  });
});
