// `plan --base` and `--base-ref`: the split of a plan, what decides the exit code, and that nothing of a reference is executed.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { start } from "../program.ts";

const TOKEN = "base-token";
const HEAD = "policy: { max_deletes: 1 }\n";
const APPLIED = `${HEAD}pools:
  a: { node_type_id: Standard_DS3_v2, max_capacity: 5 }
  b: { node_type_id: Standard_DS3_v2 }
  c: { node_type_id: Standard_DS3_v2 }
`;
/** Merged, and not applied: the group. */
const MERGED = `${APPLIED}groups: { merged: {} }\n`;
const CHANGED = `${MERGED.replace("max_capacity: 5", "max_capacity: 9")}scopes: { new: {} }\n`;

let emulator: RunningServer;
let top: string;
let temporary: string;

/** The folder and the workspace after the first apply, of which each test has a copy. */
const applied = mkdtempSync(join(tmpdir(), "base-"));
let snapshot: string;

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  top = applied;
  mkdirSync(join(top, "temporary"));
  write("repo/infra/workspace.yaml", APPLIED);
  write("repo/.gitignore", ".workspace/\n");
  git("init", "-q", "--template=", "-b", "main", ".");
  commit("applied");
  expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
  snapshot = await (await control("GET", "snapshot")).text();
});

beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), "base-"));
  temporary = join(top, "temporary");
  cpSync(applied, top, { recursive: true });
  expect((await control("PUT", "snapshot", snapshot)).status).toBe(200);
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

afterAll(async () => {
  await emulator.close();
  rmSync(applied, { recursive: true, force: true });
});

const control = (method: string, name: string, body?: string) =>
  fetch(`${emulator.url}/__emulator/${name}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body === undefined ? {} : { body }),
  });

function write(path: string, text: string): void {
  mkdirSync(dirname(join(top, path)), { recursive: true });
  writeFileSync(join(top, path), text);
}

function git(...args: string[]): string {
  const identity = [
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@example.com",
    "-c",
    "protocol.file.allow=always",
  ];
  return execFileSync("git", [...identity, ...args], {
    cwd: join(top, "repo"),
    encoding: "utf8",
    stdio: "pipe",
  });
}

function commit(message: string): void {
  git("add", "-A");
  git("commit", "-qm", message);
}

const spec = (text: string): void => write("repo/infra/workspace.yaml", text);

function merged(text: string): void {
  spec(text);
  commit("merged");
}

const environment = () => ({
  WORKSPACE_HOST: emulator.url,
  WORKSPACE_TOKEN: TOKEN,
  PATH: process.env.PATH ?? "",
  HOME: top,
});

async function run(words: readonly string[], folder = "repo/infra", env: Record<string, string> = {}) {
  const before = new Set(readdirSync(tmpdir()).filter((name) => name.startsWith("workspace-base-")));
  const context = contextWith({ ...environment(), ...env }, join(top, folder));
  const code = await runProgram(context, words);
  const left = readdirSync(tmpdir()).filter(
    (name) => name.startsWith("workspace-base-") && !before.has(name),
  );
  return { code, out: context.out(), err: context.err(), left };
}

/** `scopes.new create caused`, by the JSON of a plan. */
async function split(...words: string[]): Promise<readonly string[]> {
  const { out, code, err } = await run(["plan", "-o", "json", ...words]);
  expect([code, err]).toEqual([0, expect.not.stringContaining("error")]);
  const { resource_changes: changes, resolved_changes: resolved = [] } = JSON.parse(out) as {
    resource_changes: { address: string; action: string; origin?: string }[];
    resolved_changes?: { address: string; action: string }[];
  };
  return [
    ...changes
      .filter(({ action }) => action !== "noop")
      .map((one) => `${one.address} ${one.action} ${one.origin}`),
    ...resolved.map((one) => `${one.address} ${one.action} resolved`),
  ].sort();
}

const SPLIT = ["groups.merged create pending", "pools.a update caused", "scopes.new create caused"];

const code = async (...words: string[]) =>
  (await run(["plan", "--base-ref", "main", "--detailed-exitcode", ...words])).code;

describe("a plan with a base", () => {
  test("is split in the same way for a folder and for a Git reference", async () => {
    merged(MERGED);
    cpSync(join(top, "repo/infra"), join(top, "copy"), { recursive: true });
    spec(CHANGED);
    expect(await split("--base-ref", "main")).toEqual(SPLIT);
    expect(await split("--base", "../../copy")).toEqual(SPLIT);
    expect(await split("--base-ref", "main", "--offline")).toEqual(SPLIT);
    expect(await split("--base-ref", "main", "--only", "scopes.*")).toEqual(["scopes.new create caused"]);
  });

  test("dependencies outside the addresses of --only are pending if the base has them", async () => {
    const users = `${APPLIED}users: { ada@example.com: {} }\n`;
    merged(`${users}groups: { g: { members: { users: [] } } }\n`);
    spec(`${users}groups: { g: { members: { users: [ada@example.com] } } }\n`);
    expect(await split("--base-ref", "main", "--only", "groups.g")).toEqual([
      "groups.g create caused",
      "users.ada@example.com create pending",
    ]);
  });

  test("reads what the plan alone reads, each object once", async () => {
    merged(MERGED);
    spec(CHANGED);
    const asked = async (...words: string[]): Promise<readonly string[]> => {
      await control("DELETE", "requests");
      expect((await run(["plan", ...words])).code).toBe(0);
      const { requests } = (await (await control("GET", "requests")).json()) as {
        requests: { path: string }[];
      };
      return requests.map(({ path }) => path).sort();
    };
    const alone = await asked();
    expect(alone.length).toBeGreaterThan(2);
    expect(await asked("--base-ref", "main")).toEqual(alone);
  });

  test("plans the base with the addresses that the state had before the moves of the change", async () => {
    const named = MERGED.replace("a: {", "a: { instance_pool_name: a,");
    merged(named.replace("max_capacity: 5", "max_capacity: 7"));
    spec(`${named.replace("  a: {", "  z: {")}moved: [{ from: pools.a, to: pools.z }]\n`);
    const moved = ["groups.merged create pending", "pools.a update resolved", "pools.z move caused"];
    expect(await split("--base-ref", "main")).toEqual(moved);
    expect(await split("--base-ref", "main", "--offline")).toEqual(moved);
  });

  describe("when the change only moves resources", () => {
    const POLICY = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
    const POOL = "{ node_type_id: Standard_DS3_v2, instance_pool_name: a, max_capacity: 9 }";
    const moved = (from: string, to: string) => `moved: [{ from: ${from}, to: ${to} }]\n`;
    const renamed = (pool = POOL) => `${POLICY}pools:\n  z: ${pool}\n${moved("pools.a", "pools.z")}`;
    const allow =
      "rules:\n  - { name: small, kinds: [pools], assert: change.after.?max_capacity.orValue(0) <= 5 }\n";
    const update = ["pools.z update caused max_capacity:pending"];

    beforeEach(async () => {
      spec(`${POLICY}pools:\n  a: ${POOL.replace("9", "5")}\n`);
      expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
      merged(`${POLICY}pools:\n  a: ${POOL}\n`);
    });

    async function fields(...words: string[]): Promise<readonly string[]> {
      const { out, err } = await run(["plan", "-o", "json", "--base-ref", "main", ...words]);
      expect(err).not.toContain("error");
      const { resource_changes: changes, resolved_changes: resolved = [] } = JSON.parse(out) as {
        resource_changes: {
          address: string;
          action: string;
          origin?: string;
          field_origins?: { path: string; origin: string }[];
        }[];
        resolved_changes?: { address: string; action: string }[];
      };
      return [
        ...changes
          .filter(({ action }) => action !== "noop")
          .map(({ address, action, origin, field_origins: origins = [] }) =>
            [address, action, origin, ...origins.map((field) => `${field.path}:${field.origin}`)].join(" "),
          ),
        ...resolved.map((one) => `${one.address} ${one.action} resolved`),
      ];
    }

    test("the move is caused, its pending fields are pending, and nothing is resolved", async () => {
      spec(renamed());
      expect(await fields()).toEqual(update);
      expect(await fields("--only", "pools.z")).toEqual(update);
      expect(await fields("--offline")).toEqual(update);
      const state = join(top, "trusted-state");
      cpSync(join(top, "repo/infra/.workspace/default"), state, { recursive: true });
      expect(await fields("--untrusted", "--state", state)).toEqual(update);
    });

    test("a field that the change sets, too, is caused", async () => {
      spec(renamed(POOL.replace("9", "9, min_idle_instances: 1")));
      expect((await fields())[0]?.split(" ").sort()).toEqual(
        ["pools.z", "update", "caused", "max_capacity:pending", "min_idle_instances:caused"].sort(),
      );
    });

    test("is compared across a module, in both directions", async () => {
      write("repo/infra/core/workspace.yaml", `pools:\n  a: ${POOL}\n`);
      const inModule = `${POLICY}modules: { core: { source: ./core } }\n`;
      spec(inModule + moved("pools.a", "pools.core/a"));
      expect(await fields()).toEqual(["pools.core/a update caused max_capacity:pending"]);
      expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
      write("repo/infra/core/workspace.yaml", `pools:\n  a: ${POOL.replace("9", "11")}\n`);
      merged(inModule);
      spec(`${POLICY}pools:\n  a: ${POOL.replace("9", "11")}\n${moved("pools.core/a", "pools.a")}`);
      expect(await fields()).toEqual(["pools.a update caused max_capacity:pending"]);
    });

    test("is compared across the key of a for_each", async () => {
      const instances = (key: string, size: number) =>
        `${POLICY}modules: { team: { source: ./team, for_each: [${key}], with: { size: ${size} } } }\n`;
      const pool = POOL.replace("9", '"${input.size}"');
      write("repo/infra/team/workspace.yaml", `inputs: { size: { type: number } }\npools:\n  p: ${pool}\n`);
      spec(instances("one", 5) + moved("pools.a", "pools.team/one/p"));
      expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
      merged(instances("one", 9));
      spec(instances("two", 9) + moved("modules.team/one", "modules.team/two"));
      expect(await fields()).toEqual(["pools.team/two/p update caused max_capacity:pending"]);
    });

    test("a move that the base has, too, is pending", async () => {
      merged(renamed());
      expect(await fields()).toEqual(["pools.z update pending"]);
      spec(`${POLICY}pools:\n  a: ${POOL}\n`);
      expect(await fields()).toEqual(["pools.a update pending"]);
    });

    test("a resource that was not applied yet is pending under its new key", async () => {
      const second = (key: string) =>
        `${POLICY}pools:\n  a: ${POOL}\n  ${key}: { node_type_id: Standard_DS3_v2, instance_pool_name: g }\n`;
      merged(second("g"));
      spec(second("h") + moved("pools.g", "pools.h"));
      expect(await fields()).toEqual(["pools.a update pending", "pools.h create pending"]);
    });

    test("an entry below a scope of a moved module stays pending, because it keeps its address", async () => {
      const core = (permission: string) =>
        write("repo/infra/core/workspace.yaml", `scopes: { s: { acls: { users: ${permission} } } }\n`);
      const used = (as: string) => `${POLICY}pools:\n  a: ${POOL}\nmodules: { ${as}: { source: ./core } }\n`;
      core("READ");
      spec(used("core"));
      expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
      core("WRITE");
      merged(used("core"));
      spec(used("base") + moved("modules.core", "modules.base"));
      expect(await fields()).toEqual(["acls.s/users update pending"]);
    });

    test("a pending guard or violation of a rule does not block it", async () => {
      write("rules/rules.yaml", allow);
      const rules = ["--rules", join(top, "rules")];
      spec(renamed());
      expect(await code(...rules, "--exitcode-for", "change")).toBe(2);
      expect(await code(...rules)).toBe(3);
      spec(renamed(POOL.replace("9", "12")));
      expect(await code(...rules, "--exitcode-for", "change")).toBe(3);
      const kept = (key: string) =>
        `${POLICY}pools:\n  ${key}: ${POOL.replace("DS3", "DS4").replace("9 }", "9, lifecycle: { prevent_destroy: true } }")}\n`;
      merged(kept("a"));
      spec(kept("z") + moved("pools.a", "pools.z"));
      expect(await code("--exitcode-for", "change")).toBe(2);
      expect((await run(["plan", "--base-ref", "main"])).out).toContain("this was already pending");
    });

    test("a reference to a moved resource that is replaced is the same as before", async () => {
      const both = (key: string, type: string) =>
        `${POLICY}pools:\n  ${key}: ${POOL.replace("DS3", type)}\nclusters: { c: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.${key}.instance_pool_id}" } }\n`;
      spec(both("a", "DS3"));
      expect(await run(["apply", "--auto-approve"])).toMatchObject({ code: 0 });
      merged(both("a", "DS4"));
      spec(both("z", "DS4") + moved("pools.a", "pools.z"));
      expect(await fields()).toEqual([
        "pools.z replace caused node_type_id:pending",
        "clusters.c update pending",
      ]);
    });
  });

  test("reads kinds that only the base has", async () => {
    merged(`${MERGED}directories: { /Shared/x: {} }\n`);
    spec(MERGED);
    expect(await split("--base-ref", "main")).toEqual([
      "directories./Shared/x create resolved",
      "groups.merged create pending",
    ]);
  });

  test("finds included files and variable files of the reference, not those of the change", async () => {
    write("repo/vars.yaml", "size: 6\n");
    write("repo/infra/more.yaml", "groups: { included: {} }\n");
    const varied = `${APPLIED.replace("max_capacity: 5", 'max_capacity: "${var.size}"')}variables: { size: {} }\ninclude: [more.yaml]\n`;
    merged(varied);
    write("repo/vars.yaml", "size: 7\n");
    write("repo/infra/more.yaml", "groups: { included: {}, another: {} }\n");
    expect(await split("--base-ref", "main", "--var-file", "../vars.yaml")).toEqual([
      "groups.another create caused",
      "groups.included create pending",
      "pools.a update caused",
    ]);
  });

  test("shows the split in every format", async () => {
    merged(MERGED);
    spec(CHANGED);
    for (const format of ["text", "markdown", "html", "junit", "json"]) {
      const { out, code } = await run(["plan", "--base-ref", "main", "-o", format]);
      expect(code).toBe(0);
      if (format !== "json") expect(out).toContain("Compared with main: 2 caused by this change");
      else
        expect(JSON.parse(out)).toMatchObject({
          split: { base: "main", caused: { create: 1, update: 1 }, resolved: 0 },
        });
    }
  });

  test("counts everything as caused when the base has no such spec", async () => {
    merged(MERGED);
    mkdirSync(join(top, "empty"));
    const { err } = await run(["plan", "--base", "../../empty"]);
    expect(err).toContain('warning PLAN_BASE: the base "empty" has no workspace.yaml');
    expect((await run(["plan", "--base", "../../empty"])).out).toContain("Compared with empty: ");
    expect(await split("--base", "../../empty")).toEqual(["groups.merged create caused"]);
  });

  test("warns and is not split when the spec of the base is invalid, so that a broken branch can be repaired", async () => {
    merged("pools: { a: { no_such_field: 1 } }\n");
    spec(MERGED);
    const ended = await run([
      "plan",
      "--base-ref",
      "main",
      "--exitcode-for",
      "change",
      "--detailed-exitcode",
    ]);
    expect(ended).toMatchObject({ code: 2, left: [] });
    expect(ended.err).toContain('warning PLAN_BASE: the spec of the base "main" is invalid');
    expect(ended.err).toContain("workspace.yaml:1");
    expect(await split("--base-ref", "main")).toEqual(["groups.merged create undefined"]);
  });

  test("is not split when the change gives the spec another state, whose changes the base does not have", async () => {
    write("repo/infra/workspace.yaml", `targets: { dev: { default: true, state: other } }\n${APPLIED}`);
    const { code, out, err } = await run([
      "plan",
      "--base-ref",
      "main",
      "--detailed-exitcode",
      "--exitcode-for",
      "change",
    ]);
    expect(err).toContain(
      "warning PLAN_BASE: the spec of the base main has the state infra/.workspace/default, and this one infra/other, so every change counts",
    );
    expect(out + err).not.toContain("pending");
    expect(code).not.toBe(0);
  });

  test("keeps the split in a saved plan", async () => {
    merged(MERGED);
    spec(CHANGED);
    expect(await run(["plan", "--base-ref", "main", "--out", "p.plan"])).toMatchObject({ code: 0 });
    expect(await run(["apply", "p.plan"])).toMatchObject({ code: 0 });
  });

  test("is split for an untrusted spec, under the same limits", async () => {
    merged(MERGED);
    spec(CHANGED);
    const state = join(top, "trusted-state");
    cpSync(join(top, "repo/infra/.workspace/default"), state, { recursive: true });
    expect(await split("--base-ref", "main", "--untrusted", "--state", state)).toEqual(SPLIT);
  });
});

describe("--exitcode-for change", () => {
  test("ends with 0 when everything was pending, and with 2 when the change causes something", async () => {
    merged(MERGED);
    expect([await code(), await code("--exitcode-for", "change")]).toEqual([2, 0]);
    spec(CHANGED);
    expect(await code("--exitcode-for", "change")).toBe(2);
  });

  test("ends with 3 only for a guard that the caused changes raise", async () => {
    merged(`${HEAD}pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }\n`);
    expect([await code(), await code("--exitcode-for", "change")]).toEqual([3, 0]);
    const { out } = await run(["plan", "--base-ref", "main"]);
    expect(out).toContain("policy.max_deletes allows 1; this was already pending");
    merged(APPLIED);
    spec(HEAD);
    expect(await code("--exitcode-for", "change")).toBe(3);
  });

  test("says that a plan which something pending blocks is not saved", async () => {
    merged(`${HEAD}pools: { a: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }\n`);
    const { code: ended, err } = await run([
      "plan",
      "--base-ref",
      "main",
      "--exitcode-for",
      "change",
      "--out",
      "p.plan",
    ]);
    expect([ended, existsSync(join(top, "repo/infra/p.plan"))]).toEqual([0, false]);
    expect(err).toContain(
      "warning PLAN_BASE: the plan is not saved to p.plan, because pending changes block it",
    );
  });

  test("needs a base that is a folder", async () => {
    const { code, err } = await run(["plan", "--base", "workspace.yaml"]);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("the base folder workspace.yaml is not a folder"),
    ]);
  });

  test("needs a base", async () => {
    expect((await run(["plan", "--exitcode-for", "change"])).err).toContain("needs --base or --base-ref");
  });
});

describe("a Git reference", () => {
  test("executes nothing: no hook, no filter, no file system monitor, no submodule", async () => {
    const canary = join(top, "canary");
    const script = (name: string): string => {
      const path = join(top, name);
      writeFileSync(path, `#!/bin/sh\necho ${name} >> ${canary}\ncat\n`);
      chmodSync(path, 0o755);
      return path;
    };
    write("repo/.gitattributes", "*.yaml filter=evil\n");
    write("sub/README", "sub\n");
    execFileSync(
      "sh",
      ["-c", "git init -q . && git add -A && git -c user.name=t -c user.email=t@t commit -qm s"],
      {
        cwd: join(top, "sub"),
      },
    );
    git("submodule", "--quiet", "add", join(top, "sub"), "module");
    merged(MERGED);
    for (const hook of ["post-checkout", "post-index-change", "reference-transaction"])
      cpSync(script(hook), join(top, "repo/.git/hooks", hook));
    git("config", "core.fsmonitor", script("monitor"));
    git("config", "filter.evil.smudge", script("smudge"));
    git("config", "filter.evil.required", "true");
    git("config", "submodule.recurse", "true");
    rmSync(canary, { force: true });
    spec(CHANGED);
    expect(await split("--base-ref", "main")).toEqual(SPLIT);
    expect(existsSync(canary)).toBe(false);
    // The scripts do run for a plain checkout.
    git("worktree", "add", "-q", "--detach", join(top, "plain"), "main");
    expect(existsSync(canary)).toBe(true);
  });

  test("leaves no worktree behind, neither after a plan nor after a failure", async () => {
    merged(MERGED);
    const worktrees = git("worktree", "list");
    expect((await run(["plan", "--base-ref", "main"])).left).toEqual([]);
    expect(
      (await run(["plan", "--base-ref", "main"], "repo/infra", { WORKSPACE_HOST: "http://127.0.0.1:1" }))
        .left,
    ).toEqual([]);
    expect(git("worktree", "list")).toBe(worktrees);
  });

  test("leaves no worktree behind when Ctrl-C ends the run", async () => {
    merged(MERGED);
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const stopping = `#!/bin/sh\n${real} "$@"\ncode=$?\ncase "$*" in *"worktree add"*) kill -INT $PPID;; esac\nexit $code\n`;
    write("tools/git", stopping);
    chmodSync(join(top, "tools/git"), 0o755);
    const { ended } = start(["plan", "--base-ref", "main"], {
      cwd: join(top, "repo/infra"),
      env: { ...environment(), PATH: `${join(top, "tools")}:${process.env.PATH}`, TMPDIR: temporary },
    });
    expect((await ended).code).toBe(130);
    expect(readdirSync(temporary).filter((name) => name.startsWith("workspace-base-"))).toEqual([]);
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  test.each([["--upload-pack=x"], ["-f"], ["main\nx"]])("cannot be %j", async (reference) => {
    const { code, err } = await run(["plan", `--base-ref=${reference}`]);
    expect([code, err]).toEqual([1, expect.stringContaining("is not a valid Git reference")]);
  });

  test("that a shallow clone does not have leads to the command that fetches it", async () => {
    merged(MERGED);
    merged(CHANGED);
    git("tag", "first", "HEAD~1");
    execFileSync("git", [
      "clone",
      "-q",
      "--depth=1",
      "--no-tags",
      `file://${join(top, "repo")}`,
      join(top, "shallow"),
    ]);
    const { code, err } = await run(["plan", "--base-ref", "origin/release"], "shallow/infra");
    expect(code).toBe(1);
    expect(err).toContain("error PLAN_BASE: this clone is shallow and does not contain origin/release");
    expect(err).toContain("git fetch --depth=1 origin release:refs/remotes/origin/release");
  });

  test.each([["release"], ["HASH"]])("that is %s is found after the command of the hint", async (name) => {
    merged(MERGED);
    git("branch", "release", "HEAD~1");
    const reference = name === "HASH" ? git("rev-parse", "release").trim() : name;
    const repository = `file://${join(top, "repo")}`;
    execFileSync("git", ["clone", "-q", "--depth=1", "--no-tags", repository, join(top, "shallow")]);
    const { err } = await run(["plan", "--base-ref", reference], "shallow/infra");
    const [, fetch = "", , other] = /run `(git fetch [^`]+)`( and pass --base-ref (\S+),)?/.exec(err) ?? [];
    execFileSync("sh", ["-c", `${fetch} --quiet`], { cwd: join(top, "shallow") });
    const { out } = await run(["plan", "--base-ref", other ?? reference, "--offline"], "shallow/infra");
    expect(out).toContain(`Compared with ${other ?? reference}`);
  });

  test("that is an expression has no command that fetches it", async () => {
    merged(MERGED);
    const { code, err } = await run(["plan", "--base-ref", "HEAD^7"]);
    expect([code, err]).toEqual([1, expect.stringContaining("check out the whole history (fetch-depth: 0)")]);
    expect(err).not.toContain("git fetch");
  });

  test("outside of a checkout is refused", async () => {
    cpSync(join(top, "repo/infra"), join(top, "plain"), { recursive: true });
    const { code, err } = await run(["plan", "--base-ref", "main"], "plain", {
      GIT_CEILING_DIRECTORIES: top,
    });
    expect([code, err]).toEqual([1, expect.stringContaining("is not in a Git checkout")]);
  });

  test.skipIf(process.getuid?.() !== 0)("in a checkout of another user leads to the fix of Git", async () => {
    const repo = join(top, "repo");
    chownSync(repo, 65_534, 65_534);
    const { code, err } = await run(["plan", "--base-ref", "main"], "repo/infra", { HOME: top });
    expect([code, err]).toEqual([1, expect.stringContaining("because another user owns the checkout")]);
    expect(err).toContain(`run \`git config --global --add safe.directory ${repo}\``);
  });

  test("without a folder for temporary files says which one is missing", async () => {
    const absent = join(top, "absent");
    const context = contextWith(environment(), join(top, "repo/infra"));
    vi.stubEnv("TMPDIR", absent);
    const code = await runProgram(context, ["plan", "--base-ref", "main"]);
    vi.unstubAllEnvs();
    expect([code, context.err()]).toEqual([1, expect.stringContaining(`can be created in ${absent}`)]);
  });
});
