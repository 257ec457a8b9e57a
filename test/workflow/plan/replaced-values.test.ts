// Sensitive values of objects that were replaced and still exist: no output shows them, whatever the variable is now.

import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";
import type { Live } from "../../../src/resource/live.ts";
import { hideLive } from "../../../src/workflow/plan/sensitive.ts";
import { object, record, state } from "../../planner/build.ts";

test("the former value that only a replaced object has is hidden in messages of the service", () => {
  const values = (k: string) => ({ node_type_id: "a", custom_tags: { k } });
  const sensitive = new SensitiveValues({ key: new Uint8Array(32), lineage: "l" });
  sensitive.declare("pools.p" as Address, values("Third-Value-99"), [["custom_tags", "k"]]);
  const recorded = { ...record("pools.p", "2", values("Second-Value-55")), deposed: [remoteId("1")] };
  const objects = [
    object("1", "old", values("First-Value-11")),
    object("2", "p", values("Second-Value-55")),
    object("3", "of others", values("Other-Value-77")),
  ];
  const live: Live = new Map([["pools", { readable: true, objects, unreadableParents: new Map() }]]);
  hideLive(sensitive, state([recorded]), live);
  const told = "First-Value-11, Second-Value-55, Third-Value-99, and Other-Value-77";
  expect(sensitive.masked(told)).toBe("(sensitive), (sensitive), (sensitive), and Other-Value-77");
});
