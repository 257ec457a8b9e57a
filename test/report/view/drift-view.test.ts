// The status of differences in the view of drift.

import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import type { Drift, DriftMark } from "../../../src/planner/model/plan.ts";
import { registry } from "../../../src/providers/index.ts";
import { NO_PLACES } from "../../../src/report/view/change-view.ts";
import { driftItem } from "../../../src/report/view/drift-view.ts";

const acknowledged = { until: 1_798_675_199_000, by: "ada@example.com", reason: "audit" };

test.each<[DriftMark, readonly string[]]>([
  [{ reported: false, declared: true }, ["already in the spec", "already in the spec"]],
  [
    { reported: true, acknowledged },
    ["acknowledged until 2026-12-30T23:59:59Z by ada@example.com: audit", "acknowledged"],
  ],
  [{ reported: false }, ["", ""]],
])("each line of a difference has its status: %j", (mark, notes) => {
  const drift: Drift = {
    address: addressOf("pools", "p"),
    kind: "pools",
    name: "p",
    what: "changed",
    diffs: [
      {
        path: ["custom_tags"],
        before: { a: "1", b: "2" },
        after: undefined,
        cause: "drift",
        replaces: false,
      },
    ],
    marks: [mark],
  };
  const { fields } = driftItem(drift, registry, NO_PLACES);
  expect(fields.map(({ label, note = "" }) => [label, note])).toEqual(
    notes.map((note, at) => [`custom_tags.${"ab"[at]}`, note]),
  );
});
