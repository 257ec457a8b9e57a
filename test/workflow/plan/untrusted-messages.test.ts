// What a plan of an untrusted spec says about objects that it cannot manage or read: the service can answer with a sensitive value anywhere.

import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import type { Live } from "../../../src/resource/live.ts";
import { redaction } from "../../../src/workflow/plan/untrusted-input.ts";
import { object, record, spec, state } from "../../planner/build.ts";

const VALUE = "Qwer7890Zed";

test("the reasons why objects cannot be managed or read do not contain a recorded sensitive value", () => {
  const kinds = planningRegistryIn(everyKind, { dialect: "contract" });
  const address = "pools.p" as Address;
  const values = { node_type_id: "a", custom_tags: { k: VALUE } };
  const key = new Uint8Array(32);
  const { lineage } = state([]);
  const sensitive = new SensitiveValues({ key, lineage });
  sensitive.declare(address, values, [["custom_tags", "k"]]);
  const stored = sensitive.conceal(address, values, "stored");
  const recorded = state([record(address, "1", stored)]);
  const pool = { ...object("1", "p", values), unmanageable: `its type ${VALUE} is unknown` };
  const unread = error("PLAN_UNREADABLE", "clusters cannot be read", { cause: `refused (400 ${VALUE})` });
  const live: Live = new Map([
    ["pools", { readable: true, objects: [pool], unreadableParents: new Map() }],
    ["clusters", { readable: false, diagnostic: unread }],
  ]);
  const redacted = redaction(kinds, { state: recorded, before: recorded, live, key })(
    spec([]),
    recorded,
    live,
  );
  const shown = JSON.stringify([...redacted.live.values()]);
  expect(shown).toContain("its type (sensitive) is unknown");
  expect(shown).toContain("(400 (sensitive))");
  expect(shown).not.toContain(VALUE);
});
