// Throwaway repositories and shells for pipeline steps: what the YAML files say is what runs.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { COMPILE_CACHE } from "../../built-program.ts";
import { BIN } from "../../cli/program.ts";
import { CodeHost } from "../code-host/code-host.ts";

export const ROOT = join(import.meta.dirname, "../../..");
export const WORKSPACE_TOKEN = "workspace-token";
export const STATE_KEY = "ab".repeat(32);

export type Variables = Readonly<Record<string, string>>;
/** Parsed YAML. */
export type Mapping = Readonly<Record<string, unknown>>;

export interface StepResult {
  readonly code: number;
  readonly output: string;
}

export const readYaml = (path: string): Mapping => parse(readFileSync(join(ROOT, path), "utf8")) as Mapping;
export const mappingOf = (value: unknown): Mapping => (value ?? {}) as Mapping;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What a commit message, a name, or a spec can contain; each would create `executed` or an output if a shell or a runner took it for code. */
export const HOSTILE =
  "$(touch executed)`touch executed`;touch executed\n::set-output name=changes::forged\n##vso[task.setvariable variable=changes]forged\n<!-- workspace:default -->";

export const specOf = (capacity: number): string =>
  `pools:\n  shared: { node_type_id: Standard_DS3_v2, max_capacity: ${capacity} }\n`;

/** A workspace, a code host, and a repository on it. The tests of a file share one, and call `reset` after each. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), "ci-"));
  readonly origin = join(this.folder, "origin.git");
  readonly #work = join(this.folder, "work");
  readonly host: CodeHost;
  readonly workspace: RunningServer;
  /** The program of every step; the one of the clone or of the copy that the pipeline installs, if undefined. */
  program: string | undefined = BIN;
  /** Variables of every step. */
  variables: Variables = {};
  /** What a runner configures in its checkout once it has fetched. */
  checkoutConfig: Variables = {};
  #started = false;
  #checkouts = 0;
  #step: ChildProcess | undefined;

  private constructor(host: CodeHost, workspace: RunningServer) {
    this.host = host;
    this.workspace = workspace;
  }

  static async open(): Promise<Site> {
    const workspace = await startEmulator({ port: 0, dataDir: ":memory:", token: WORKSPACE_TOKEN });
    const site = new Site(await CodeHost.start(), workspace);
    mkdirSync(join(site.folder, "bin"));
    site.git(site.folder, "init", "--quiet", "--bare", "--initial-branch=main", site.origin);
    site.git(site.folder, "clone", "--quiet", site.origin, site.#work);
    return site;
  }

  /** Forgets comments, issues, and faults; the repository and the workspace stay. */
  reset(): void {
    const { comments, issues, pulls, proposals, faults, requests } = this.host;
    for (const list of [comments, issues, pulls, proposals, faults, requests]) list.length = 0;
    this.host.before = () => {};
    this.program = BIN;
    this.variables = {};
    this.checkoutConfig = {};
  }

  async close(): Promise<void> {
    await Promise.all([this.host.close(), this.workspace.close()]);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** An executable below the folder of the site. */
  script(path: string, commands: string): string {
    const file = join(this.folder, path);
    writeFileSync(file, `#!/usr/bin/env bash\n${commands}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  git(cwd: string, ...args: readonly string[]): string {
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    const done = spawnSync("git", [...identity, ...args], {
      cwd,
      encoding: "utf8",
      env: this.#environment({}),
    });
    if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
    return done.stdout.trim();
  }

  /**
   * Commits `files` on top of `from` and pushes them as `ref`. Returns the commit. Content that begins with
   * `symlink:` becomes a symbolic link.
   */
  commit(files: Variables, ref: string, from = "origin/main"): string {
    const work = this.#work;
    if (this.#started) this.git(work, "checkout", "--quiet", "--detach", from);
    this.#started = true;
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(work, path)), { recursive: true });
      if (text.startsWith("symlink:")) symlinkSync(text.slice("symlink:".length), join(work, path));
      else writeFileSync(join(work, path), text);
    }
    this.git(work, "add", "--all", "--force");
    this.git(work, "commit", "--quiet", "--allow-empty", "--message", HOSTILE);
    this.git(work, "push", "--quiet", "--force", "origin", `HEAD:${ref}`);
    if (ref === "refs/heads/main")
      this.git(work, "fetch", "--quiet", "origin", "main:refs/remotes/origin/main");
    return this.git(work, "rev-parse", "HEAD");
  }

  /** Pushes a pull request: `files` on top of `from`, and their merge into main as the platform makes it. Returns the head. */
  pull(number: number, files: Variables, from = "origin/main"): string {
    const head = this.commit(files, `refs/pull/${number}/head`, from);
    const tree = this.git(this.#work, "merge-tree", "--write-tree", "origin/main", head);
    const parents = ["-p", "origin/main", "-p", head];
    const merge = this.git(this.#work, "commit-tree", tree, ...parents, "-m", "merge");
    this.git(this.#work, "push", "--quiet", "--force", "origin", `${merge}:refs/pull/${number}/merge`);
    return head;
  }

  /** A new checkout of `ref`, as a runner makes it. */
  checkout(ref: string, depth = 1): string {
    const work = this.#folder("checkout");
    this.git(work, "init", "--quiet");
    this.git(work, "remote", "add", "origin", `file://${this.origin}`);
    this.git(work, "fetch", "--quiet", `--depth=${depth}`, "origin", ref);
    this.git(work, "checkout", "--quiet", "--detach", "FETCH_HEAD");
    for (const [name, value] of Object.entries(this.checkoutConfig)) this.git(work, "config", name, value);
    return work;
  }

  /** Runs `commands` as a runner does: in bash, which stops at the first failure. */
  async bash(commands: string, cwd: string, env: Variables): Promise<StepResult> {
    const step = this.script("step.sh", `set -eo pipefail\n${commands}`);
    const child = spawn("bash", ["--noprofile", "--norc", step], { cwd, env: this.#environment(env) });
    this.#step = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data: Buffer) => {
        output += data.toString();
      });
    const code = await new Promise<number>((resolve) => child.on("close", (ended) => resolve(ended ?? 1)));
    return { code, output };
  }

  /** Cancels the job as a runner does: only the process that it started for the step gets the signal. */
  cancel(): void {
    this.#step?.kill("SIGINT");
  }

  /** The variables by which every platform names the workspace. */
  secrets(): Variables {
    return {
      WORKSPACE_HOST: this.workspace.url,
      WORKSPACE_STATE: "workspace:/Shared/.states/etl",
      WORKSPACE_STATE_KEY: STATE_KEY,
      WORKSPACE_TOKEN,
    };
  }

  async call(path: string, body: unknown): Promise<Mapping> {
    const response = await fetch(`${this.workspace.url}/api/2.0/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${WORKSPACE_TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Mapping;
  }

  /** The only pool of the workspace. */
  async pool(): Promise<Mapping> {
    return mappingOf(listOf((await this.call("instance-pools/list", undefined)).instance_pools)[0]);
  }

  /** Someone changes the pool outside of the program. */
  async changePool(capacity: number): Promise<void> {
    const { instance_pool_id, instance_pool_name, node_type_id } = await this.pool();
    await this.call("instance-pools/edit", {
      instance_pool_id,
      instance_pool_name,
      node_type_id,
      max_capacity: capacity,
    });
  }

  #next(): number {
    this.#checkouts += 1;
    return this.#checkouts;
  }

  #folder(name: string): string {
    const folder = join(this.folder, `${name}-${this.#next()}`);
    mkdirSync(folder);
    return folder;
  }

  #environment(env: Variables): NodeJS.ProcessEnv {
    return {
      PATH: `${join(this.folder, "bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: this.folder,
      GIT_CONFIG_NOSYSTEM: "1",
      LANG: "C.UTF-8",
      GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
      GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
      ...(this.program === undefined ? {} : { WORKSPACE_CI_PROGRAM: this.program }),
      ...COMPILE_CACHE,
      ...this.variables,
      ...env,
    };
  }
}
