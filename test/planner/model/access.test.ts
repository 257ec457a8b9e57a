// The access diff as machines and rules read it.

import { expect, test } from "vitest";
import { type AccessRight, accessJson, rightJson } from "../../../src/planner/model/plan.ts";

const right: AccessRight = {
  principal: "data",
  principalKind: "group",
  people: 3,
  affected: 2,
  level: "READ",
  instead: "WRITE",
  kind: "scopes",
  object: "etl",
  through: ["outer"],
  inheritedFrom: "/Shared",
  asCreator: true,
};
const json = {
  principal: "data",
  principal_kind: "group",
  people: 3,
  affected: 2,
  level: "READ",
  kind: "scopes",
  object: "etl",
  through: ["outer"],
  inherited_from: "/Shared",
  as_creator: true,
};

test("a gained right has the level before, a lost one the level after, and what is not known is left out", () => {
  const notCompared = ["users: not read"];
  expect(accessJson({ gained: [right], lost: [right], notCompared })).toEqual({
    gained: [{ ...json, before: "WRITE" }],
    lost: [{ ...json, after: "WRITE" }],
    not_compared: notCompared,
  });
  expect(rightJson(right)).toEqual({ ...json, before: "WRITE" });
  const plain = {
    ...right,
    people: undefined,
    affected: undefined,
    instead: undefined,
    inheritedFrom: undefined,
  };
  expect(Object.keys(rightJson({ ...plain, asCreator: undefined } as AccessRight))).toEqual([
    ...["principal", "principal_kind", "level", "kind", "object", "through"],
  ]);
});
