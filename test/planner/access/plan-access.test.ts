// The access diff of whole plans: memberships are in the lists of groups and in those of users, and a plan changes one of them.

import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import type { Live, LiveObject } from "../../../src/resource/live.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { object, record, spec, state } from "../build.ts";

const registry = planningRegistryIn(everyKind, { dialect: "contract" });
const AT = { file: "workspace.yaml", line: 1, column: 1 };

function declared(address: string, values: JsonObject): Resource {
  const [kind = "", key = ""] = address.split(/\.(.*)/s);
  return {
    ...{ address: address as Address, kind, key, name: key, values, references: [], dependsOn: [], owns: [] },
    lifecycle: { prevent_destroy: false, ignore_changes: [] },
    at: AT,
    locate: () => AT,
  };
}

const user = (id: string, name: string, groups: readonly string[]): LiveObject =>
  object(id, name, { userName: name, entitlements: [], groups: [...groups], active: true });
const group = (id: string, name: string, users: readonly string[]): LiveObject =>
  object(id, name, { displayName: name, members: { users: [...users], groups: [] }, entitlements: [] });

const LIVE: Record<string, readonly LiveObject[]> = {
  users: [user("1", "ada@x", ["data"]), user("2", "bob@x", ["data"])],
  groups: [group("10", "data", ["ada@x", "bob@x"]), group("11", "admins", []), group("12", "users", [])],
  scopes: [object("etl", "etl", { backend_type: "DATABRICKS" })],
  acls: [object("etl/data", "etl/data", { permission: "READ" })],
};

const RECORDS = [
  record("users.ada@x", "1", { groups: ["data"] }),
  record("users.bob@x", "2", {}),
  record("groups.data", "10", { members: { users: ["ada@x", "bob@x"] } }),
];

function lostIn(resources: readonly Resource[]): readonly string[] {
  const live: Live = new Map(
    registry.kinds.map(({ kind }) => [
      kind,
      { readable: true, objects: LIVE[kind] ?? [], unreadableParents: new Map() },
    ]),
  );
  const input: PlanInput = { registry, host: "h", spec: spec(resources), live, state: state(RECORDS) };
  const { access, diagnostics } = makePlan(input);
  expect(diagnostics).toEqual([]);
  return (access?.lost ?? []).map(({ principal, level, object: on }) => `${principal}: ${level} on ${on}`);
}

const BOB = declared("users.bob@x", {});

test("a user loses the rights of a group whose list no longer has the user", () => {
  const wanted = [
    declared("users.ada@x", {}),
    BOB,
    declared("groups.data", { members: { users: ["ada@x"] } }),
  ];
  expect(lostIn(wanted)).toEqual(["bob@x: READ on etl"]);
});

test("a user loses the rights of a group that is no longer in the list of the user", () => {
  const wanted = [declared("users.ada@x", { groups: [] }), BOB, declared("groups.data", {})];
  expect(lostIn(wanted)).toEqual(["ada@x: READ on etl"]);
});
