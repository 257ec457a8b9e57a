// Plays a scenario with a separate folder, an emulator over HTTP, and the program inside this process.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { runProgram } from "../../src/cli/program.ts";
import { outputOf, type SignalName, Signals } from "../../src/config/streams.ts";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { openFileStore } from "../../src/state/backends/file/file-backend.ts";
import {
  isCrashedLocally,
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../src/state/backends/file/node-ports.ts";
import type { Lease } from "../../src/state/model/store.ts";
import { inDatabricks } from "../engine/spelling.ts";
import { type Output, outputLines, parseScenario, type Step, wordsOf } from "./scenario.ts";
import { SHOWN_URL, stable } from "./stable.ts";

/** Paths of scenarios are relative to it. */
const API = "http://workspace.test/api/2.0/";

const TOKEN = "acceptance-token";

/** The scenario with the outputs that the program really gave. */
export async function played(text: string, cloud?: FieldDialect["cloud"]): Promise<string> {
  const stage = await Stage.open(cloud);
  try {
    const lines: string[] = [];
    for (const step of parseScenario(text)) lines.push(step.line, ...(await stage.play(step)));
    return `${lines.join("\n")}\n`;
  } finally {
    await stage.close();
  }
}

interface Trigger {
  readonly name: SignalName;
  readonly path: string;
}

/** The specs of an example in the spelling of the Databricks dialect. */
function respell(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (name.endsWith(".yaml")) writeFileSync(path, inDatabricks(readFileSync(path, "utf8")));
  }
}

class Stage {
  readonly #folder: string;
  readonly #server: RunningServer;
  readonly #env: Record<string, string>;
  readonly #cloud: FieldDialect["cloud"] | undefined;
  #trigger: Trigger | undefined;
  #lease: Lease | undefined;
  /** What the next command reads from its standard input. */
  #input: string | undefined;

  static async open(cloud?: FieldDialect["cloud"]): Promise<Stage> {
    const dialect = cloud === undefined ? {} : ({ dialect: "databricks", cloud } as const);
    return new Stage(
      mkdtempSync(join(tmpdir(), "scenario-")),
      await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN, ...dialect }),
      cloud,
    );
  }

  private constructor(folder: string, server: RunningServer, cloud: FieldDialect["cloud"] | undefined) {
    this.#cloud = cloud;
    this.#folder = folder;
    mkdirSync(this.#path("home"));
    this.#server = server;
    // One request at a time: the order of events is part of the output.
    this.#env = {
      ...(cloud === undefined ? {} : { WORKSPACE_DIALECT: "databricks", WORKSPACE_CLOUD: cloud }),
      WORKSPACE_HOST: server.url,
      WORKSPACE_TOKEN: TOKEN,
      WORKSPACE_PARALLELISM: "1",
      SOURCE_DATE_EPOCH: "1714979289",
      // Else the name of this machine would be in states.
      WORKSPACE_ACTOR: "ada",
    };
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The lines below the step. */
  async play(step: Step): Promise<readonly string[]> {
    switch (step.type) {
      case "text":
        return [];
      case "file":
        this.#write(step.path, `${step.content.map((line) => line.slice(2)).join("\n")}\n`);
        return step.content;
      case "command":
        return outputLines(await this.#command(step.words));
      case "order":
        await this.#order(step.verb, step.rest);
        return [];
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #write(name: string, content: string): void {
    mkdirSync(dirname(this.#path(name)), { recursive: true });
    writeFileSync(this.#path(name), content);
  }

  async #order(verb: string, rest: string): Promise<void> {
    const [first = "", second = "", ...more] = wordsOf(rest);
    switch (verb) {
      case "example":
        cpSync(join("examples", first), this.#folder, {
          recursive: true,
          filter: (path) => !path.includes(".workspace"),
        });
        return this.#cloud === undefined ? undefined : respell(this.#folder);
      case "env":
        return this.#setEnv(rest);
      case "input":
        this.#input = `${rest}\n`;
        return;
      case "remove":
        return rmSync(this.#path(first), { recursive: true });
      case "repeat":
        return this.#write(first, more.join(" ").repeat(Number(second)));
      case "edit":
        return this.#edit(first, rest.slice(first.length + 1));
      case "fill":
        return this.#write(first, await this.#withIds(readFileSync(this.#path(first), "utf8")));
      case "api":
        return this.#request(
          first,
          `/api/${/^\d/.test(second) ? second : `2.0/${second}`}`,
          rest.slice(first.length + second.length + 2),
        );
      case "control":
        return this.#request(first, `/__emulator/${second}`, rest.slice(first.length + second.length + 2));
      case "lock":
        // Held by this process, which is alive.
        this.#lease = await openFileStore({ ...nodePorts(), folder: this.#path(".workspace/default") }).lock({
          timeoutMs: 0,
        });
        return;
      case "release":
        return this.#lease?.release();
      case "signal":
        // `signal SIGINT when PATH`: as soon as a request to the path arrives; a path without a slash at the start is one of 2.0.
        this.#trigger = { name: first as SignalName, path: new URL(more.join(" "), API).pathname };
        return;
      default:
        throw new Error(`a scenario has no order "${verb}"`);
    }
  }

  #setEnv(rest: string): void {
    const equals = rest.indexOf("=");
    const name = equals < 0 ? rest : rest.slice(0, equals);
    if (equals < 0) delete this.#env[name];
    else this.#env[name] = rest.slice(equals + 1);
  }

  /** `edit PATH OLD => NEW`. */
  #edit(name: string, change: string): void {
    const [old = "", next = ""] = change.split(" => ");
    const before = readFileSync(this.#path(name), "utf8");
    if (!before.includes(old)) throw new Error(`${name} does not hold ${old}`);
    writeFileSync(this.#path(name), before.replace(old, next));
  }

  async #request(method: string, path: string, body: string): Promise<void> {
    const answer = await fetch(`${this.#server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === "" ? {} : { body: await this.#withIds(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  }

  /** `{{pools shared}}` is the ID of the pool, cluster, or job with that name. */
  async #withIds(body: string): Promise<string> {
    let text = body;
    for (const [whole, kind = "", name = ""] of body.matchAll(/\{\{(\w+) ([^}]+)\}\}/g))
      text = text.replace(whole, await this.#idOf(kind, name));
    return text;
  }

  async #idOf(kind: string, name: string): Promise<string> {
    const [path, list, id, nameOf] = LISTS[kind] ?? [];
    if (path === undefined || list === undefined || id === undefined || nameOf === undefined)
      throw new Error(`no ids of ${kind}`);
    const answer = await fetch(`${this.#server.url}/api/2.0/${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const items = ((await answer.json()) as Record<string, Record<string, unknown>[]>)[list] ?? [];
    const found = items.find(
      (item) =>
        nameOf.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], item) ===
        name,
    );
    if (found === undefined) throw new Error(`no ${kind} ${name}`);
    return String(found[id]);
  }

  async #command(words: readonly string[]): Promise<Output> {
    const [program, ...argv] = words.map((word) => word.replace(SHOWN_URL, this.#server.url));
    if (program !== "workspace") throw new Error(`a scenario runs workspace, not ${program}`);
    const [stdout, stderr] = [new Collector(), new Collector()];
    const signals = new Signals((text) => stderr.write(text));
    const watching = this.#watch(signals);
    const stdin = new PassThrough();
    stdin.end(this.#input ?? "");
    this.#input = undefined;
    const exit = await runProgram(
      {
        env: this.#env,
        cwd: this.#folder,
        home: this.#path("home"),
        stdin,
        stdout: outputOf(stdout),
        stderr: outputOf(stderr),
        signals,
      },
      argv,
    );
    watching.abort();
    const shown = (text: string) => stable(text, this.#folder, this.#server.url);
    return { stdout: shown(stdout.text), stderr: shown(stderr.text), exit };
  }

  /** Sends the signal that the scenario asked for once its request has arrived. */
  #watch(signals: Signals): AbortController {
    const ending = new AbortController();
    const trigger = this.#trigger;
    this.#trigger = undefined;
    if (trigger !== undefined) void this.#poll(trigger, signals, ending.signal);
    return ending;
  }

  async #poll(trigger: Trigger, signals: Signals, ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const answer = await fetch(`${this.#server.url}/__emulator/requests`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      const { requests } = (await answer.json()) as { requests: { path: string }[] };
      if (requests.some((one) => one.path === trigger.path)) return signals.receive(trigger.name);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

const LISTS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  pools: ["instance-pools/list", "instance_pools", "instance_pool_id", "instance_pool_name"],
  clusters: ["clusters/list", "clusters", "cluster_id", "cluster_name"],
  jobs: ["jobs/list", "jobs", "job_id", "settings.name"],
};

function nodePorts() {
  return {
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
    isCrashed: isCrashedLocally,
  };
}

class Collector extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString("utf8");
    done();
  }
}
