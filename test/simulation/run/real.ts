// The program and the emulator as real processes, with a gate between them, a folder on the real disk, and the checks of the outside.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { BIN, type Ended, type Running, start } from "../../cli/program.ts";
import { leaksIn } from "../checks/canary.ts";
import { type Gate, openGate } from "../faults/gate.ts";
import { type Outside, outside, type Snapshot } from "../homes/outside.ts";
import { cloud, dialect, spelled } from "../world/dialect.ts";
import type { Form } from "../world/forms.ts";
import { CANARIES, FILE_CANARY, FILES, scenarios } from "../world/scenarios.ts";

const TOKEN = "simulated-token";
const READY_MS = 20_000;
/** The lists of kinds that only the Databricks dialect has, and where an object has its name. */
const OF_DIALECT = [
  ["preview/scim/v2/ServicePrincipals", "Resources", "displayName"],
  ["global-init-scripts", "scripts", "name"],
  ["ip-access-lists", "ip_access_lists", "label"],
  ["notification-destinations", "results", "display_name"],
  ["policies/clusters/list", "policies", "name"],
  ["sql/warehouses", "warehouses", "name"],
  ["git-credentials", "credentials", "git_provider"],
  ["repos", "repos", "path"],
] as const;

export class Real {
  readonly gate: Gate;
  readonly folder: string;
  readonly #url: string;
  readonly #emulator: Running;
  #state: Outside;
  #form: Form = "file";
  /** What every process printed. */
  readonly said: string[] = [];

  private constructor(emulator: Running, url: string, gate: Gate, folder: string) {
    this.#emulator = emulator;
    this.#url = url;
    this.gate = gate;
    this.folder = folder;
    this.#state = this.#place("file");
  }

  static async open(): Promise<Real> {
    const folder = mkdtempSync(join(tmpdir(), "workspace-real-"));
    const words = ["emulator", "--port", "0", "--data", ":memory:", "--token", TOKEN, "--dialect", dialect];
    const emulator = start(words, { cwd: folder });
    const url = await readyUrl(emulator);
    return new Real(emulator, url, await openGate(url), folder);
  }

  #place(form: Form): Outside {
    return outside(form, this.folder, async () => (await this.control("GET", "snapshot")) as Snapshot);
  }

  /** An empty workspace, an empty state of a form, and a folder with nothing but the files that specs name. */
  async fresh(form: Form): Promise<void> {
    await this.control("POST", "reset");
    this.#state = this.#place(form);
    this.#form = form;
    rmSync(this.folder, { recursive: true, force: true });
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
    this.gate.arm();
    this.said.length = 0;
  }

  /** Brings a fresh workspace to where a scenario begins. */
  async begin(name: string, form: Form): Promise<void> {
    const scenario = scenarios.find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    await this.fresh(form);
    if (scenario.before !== undefined) {
      this.spec(scenario.before);
      const { code, stderr } = await this.apply().ended;
      if (code !== 0) throw new Error(`the first apply failed: ${stderr}`);
      await this.settle();
    }
    this.spec(scenario.after);
    this.gate.arm();
  }

  get #kept(): string {
    return join(this.folder, ".workspace");
  }

  /**
   * From now on, if the state is shared, another machine: the files that earlier processes kept in their folder are
   * missing.
   */
  moveOn(): void {
    if ("WORKSPACE_STATE" in this.#state.env) rmSync(this.#kept, { recursive: true, force: true });
  }

  spec(yaml: string): void {
    writeFileSync(join(this.folder, "workspace.yaml"), spelled(yaml));
  }

  run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const running = start(words, {
      cwd: this.folder,
      env: {
        WORKSPACE_HOST: this.gate.url,
        WORKSPACE_TOKEN: TOKEN,
        WORKSPACE_DIALECT: dialect,
        ...CANARIES,
        ...this.#state.env,
        ...env,
      },
    });
    // What a run waits for takes the service half a minute, such as the start of a warehouse.
    running.child.stderr?.on("data", (data: Buffer) => {
      if (data.toString().includes("waiting: ")) void this.settle();
    });
    void running.ended.then(({ stdout, stderr }) => this.said.push(stdout, stderr));
    return running;
  }

  apply(env: Readonly<Record<string, string>> = {}, more: readonly string[] = []): Running {
    return this.run(["apply", "--auto-approve", "--no-input", ...this.#consent, ...more], env);
  }

  /** The secrets of the scenarios are long and random, so a state in the workspace may be unencrypted. */
  get #consent(): readonly string[] {
    return this.#form === "workspace" ? ["--allow-unencrypted-state"] : [];
  }

  /** The stored state without its lock. */
  async stateText(): Promise<string> {
    return [...(await this.#state.texts())].flat().join("\n");
  }

  async control(method: string, name: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.#url}/__emulator/${name}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status}`);
    return answer.json();
  }

  /** Lets the service finish its background work. */
  settle(): Promise<unknown> {
    return this.control("POST", "clock", { advance_ms: 600_000 });
  }

  /** The violations after an apply has ended: seen from outside, as a pipeline would. */
  async violations(last: Ended): Promise<readonly string[]> {
    await this.settle();
    const plan = await this.run(["plan", "--detailed-exitcode", "--output", "json", ...this.#consent]).ended;
    const state = await this.run(["state", "list", "--output", "json"]).ended;
    return [
      ...(last.code === 0 ? [] : [`the last apply ended with ${last.code}: ${last.stderr.slice(-400)}`]),
      ...(plan.code === 0
        ? []
        : [`the next plan ended with ${plan.code}: ${plan.stdout.slice(0, 400)}${plan.stderr}`]),
      ...(state.code === 0 ? [] : [`state list ended with ${state.code}: ${state.stderr}`]),
      ...(await this.doubles()),
      ...(await this.leaks()),
      ...(await this.mails()),
    ];
  }

  /** Duplicate names of kinds that allow them, and remains of two-phase creations and replacements. */
  async doubles(): Promise<readonly string[]> {
    const names: string[] = [
      ...(await this.list("clusters/list", "clusters", (one) => `clusters ${one.cluster_name}`)),
      ...(await this.list("jobs/list", "jobs", (one) => `jobs ${(one.settings as { name: string }).name}`)),
      ...(await this.list(
        "instance-pools/list",
        "instance_pools",
        (one) => `pools ${one.instance_pool_name}`,
      )),
    ];
    if (cloud !== undefined)
      for (const [path, key, field] of OF_DIALECT)
        names.push(...(await this.list(path, key, (one) => `${key} ${String(one[field])}`)));
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    const left = names.filter((name) => /\[workspace:|\(replaced /.test(name));
    return [
      ...twice.map((name) => `it is there twice: ${name}`),
      ...left.map((name) => `it was left behind: ${name}`),
    ];
  }

  async list(
    path: string,
    key: string,
    name: (one: Record<string, unknown>) => string,
  ): Promise<readonly string[]> {
    const answer = await fetch(`${this.#url}/api/2.0/${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const body = (await answer.json()) as Record<string, readonly Record<string, unknown>[] | undefined>;
    return (body[key] ?? []).map(name);
  }

  async mails(): Promise<readonly string[]> {
    const { mails } = (await this.control("GET", "mails")) as { mails: readonly { event: string }[] };
    return mails
      .filter((mail) => mail.event !== "job_deleted")
      .map((mail) => `a mail was sent: ${mail.event}`);
  }

  async leaks(): Promise<readonly string[]> {
    const places = new Map([...(await this.#state.texts()), ["output", this.said.join("\n")]]);
    const visit = (path: string): void => {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const inner = join(path, entry.name);
        if (entry.isDirectory()) visit(inner);
        else places.set(inner, readFileSync(inner, "utf8"));
      }
    };
    if (existsSync(this.#kept)) visit(this.#kept);
    const secrets = [...Object.values(CANARIES), FILE_CANARY];
    return leaksIn(places, secrets).map(
      ({ secret, encoding, place }) => `secret ${secret} stands in ${place} as ${encoding}`,
    );
  }

  async close(): Promise<void> {
    await this.gate.close();
    this.#emulator.child.kill("SIGTERM");
    await this.#emulator.ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function readyUrl({ child, ended }: Running): Promise<string> {
  const url = new Promise<string>((resolve) => {
    let text = "";
    child.stdout?.on("data", (data: Buffer) => {
      text += data.toString();
      const found = /http:\/\/[\w.:]+/.exec(text);
      if (found !== null) resolve(found[0]);
    });
  });
  const failed = ended.then(({ stderr }) => {
    throw new Error(`${BIN} emulator did not start: ${stderr}`);
  });
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error("the emulator did not start in time")), READY_MS).unref();
  });
  return Promise.race([url, failed, late]);
}

/** SIGKILL, and the certainty that it is over. */
export async function kill(running: Running): Promise<void> {
  running.child.kill("SIGKILL");
  await running.ended;
}
