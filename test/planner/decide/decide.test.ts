// The change of one resource by its declared, live, and recorded values.

import { describe, expect, test } from "vitest";
import { actions, live, object, plan, record, resource, spec, state } from "../build.ts";

const LIVE = { box_name: "a", material: "wood", size: 1 };

interface Case {
  readonly about: string;
  readonly declared?: Record<string, string | number>;
  readonly there?: boolean;
  readonly recorded?: boolean;
  readonly adopt?: boolean;
  readonly replace?: boolean;
  readonly gives: Record<string, string> | string;
}

const CASES: readonly Case[] = [
  { about: "declared only", declared: {}, gives: { "boxes.a": "create" } },
  { about: "live only", there: true, gives: {} },
  { about: "recorded only", recorded: true, gives: { "boxes.a": "forget" } },
  { about: "declared and recorded, not live", declared: {}, recorded: true, gives: { "boxes.a": "create" } },
  { about: "live and recorded, not declared", there: true, recorded: true, gives: { "boxes.a": "delete" } },
  { about: "all three and equal", declared: { size: 1 }, there: true, recorded: true, gives: {} },
  {
    about: "all three, one field differs",
    declared: { size: 2 },
    there: true,
    recorded: true,
    gives: { "boxes.a": "update" },
  },
  {
    about: "all three, an immutable field differs, and the policy allows no replacement",
    declared: { material: "steel" },
    there: true,
    recorded: true,
    gives: "PLAN_IMMUTABLE",
  },
  {
    about: "all three, an immutable field differs, and the policy replaces",
    declared: { material: "steel" },
    there: true,
    recorded: true,
    replace: true,
    gives: { "boxes.a": "replace" },
  },
  {
    about: "declared and live, not recorded",
    declared: { size: 1 },
    there: true,
    gives: "PLAN_ALREADY_EXISTS",
  },
  {
    about: "declared and live, adopted",
    declared: { size: 1 },
    there: true,
    adopt: true,
    gives: { "boxes.a": "adopt" },
  },
  {
    about: "declared and live, adopted with a difference",
    declared: { size: 2 },
    there: true,
    adopt: true,
    gives: { "boxes.a": "update" },
  },
];

describe("a resource that is", () => {
  test.each(CASES)("$about", ({ declared, there, recorded, adopt = false, replace, gives }) => {
    const made = plan({
      spec: spec(
        declared === undefined ? [] : [resource("boxes.a", { values: { material: "wood", ...declared } })],
        replace === true ? { on_immutable_change: "replace" } : {},
      ),
      live: live(there === true ? { boxes: [object("b1", "a", LIVE)] } : {}),
      state: state(recorded === true ? [record("boxes.a", "b1", LIVE)] : []),
      adopt,
    });
    if (typeof gives === "string") expect(made.diagnostics.map(({ code }) => code)).toEqual([gives]);
    else {
      expect(made.diagnostics).toEqual([]);
      expect(actions(made)).toEqual(gives);
    }
  });
});
