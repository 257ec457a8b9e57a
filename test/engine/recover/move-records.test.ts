// Records of resources and modules that a spec moved, and moves that would lose a record.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { warning } from "../../../src/core/diagnostic.ts";
import { moveRecords } from "../../../src/engine/recover/move-records.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { JournalEntry, OpenIntent, State } from "../../../src/state/model/record.ts";
import { ready } from "../../state/build.ts";
import { kind } from "../toy.ts";
import { open } from "./recovered.ts";

const kinds = registryOf(["pools", "jobs"].map((name) => kind(name, { nameField: "title" })));
const swept: JournalEntry = { type: "swept", token: "t" };
const known = warning("API_FORBIDDEN", "known before");

function moved(
  moves: readonly (readonly [from: string, to: string])[],
  addresses: readonly string[],
  intents: readonly OpenIntent[] = [],
) {
  const state: State = {
    ...emptyState("l"),
    records: new Map(addresses.map((address) => [address as Address, ready(address)])),
    open: intents,
  };
  const recovered = { state, entries: [swept], diagnostics: [known] };
  const written = moves.map(([from, to], index) => ({
    from: from as Address,
    to: to as Address,
    at: { file: "spec.yaml", line: index + 1, column: 1 },
  }));
  return { recovered, found: moveRecords(written, recovered, { registry: kinds, declared: new Set() }) };
}

const entry = (from: string, to: string) => ({ type: "moved", from, to });

describe("a move", () => {
  test("takes a creation along whose object may still appear, without a record", () => {
    const { found } = moved([["jobs.one", "jobs.two"]], ["jobs.two"], [open("jobs.one", {})]);
    expect(found.entries).toEqual([swept, entry("jobs.one", "jobs.two")]);
    expect(found.state.open.map(({ address }) => address)).toEqual(["jobs.two"]);
    expect([...found.state.records.keys()]).toEqual(["jobs.two"]);
    expect(found.diagnostics).toEqual([known]);
  });

  test("changes the address of a record, and keeps what recovery found", () => {
    const { recovered, found } = moved([["pools.a", "pools.b"]], ["pools.a", "pools.c"]);
    expect([...found.state.records.keys()].sort()).toEqual(["pools.b", "pools.c"]);
    expect(found.state.records.get("pools.b" as Address)).toEqual({
      ...ready("pools.a"),
      address: "pools.b",
      former: ["pools.a"],
    });
    expect(found.entries).toEqual([swept, entry("pools.a", "pools.b")]);
    expect(found.diagnostics).toEqual([known]);
    expect(found.moved).toEqual({
      ...{ origins: new Map([["pools.b", "pools.a"]]), back: new Set() },
      before: recovered.state,
    });
  });

  test("is not looked for in a spec without any", () => {
    const { recovered, found } = moved([], ["pools.a"]);
    expect(found).toBe(recovered);
  });

  test.each<[string, [string, string][]]>([
    ["its resource is not in the state", [["pools.x", "pools.y"]]],
    [
      "it leads back",
      [
        ["pools.a", "pools.b"],
        ["pools.b", "pools.a"],
        ["pools.z", "pools.z"],
      ],
    ],
  ])("has no effect where %s", (_what, moves) => {
    const { recovered, found } = moved(moves, ["pools.a"]);
    expect(found).toEqual(recovered);
  });

  test.each<[string, [string, string][], string[], string[][]]>([
    [
      "a chain of moves leads to its end, in any order",
      [
        ["pools.b", "pools.c"],
        ["pools.a", "pools.b"],
      ],
      ["pools.a"],
      [["pools.a", "pools.c"]],
    ],
    [
      "a module is moved with its resources of every kind",
      [["modules.team", "modules.ads"]],
      ["pools.team/x", "jobs.team/y/z", "pools.teams/x", "pools.team"],
      [
        ["jobs.team/y/z", "jobs.ads/y/z"],
        ["pools.team/x", "pools.ads/x"],
      ],
    ],
    [
      "a resource leaves a module that is moved",
      [
        ["modules.team", "modules.ads"],
        ["pools.team/x", "pools.x"],
      ],
      ["pools.team/x", "pools.team/y"],
      [
        ["pools.team/x", "pools.x"],
        ["pools.team/y", "pools.ads/y"],
      ],
    ],
    [
      "a resource is moved within a module that was moved",
      [
        ["modules.team", "modules.ads"],
        ["pools.ads/x", "pools.ads/y"],
      ],
      ["pools.team/x"],
      [["pools.team/x", "pools.ads/y"]],
    ],
    [
      "records are moved in the order of their addresses",
      [
        ["pools.a", "pools.m"],
        ["pools.b", "pools.n"],
      ],
      ["pools.b", "pools.a"],
      [
        ["pools.a", "pools.m"],
        ["pools.b", "pools.n"],
      ],
    ],
  ])("%s", (_what, moves, addresses, expected) => {
    const { found } = moved(moves, addresses);
    expect(found.entries.slice(1)).toEqual(expected.map(([from = "", to = ""]) => entry(from, to)));
    expect(found.diagnostics).toEqual([known]);
  });

  test("that never ends stops", () => {
    const { found } = moved(
      [
        ["pools.b", "pools.c"],
        ["pools.c", "pools.b"],
        ["pools.a", "pools.b"],
      ],
      ["pools.a"],
    );
    expect(found.entries).toHaveLength(2);
  });
});

describe("a move is refused", () => {
  const problem = (message: string, address: string, from: string, line: number) => ({
    code: "PLAN_STATE_ENTRY",
    message,
    address,
    at: { file: "spec.yaml", line, column: 1 },
    hint: `to keep one of the records, run \`workspace state rm ${from}\``,
  });

  test("to an address that the state records", () => {
    const { recovered, found } = moved([["pools.a", "pools.b"]], ["pools.a", "pools.b"]);
    expect(found).toMatchObject({ ...recovered, diagnostics: [known, {}] });
    expect(found).not.toHaveProperty("moved");
    expect(found.diagnostics[1]).toMatchObject(
      problem("pools.a cannot be moved to pools.b, because the state records both", "pools.b", "pools.a", 1),
    );
  });

  test("if another record was moved to that address, and the first one is moved", () => {
    const { found } = moved(
      [
        ["pools.a", "pools.c"],
        ["pools.b", "pools.c"],
      ],
      ["pools.a", "pools.b"],
    );
    expect(found.entries).toEqual([swept, entry("pools.a", "pools.c")]);
    expect(found.diagnostics).toHaveLength(2);
    expect(found.diagnostics[1]).toMatchObject(
      problem("pools.b and pools.a cannot both be moved to pools.c", "pools.c", "pools.b", 2),
    );
  });

  test.each(["pools.a", "pools.b"])("while an interrupted change of %s is unresolved", (address) => {
    const { found } = moved([["pools.a", "pools.b"]], ["pools.a"], [open("pools.z"), open(address)]);
    expect(found.entries).toEqual([swept]);
    expect(found.diagnostics[1]).toMatchObject(
      problem(
        "pools.a cannot be moved to pools.b while an interrupted change of it is unresolved",
        "pools.b",
        "pools.a",
        1,
      ),
    );
  });

  test("and names the first move of a chain", () => {
    const { found } = moved(
      [
        ["pools.b", "pools.c"],
        ["pools.a", "pools.b"],
      ],
      ["pools.a", "pools.c"],
    );
    expect(found.diagnostics[1]).toMatchObject({ at: { line: 2 } });
  });

  test("at the entry of the record itself, also where it is on the path of another", () => {
    const { found } = moved(
      [
        ["pools.a", "pools.b"],
        ["pools.b", "pools.c"],
      ],
      ["pools.a", "pools.b"],
    );
    expect(found.diagnostics[1]).toMatchObject(
      problem("pools.b and pools.a cannot both be moved to pools.c", "pools.c", "pools.b", 2),
    );
  });

  test("only while a change of one of its addresses is unresolved", () => {
    const { found } = moved([["pools.a", "pools.b"]], ["pools.a"], [open("pools.z")]);
    expect(found.diagnostics).toEqual([known]);
  });
});

describe("a record whose address is not declared", () => {
  const record = (address: string, former: readonly string[]) => ({
    ...ready(address),
    former: former as readonly Address[],
  });
  const back = (
    records: readonly ReturnType<typeof ready>[],
    declared: readonly string[],
    more: { readonly moves?: readonly [string, string][]; readonly removed?: readonly string[] } = {},
  ) => {
    const state: State = {
      ...emptyState("l"),
      records: new Map(records.map((one) => [one.address as Address, one])),
    };
    const moves = (more.moves ?? []).map(([from, to]) => ({
      from: from as Address,
      to: to as Address,
      at: { file: "spec.yaml", line: 1, column: 1 },
    }));
    const { moved, state: after } = moveRecords(
      moves,
      { state, entries: [], diagnostics: [] },
      {
        registry: kinds,
        declared: new Set(declared as readonly Address[]),
        removed: (more.removed ?? []).map((address) => ({ address: address as Address })),
      },
    );
    const records_ = [...after.records.keys()].sort();
    return { addresses: records_, back: [...(moved?.back ?? [])] };
  };

  test("moves back to an earlier address that the spec declares again", () => {
    const found = back([record("pools.b", ["pools.a"])], ["pools.a"]);
    expect(found).toEqual({ addresses: ["pools.a"], back: ["pools.a"] });
  });

  test("moves back over several moves, to the latest address that is declared", () => {
    const records = [record("pools.d", ["pools.a", "pools.b", "pools.c"])];
    expect(back(records, ["pools.a", "pools.b"]).addresses).toEqual(["pools.b"]);
  });

  test.each([
    ["its own address is declared, too", [record("pools.b", ["pools.a"])], ["pools.a", "pools.b"], {}],
    ["the earlier address has a record", [record("pools.b", ["pools.a"]), ready("pools.a")], ["pools.a"], {}],
    ["no earlier address is declared", [record("pools.b", ["pools.a"])], ["pools.x"], {}],
    ["the spec removes it", [record("pools.b", ["pools.a"])], ["pools.a"], { removed: ["pools.b"] }],
  ] as const)("stays if %s", (_why, records, declared, more) => {
    const addresses = records.map(({ address }) => String(address)).sort();
    expect(back(records, declared, more)).toEqual({ addresses, back: [] });
  });

  test("follows an entry of the spec first", () => {
    const found = back([record("pools.b", ["pools.a"])], ["pools.a", "pools.c"], {
      moves: [["pools.b", "pools.c"]],
    });
    expect(found).toEqual({ addresses: ["pools.c"], back: [] });
  });

  test("is the only one of two that moves back to the same address", () => {
    const found = back([record("pools.b", ["pools.a"]), record("pools.c", ["pools.a"])], ["pools.a"]);
    expect(found.addresses).toEqual(["pools.a", "pools.c"]);
  });
});
