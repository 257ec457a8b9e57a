// A whole workspace in the process: the emulator behind the real client, a disk in memory, one virtual clock; runs as commands do.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, type ClientOptions, createClient } from "../../src/api/client.ts";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import type { RequestEvent } from "../../src/api/retry/send.ts";
import { dialectTable } from "../../src/config/dialect.ts";
import { Failure, hasErrors } from "../../src/core/diagnostic.ts";
import { keyedDigest } from "../../src/core/digest.ts";
import { SensitiveValues } from "../../src/core/sensitive/values.ts";
import { applyPlan } from "../../src/engine/apply/apply.ts";
import { listKinds } from "../../src/engine/observe/list-kinds.ts";
import { observe } from "../../src/engine/observe/observe.ts";
import { recordBeforeWrites, recover } from "../../src/engine/recover/recover.ts";
import { auditPlan } from "../../src/planner/audit.ts";
import { draftPlan, finishPlan, missingFacts } from "../../src/planner/make-plan.ts";
import type { PlanFacts, PlanInput } from "../../src/planner/model/input.ts";
import type { ApplyEvent, ApplyOutcome, Plan } from "../../src/planner/model/plan.ts";
import { registry } from "../../src/providers/index.ts";
import { CONTRACT_FIELDS, planningRegistryIn, registryIn } from "../../src/resource/dialect-view.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { loadSpec } from "../../src/spec/load-spec.ts";
import type { Spec } from "../../src/spec/model/spec.ts";
import type { LeaseTimes, LockOwner } from "../../src/state/model/backend.ts";
import type { State } from "../../src/state/model/record.ts";
import type { Clock, StateStore } from "../../src/state/model/store.ts";
import { BackedStateStore } from "../../src/state/store/state-store.ts";
import { ADMIN, ADMIN_TOKEN, startWorld, type TestWorld } from "../emulator/harness.ts";
import { Disk, type Hooks } from "../state/memory-files.ts";
import { VirtualClock } from "../state/virtual-clock.ts";
import { type Home, type Line, onDisk } from "./home.ts";
import { inDatabricks } from "./spelling.ts";

export const KEY = new Uint8Array(32).fill(7);

export interface ProcessOptions {
  readonly parallelism?: number;
  readonly signal?: AbortSignal;
  readonly hooks?: Hooks;
  /** Stands between the store and a state that is not a file. */
  readonly line?: Line;
  /** Folder of the socket over which a database is reached. Default: the server's own. */
  readonly socket?: string;
  /** Stands between the client and the service. */
  readonly transport?: (request: HttpRequest, send: Send) => Promise<HttpResponse>;
  readonly onEvent?: (event: ApplyEvent) => void;
  readonly onPlan?: (plan: Plan) => void;
  readonly log?: (event: RequestEvent) => void;
  readonly pid?: number;
  readonly times?: LeaseTimes;
  /** The clock of its machine. Default: that of the site. */
  readonly clock?: Clock;
}

export type Send = (request: HttpRequest) => Promise<HttpResponse>;

export interface Applied {
  readonly plan: Plan;
  readonly outcome: ApplyOutcome;
}

export class Site {
  readonly world: TestWorld;
  readonly disk: Disk;
  readonly clock: VirtualClock;
  readonly home: Home;
  readonly folder = mkdtempSync(join(tmpdir(), "workspace-site-"));
  /** `METHOD operation` of every request that changes something, in order. */
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  #inFlight = 0;
  #seed: number;
  env: Record<string, string> = {};
  dialect: FieldDialect = CONTRACT_FIELDS;

  constructor(world: TestWorld, disk = new Disk(), seed = 1, home: Home = onDisk) {
    this.world = world;
    this.disk = disk;
    this.home = home;
    this.#seed = seed;
    this.clock = new VirtualClock(world.clock.now(), (ms) => world.advance(Math.ceil(ms)));
  }

  /** `cloud`: the workspace speaks the Databricks dialect, and specs are written in it. */
  static async start(cloud?: FieldDialect["cloud"]): Promise<Site> {
    if (cloud === undefined) return new Site(await startWorld());
    const site = new Site(await startWorld({ databricks: cloud }));
    site.dialect = { dialect: "databricks", cloud };
    return site;
  }

  close(): void {
    void this.home.close?.();
    this.world.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  drive<T>(work: Promise<T>): Promise<T> {
    return this.clock.drive(work, () => this.#inFlight > 0);
  }

  /** Work outside the clock: time does not advance meanwhile. */
  async underWay<T>(work: () => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** A pause within such work. */
  async pause(ms: number): Promise<void> {
    this.#inFlight -= 1;
    await this.clock.sleep(ms);
    this.#inFlight += 1;
  }

  async spec(yaml: string): Promise<Spec> {
    const file = join(this.folder, "workspace.yaml");
    writeFileSync(file, this.dialect.dialect === "databricks" ? inDatabricks(yaml) : yaml);
    const { spec, diagnostics } = await loadSpec({
      file,
      env: this.env,
      registry: registryIn(registry, this.dialect),
      secrets: "resolve",
      keyed: (bytes) => keyedDigest(KEY, bytes),
    });
    if (spec === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
    return spec;
  }

  /** The client and the store of one process. */
  process(options: ProcessOptions = {}): Process {
    return new Process(this, options);
  }

  /** A client on this site's clock. */
  client(over: Pick<ClientOptions, "transport" | "log">): Client {
    return createClient({
      host: "http://workspace.test",
      token: ADMIN_TOKEN,
      clock: () => this.clock.now(),
      sleep: (ms, signal) => this.clock.sleep(ms, signal),
      random: () => 0.5,
      dialect: dialectTable(this.dialect),
      ...over,
    });
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const name = request.path.replace(/^.*\/api\/2\.\d\//, "").replace(/\?.*$/, "");
    (request.method === "GET" ? this.reads : this.writes).push(`${request.method} ${name}`);
    const { latencyMs } = this.home;
    if (latencyMs !== undefined) await this.clock.sleep(latencyMs);
    return this.deliver(request);
  }

  /** Brings a request to the service without noting it. */
  deliver({ method, path, headers, body }: HttpRequest): Promise<HttpResponse> {
    return this.underWay(() =>
      this.world.app({ method, path, headers, ...(body === undefined ? {} : { body }) }),
    );
  }

  random(): (count: number) => Uint8Array {
    return (count) => {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count; at++) {
        this.#seed = (Math.imul(this.#seed, 1103515245) + 12345) | 0;
        bytes[at] = (this.#seed >>> 16) & 255;
      }
      return bytes;
    };
  }

  async state(): Promise<State> {
    return (await this.process().store.read()).state;
  }
}

export class Process {
  readonly site: Site;
  readonly client: Client;
  readonly store: StateStore;
  readonly options: ProcessOptions;

  constructor(site: Site, options: ProcessOptions) {
    this.site = site;
    this.options = options;
    const send: Send = (request) => site.send(request);
    this.client = site.client({
      transport: (request) =>
        options.transport === undefined ? send(request) : options.transport(request, send),
      ...(options.log === undefined ? {} : { log: options.log }),
    });
    const owner: LockOwner = {
      user: "ada",
      host: "laptop",
      pid: options.pid ?? 1,
      machine: "test",
      started: "0",
    };
    const { keyText } = site.home;
    this.store = new BackedStateStore(site.home.place(site, options), {
      clock: this.#clock,
      random: site.random(),
      owner,
      ...(options.times === undefined ? {} : { times: options.times }),
      ...(keyText === undefined ? {} : { keyText }),
    });
  }

  get #clock(): Clock {
    return this.options.clock ?? this.site.clock;
  }

  async look(spec: Spec, state: State, more: Partial<PlanInput & PlanFacts> = {}) {
    const live = await observe({
      registry,
      reader: this.client.reader,
      spec,
      state,
      destroy: more.destroy === true,
      parallelism: this.options.parallelism ?? 10,
    });
    const adopt = more.adopt === true;
    const recovered = recover({ registry, state, live, now: this.#clock.now(), adopt });
    const given: PlanInput & PlanFacts = {
      registry: planningRegistryIn(registry, this.site.dialect),
      host: "http://workspace.test",
      spec,
      live,
      state: recovered.state,
      caller: ADMIN,
      activeRuns: [],
      ...more,
    };
    const draft = draftPlan(given);
    const input = { ...given, ...draft.context.input };
    const { dependentsOfDeleted: kinds } = missingFacts(draft, input);
    if (kinds.size === 0) return { live, recovered, input, plan: finishPlan(draft, input) };
    const { reader } = this.client;
    const parallelism = this.options.parallelism ?? 10;
    const seeing = {
      ...input,
      dependentsOfDeleted: await listKinds({ registry, reader, kinds, parallelism, closer: false }),
    };
    return { live, recovered, input: seeing, plan: finishPlan(draft, seeing) };
  }

  async plan(spec: Spec, more: Partial<PlanInput & PlanFacts> = {}): Promise<Plan> {
    const { state } = await this.store.read();
    return (await this.look(spec, state, more)).plan;
  }

  /** Everything that the command does: lock, look, settle, plan, audit, apply, unlock. */
  async apply(spec: Spec, more: Partial<PlanInput & PlanFacts> = {}): Promise<Applied> {
    const lease = await this.store.lock({ timeoutMs: 600_000 });
    try {
      const { live, recovered, input, plan } = await this.look(spec, lease.state(), more);
      const found = [...recovered.diagnostics, ...plan.diagnostics, ...auditPlan(plan, input)];
      this.options.onPlan?.(plan);
      if (hasErrors(found) || plan.guards.length > 0)
        throw new Failure(...found, ...plan.guards.map((guard) => guard.diagnostic));
      await recordBeforeWrites(lease, recovered.entries);
      const { parallelism = 10, signal, onEvent } = this.options;
      const outcome = await applyPlan({
        plan,
        registry,
        resources: spec.resources,
        live,
        writer: this.client.writer,
        lease,
        clock: this.#clock,
        random: this.site.random(),
        parallelism,
        sensitive: new SensitiveValues({ key: new Uint8Array(32), lineage: "" }),
        signal: signal ?? new AbortController().signal,
        onEvent: onEvent ?? (() => undefined),
      });
      return { plan, outcome };
    } finally {
      await lease.release();
    }
  }
}

/** Changes that a plan would make, as `action address`. */
export function doing(plan: Plan): readonly string[] {
  return plan.changes
    .filter((change) => change.action !== "noop" && change.action !== "report")
    .map((change) => `${change.action} ${change.address}`);
}

export function results(outcome: ApplyOutcome): readonly string[] {
  return outcome.changes.map((one) => `${one.result} ${one.action} ${one.address}`);
}
