// Digests of sensitive values: bound to their place, revealed by a run that has the value, and opaque to others.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { Path } from "../../../src/core/pointer.ts";
import { withoutDigests } from "../../../src/core/sensitive/digests.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";

const [A, B] = ["pools.a" as Address, "pools.b" as Address];
const KEY = new Uint8Array(32).fill(7);
const DIGEST = /^\(sensitive [0-9a-f]{16}-[0-9a-f]{32}\)$/;

const valuesOf = (key = KEY, lineage = "l"): SensitiveValues => new SensitiveValues({ key, lineage });

/** A run whose spec declares the values, of which `paths` are sensitive. */
function run(address: Address, values: Readonly<Record<string, string | number>>, ...paths: readonly Path[]) {
  const sensitive = valuesOf();
  sensitive.declare(address, values, paths);
  return sensitive;
}

describe("a digest", () => {
  test("is the same for the same value at the same place, and another one for another value, place, lineage, or key", () => {
    const digest = (address: Address, field: string, value: string, key = KEY, lineage = "l"): string => {
      const sensitive = valuesOf(key, lineage);
      sensitive.declare(address, { [field]: value }, [[field]]);
      return String(sensitive.conceal(address, { [field]: value }, "stored")[field]);
    };
    const first = digest(A, "x", "value");
    expect(first).toMatch(DIGEST);
    expect(digest(A, "x", "value")).toBe(first);
    const others = [
      digest(A, "x", "other"),
      digest(A, "y", "value"),
      digest(B, "x", "value"),
      digest(A, "x", "value", KEY, "m"),
      digest(A, "x", "value", new Uint8Array(32).fill(8)),
    ];
    expect(new Set([first, ...others]).size).toBe(6);
  });

  test("does not show how two values of a place are related", () => {
    const digest = (address: Address, value: string): bigint => {
      const stored = run(address, { x: value }, ["x"]).conceal(address, { x: value }, "stored");
      return BigInt(`0x${String(stored.x).slice(-33, -1)}`);
    };
    const [a, b] = [A, B].map((address) => digest(address, "old") ^ digest(address, "new"));
    expect(a).not.toBe(b);
  });

  test("hides numbers and booleans, and reveals them with their type", () => {
    const sensitive = run(A, { n: 3, open: 3 }, ["n"]);
    const stored = sensitive.conceal(A, { n: 3, open: 3 }, "stored");
    expect(stored).toEqual({ n: expect.stringMatching(DIGEST), open: 3 });
    expect(sensitive.reveal(stored)).toEqual({ n: 3, open: 3 });
  });

  test("is revealed by a run with the value, also at another address", () => {
    const stored = run(A, { x: "value" }, ["x"]).conceal(A, { x: "value" }, "stored");
    expect(run(B, { y: "value" }, ["y"]).reveal(stored)).toEqual({ x: "value" });
  });

  test("of a value that a run does not have equals nothing, and is stored again unchanged", () => {
    const stored = run(A, { x: "value" }, ["x"]).conceal(A, { x: "value" }, "stored");
    const other = run(A, { x: "rotated" }, ["x"]);
    other.record(A, stored);
    const revealed = other.reveal(stored);
    expect(revealed.x).not.toBe("rotated");
    expect(revealed.x).not.toBe(stored.x);
    expect(other.conceal(A, { x: revealed.x ?? "" }, "stored")).toEqual(stored);
    const missing: Path[] = [];
    other.restore(stored, (path) => missing.push(path));
    expect(missing).toEqual([["x"]]);
  });

  test("that a spec copies from another place does not become the value", () => {
    const stored = run(A, { x: "value" }, ["x"]).conceal(A, { x: "value" }, "stored");
    const copied = String(stored.x);
    const sensitive = run(A, { x: "value" }, ["x"]);
    sensitive.declare(B, { tag: copied }, []);
    const shown = sensitive.conceal(B, { tag: copied }, "shown");
    expect(shown.tag).not.toBe(copied);
    expect(sensitive.restore(shown, () => undefined)).toEqual({ tag: copied });
  });
});

describe("a sensitive string inside another value", () => {
  test("is hidden for readers, and a plain value that the spec declares is stored in the clear", () => {
    const sensitive = run(A, { x: "value", note: "the value is here" }, ["x"]);
    const shown = sensitive.conceal(A, { note: "the value is here" }, "shown");
    expect(withoutDigests(shown)).toEqual({ note: "the (sensitive) is here" });
    expect(sensitive.restore(shown, () => undefined)).toEqual({ note: "the value is here" });
    expect(sensitive.conceal(A, { note: "the value is here" }, "stored")).toEqual({
      note: "the value is here",
    });
  });

  test("is a digest in the state where the service has it and the spec has another plain value", () => {
    const sensitive = run(A, { x: "value", note: "open" }, ["x"]);
    const stored = sensitive.conceal(A, { note: "the value is here" }, "stored");
    expect(stored.note).toMatch(DIGEST);
  });

  test("is hidden in keys of open maps, but not in the names of fields, which users do not write", () => {
    const fields = ["tags", "azure", "azure/spot_price", "spot_list/0/spot_price"];
    const isField = (_: Address, path: Path): boolean => fields.includes(path.join("/"));
    const sensitive = new SensitiveValues({ key: KEY, lineage: "l", isField });
    sensitive.declare(A, { x: "spot" }, [["x"]]);
    const live = {
      azure: { spot_price: "a spot", "spot-key": 1 },
      tags: { spot_price: 1 },
      spot_list: [{ spot_price: 2 }],
    };
    for (const purpose of ["shown", "judged"] as const) {
      const concealed = withoutDigests(sensitive.conceal(A, live, purpose));
      expect(concealed).toEqual({
        azure: { spot_price: "a (sensitive)", "(sensitive)-key": 1 },
        tags: { "(sensitive)_price": 1 },
        spot_list: [{ spot_price: 2 }],
      });
    }
    expect(sensitive.conceal(A, live.azure, "shown", ["azure"])).toHaveProperty("spot_price");
    expect(sensitive.concealedPath(A, ["azure", "spot_price"])).toEqual(["azure", "spot_price"]);
    expect(String(sensitive.concealedPath(A, ["tags", "spot_price"])[1])).not.toContain("spot");
  });
});

test("a sensitive entry of a map is sensitive where an answer has a list in place of the map", () => {
  const sensitive = valuesOf();
  sensitive.declare(A, { conf: { tags: { key: "hidden-value" }, names: ["a"] } }, [["conf", "tags", "key"]]);
  const isSensitive = (...path: Path): boolean => sensitive.isSensitive(A, path);
  expect(isSensitive("conf", "tags", 0, "value")).toBe(true);
  expect(isSensitive("conf", "names", 0)).toBe(false);
});

test("an answer about a resource hides what is at a recorded place, and long copies of it in the rest of the answer", () => {
  const sensitive = valuesOf();
  sensitive.record(A, run(A, { conf: "present" }, ["conf"]).conceal(A, { conf: "present" }, "stored"));
  const answer = {
    events: [{ conf: "former-value", extra: "a former-value" }],
    last: { conf: "short", extra: "short" },
    open: "kept",
  };
  expect(sensitive.maskedAnswer(A, answer)).toEqual({
    events: [{ conf: "(sensitive)", extra: "a (sensitive)" }],
    last: { conf: "(sensitive)", extra: "short" },
    open: "kept",
  });
});

test("an answer about a resource shows elsewhere what the record has in plain text in a list with a sensitive entry", () => {
  const values = { args: ["plain-entry", "former-value"] };
  const first = valuesOf();
  first.declare(A, values, [["args", 1]]);
  const sensitive = valuesOf();
  sensitive.record(A, first.conceal(A, values, "stored"));
  expect(sensitive.maskedAnswer(A, { task: values, extra: "plain-entry former-value" })).toEqual({
    task: { args: ["(sensitive)", "(sensitive)"] },
    extra: "plain-entry (sensitive)",
  });
});

describe("the strings at a sensitive place of a live object", () => {
  const list = (...args: readonly string[]) => ({ args });
  const hides = (sensitive: SensitiveValues, text: string): boolean => sensitive.texts.isIn(`is ${text}`);

  test("are hidden everywhere, except those that the spec has in the same list in plain text", () => {
    const sensitive = valuesOf();
    sensitive.declare(A, { ...list("--env", "prod", "secret-now"), tag: "elsewhere" }, [["args", 2]]);
    sensitive.hide(A, list("secret-old", "prod", "elsewhere"));
    expect(["prod", "--env"].filter((text) => hides(sensitive, text))).toEqual([]);
    for (const text of ["secret-now", "secret-old", "elsewhere"]) expect(hides(sensitive, text)).toBe(true);
  });

  test("are hidden everywhere, except those that the record of an object without a spec has in plain text", () => {
    const first = valuesOf();
    first.declare(A, list("--env", "prod", "secret-now"), [["args", 2]]);
    const sensitive = valuesOf();
    sensitive.record(A, first.conceal(A, list("--env", "prod", "secret-now"), "stored"));
    sensitive.hide(A, list("--env", "prod", "secret-now"));
    expect(hides(sensitive, "prod")).toBe(false);
    expect(hides(sensitive, "secret-now")).toBe(true);
  });

  test("are hidden everywhere, except those that one of several records of an object has in plain text", () => {
    const sensitive = valuesOf();
    for (const env of ["prod", "stage"]) {
      const first = valuesOf();
      first.declare(A, list("--env", env, "secret-now"), [["args", 2]]);
      sensitive.record(A, first.conceal(A, list("--env", env, "secret-now"), "stored"));
    }
    sensitive.hide(A, list("--env", "prod", "stage", "secret-now"));
    expect(["prod", "stage"].filter((text) => hides(sensitive, text))).toEqual([]);
    expect(hides(sensitive, "secret-now")).toBe(true);
  });

  test("are hidden where the spec has plain text now, and had a sensitive value", () => {
    const stored = run(A, { x: "former" }, ["x"]).conceal(A, { x: "former" }, "stored");
    const sensitive = run(A, { x: "former" });
    sensitive.record(A, stored);
    sensitive.hide(A, { x: "former" });
    expect(hides(sensitive, "former")).toBe(true);
  });
});
