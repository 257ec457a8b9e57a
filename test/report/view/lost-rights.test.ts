// Drift of objects that were deleted or appeared, as text and JSON: who reads it learns which rights were lost or won.

import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import { registry } from "../../../src/providers/index.ts";
import { driftJson } from "../../../src/report/format/plan-json.ts";
import { NO_PLACES } from "../../../src/report/view/change-view.ts";
import { driftItem } from "../../../src/report/view/drift-view.ts";

const acknowledged = { until: 1_798_675_199_000, by: "ada@example.com", reason: "audit" };
const acl = (what: "deleted" | "appeared", more: Partial<Drift> = {}): Drift => ({
  address: addressOf("acls", "s/team"),
  kind: "acls",
  name: "s/team",
  what,
  diffs: [],
  values: { permission: "MANAGE" },
  ...more,
});
const itemOf = (drift: Drift) => driftItem(drift, registry, NO_PLACES);

test.each([
  ["deleted", { was: "MANAGE", text: "(none)" }, { before: { permission: "MANAGE" }, after: null }],
  ["appeared", { was: "(none)", text: "MANAGE" }, { before: null, after: { permission: "MANAGE" } }],
] as const)("an ACL (%s) has its permission as one difference", (what, line, sides) => {
  const item = itemOf(acl(what));
  expect(item.fields).toMatchObject([{ label: "permission", ...line }]);
  expect(driftJson(item)).toMatchObject({ differences: [{ path: [], severity: "security", ...sides }] });
});

test("the one difference of a deleted object says whether it is acknowledged, so a search for open differences finds it", () => {
  const { differences } = driftJson(itemOf(acl("deleted", { marks: [{ reported: true, acknowledged }] })));
  const mark = { until: "2026-12-30T23:59:59Z", by: "ada@example.com", reason: "audit" };
  expect(differences).toMatchObject([{ before: { permission: "MANAGE" }, acknowledged: mark }]);
});

test("a deleted object without rights has its values in JSON, and no secret", () => {
  const head = { diffs: [], what: "deleted" } as const;
  const pool = itemOf({
    ...head,
    address: addressOf("pools", "p"),
    kind: "pools",
    name: "p",
    values: { max_capacity: 5 },
  });
  expect([pool.fields, driftJson(pool).differences]).toMatchObject([[], [{ before: { max_capacity: 5 } }]]);
  const secret = itemOf({
    ...head,
    address: addressOf("secrets", "s/k"),
    kind: "secrets",
    name: "s/k",
    values: { value: "hunter2" },
  });
  expect(JSON.stringify([secret.fields, driftJson(secret)])).not.toContain("hunter2");
});
