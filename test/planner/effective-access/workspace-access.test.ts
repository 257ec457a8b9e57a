// The access of a whole workspace, live and after a plan, and what of it was not read.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { accessOfObject } from "../../../src/planner/effective-access/held-rights.ts";
import {
  accessAfter,
  accessOfLive,
  type WorkspaceAccess,
} from "../../../src/planner/effective-access/plan-access.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { PlanInput } from "../../../src/planner/model/input.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import type { LiveKind, LiveObject } from "../../../src/resource/live.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import { context, object, record, resource, spec, state } from "../build.ts";

const registry = planningRegistryIn(everyKind, { dialect: "databricks" });
const always = () => true;

const pool = (id: string, name: string, access?: JsonObject): LiveObject =>
  object(id, name, {
    instance_pool_name: name,
    node_type_id: "Standard_DS3_v2",
    ...(access === undefined ? {} : { access }),
  });
const LIVE: Readonly<Record<string, readonly LiveObject[]>> = {
  users: [object("1", "ada@x", { userName: "ada@x", entitlements: [], groups: [], active: true })],
  groups: [object("10", "data", { displayName: "data", members: { users: ["ada@x"], groups: [] } })],
  scopes: [object("etl", "etl", { backend_type: "DATABRICKS" })],
  acls: [object("etl/data", "etl/data", { permission: "READ" })],
  pools: [pool("p1", "open", { "user:ada@x": "CAN_ATTACH_TO" }), pool("p2", "hidden"), pool("p3", "apart")],
};

function inputOf(more: Partial<PlanInput> = {}, kinds: Readonly<Record<string, LiveKind>> = {}): PlanInput {
  const read = registry.kinds.map(({ kind }) => {
    const all: LiveKind = { readable: true, objects: LIVE[kind] ?? [], unreadableParents: new Map() };
    return [kind, kinds[kind] ?? all] as const;
  });
  const input = { registry, host: "h", spec: spec([]), live: new Map(read), state: state() };
  return { ...input, ...more };
}

const inLive = (more?: Partial<PlanInput>, kinds?: Readonly<Record<string, LiveKind>>, isAsked = always) =>
  accessOfLive(context(inputOf(more, kinds)), isAsked);
const targets = (access: WorkspaceAccess) => access.targets.map(({ kind, name }) => `${kind}.${name}`).sort();
const rightsOn = (access: WorkspaceAccess, kind: string, name: string) =>
  accessOfObject(access.state, { kind, name }).rights.map(({ principal, level }) => `${principal} ${level}`);

describe("the access of a live workspace", () => {
  test("has every object that can have rights, and the rights that its lists give", () => {
    const access = inLive();
    expect(targets(access)).toEqual(["pools.apart", "pools.hidden", "pools.open", "scopes.etl"]);
    expect(rightsOn(access, "scopes", "etl")).toEqual(["data READ", "ada@x READ"]);
    expect(rightsOn(access, "pools", "open")).toEqual(["ada@x CAN_ATTACH_TO"]);
  });

  test("does not say whether a user is active if that is sensitive", () => {
    const activity = (isSensitive: PlanInput["isSensitive"]) =>
      inLive({
        state: state([record("users.ada@x", "1")]),
        ...(isSensitive && { isSensitive }),
      }).state.isActive("user ada@x");
    expect(activity(undefined)).toBe(true);
    expect(activity((_, path) => path[0] === "groups")).toBe(true);
    expect(activity((address, path) => `${address}/${path}` === "users.ada@x/active")).toBeUndefined();
  });

  test("says which lists were not read, of the objects that the question is about", () => {
    const asked = (names: readonly string[]) =>
      inLive({}, {}, ((kind: string, name: string) => kind === "pools" && names.includes(name)) as never)
        .notRead;
    expect(inLive().notRead).toEqual(["the access lists of 2 instance pools"]);
    expect(asked(["hidden", "open"])).toEqual(["the access list of 1 instance pool"]);
    expect(asked(["open"])).toEqual([]);
  });

  test("says which kinds and which lists of them could not be read, and that other principals may exist", () => {
    const message = "users: the service refused the request";
    const unreadable: LiveKind = { readable: false, diagnostic: error("API_FORBIDDEN", message) };
    const partly: LiveKind = {
      readable: true,
      objects: [],
      unreadableParents: new Map([["etl", error("API_FORBIDDEN", "no")]]),
    };
    const lists = "the access lists of 2 instance pools";
    expect(inLive({}, { users: unreadable }).notRead).toEqual([
      "users: not read",
      `users: ${message}`,
      lists,
    ]);
    expect(inLive({}, { acls: partly, jobs: unreadable }).notRead).toEqual([
      "acls of etl",
      `jobs: ${message}`,
      lists,
    ]);
    // Files have no access lists.
    expect(inLive({}, { files: unreadable, libraries: unreadable }).notRead).toEqual([lists]);
    expect(inLive({ partial: true }).notRead).toEqual(["principals that the state does not record", lists]);
  });
});

describe("the access after a plan", () => {
  const records = [record("pools.hidden", "p2"), record("pools.open", "p1"), record("scopes.etl", "etl")];
  const declared = (kind: string, key: string, values: JsonObject): Resource => ({
    ...resource("boxes.any"),
    ...{ address: `${kind}.${key}` as Address, kind, key, name: key, values },
  });
  const wanted = (key: string, values: JsonObject) =>
    declared("pools", key, { instance_pool_name: key, node_type_id: "Standard_DS3_v2", ...values });
  const planned = (resources: readonly Resource[], recorded = records, isAsked = always) => {
    const given = spec(resources, { on_immutable_change: "replace" });
    const input = inputOf({ spec: given, state: state(recorded) });
    const { changes, diagnostics } = makePlan({ ...input });
    expect(diagnostics).toEqual([]);
    return accessAfter(context(input), { caller: "ada@x" }, changes, isAsked);
  };
  const ETL = declared("scopes", "etl", {});
  const OPEN = wanted("open", { access: { "user:ada@x": "CAN_ATTACH_TO" } });

  test("has what the plan creates, with the right of its creator, and not what it deletes", () => {
    const access = planned([OPEN, wanted("new", {})], [...records].slice(1));
    expect(targets(access)).toEqual(["pools.apart", "pools.hidden", "pools.new", "pools.open"]);
    expect(rightsOn(access, "pools", "new")).toEqual(["ada@x CAN_MANAGE"]);
    expect(access.notRead).toEqual(["the access lists of 2 instance pools"]);
  });

  test("keeps the list of an object whose other fields change, and of one that does not change", () => {
    const access = planned([OPEN, ETL, wanted("hidden", { min_idle_instances: 2 })]);
    expect(targets(access)).toContain("pools.hidden");
    expect(access.notRead).toEqual(["the access lists of 2 instance pools"]);
    expect(rightsOn(access, "pools", "open")).toEqual(["ada@x CAN_ATTACH_TO"]);
  });

  test("has the list that the plan writes in place of the old one", () => {
    const access = planned([
      ETL,
      wanted("hidden", {}),
      wanted("open", { access: { "group:data": "CAN_MANAGE" } }),
    ]);
    expect(rightsOn(access, "pools", "open")).toEqual(["data CAN_MANAGE", "ada@x CAN_MANAGE"]);
    const given = planned([ETL, OPEN, wanted("hidden", { access: { "group:data": "CAN_ATTACH_TO" } })]);
    expect(rightsOn(given, "pools", "hidden")).toEqual(["data CAN_ATTACH_TO", "ada@x CAN_ATTACH_TO"]);
    expect(given.notRead).toEqual(["the access list of 1 instance pool"]);
  });

  test("has a replaced object with the list of the new one", () => {
    const replaced = wanted("hidden", { node_type_id: "Standard_DS4_v2" });
    const access = planned([ETL, OPEN, replaced]);
    expect(rightsOn(access, "pools", "hidden")).toEqual(["ada@x CAN_MANAGE"]);
    expect(access.notRead).toEqual(["the access list of 1 instance pool"]);
    const none = planned([ETL, OPEN, replaced], records, () => false);
    expect(none.notRead).toEqual([]);
  });
});
