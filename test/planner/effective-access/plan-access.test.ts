// The access diff of whole plans: memberships are in the lists of groups and in those of users, and a plan changes one of them.

import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Path } from "../../../src/core/pointer.ts";
import { unreadPrincipals } from "../../../src/planner/effective-access/plan-access.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { PlanFacts, PlanInput } from "../../../src/planner/model/input.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { planningRegistryIn } from "../../../src/resource/dialect-view.ts";
import type { Live, LiveObject } from "../../../src/resource/live.ts";
import type { Resource } from "../../../src/spec/model/spec.ts";
import type { StateRecord } from "../../../src/state/model/record.ts";
import { context, object, record, spec, state } from "../build.ts";

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

interface World {
  readonly live?: Record<string, readonly LiveObject[]>;
  readonly records?: readonly StateRecord[];
  readonly dialect?: "databricks";
  readonly more?: Partial<PlanInput & PlanFacts>;
  /** Kinds that the plan did not read. */
  readonly unread?: readonly string[];
}

/** Gained and lost rights as `ada@x: READ on etl`, and what was not compared. */
function accessIn(resources: readonly Resource[], world: World = {}) {
  const { live: objects = LIVE, records = RECORDS, dialect, more = {}, unread = [] } = world;
  const kinds = dialect === undefined ? registry : planningRegistryIn(everyKind, { dialect });
  const live: Live = new Map(
    kinds.kinds
      .filter(({ kind }) => !unread.includes(kind))
      .map(({ kind }) => [
        kind,
        { readable: true, objects: objects[kind] ?? [], unreadableParents: new Map() },
      ]),
  );
  const input = {
    ...{ registry: kinds, host: "h", spec: spec(resources), live, state: state(records) },
    ...more,
  };
  const { access, diagnostics } = makePlan(input);
  expect(diagnostics).toEqual([]);
  if (access === undefined) return undefined;
  const texts = (rights: typeof access.lost) =>
    rights.map(({ principal, level, object: on }) => `${principal}: ${level} on ${on}`);
  return { gained: texts(access.gained), lost: texts(access.lost), notCompared: access.notCompared };
}

/** Who leaves a group may lose rights on a scope that the spec does not manage. */
const UNREAD = "the access list of 1 secret scope that this plan does not read";

const BOB = declared("users.bob@x", {});
const ADA = declared("users.ada@x", {});
const DATA = declared("groups.data", { members: { users: ["ada@x", "bob@x"] } });

test("a user loses the rights of a group whose list no longer has the user", () => {
  const wanted = [ADA, BOB, declared("groups.data", { members: { users: ["ada@x"] } })];
  expect(accessIn(wanted)).toEqual({ gained: [], lost: ["bob@x: READ on etl"], notCompared: [UNREAD] });
});

test("a user loses the rights of a group that is no longer in the list of the user", () => {
  const wanted = [declared("users.ada@x", { groups: [] }), BOB, declared("groups.data", {})];
  expect(accessIn(wanted)?.lost).toEqual(["ada@x: READ on etl"]);
});

describe("an access list", () => {
  const ETL = declared("scopes.etl", {});
  const scoped = [record("scopes.etl", "etl"), ...RECORDS];
  const acl = (permission: string) => ({
    ...declared("acls.etl/data", { permission }),
    dependsOn: [ETL.address],
  });
  const recorded = [...scoped, record("acls.etl/data", "etl/data", { permission: "READ" })];
  const people = [ADA, BOB, DATA];

  test("that is created gives its rights, and with one that is deleted they are lost", () => {
    const none = { ...LIVE, acls: [] };
    const created = accessIn([ETL, acl("WRITE"), ...people], { live: none, records: scoped });
    expect(created).toMatchObject({ gained: ["data: WRITE on etl"], lost: [] });
    const deleted = accessIn([{ ...ETL, owns: ["acls"] }, ...people], { records: recorded });
    expect(deleted).toMatchObject({ gained: [], lost: ["data: READ on etl"] });
  });

  test("that changes its level shows what is new, and one without a change shows nothing", () => {
    expect(accessIn([ETL, acl("MANAGE"), ...people], { records: recorded })).toMatchObject({
      gained: ["data: MANAGE on etl"],
      lost: [],
    });
    expect(accessIn([ETL, acl("READ"), ...people], { records: recorded })).toBeUndefined();
  });

  test("that is deleted with its scope loses its rights, also those that are not recorded", () => {
    const lost = { gained: [], lost: ["data: READ on etl"] };
    expect(accessIn(people, { records: recorded })).toMatchObject(lost);
    expect(accessIn(people, { records: scoped })).toMatchObject(lost);
  });

  test("that is created again with its replaced scope keeps its rights, and others of the scope are lost", () => {
    const vault = { backend_type: "CLOUD_KEYVAULT", keyvault_metadata: { resource_id: "r", dns_name: "d" } };
    const wanted = [{ ...ETL, values: vault }, acl("READ"), ...people];
    const replaced = spec(wanted, { on_immutable_change: "replace" });
    const other = object("etl/bob@x", "etl/bob@x", { permission: "MANAGE" });
    const acls = [...(LIVE.acls ?? []), other];
    const access = accessIn([], {
      live: { ...LIVE, acls },
      records: recorded,
      dialect: "databricks",
      more: { spec: replaced },
    });
    expect(access).toMatchObject({ gained: [], lost: ["bob@x: MANAGE on etl"] });
  });

  test("that leaves the state and stays in the workspace keeps its rights", () => {
    const kept = { ...spec([ETL, ...people]), removed: [{ address: "acls.etl/data", destroy: false }] };
    const access = accessIn([], { records: recorded, more: { spec: kept as never } });
    expect(access).toBeUndefined();
    const left = spec([ETL, ADA, BOB, declared("groups.data", { members: { users: ["ada@x"] } })]);
    const more = { spec: { ...left, removed: kept.removed } as never };
    expect(accessIn([], { records: recorded, more })?.lost).toEqual(["bob@x: READ on etl"]);
  });
});

describe("the creator of an object", () => {
  const created = [declared("scopes.new", {}), ADA, BOB, DATA];

  test("has the rights that the service gives, if the caller is known", () => {
    const of = (caller: string | undefined) => accessIn(created, { more: { caller } });
    expect(of("ada@x")).toBeUndefined();
    const alone = [
      declared("scopes.new", {}),
      { ...declared("acls.new/bob@x", { permission: "READ" }), dependsOn: ["scopes.new" as Address] },
      ADA,
      BOB,
      DATA,
    ];
    expect(accessIn(alone, { more: { caller: "ada@x" } })).toEqual({
      gained: ["ada@x: MANAGE on new", "bob@x: READ on new"],
      lost: [],
      notCompared: [],
    });
    expect(accessIn(alone)).toEqual({
      gained: ["bob@x: READ on new"],
      lost: [],
      notCompared: ["what the caller may do with objects that it creates"],
    });
  });
});

describe("principals that were not read", () => {
  const wanted = [declared("groups.data", { members: { users: ["ada@x"] } })];

  test("are named, one kind or both", () => {
    const records = RECORDS.filter(({ address }) => address === "groups.data");
    expect(accessIn(wanted, { records, unread: ["users"] })?.notCompared).toEqual([
      "users: not read",
      UNREAD,
    ]);
  });

  test("are those that the state does not record, if the plan reads recorded objects alone", () => {
    const records = RECORDS.filter(({ address }) => address === "groups.data");
    expect(accessIn(wanted, { records, more: { partial: true } })?.notCompared).toEqual([
      "principals that the state does not record",
      UNREAD,
    ]);
  });

  test("are read for a plan that changes the access of others, and for no other plan", () => {
    const asked = (
      resources: readonly Resource[],
      records: readonly StateRecord[],
      missing: string | undefined = "users",
      objects = LIVE,
    ) => {
      const live: Live = new Map(
        registry.kinds
          .filter(({ kind }) => kind !== missing)
          .map(({ kind }) => [
            kind,
            { readable: true, objects: objects[kind] ?? [], unreadableParents: new Map() },
          ]),
      );
      const input = { registry, host: "h", spec: spec(resources), live, state: state(records) };
      const around = context(input);
      return [...unreadPrincipals(around, makePlan(input).changes)].sort();
    };
    const records = RECORDS.filter(({ address }) => address === "groups.data");
    expect(asked(wanted, records)).toEqual(["groups", "users"]);
    expect(asked([DATA], records)).toEqual([]);
    expect(asked([DATA, declared("groups.empty", {})], records)).toEqual([]);
    expect(asked([DATA, declared("pools.p", { node_type_id: "Standard_DS3_v2" })], records)).toEqual([]);
    expect(asked(wanted, records, "none")).toEqual([]);
    const users = RECORDS.filter(({ address }) => address === "users.ada@x");
    expect(asked([declared("users.ada@x", { groups: [] })], users, "groups")).toEqual(["groups", "users"]);
    const entitlements = ["allow-cluster-create"];
    expect(asked([declared("users.ada@x", { entitlements })], users, "groups")).toEqual([]);
    // A group whose members were not read may have some.
    const entitled = [declared("groups.data", { entitlements })];
    const unread = { ...LIVE, groups: [object("10", "data", { displayName: "data", entitlements: [] })] };
    const empty = { ...LIVE, groups: [group("10", "data", [])] };
    const own = [record("groups.data", "10")];
    expect(asked(entitled, own, "users", unread)).toEqual(["groups", "users"]);
    expect(asked(entitled, own, "users", empty)).toEqual([]);
  });
});

test("an access list is not missed if the spec or the state manages its scope", () => {
  const wanted = [ADA, BOB, declared("groups.data", { members: { users: ["ada@x"] } })];
  const scope = declared("scopes.etl", {});
  const records = [record("scopes.etl", "etl"), ...RECORDS];
  expect(accessIn([...wanted, scope], { records })?.notCompared).toEqual([]);
  const two = { ...LIVE, scopes: [...(LIVE.scopes ?? []), object("b", "b"), object("c", "c")] };
  expect(accessIn([...wanted, scope], { live: two, records })?.notCompared).toEqual([
    "the access lists of 2 secret scopes that this plan does not read",
  ]);
  expect(accessIn(wanted, { unread: ["scopes"] })?.notCompared).toEqual([]);
});

test("a user whose activity is sensitive counts as active on both sides", () => {
  const isSensitive = (address: Address, path: Path) => address === "users.ada@x" && path[0] === "active";
  const wanted = [declared("users.ada@x", { active: false }), BOB, DATA];
  expect(accessIn(wanted)?.lost).toEqual(["ada@x: READ on etl"]);
  expect(accessIn(wanted, { more: { isSensitive } })).toBeUndefined();
  const joins = [
    declared("users.ada@x", { active: false, entitlements: ["allow-cluster-create"] }),
    BOB,
    DATA,
  ];
  expect(accessIn(joins, { more: { isSensitive } })?.gained).toEqual([
    "ada@x: granted on allow-cluster-create",
  ]);
});

describe("a plan that changes who is in a group", () => {
  const scoped = [record("scopes.etl", "etl"), ...RECORDS];
  const ETL = declared("scopes.etl", {});

  test("changes no access if each user has the same right in another way", () => {
    const live = {
      ...LIVE,
      acls: [...(LIVE.acls ?? []), object("etl/bob@x", "etl/bob@x", { permission: "READ" })],
    };
    const wanted = [ETL, ADA, BOB, declared("groups.data", { members: { users: ["ada@x"] } })];
    expect(accessIn(wanted, { live, records: scoped })).toBeUndefined();
  });

  test("keeps the other groups of a user who leaves one", () => {
    const live = {
      ...LIVE,
      users: [user("1", "ada@x", ["data", "ops"])],
      groups: [group("10", "data", ["ada@x"]), group("13", "ops", ["ada@x"])],
      acls: [...(LIVE.acls ?? []), object("etl/ops", "etl/ops", { permission: "WRITE" })],
    };
    const records = [record("scopes.etl", "etl"), record("users.ada@x", "1", { groups: ["data", "ops"] })];
    const leaving = (groups: readonly string[]) =>
      accessIn([ETL, declared("users.ada@x", { groups: [...groups] })], { live, records });
    expect(leaving(["ops"])).toBeUndefined();
    expect(leaving(["data"])?.lost).toEqual(["ada@x: WRITE on etl"]);
    expect(leaving([])?.lost).toEqual(["ada@x: WRITE on etl"]);
  });

  test("has principals that were read for the comparison alone, and those of the plan", () => {
    const wanted = [ETL, declared("groups.data", { members: { users: [] } })];
    const live = { ...LIVE, users: [user("2", "bob@x", ["data"])] };
    const records = scoped.filter(({ address }) => !address.startsWith("users."));
    const read = (objects: readonly LiveObject[]) =>
      new Map([["users", { readable: true, objects, unreadableParents: new Map() }]]) as Live;
    const changed = (principals: Live, unread: readonly string[] = []) =>
      accessIn(wanted, { live, records, unread, more: { principals } });
    expect(changed(read([user("1", "ada@x", ["data"])]))).toEqual({
      gained: [],
      lost: ["ada@x: READ on etl", "bob@x: READ on etl"],
      notCompared: [],
    });
    expect(changed(read([user("1", "ada@x", [])]), ["users"])).toEqual({
      gained: [],
      lost: ["ada@x: READ on etl"],
      notCompared: [],
    });
    expect(changed(new Map(), ["users"])?.notCompared).toEqual(["users: not read"]);
  });
});

describe("the access list of an object with other fields", () => {
  const pool = (id: string, name: string, more: JsonObject = {}): LiveObject =>
    object(id, name, { instance_pool_name: name, node_type_id: "Standard_DS3_v2", ...more });
  const live = { ...LIVE, pools: [pool("p1", "a"), pool("p2", "b", { access: {} }), pool("p3", "c")] };
  const wanted = (name: string, more: JsonObject = {}) =>
    declared(`pools.${name}`, { instance_pool_name: name, node_type_id: "Standard_DS3_v2", ...more });
  const records = [record("pools.a", "p1"), record("pools.b", "p2")];
  const GIVEN = wanted("b", { access: { "group:data": "CAN_ATTACH_TO" } });

  test("is missed where the plan deletes the object, and where who is in a group changes", () => {
    const deleted = accessIn([GIVEN], { live, records, dialect: "databricks" });
    expect(deleted).toMatchObject({
      gained: ["data: CAN_ATTACH_TO on b"],
      notCompared: ["the access list of 1 instance pool that the plan deletes or replaces"],
    });
    const kept = accessIn([GIVEN, wanted("a")], { live, records, dialect: "databricks" });
    expect(kept?.notCompared).toEqual([]);
    const moved = [GIVEN, wanted("a"), declared("groups.data", { members: { users: ["ada@x"] } })];
    const own = [...records, record("groups.data", "10", {})];
    expect(accessIn(moved, { live, records: own, dialect: "databricks" })?.notCompared).toEqual([
      "the access lists of 2 instance pools that this plan does not read",
      UNREAD,
    ]);
  });
});
