import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import type { Failure } from "../../../src/core/diagnostic.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import { stateFromJson, stateToJson } from "../../../src/state/format/snapshot.ts";
import type { State } from "../../../src/state/model/record.ts";
import { thrownCode } from "../../failures.ts";
import { ACKNOWLEDGED, intent, ready } from "../build.ts";

const RECORDS = [
  ready("pools.b", { deposed: [remoteId("x")] }),
  ready("pools.a", { applied: { big: 2n ** 70n } }),
];
const STATE: State = {
  ...emptyState("abc"),
  serial: 3,
  host: "https://w.test",
  records: new Map(RECORDS.map((record) => [record.address, record])),
  open: [{ ...intent("pools.c"), seq: 8, at: 6 }],
  nonces: ["n"],
  caller: { name: "ada", credential: "c" },
  reported: [{ address: "pools.shared" as Address, differences: ["d1"] }],
  acknowledged: [ACKNOWLEDGED],
};

const code = (text: string): string => thrownCode(() => stateFromJson(text, "file"));

test("a state is restored from its JSON, digit for digit", () => {
  expect(stateFromJson(stateToJson({ state: STATE, key: "k" }), "file")).toEqual({ state: STATE, key: "k" });
});

test("the JSON is sorted by address, so that two states can be compared line by line", () => {
  const names = ["pools.b", "pools.d", "pools.a", "pools.c"];
  const records = new Map(names.map((name) => [name as Address, ready(name)]));
  const json = JSON.parse(stateToJson({ state: { ...STATE, records }, key: "" }));
  expect(json.records.map((one: { address: string }) => one.address)).toEqual([...names].sort());
});

test("JSON that is not a state is refused with the missing part, and a newer format with its number", () => {
  const json = JSON.parse(stateToJson({ state: { ...STATE, records: new Map() }, key: "" }));
  const changed = (change: object): string => code(JSON.stringify({ ...json, ...change }));
  expect(code("")).toBe("STATE_CORRUPT");
  expect(code("[]")).toBe("STATE_CORRUPT");
  expect(changed({ lineage: 5 })).toBe("STATE_CORRUPT");
  expect(changed({ serial: "3" })).toBe("STATE_CORRUPT");
  expect(changed({ records: [{ address: "x" }] })).toBe("STATE_CORRUPT");
  expect(changed({ records: [RECORDS[0], RECORDS[0]] })).toBe("STATE_CORRUPT");
  expect(changed({ format_version: 5 })).toBe("STATE_FORMAT");
  expect(changed({})).toBe("fine");
});

test.each([
  ["", "the text is not JSON"],
  ["[".repeat(9_999), "it is nested deeper than"],
  ["[]", "state is not an object"],
  ["{}", "state.format_version is not an integer"],
  ['{"format_version":2}', "state.records is not a list"],
])("a file that does not contain a state is refused with the missing part: %j", (text, what) => {
  try {
    stateFromJson(text, "file");
    expect.unreachable();
  } catch (failure) {
    const [problem] = (failure as Failure).diagnostics;
    expect(problem?.message).toContain(`file does not contain a state: ${what}`);
    expect(problem?.hint).toBe("pass a file that `workspace state pull` wrote");
  }
});

test("an address that two records have is named as the problem", () => {
  const json = JSON.parse(stateToJson({ state: { ...STATE, records: new Map() }, key: "" }));
  const text = JSON.stringify({ ...json, records: [ready("a.b"), ready("a.b")] });
  expect(() => stateFromJson(text, "file")).toThrow("duplicate address in records");
});

test("a state of an older format is read", () => {
  const text = stateToJson({ state: STATE, key: "k" }).replace('"format_version": 4', '"format_version": 1');
  expect(stateFromJson(text, "file")).toEqual({ state: STATE, key: "k" });
});

test("the JSON has a line for each member, and ends with a line end", () => {
  const text = stateToJson({ state: emptyState("l"), key: "k" });
  expect(text).toBe(`{
  "format_version": 4,
  "lineage": "l",
  "serial": 0,
  "host": "",
  "key": "k",
  "caller": null,
  "nonces": [],
  "open": [],
  "sweeps": [],
  "records": []
}
`);
});
