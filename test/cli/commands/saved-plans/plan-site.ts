// A workspace, a folder with a changed spec, and a saved plan for it: for tests of who applies a plan, and when.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../../src/emulator/server.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const TOKEN = "plan-token";
const BEFORE = `
pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 5 }, b: { node_type_id: Standard_DS3_v2 } }
groups: { g: {} }
`;
const AFTER = `
policy: { max_deletes: 100% }
pools:
  a: { node_type_id: Standard_DS3_v2, max_capacity: 7 }
  c: { node_type_id: Standard_DS3_v2, custom_tags: { team: x } }
clusters:
  k: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.c.instance_pool_id}" }
scopes: { s: { secrets: { t: { env: SECRET } } } }
`;

export interface Ran {
  readonly code: number;
  readonly err: string;
}

interface Where {
  readonly words?: readonly string[];
  readonly host?: string;
  readonly folder?: string;
}

export class PlanSite {
  readonly #server: RunningServer;
  readonly folder = folderWith(BEFORE);
  /** The text of the plan that is good. */
  plan = "";

  private constructor(server: RunningServer) {
    this.#server = server;
  }

  static async open(): Promise<PlanSite> {
    const site = new PlanSite(await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN }));
    await site.#well(["apply", "--auto-approve"]);
    writeFileSync(join(site.folder, "workspace.yaml"), AFTER);
    site.plan = await site.planned();
    return site;
  }

  get url(): string {
    return this.#server.url;
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async run(words: readonly string[], { host = this.url, folder = this.folder }: Where = {}): Promise<Ran> {
    const env = { WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, SECRET: "hunter2" };
    const context = contextWith(env, folder);
    return { code: await runProgram(context, words), err: context.err() };
  }

  async #well(words: readonly string[]): Promise<void> {
    const { code, err } = await this.run(words);
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${err}`);
  }

  /** The text of a plan that is made now. */
  async planned(): Promise<string> {
    await this.#well(["plan", "--out", "good.plan"]);
    return readFileSync(join(this.folder, "good.plan"), "utf8");
  }

  apply(text: string, { words = [], ...where }: Where = {}): Promise<Ran> {
    writeFileSync(join(where.folder ?? this.folder, "tried.plan"), text);
    return this.run(["apply", "tried.plan", ...words], where);
  }

  async writes(): Promise<number> {
    return (await this.written()).length;
  }

  /** The paths of all requests that write, in their order. */
  async written(): Promise<readonly string[]> {
    const answer = await fetch(`${this.url}/__emulator/requests`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { requests } = (await answer.json()) as { requests: { path: string; write: boolean }[] };
    return requests.filter((one) => one.write).map((one) => one.path);
  }

  /** A request behind the program's back. */
  async call(path: string, body: object): Promise<void> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.url}/api/2.0/${path}`, sent);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }

  /** Another folder with the same spec, and no state. */
  emptyFolder(): string {
    return folderWith(AFTER);
  }

  /** A copy of the folder with its key and state, and a plan that was made there. */
  async broughtAlong(): Promise<string> {
    const root = folderWith("");
    mkdirSync(join(root, "theirs"));
    cpSync(this.folder, join(root, "theirs"), { recursive: true });
    const mine = join(root, "mine");
    mkdirSync(mine);
    const words = ["plan", "--file", "../theirs/workspace.yaml", "--out", "evil.plan"];
    const { code, err } = await this.run(words, { folder: mine });
    if (code !== 0) throw new Error(err);
    return mine;
  }

  /** Runs a command with another spec than the planned one. */
  async withOtherSpec<T>(work: () => Promise<T>): Promise<T> {
    const file = join(this.folder, "workspace.yaml");
    writeFileSync(file, `${AFTER}groups: { more: {} }\n`);
    try {
      return await work();
    } finally {
      writeFileSync(file, AFTER);
    }
  }
}
