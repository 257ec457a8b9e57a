import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import type { DesiredSpec } from "../../../src/engine/observe/needed-kinds.ts";
import { observe } from "../../../src/engine/observe/observe.ts";
import type { ReadEvent } from "../../../src/planner/model/plan.ts";
import { type Registry, registryOf } from "../../../src/resource/kind.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { State } from "../../../src/state/model/record.ts";
import { intent, ready } from "../../state/build.ts";
import { kind, Service, specOf, toys } from "../toy.ts";

interface Looking {
  readonly service: Service;
  readonly spec?: DesiredSpec;
  readonly state?: State;
  readonly registry?: Registry;
  readonly onRead?: (event: ReadEvent) => void;
}

const look = ({ service, spec, state = emptyState("l"), registry = toys, onRead }: Looking) =>
  observe({
    registry,
    reader: service,
    state,
    parallelism: 3,
    ...(spec === undefined ? {} : { spec }),
    ...(onRead === undefined ? {} : { onRead }),
  });

function recorded(...addresses: readonly string[]): State {
  const records = addresses.map((address) => ready(address));
  return { ...emptyState("l"), records: new Map(records.map((record) => [record.address, record])) };
}

const objects = (live: Awaited<ReturnType<typeof look>>, of: string) => {
  const found = live.get(of);
  return found?.readable === true ? found.objects : [];
};

test("only kinds in use are read, each with one list: those of the spec, of the state, and those that they name", async () => {
  const service = new Service();
  const live = await look({ service, spec: specOf({ "things.a": {} }), state: recorded("boxes.b") });
  expect([...live.keys()]).toEqual(["people", "things", "boxes"]);
  expect(service.log.sort()).toEqual(["read boxes", "read people", "read things"]);
});

test("members are listed once for each managed parent that is there", async () => {
  const service = new Service();
  for (const name of ["red", "blue", "foreign"]) service.add("rooms", name);
  service.add("items", "red/chair");
  const spec = specOf({ "rooms.red": {}, "rooms.missing": {}, "items.red/chair": {} });
  const live = await look({ service, spec, state: recorded("rooms.blue") });
  expect(service.log.filter((line) => line.startsWith("read items")).sort()).toEqual([
    "read items blue",
    "read items red",
  ]);
  expect(objects(live, "items").map((one) => one.name)).toEqual(["red/chair"]);
});

test("kinds of open intents and sweeps are read, so that they can be settled", async () => {
  const service = new Service();
  const open = [{ ...intent("tagged.x"), seq: 1, at: 0 }];
  const sweeps = [
    {
      token: "t",
      address: "phased.y" as Address,
      until: 9,
      intent: { ...intent("phased.y"), seq: 2, at: 0 },
    },
  ];
  const live = await look({ service, state: { ...emptyState("l"), open, sweeps } });
  expect([...live.keys()].filter((one) => one !== "people")).toEqual(["tagged", "phased"]);
});

test("names of open intents and sweeps are looked for, although neither the spec nor the state has them", async () => {
  const asked: string[][] = [];
  const rooms = kind("rooms", {
    list: async (_api, { names }) => {
      asked.push([...names].sort());
      return [];
    },
  });
  const open = [{ ...intent("rooms.open"), seq: 1, at: 0 }];
  const late = { ...intent("rooms.late"), seq: 2, at: 0 };
  const sweeps = [{ token: "t", address: late.address, until: 9, intent: late }];
  const registry = registryOf([rooms, kind("people")]);
  await look({ service: new Service(), registry, state: { ...emptyState("l"), open, sweeps } });
  expect(asked).toEqual([["late", "open"]]);
});

test("a list that fails leaves its kind unreadable, with the reason, and the others readable", async () => {
  const service = new Service();
  service.fates.set("read boxes", ["refuse"]);
  const live = await look({ service, spec: specOf({ "boxes.a": {}, "things.a": {} }) });
  expect(live.get("boxes")).toMatchObject({ readable: false, diagnostic: { code: "API_FORBIDDEN" } });
  expect(live.get("things")).toMatchObject({ readable: true, objects: [] });
});

test("members of an unreadable parent kind are unreadable, not absent", async () => {
  const service = new Service();
  service.fates.set("read rooms", ["refuse"]);
  const live = await look({ service, spec: specOf({ "rooms.red": {}, "items.red/chair": {} }) });
  expect(live.get("items")).toMatchObject({ readable: false, diagnostic: { code: "API_FORBIDDEN" } });
});

test("a parent whose members cannot be listed is the only one that is unreadable", async () => {
  const service = new Service();
  for (const name of ["red", "blue"]) service.add("rooms", name);
  service.add("items", "blue/lamp");
  service.fates.set("read items red", ["refuse"]);
  const live = await look({ service, spec: specOf({ "rooms.red": {}, "rooms.blue": {} }) });
  const items = live.get("items");
  expect(items?.readable === true ? [...items.unreadableParents.keys()] : "unreadable").toEqual(["red"]);
  expect(objects(live, "items").map((one) => one.name)).toEqual(["blue/lamp"]);
});

test("IDs of named objects become their names, and unknown IDs remain", async () => {
  const service = new Service();
  const ada = service.add("people", "ada");
  service.add("things", "a", { owner: ada.id });
  service.add("things", "b", { owner: "people-99" });
  const live = await look({ service, spec: specOf({ "things.a": { values: { owner: "ada" } } }) });
  expect(objects(live, "things").map((one) => one.values)).toEqual([
    { owner: "ada" },
    { owner: "people-99" },
  ]);
});

test("a kind that only an unmanaged field names is not read, and the field is left out", async () => {
  const service = new Service();
  const ada = service.add("people", "ada");
  service.add("things", "a", { owner: ada.id, size: 1 });
  const live = await look({ service, spec: specOf({ "things.a": { values: { size: 1 } } }) });
  expect(service.log).toEqual(["read things"]);
  expect(objects(live, "things").map((one) => one.values)).toEqual([{ size: 1 }]);
});

test("where the named kind cannot be read, what names it cannot be judged either", async () => {
  const service = new Service();
  service.add("things", "a", { owner: "people-1" });
  service.fates.set("read people", ["refuse"]);
  const live = await look({ service, spec: specOf({ "things.a": { values: { owner: "ada" } } }) });
  expect(live.get("things")).toMatchObject({ readable: false, diagnostic: { code: "API_FORBIDDEN" } });
});

test("never more requests at once than allowed", async () => {
  const service = new Service();
  for (let at = 0; at < 20; at++) service.add("rooms", `r${at}`);
  const spec = specOf(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`rooms.r${at}`, {}])));
  await look({ service, spec });
  expect(service.most).toBe(3);
});

test("each kind is reported when it is read, with the number of kinds", async () => {
  const service = new Service();
  service.add("things", "a");
  const told: ReadEvent[] = [];
  await look({
    service,
    spec: specOf({ "things.a": { values: { owner: "ada" } } }),
    onRead: (event) => told.push(event),
  });
  expect(told.map(({ kind: of, objects: count, done, total }) => [of, count, done, total])).toEqual([
    ["people", 0, 1, 2],
    ["things", 1, 2, 2],
  ]);
});

test("more is asked only about objects that the spec or the state knows", async () => {
  const asked: string[] = [];
  const registry = registryOf([
    kind("things", {
      fields: { size: { type: "integer" } },
      readDetails: async (_api, object, desired) => {
        asked.push(`${object.name} ${JSON.stringify(desired)}`);
        return { ...object, values: { size: 9 } };
      },
    }),
  ]);
  const service = new Service();
  for (const name of ["mine", "foreign", "was-mine"]) service.add("things", name);
  const state = recorded("things.was-mine");
  const live = await look({
    service,
    registry,
    spec: specOf({ "things.mine": { values: { size: 1 } } }),
    state,
  });
  expect(asked.sort()).toEqual(['mine {"size":1}', "was-mine undefined"]);
  expect(objects(live, "things").map((one) => [one.name, one.values])).toEqual([
    ["mine", { size: 9 }],
    ["foreign", {}],
    ["was-mine", { size: 9 }],
  ]);
});

test("a bug of a kind is not taken for an answer of the service", async () => {
  const registry = registryOf([
    kind("things", {
      fields: {},
      list: async () => {
        throw new TypeError("a bug");
      },
    }),
  ]);
  await expect(look({ service: new Service(), registry, spec: specOf({ "things.a": {} }) })).rejects.toThrow(
    "a bug",
  );
});
