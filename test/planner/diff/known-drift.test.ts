// Drift that an earlier run reported or a user acknowledged.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { driftDigests, type KnownDrift, marksOf } from "../../../src/planner/diff/known-drift.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import type { FieldDiff } from "../../../src/resource/planning.ts";
import type { Acknowledgement } from "../../../src/state/model/record.ts";

const fields = { size: { type: "integer" }, value: { type: "string", writeOnly: true, witness: "written" } };
const address = "boxes.a" as Address;
const diff = (field: string, before: FieldDiff["before"]): FieldDiff => ({
  path: [field],
  before,
  after: 1,
  cause: "drift",
  replaces: false,
});
const drift = (more: Partial<Drift> = {}): Drift => ({
  address,
  kind: "boxes",
  name: "a",
  what: "changed",
  diffs: [diff("size", 2)],
  ...more,
});
const digests = (more: Partial<Drift> = {}) => driftDigests(drift(more), fields);

describe("the digest of a difference", () => {
  test("changes with the field and its live value, and with nothing else", () => {
    expect(digests()).toHaveLength(1);
    expect(digests()).toEqual(digests({ diffs: [{ ...diff("size", 2), after: 9 }], facts: { written: 4 } }));
    expect(digests()).not.toEqual(digests({ diffs: [diff("size", 3)] }));
    expect(digests()).not.toEqual(digests({ diffs: [diff("other", 2)] }));
    expect(digests({ diffs: [diff("size", undefined)] })).toEqual(digests({ diffs: [diff("size", null)] }));
  });

  test("of a value that cannot be read changes with the time of its last write", () => {
    const at = (written: string | number) =>
      digests({ diffs: [diff("value", undefined)], facts: { written } });
    expect(at(5)).not.toEqual(at(6));
    expect(at(5)).toEqual(at("5"));
    expect(digests({ diffs: [diff("value", undefined)] })).not.toEqual(at(5));
  });

  test("is one for an object that was deleted or appeared", () => {
    const gone = digests({ what: "gone", diffs: [] });
    expect(gone).toHaveLength(1);
    expect(gone).not.toEqual(digests({ what: "appeared", diffs: [] }));
  });
});

describe("known facts of a difference", () => {
  const two = drift({ diffs: [diff("size", 2), diff("note", "x")] });
  const [size = "", note = ""] = driftDigests(two, fields);
  const told = (differences: readonly string[], by = "ada", to: string = address): Acknowledgement => ({
    address: to as Address,
    differences,
    until: 9,
    reason: "known",
    by,
    at: 1,
  });
  const marks = (known: Partial<KnownDrift>) =>
    marksOf(two, fields, { reported: [], acknowledged: [], ...known });

  test("is nothing for a new one", () => {
    expect(marks({})).toEqual([{ reported: false }, { reported: false }]);
  });

  test("is that an earlier run reported it for this resource", () => {
    expect(marks({ reported: [{ address, differences: [note] }] })).toEqual([
      { reported: false },
      { reported: true },
    ]);
    const other = { address: "boxes.b" as Address, differences: [size, note] };
    expect(marks({ reported: [other] })).toEqual([{ reported: false }, { reported: false }]);
  });

  test("is the last acknowledgement of it for this resource", () => {
    const [first, last] = [told([size], "ada"), told([size], "bo")];
    expect(marks({ acknowledged: [first, last, told([size, note], "cy", "boxes.b")] })).toEqual([
      { reported: false, acknowledged: last },
      { reported: false },
    ]);
  });
});
