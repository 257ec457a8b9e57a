import { expect, test } from "vitest";
import type { Writer } from "../../../src/api/contract/reader.ts";
import type { Address } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";
import { applyPlan } from "../../../src/engine/apply/apply.ts";
import { Semaphore } from "../../../src/engine/concurrency.ts";
import type { DesiredSpec } from "../../../src/engine/observe/needed-kinds.ts";
import { observe } from "../../../src/engine/observe/observe.ts";
import { recordBeforeWrites, recover } from "../../../src/engine/recover/recover.ts";
import { makePlan } from "../../../src/planner/make-plan.ts";
import type { ApplyEvent, ApplyOutcome, Plan } from "../../../src/planner/model/plan.ts";
import { type Registry, registryOf } from "../../../src/resource/kind.ts";
import type { State } from "../../../src/state/model/record.ts";
import type { FlatKind } from "../../flat-kind.ts";
import { counting, storeOn } from "../../state/build.ts";
import { Disk, type Hooks } from "../../state/memory-files.ts";
import { VirtualClock } from "../../state/virtual-clock.ts";
import { kind, Service, specOf, toys } from "../toy.ts";

/** As the client does: a request waits for its turn, and asks for its permit when it leaves. */
function limited(service: Service, parallelism: number): Writer {
  const requests = new Semaphore(parallelism);
  return {
    read: (operation, input) => requests.inside(() => service.read(operation, input)),
    write: (operation, input, permit) =>
      requests.inside(async () => {
        permit?.();
        return service.write(operation, input as JsonObject);
      }),
  };
}

/** A service and a state that runs are made against. */
class Bench {
  readonly service = new Service();
  disk = new Disk();
  readonly clock = new VirtualClock(1_000_000);
  readonly registry: Registry;
  hooks: Hooks = {};
  parallelism = 1;
  adopt = false;
  signal: AbortSignal | undefined;
  events: ApplyEvent[] = [];
  #runs = 0;
  /** Called between planning and applying. */
  between: (plan: Plan) => void = () => {};

  constructor(registry: Registry = toys) {
    this.registry = registry;
  }

  async plan(spec: DesiredSpec, destroy = false) {
    const { state } = await storeOn({ disk: this.disk }).read();
    return (await this.#look(spec, state, destroy)).plan;
  }

  async #look(spec: DesiredSpec, state: State, destroy: boolean) {
    const { registry, service } = this;
    const live = await observe({ registry, reader: service, spec, state, parallelism: 4 });
    const recovered = recover({ registry, state, live, now: this.clock.now() });
    const plan = makePlan({
      registry,
      host: "http://h",
      spec,
      live,
      state: recovered.state,
      destroy,
      adopt: this.adopt,
    });
    return { live, recovered, plan };
  }

  async apply(spec: DesiredSpec, destroy = false): Promise<ApplyOutcome> {
    const store = storeOn({ disk: this.disk, clock: this.clock, hooks: this.hooks, seed: ++this.#runs });
    const lease = await this.clock.drive(store.lock({ timeoutMs: 1_000_000 }));
    try {
      const { live, recovered, plan } = await this.#look(spec, lease.state(), destroy);
      await recordBeforeWrites(lease, recovered.entries);
      this.between(plan);
      this.service.log.length = 0;
      this.service.most = 0;
      this.events = [];
      return await this.clock.drive(
        applyPlan({
          plan,
          registry: this.registry,
          resources: spec.resources,
          live,
          writer: limited(this.service, this.parallelism),
          lease,
          clock: this.clock,
          random: counting(1000 + this.#runs),
          parallelism: this.parallelism,
          onEvent: (event) => this.events.push(event),
          sensitive: new SensitiveValues({ key: new Uint8Array(32), lineage: "" }),
          history: { origin: { command: "apply", actor: "ada" }, plan },
          signal: this.signal ?? new AbortController().signal,
        }),
        () => this.service.inFlight > 0,
      );
    } finally {
      await lease.release().catch(() => undefined);
    }
  }

  async state(): Promise<State> {
    return (await storeOn({ disk: this.disk }).read()).state;
  }

  get writes(): readonly string[] {
    return this.service.log.filter((line) => !line.startsWith("read"));
  }

  named(of: string): readonly string[] {
    return [...this.service.things.values()].filter((one) => one.kind === of).map((one) => one.name);
  }
}

const results = (outcome: ApplyOutcome): readonly string[] =>
  outcome.changes
    .filter((one) => one.action !== "noop")
    .map((one) => `${one.result} ${one.action} ${one.address}`);
const codes = (outcome: ApplyOutcome): readonly (string | undefined)[] =>
  outcome.changes.map((one) => one.diagnostic?.code);
const doing = (plan: Plan): readonly string[] =>
  plan.changes.filter((one) => one.action !== "noop").map((one) => `${one.action} ${one.address}`);

const record = async (bench: Bench, address: string) => (await bench.state()).records.get(address as Address);

test("a created object is recorded with the values of the spec and of the service", async () => {
  const bench = new Bench();
  const spec = specOf({ "people.ada": { values: { size: 3 } } });
  bench.service.during = (text) => {
    const made = [...bench.service.things.values()][0];
    if (text === "read people" && made !== undefined) made.values = { ...made.values, color: "red" };
  };
  expect(results(await bench.apply(spec))).toEqual(["applied create people.ada"]);
  expect(await record(bench, "people.ada")).toMatchObject({
    status: "ready",
    applied: { size: 3 },
    seen: { color: "red" },
  });
  expect((await bench.state()).host).toBe("http://h");
  expect(doing(await bench.plan(spec))).toEqual([]);
});

test("references to what this apply makes are filled in with its id, and names go out as ids", async () => {
  const bench = new Bench();
  await bench.apply(
    specOf({
      "people.ada": {},
      "boxes.b": {},
      "things.a": { values: { owner: "ada" }, refersTo: "boxes.b", dependsOn: ["people.ada"] },
    }),
  );
  const things = [...bench.service.things.values()];
  const idOf = (name: string): string | undefined => things.find((one) => one.name === name)?.id;
  expect(things.find((one) => one.name === "a")?.values).toEqual({ owner: idOf("ada"), ref: idOf("b") });
  expect(await record(bench, "things.a")).toMatchObject({ applied: { owner: "ada", ref: idOf("b") } });
});

test("a name that nothing has fails its change alone, and nothing of it is sent", async () => {
  const bench = new Bench();
  const outcome = await bench.apply(specOf({ "things.a": { values: { owner: "nobody" } }, "things.b": {} }));
  expect(results(outcome)).toEqual(["failed create things.a", "applied create things.b"]);
  expect(codes(outcome)).toEqual(["PLAN_UNKNOWN_NAME", undefined]);
  expect(bench.writes).toEqual(["create things b"]);
});

test("a refused change fails, its dependents are blocked, and the others continue", async () => {
  const bench = new Bench();
  bench.service.fates.set("create boxes b", ["refuse"]);
  const spec = specOf({ "boxes.b": {}, "things.a": { refersTo: "boxes.b" }, "things.z": {} });
  const outcome = await bench.apply(spec);
  expect([...results(outcome)].sort()).toEqual([
    "applied create things.z",
    "blocked create things.a",
    "failed create boxes.b",
  ]);
  const blocked = outcome.changes.find((one) => one.result === "blocked");
  expect([blocked?.blockedBy, blocked?.diagnostic?.code]).toEqual(["boxes.b", "APPLY_BLOCKED"]);
  expect((await bench.state()).open).toEqual([]);
  expect(results(await bench.apply(spec)).filter((line) => !line.startsWith("applied"))).toEqual([]);
});

test("an unknown outcome is left open, and the next run finds out what became of it", async () => {
  for (const [kind, fate] of [
    ["things", "lose"],
    ["tagged", "lose"],
    ["tagged", "commit-and-lose"],
  ] as const) {
    const bench = new Bench();
    bench.service.fates.set(`create ${kind} a`, [fate]);
    const spec = specOf({ [`${kind}.a`]: { values: { size: 1 } } });
    expect(results(await bench.apply(spec))).toEqual([`unknown create ${kind}.a`]);
    expect((await bench.state()).open).toMatchObject([{ address: `${kind}.a`, sent: 1 }]);
    await bench.apply(spec);
    expect(bench.named(kind)).toEqual(["a"]);
    expect((await bench.state()).open).toEqual([]);
    expect(doing(await bench.plan(spec))).toEqual([]);
  }
});

test("an object whose creation had no answer is found by name in the same run, and its dependents continue", async () => {
  const bench = new Bench();
  bench.service.fates.set("create things a", ["commit-and-lose"]);
  const spec = specOf({ "things.a": { values: { size: 1 } }, "people.b": { refersTo: "things.a" } });
  expect(results(await bench.apply(spec))).toEqual(["applied create things.a", "applied create people.b"]);
  expect(bench.named("things")).toEqual(["a"]);
  const { open, sweeps } = await bench.state();
  expect([open, sweeps]).toEqual([[], []]);
  expect(doing(await bench.plan(spec))).toEqual([]);
});

test("a creation whose refusal may mean that its name is taken stays open if that cannot be read, and the run continues", async () => {
  const bench = new Bench();
  let isRefused = false;
  bench.service.during = (text) => {
    if (text === "create people ada") {
      isRefused = true;
      throw new Refused(400, "INVALID_PARAMETER_VALUE", error("API_REFUSED", "not valid"));
    }
    if (isRefused && text === "read people")
      throw new UnknownOutcome(error("API_UNREACHABLE", "people were not read"));
  };
  const outcome = await bench.apply(specOf({ "people.ada": {}, "things.b": {} }));
  expect(results(outcome)).toEqual(["unknown create people.ada", "applied create things.b"]);
  expect((await bench.state()).open.map(({ address }) => address)).toEqual(["people.ada"]);
});

test("another object of that name is not adopted after a creation without an answer", async () => {
  const bench = new Bench();
  bench.service.fates.set("create things a", ["lose"]);
  bench.service.during = (text) => {
    if (text === "create things a") bench.service.add("things", "a", { size: 2 });
  };
  const spec = specOf({ "things.a": { values: { size: 1 } } });
  expect(results(await bench.apply(spec))).toEqual(["unknown create things.a"]);
  expect(bench.named("things")).toEqual(["a"]);
  expect((await bench.state()).open).toHaveLength(1);
});

test("an object without a unique name is found by its token and not created twice", async () => {
  const bench = new Bench();
  bench.service.fates.set("create tagged a", ["commit-and-lose"]);
  const spec = specOf({ "tagged.a": { values: { size: 1 } } });
  await bench.apply(spec);
  await bench.apply(spec);
  expect(bench.named("tagged")).toEqual(["a"]);
  expect(doing(await bench.plan(spec))).toEqual([]);
});

test("a commit that comes after it was made again is deleted by a later run", async () => {
  const bench = new Bench();
  bench.service.fates.set("create tagged a", ["lose"]);
  const spec = specOf({ "tagged.a": { values: { size: 1 } } });
  await bench.apply(spec);
  const token = (await bench.state()).open[0]?.token ?? "";
  await bench.apply(spec);
  bench.service.add("tagged", "a", { size: 1 }, token);
  expect(doing(await bench.plan(spec))).toEqual(["delete tagged.a"]);
  await bench.apply(spec);
  expect(bench.named("tagged")).toEqual(["a"]);
  const state = await bench.state();
  expect([state.sweeps, state.records.size]).toEqual([[], 1]);
  expect(doing(await bench.plan(spec))).toEqual([]);
});

test("a late commit under a unique name is adopted if it equals the request", async () => {
  const bench = new Bench();
  bench.service.fates.set("create things a", ["lose"]);
  const spec = specOf({ "things.a": { values: { size: 1 } } });
  await bench.apply(spec);
  bench.service.fates.set("create things a", ["refuse"]);
  await bench.apply(spec);
  bench.service.add("things", "a", { size: 1 });
  expect(doing(await bench.plan(spec))).toEqual([]);
  await bench.apply(spec);
  expect(await record(bench, "things.a")).toMatchObject({ status: "ready" });
});

test("a two-phase creation that fails in its second phase is finished by the next run, on the same object", async () => {
  const bench = new Bench();
  const spec = specOf({ "phased.a": { values: { size: 2 } } });
  bench.service.fates.set("update phased phased-1", ["refuse"]);
  expect(results(await bench.apply(spec))).toEqual(["failed create phased.a"]);
  expect(await record(bench, "phased.a")).toMatchObject({ status: "creating", id: "phased-1" });
  expect((await bench.state()).open).toEqual([]);
  await bench.apply(spec);
  expect(bench.named("phased")).toEqual(["a"]);
  expect(await record(bench, "phased.a")).toMatchObject({ status: "ready", id: "phased-1" });
});

test("an object that changed after the plan is not changed", async () => {
  const bench = new Bench();
  await bench.apply(specOf({ "things.a": { values: { size: 1 } }, "things.b": { values: { size: 1 } } }));
  bench.between = () => {
    for (const one of bench.service.things.values()) if (one.name === "a") one.values = { size: 77 };
  };
  const spec = specOf({ "things.a": { values: { size: 2 } }, "things.b": { values: { size: 2 } } });
  const outcome = await bench.apply(spec);
  expect(results(outcome)).toEqual(["skipped update things.a", "applied update things.b"]);
  expect(codes(outcome)).toEqual(["PLAN_LIVE_MOVED", undefined]);
  expect([...bench.service.things.values()].map((one) => one.values)).toEqual([{ size: 77 }, { size: 2 }]);
});

test("an object that was deleted after the plan leaves the state without a request", async () => {
  const bench = new Bench();
  await bench.apply(specOf({ "things.a": {} }));
  bench.between = () => bench.service.things.clear();
  expect(results(await bench.apply(specOf({}), true))).toEqual(["applied delete things.a"]);
  expect(bench.writes).toEqual([]);
  expect((await bench.state()).records.size).toBe(0);
});

test("deletes go in the reverse order of what needs what", async () => {
  const bench = new Bench();
  bench.parallelism = 8;
  await bench.apply(
    specOf({ "boxes.b": {}, "things.a": { refersTo: "boxes.b" }, "things.c": { dependsOn: ["things.a"] } }),
  );
  await bench.apply(specOf({}), true);
  expect(bench.writes).toEqual(["delete things things-3", "delete things things-2", "delete boxes boxes-1"]);
});

const replacing = (options: Partial<FlatKind>): Registry => {
  const fields = {
    size: { type: "integer", onChange: "replace" },
    ref: { type: "string" },
  } as const;
  return registryOf([
    kind("boxes", { fields, ...options }),
    kind("things", { fields: { ref: { type: "string" } } }),
  ]);
};
const boxOf = (size: number): DesiredSpec =>
  specOf({ "boxes.b": { values: { size } }, "things.a": { refersTo: "boxes.b" } });

test("create-first: the successor is made, what refers to it moves, then the old object goes", async () => {
  const bench = new Bench(
    replacing({ replaceStrategy: "create-first", creationRecovery: "tagged", unique: false }),
  );
  bench.parallelism = 4;
  await bench.apply(boxOf(1));
  expect(results(await bench.apply(boxOf(2)))).toEqual([
    "applied replace boxes.b",
    "applied update things.a",
  ]);
  expect(bench.writes).toEqual(["create boxes b", "update things things-2", "delete boxes boxes-1"]);
  expect(await record(bench, "boxes.b")).toMatchObject({ id: "boxes-3", applied: { size: 2 } });
  expect((await record(bench, "boxes.b"))?.deposed).toBeUndefined();
  expect(doing(await bench.plan(boxOf(2)))).toEqual([]);
});

test("rename-aside: the old object gives its name away first", async () => {
  const bench = new Bench(replacing({ replaceStrategy: "rename-aside" }));
  await bench.apply(boxOf(1));
  await bench.apply(boxOf(2));
  expect(bench.writes).toHaveLength(4);
  expect(bench.writes[0]).toMatch(/^rename boxes b \(replaced [0-9a-f]{6}\)$/);
  expect(bench.writes.slice(1)).toEqual(["create boxes b", "update things things-2", "delete boxes boxes-1"]);
  expect(bench.named("boxes")).toEqual(["b"]);
});

test("delete-first: the old object goes, the successor comes, then what refers to it moves", async () => {
  const bench = new Bench(replacing({ replaceStrategy: "delete-first" }));
  await bench.apply(boxOf(1));
  expect(results(await bench.apply(boxOf(2)))).toEqual([
    "applied replace boxes.b",
    "applied update things.a",
  ]);
  expect(bench.writes).toEqual(["delete boxes boxes-1", "create boxes b", "update things things-2"]);
  expect((await record(bench, "boxes.b"))?.deposed).toBeUndefined();
  expect(doing(await bench.plan(boxOf(2)))).toEqual([]);
});

test("when something that refers to it cannot move, the old object stays and is deleted by a later run", async () => {
  const bench = new Bench(
    replacing({ replaceStrategy: "create-first", creationRecovery: "tagged", unique: false }),
  );
  await bench.apply(boxOf(1));
  bench.service.fates.set("update things things-2", ["refuse"]);
  const outcome = await bench.apply(boxOf(2));
  expect(results(outcome)).toEqual(["blocked replace boxes.b", "failed update things.a"]);
  expect(await record(bench, "boxes.b")).toMatchObject({ id: "boxes-3", deposed: ["boxes-1"] });
  expect(bench.named("boxes")).toEqual(["b", "b"]);
  await bench.apply(boxOf(2));
  expect(bench.named("boxes")).toEqual(["b"]);
  expect(doing(await bench.plan(boxOf(2)))).toEqual([]);
});

test("when the successor cannot be made, the old object stays in use", async () => {
  const bench = new Bench(
    replacing({ replaceStrategy: "create-first", creationRecovery: "tagged", unique: false }),
  );
  await bench.apply(boxOf(1));
  bench.service.fates.set("create boxes b", ["refuse"]);
  expect(results(await bench.apply(boxOf(2)))).toEqual(["failed replace boxes.b", "blocked update things.a"]);
  expect(await record(bench, "boxes.b")).toMatchObject({ id: "boxes-1" });
});

test("an intent is durable before its request leaves, and done before what needs it begins", async () => {
  const bench = new Bench();
  bench.parallelism = 4;
  const journal = (): string => bench.disk.text("/w/.workspace/default/journal.jsonl");
  const seen: string[] = [];
  bench.service.during = (text) => {
    if (text.startsWith("create")) {
      const name = text.split(" ").at(-1) ?? "";
      const durable = new TextDecoder().decode(
        bench.disk.durableNames.get("/w/.workspace/default/journal.jsonl")?.durable,
      );
      const lines = durable.split("\n").map((line) => (line === "" ? {} : JSON.parse(line)));
      const intents = lines.filter((line) => line.entry?.intent?.name === name);
      const done = lines.filter((line) => line.entry?.type === "done").map((line) => line.entry.record?.name);
      seen.push(`${name} intents ${intents.length} done ${done.join()}`);
    }
  };
  await bench.apply(specOf({ "boxes.b": {}, "things.a": { refersTo: "boxes.b" } }));
  expect(seen).toEqual(["b intents 1 done ", "a intents 1 done b"]);
  expect(journal().trimEnd().split("\n")).toHaveLength(1);
});

test("when the journal cannot be written, no further request leaves", async () => {
  const bench = new Bench();
  let left = 3;
  bench.between = () => {
    bench.hooks = {};
  };
  let armed = false;
  bench.hooks = {
    before: (operation, path) => {
      if (armed && operation === "sync" && path.endsWith("journal.jsonl") && left-- <= 0)
        throw new Error("EIO");
    },
  };
  bench.service.during = () => {
    armed = true;
  };
  const spec = specOf(Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`things.t${at}`, {}])));
  const outcome = await bench.apply(spec);
  const sent = bench.writes.length;
  expect(sent).toBeLessThan(5);
  expect(outcome.diagnostics.map((one) => one.code)).toEqual(["STATE_IO"]);
  expect(outcome.changes.filter((one) => one.result === "skipped").length).toBeGreaterThan(4);
  bench.service.during = () => {};
  await bench.apply(spec);
  expect(new Set(bench.named("things")).size).toBe(10);
  expect(bench.named("things")).toHaveLength(10);
});

test("after the lock is lost, no request is sent and the state is not written", async () => {
  const bench = new Bench();
  const spec = specOf(Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`things.t${at}`, {}])));
  bench.service.during = (text) => {
    if (text === "create things t2") bench.disk.put("/w/.workspace/default/lock.99", "{}");
  };
  const outcome = await bench.apply(spec);
  expect(bench.writes).toEqual(["create things t0", "create things t1", "create things t2"]);
  expect(outcome.diagnostics.map((one) => one.code)).toEqual(["STATE_LOCK_LOST"]);
});

/** A heartbeat takes turns of the event loop, so what follows a blocked run at once comes before it. */
const slowFiles: Hooks = { before: () => new Promise((resolve) => setImmediate(resolve)) };

test("an apply that was blocked before its first request renews its lock and continues", async () => {
  const bench = new Bench();
  await bench.apply(specOf({ "things.a": {} }));
  bench.hooks = slowFiles;
  bench.between = () => void bench.clock.advance(80_000);
  const spec = specOf({ "things.a": {}, "things.b": {} });
  expect(results(await bench.apply(spec))).toEqual(["applied create things.b"]);
});

test("an apply that was blocked between two requests renews its lock and continues", async () => {
  const bench = new Bench();
  bench.hooks = slowFiles;
  bench.service.during = (text) => {
    if (text === "create things a") void bench.clock.advance(80_000);
  };
  const spec = specOf({ "things.a": {}, "things.b": {} });
  expect(results(await bench.apply(spec))).toEqual(["applied create things.a", "applied create things.b"]);
});

test("a stop lets what is in flight end, begins nothing, and saves", async () => {
  const bench = new Bench();
  bench.parallelism = 2;
  const stop = new AbortController();
  bench.signal = stop.signal;
  bench.service.during = (text) => {
    if (text === "create things t1") stop.abort();
  };
  const spec = specOf(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`things.t${at}`, {}])));
  const outcome = await bench.apply(spec);
  expect(outcome.interrupted).toBe(true);
  const done = outcome.changes.filter((one) => one.result === "applied").length;
  expect(bench.writes).toHaveLength(done);
  expect(outcome.changes.filter((one) => one.result === "skipped")).toHaveLength(9 - done);
  expect((await bench.state()).records.size).toBe(done);
  bench.signal = undefined;
  bench.service.during = () => {};
  await bench.apply(spec);
  expect([...bench.named("things")].sort()).toEqual(Array.from({ length: 9 }, (_, at) => `t${at}`));
});

test("after a stop only sent requests finish; a change that waits to send is skipped", async () => {
  const bench = new Bench();
  bench.parallelism = 3;
  let before = 0;
  const stop = new AbortController();
  bench.signal = stop.signal;
  bench.service.during = (text) => {
    if (text !== "create things t1") return;
    before = bench.writes.length;
    stop.abort();
  };
  const spec = specOf(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`things.t${at}`, {}])));
  const outcome = await bench.apply(spec);
  expect(bench.writes.length - before).toBeLessThan(3);
  const skipped = outcome.changes.filter((one) => one.result === "skipped");
  expect(skipped).toHaveLength(9 - bench.writes.length);
  expect(new Set(skipped.map((one) => one.diagnostic?.code))).toEqual(new Set(["APPLY_INTERRUPTED"]));
  expect((await bench.state()).open).toEqual([]);
});

test("a change whose dependency waits to send when the run is stopped is skipped, not blocked", async () => {
  const bench = new Bench();
  bench.parallelism = 3;
  const stop = new AbortController();
  bench.signal = stop.signal;
  bench.service.during = (text) => {
    if (text === "create boxes b1") stop.abort();
  };
  const pairs = Array.from({ length: 9 }, (_, at) => ({
    [`boxes.b${at}`]: {},
    [`things.t${at}`]: { refersTo: `boxes.b${at}` },
  }));
  const outcome = await bench.apply(specOf(Object.assign({}, ...pairs)));
  const left = outcome.changes.filter((one) => one.result !== "applied");
  expect(left.length).toBeGreaterThan(9);
  expect(new Set(left.map((one) => one.result))).toEqual(new Set(["skipped"]));
});

test("never more requests at once than the parallelism, and one means one", async () => {
  const spec = specOf(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`things.t${at}`, {}])));
  for (const parallelism of [1, 3, 10]) {
    const bench = new Bench();
    bench.parallelism = parallelism;
    await bench.apply(spec);
    expect(bench.service.most).toBe(parallelism);
  }
});

test("events tell each change's beginning and end, and how many there are of each kind", async () => {
  const bench = new Bench();
  bench.service.fates.set("create things b", ["refuse"]);
  await bench.apply(specOf({ "things.a": {}, "things.b": {}, "boxes.c": {} }));
  expect(bench.events[0]).toEqual({ type: "apply_begin", totals: { things: 2, boxes: 1 } });
  expect(bench.events.slice(1).map((event) => event.type)).toEqual([
    "apply_start",
    "apply_complete",
    "apply_start",
    "apply_errored",
    "apply_start",
    "apply_complete",
  ]);
});

test("values that differ from the written ones are reported after the apply", async () => {
  const bench = new Bench();
  bench.service.during = (text) => {
    if (text === "read things") for (const one of bench.service.things.values()) one.values = { size: 99 };
  };
  const outcome = await bench.apply(specOf({ "things.a": { values: { size: 1 } } }));
  expect(outcome.diagnostics).toMatchObject([
    { severity: "warning", code: "APPLY_VERIFY", address: "things.a" },
  ]);
});

test("when the last look fails, the work is saved all the same", async () => {
  const bench = new Bench();
  bench.between = () => bench.service.fates.set("read things", ["refuse"]);
  const outcome = await bench.apply(specOf({ "things.a": {} }));
  expect(outcome.diagnostics).toMatchObject([{ severity: "warning", code: "APPLY_VERIFY" }]);
  expect(await record(bench, "things.a")).toMatchObject({ status: "ready" });
});

test("a field that the spec begins to manage without a change is recorded as set", async () => {
  const bench = new Bench();
  await bench.apply(specOf({ "things.a": { values: { size: 1 } } }));
  for (const one of bench.service.things.values()) one.values = { size: 1, color: "red" };
  const spec = specOf({ "things.a": { values: { size: 1, color: "red" } } });
  await bench.apply(spec);
  expect(bench.writes).toEqual([]);
  expect(await record(bench, "things.a")).toMatchObject({ applied: { size: 1, color: "red" }, seen: {} });
});

test("an apply of an empty plan writes to neither the service nor the state", async () => {
  const bench = new Bench();
  const spec = specOf({ "things.a": { values: { size: 1 } } });
  await bench.apply(spec);
  const before = (await bench.state()).serial;
  await bench.apply(spec);
  expect([bench.writes, (await bench.state()).serial]).toEqual([[], before]);
});

test("a value that the service brought back is not recorded as set by the spec", async () => {
  const bench = new Bench();
  bench.service.during = (text) => {
    if (text !== "read things" || bench.writes.length === 0) return;
    for (const one of bench.service.things.values()) one.values = { color: "red", ...one.values };
  };
  const spec = specOf({ "things.a": { values: { size: 1 } } });
  await bench.apply(spec);
  for (const one of bench.service.things.values()) one.values = { size: 1, color: "blue" };
  await bench.apply(spec);
  expect(bench.writes).toEqual(["update things things-1"]);
  expect(await record(bench, "things.a")).toMatchObject({ applied: { size: 1 }, seen: { color: "red" } });
  expect(doing(await bench.plan(spec))).toEqual([]);
});

test("an update that fails half-way records the values that the object has, so that nothing is blamed on others", async () => {
  const registry = registryOf([
    kind("things", {
      fields: { size: { type: "integer" }, ref: { type: "string", whenAbsent: "unmanaged" } },
      update: async (api, task) => {
        const input = { verb: "update", kind: "things", id: task.id, values: { ...task.before, ref: "new" } };
        await api.write("fs/create", input);
        await api.write("fs/create", { verb: "resize", kind: "things", id: "refused" });
      },
    }),
  ]);
  const bench = new Bench(registry);
  await bench.apply(specOf({ "things.a": { values: { size: 1 } } }));
  bench.service.fates.set("resize things refused", ["refuse"]);
  const outcome = await bench.apply(specOf({ "things.a": { values: { size: 2, ref: "new" } } }));
  expect(results(outcome)).toEqual(["failed update things.a"]);
  expect((await bench.state()).open).toEqual([]);
  expect(await record(bench, "things.a")).toMatchObject({ applied: { size: 1, ref: "new" } });
  expect((await bench.state()).history?.at(-1)).toMatchObject({
    outcome: "failed",
    applied: {},
    left: 1,
    changed: ["things.a"],
    details: [{ address: "things.a", action: "update", fields: [{ path: "/ref", after: "new" }] }],
  });
});

test("an update whose first request is refused is not in the history as a change", async () => {
  const bench = new Bench();
  await bench.apply(specOf({ "things.a": { values: { size: 1 } } }));
  bench.service.fates.set("update things things-1", ["refuse"]);
  await bench.apply(specOf({ "things.a": { values: { size: 2 } } }));
  const last = (await bench.state()).history?.at(-1);
  expect(last).toMatchObject({ outcome: "failed", left: 1, changed: [] });
  expect(last?.details).toBeUndefined();
});

test("an update that adopts an object and fails half-way leaves no intent, and the history has the object", async () => {
  const registry = registryOf([
    kind("things", {
      update: async (api, task) => {
        await api.write("fs/create", { verb: "update", kind: "things", id: task.id, values: { size: 2 } });
        await api.write("fs/create", { verb: "resize", kind: "things", id: "refused" });
      },
    }),
  ]);
  const bench = new Bench(registry);
  await bench.apply(specOf({ "things.a": { values: { size: 1 } } }));
  bench.disk = new Disk();
  bench.adopt = true;
  bench.service.fates.set("resize things refused", ["refuse"]);
  const outcome = await bench.apply(specOf({ "things.a": { values: { size: 2 } } }));
  expect(results(outcome)).toEqual(["failed update things.a"]);
  const { open, records, history } = await bench.state();
  expect([open, [...records.keys()]]).toEqual([[], []]);
  expect(history?.at(-1)).toMatchObject({ outcome: "failed", changed: ["things.a"] });
});

test("an update that fails half-way is left to the next run if its object cannot be read", async () => {
  const registry = registryOf([
    kind("things", {
      update: async (api, task) => {
        await api.write("fs/create", { verb: "update", kind: "things", id: task.id, values: { size: 3 } });
        bench.service.fates.set("read things things-1", ["refuse"]);
        await api.write("fs/create", { verb: "resize", kind: "things", id: "refused" });
      },
    }),
  ]);
  const bench = new Bench(registry);
  await bench.apply(specOf({ "things.a": { values: { size: 1 } } }));
  bench.service.fates.set("resize things refused", ["refuse"]);
  const outcome = await bench.apply(specOf({ "things.a": { values: { size: 2 } } }));
  expect(results(outcome)).toEqual(["failed update things.a"]);
  expect((await bench.state()).open).toMatchObject([{ address: "things.a", wanted: { size: 2 } }]);
  expect(await record(bench, "things.a")).toMatchObject({ applied: { size: 1 } });
});

test("an attribute that only the service knows is asked for once its object is there", async () => {
  const fields = { size: { type: "integer" }, color: { type: "string", serverDefault: true } } as const;
  const bench = new Bench(
    registryOf([kind("boxes", { fields }), kind("things", { fields: { ref: { type: "string" } } })]),
  );
  bench.service.during = (text) => {
    if (text.startsWith("read boxes boxes"))
      for (const one of bench.service.things.values())
        if (one.kind === "boxes") one.values = { color: "red" };
  };
  const spec = specOf({ "boxes.b": {}, "things.a": { refersTo: "boxes.b" } });
  const thing = spec.resources.get("things.a" as Address);
  const parts = (attribute: string) => [
    { path: ["ref"], parts: [{ address: "boxes.b" as Address, attribute }] },
  ];
  const asking = (attribute: string): DesiredSpec =>
    thing === undefined
      ? spec
      : {
          ...spec,
          resources: new Map([
            ...spec.resources,
            [
              thing.address,
              { ...thing, values: { ref: `\${boxes.b.${attribute}}` }, references: parts(attribute) },
            ],
          ]),
        };
  expect(codes(await bench.apply(asking("weight")))).toEqual([undefined, "PLAN_UNKNOWN_NAME"]);
  const second = new Bench(bench.registry);
  second.service.during = (text) => {
    if (text.startsWith("read boxes boxes"))
      for (const one of second.service.things.values())
        if (one.kind === "boxes") one.values = { color: "red" };
  };
  expect(codes(await second.apply(asking("color")))).toEqual([undefined, undefined]);
  expect([...second.service.things.values()].at(-1)?.values).toEqual({ ref: "red" });
});

test("a payload that is not the planned one is not sent", async () => {
  const bench = new Bench();
  const payload = (digest: string) => ({ digest, bytes: () => new Uint8Array() });
  const withPayload = (digest: string): DesiredSpec => {
    const spec = specOf({ "things.a": {} });
    const [[address, resource] = []] = spec.resources;
    if (address === undefined || resource === undefined) throw new Error("the spec has one resource");
    return { ...spec, resources: new Map([[address, { ...resource, payload: payload(digest) }]]) };
  };
  const spec = withPayload("planned");
  bench.between = () => {
    const [[address, resource] = []] = withPayload("changed").resources;
    if (address !== undefined && resource !== undefined)
      (spec.resources as Map<Address, typeof resource>).set(address, resource);
  };
  expect(codes(await bench.apply(spec))).toEqual(["PLAN_STALE"]);
  expect(bench.writes).toEqual([]);
});

test("a run whose heartbeat fails stops before its lease expires", async () => {
  const bench = new Bench();
  let stuck = false;
  bench.hooks = {
    before: (_operation, path) => (stuck && path.includes("/lock.") ? new Promise(() => {}) : undefined),
  };
  const spec = specOf(Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`things.t${at}`, {}])));
  bench.service.during = async (text) => {
    stuck = true;
    if (text.startsWith("create")) await bench.clock.advance(20_000);
  };
  const spent = bench.apply(spec);
  const ended = await Promise.race([
    spent,
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 500)),
  ]);
  expect(ended).toBeUndefined();
  expect(bench.writes).toEqual(["create things t0", "create things t1", "create things t2"]);
});

test("while one change waits for the service, others continue, even with a parallelism of one", async () => {
  const registry = registryOf([
    kind("things", {
      fields: {},
      create: async (api, task) => {
        const answer = await api.write("fs/create", {
          verb: "create",
          kind: "things",
          name: task.name,
          values: {},
        });
        if (task.name === "a")
          await api.until(
            "b to be there",
            async () => (bench.named("things").includes("b") ? true : undefined),
            60_000,
          );
        return answer.id as never;
      },
    }),
  ]);
  const bench = new Bench(registry);
  const outcome = await bench.apply(specOf({ "things.a": {}, "things.b": {} }));
  expect(results(outcome)).toEqual(["applied create things.a", "applied create things.b"]);
  expect(bench.events).toContainEqual({
    type: "apply_waiting",
    address: "things.a",
    kind: "things",
    what: "b to be there",
  });
});
