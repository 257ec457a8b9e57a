// A whole workspace in the process: the emulator behind the real client, a disk in memory, one virtual clock; runs as commands do.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../src/api/client.ts";
import type { HttpRequest, HttpResponse } from "../../src/api/exchange.ts";
import type { RequestEvent } from "../../src/api/send.ts";
import { keyedDigest } from "../../src/core/canonical.ts";
import { Failure, hasErrors } from "../../src/core/diagnostic.ts";
import { applyPlan } from "../../src/engine/apply.ts";
import { observe } from "../../src/engine/observe.ts";
import { recordRecovery, recover } from "../../src/engine/recover.ts";
import { auditPlan } from "../../src/planner/check.ts";
import type { PlanInput } from "../../src/planner/input.ts";
import { makePlan } from "../../src/planner/make.ts";
import type { ApplyEvent, Outcome } from "../../src/planner/outcome.ts";
import type { Plan } from "../../src/planner/plan.ts";
import { registry } from "../../src/providers/index.ts";
import { loadSpec } from "../../src/spec/read.ts";
import type { Spec } from "../../src/spec/spec.ts";
import { openFileStore } from "../../src/state/file/file-store.ts";
import type { LeaseTimes, Owner } from "../../src/state/lock.ts";
import type { FileSystem } from "../../src/state/ports.ts";
import type { State } from "../../src/state/record.ts";
import type { StateStore } from "../../src/state/store.ts";
import { ADMIN, ADMIN_TOKEN, startWorld, type TestWorld } from "../emulator/harness.ts";
import { Disk, type Hooks, memoryFiles } from "../state/memory-files.ts";
import { VirtualClock } from "../state/virtual-clock.ts";

export const FOLDER = "/state";
export const KEY = new Uint8Array(32).fill(7);

export interface ProcessOptions {
  readonly parallelism?: number;
  readonly signal?: AbortSignal;
  readonly hooks?: Hooks;
  /** Stands between the client and the service. */
  readonly transport?: (request: HttpRequest, send: Send) => Promise<HttpResponse>;
  readonly onEvent?: (event: ApplyEvent) => void;
  readonly onPlan?: (plan: Plan) => void;
  readonly log?: (event: RequestEvent) => void;
  readonly pid?: number;
  readonly times?: LeaseTimes;
}

export type Send = (request: HttpRequest) => Promise<HttpResponse>;

export interface Applied {
  readonly plan: Plan;
  readonly outcome: Outcome;
}

export class Site {
  readonly world: TestWorld;
  readonly disk: Disk;
  readonly clock: VirtualClock;
  readonly folder = mkdtempSync(join(tmpdir(), "workspace-site-"));
  /** `METHOD operation` of every request that changes something, in order. */
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  #inFlight = 0;
  #seed: number;
  env: Record<string, string> = {};

  constructor(world: TestWorld, disk = new Disk(), seed = 1) {
    this.world = world;
    this.disk = disk;
    this.#seed = seed;
    this.clock = new VirtualClock(world.clock.now(), (ms) => world.advance(ms));
  }

  static async start(): Promise<Site> {
    return new Site(await startWorld());
  }

  close(): void {
    this.world.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  drive<T>(work: Promise<T>): Promise<T> {
    return this.clock.drive(work, () => this.#inFlight > 0);
  }

  async spec(yaml: string): Promise<Spec> {
    const file = join(this.folder, "workspace.yaml");
    writeFileSync(file, yaml);
    const { spec, diagnostics } = await loadSpec({
      file,
      env: this.env,
      registry,
      secrets: "resolve",
      keyed: (bytes) => keyedDigest(KEY, bytes),
    });
    if (spec === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
    return spec;
  }

  /** What one process has: a client and a store of its own. */
  process(options: ProcessOptions = {}): Process {
    return new Process(this, options);
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    this.#inFlight += 1;
    try {
      const { method, path, headers, body } = request;
      const name = path.replace(/^.*\/api\/2\.0\//, "").replace(/\?.*$/, "");
      (method === "GET" ? this.reads : this.writes).push(`${method} ${name}`);
      return await this.world.app({ method, path, headers, ...(body === undefined ? {} : { body }) });
    } finally {
      this.#inFlight -= 1;
    }
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
  readonly files: FileSystem;
  readonly options: ProcessOptions;

  constructor(site: Site, options: ProcessOptions) {
    this.site = site;
    this.options = options;
    const send: Send = (request) => site.send(request);
    this.client = createClient({
      transport: (request) =>
        options.transport === undefined ? send(request) : options.transport(request, send),
      host: "http://workspace.test",
      token: ADMIN_TOKEN,
      clock: () => site.clock.now(),
      sleep: (ms, signal) => site.clock.sleep(ms, signal),
      random: () => 0.5,
      ...(options.log === undefined ? {} : { log: options.log }),
    });
    this.files = memoryFiles(site.disk, options.hooks);
    const owner: Owner = {
      user: "ada",
      host: "laptop",
      pid: options.pid ?? 1,
      machine: "test",
      started: "0",
    };
    this.store = openFileStore({
      folder: FOLDER,
      fs: this.files,
      clock: site.clock,
      random: site.random(),
      owner,
      ...(options.times === undefined ? {} : { times: options.times }),
    });
  }

  async look(spec: Spec, state: State, more: Partial<PlanInput> = {}) {
    const live = await observe({
      registry,
      reader: this.client.reader,
      spec,
      state,
      parallelism: this.options.parallelism ?? 10,
    });
    const adopt = more.adopt === true;
    const recovered = recover({ registry, state, live, now: this.site.clock.now(), adopt });
    const input: PlanInput = {
      registry,
      host: "http://workspace.test",
      spec,
      live,
      state: recovered.state,
      caller: ADMIN,
      activeRuns: [],
      ...more,
    };
    return { live, recovered, input, plan: makePlan(input) };
  }

  async plan(spec: Spec, more: Partial<PlanInput> = {}): Promise<Plan> {
    const { state } = await this.store.read();
    return (await this.look(spec, state, more)).plan;
  }

  /** Everything that the command does: lock, look, settle, plan, audit, apply, unlock. */
  async apply(spec: Spec, more: Partial<PlanInput> = {}): Promise<Applied> {
    const lease = await this.store.lock({ timeoutMs: 600_000 });
    try {
      const { live, recovered, input, plan } = await this.look(spec, lease.state(), more);
      const found = [...recovered.diagnostics, ...plan.diagnostics, ...auditPlan(plan, input)];
      this.options.onPlan?.(plan);
      if (hasErrors(found) || plan.guards.length > 0)
        throw new Failure(...found, ...plan.guards.map((guard) => guard.diagnostic));
      await recordRecovery(lease, recovered.entries);
      const { parallelism = 10, signal, onEvent } = this.options;
      const outcome = await applyPlan({
        plan,
        registry,
        resources: spec.resources,
        live,
        writer: this.client.writer,
        lease,
        clock: this.site.clock,
        random: this.site.random(),
        parallelism,
        ...(signal === undefined ? {} : { signal }),
        ...(onEvent === undefined ? {} : { onEvent }),
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

export function results(outcome: Outcome): readonly string[] {
  return outcome.changes.map((one) => `${one.result} ${one.action} ${one.address}`);
}
