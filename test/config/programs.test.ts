// Helper programs get only the variables that they need, at every place that starts one.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { propose } from "../../ci/lib/accept.ts";
import { withMergedBase } from "../../ci/lib/base.ts";
import { readSettings } from "../../ci/lib/settings.ts";
import { fetchUntrusted } from "../../ci/lib/untrusted.ts";
import { versionCommand } from "../../src/cli/commands/version.ts";
import { runOrigin } from "../../src/cli/output/run-origin.ts";
import type { CommandContext } from "../../src/config/environment.ts";
import { findProgram } from "../../src/config/programs.ts";
import { azureCliRunner } from "../../src/config/sign-in/azure.ts";
import { resolveInvocation } from "../../src/workflow/invocation/invocation.ts";
import { withWorktree } from "../../src/workflow/session/base-spec.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Each place that starts a program or a thread, and what it starts. A new place needs a test below. */
const PLACES = {
  "bin/other-node.js": "this program, with its whole environment",
  "ci/install.js": "git, on the machine of a developer",
  "ci/lib/git.ts": "git",
  "ci/lib/untrusted.ts": "git",
  "ci/lib/workspace.ts": "this program, without the tokens of the platform",
  "src/cli/commands/authoring/lsp.ts": "this program, with its whole environment",
  "src/cli/fleet/child-pool.ts": "this program, with what it needs to start and no credential",
  "src/config/programs.ts": "git",
  "src/config/sign-in/azure.ts": "az",
  "src/workflow/session/base-spec.ts": "git",
};

test("programs and threads are started at these places only", () => {
  const files = globSync(["src/**/*.ts", "ci/**/*.{js,ts}", "bin/**/*.js"], { cwd: ROOT });
  const starts = files.filter((file) =>
    /child_process|worker_threads|node:cluster|process\.dlopen/.test(readFileSync(join(ROOT, file), "utf8")),
  );
  expect(starts.sort()).toEqual(Object.keys(PLACES).sort());
});

/** Variables that make a program load code, read other files, or use another repository, and credentials. */
const HOSTILE = [
  ...[
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
    "PYTHONPATH",
    "PYTHONSTARTUP",
  ],
  ...["PYTHONHOME", "NODE_OPTIONS", "PERL5LIB", "RUBYOPT", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"],
  ...["GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_PAGER", "PAGER"],
  ...["GIT_EDITOR", "GIT_PROXY_COMMAND", "GIT_TRACE", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG", "SHELLOPTS"],
  ...["WORKSPACE_TARGET", "WORKSPACE_TOKEN", "WORKSPACE_STATE_KEY", "WORKSPACE_VAR_x", "DATABRICKS_TOKEN"],
  ...[
    "ARM_CLIENT_SECRET",
    "PGPASSWORD",
    "GITHUB_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "SYSTEM_ACCESSTOKEN",
  ],
  ...["DB_PASSWORD", "AZURE_EXTENSION_DIR", "AZURE_CLIENT_SECRET"],
];
const HARMLESS = { HOME: "/home/ada", HTTPS_PROXY: "http://proxy.example", no_proxy: "*.example" };
const ALLOWED_GIT = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "SSH_AUTH_SOCK"];
/** The shell that records them sets these. */
const SHELL = ["PWD", "SHLVL", "_", "OLDPWD"];

describe("a helper program gets only what it needs", () => {
  let folder: string;
  let env: Record<string, string>;
  let context: CommandContext;
  /** The names of the variables that the program got. */
  const got = (program: string): readonly string[] =>
    readFileSync(join(folder, `${program}.env`), "utf8")
      .split("\n")
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      .filter((name) => !SHELL.includes(name))
      .sort();

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "programs-"));
    const bin = join(folder, "bin");
    mkdirSync(bin);
    for (const name of ["git", "az"])
      writeFileSync(join(bin, name), `#!/bin/sh\n/usr/bin/env > ${folder}/${name}.env\nexit 1\n`, {
        mode: 0o755,
      });
    env = {
      ...Object.fromEntries(HOSTILE.map((name) => [name, "/hostile"])),
      ...Object.fromEntries(ALLOWED_GIT.map((name) => [name, "0"])),
      ...HARMLESS,
      AZURE_CONFIG_DIR: "/home/ada/.azure",
      PATH: bin,
    };
    context = { env, cwd: folder, home: "/home/ada" } as unknown as CommandContext;
  });

  test("the Azure CLI", async () => {
    const { code } = await azureCliRunner(join(folder, "bin/az"), { ...context, home: folder })(["version"]);
    expect(code).toBe(1);
    expect(got("az")).toEqual([
      "AZURE_CONFIG_DIR",
      "AZURE_CORE_NO_COLOR",
      "AZURE_CORE_ONLY_SHOW_ERRORS",
      "HOME",
      "HTTPS_PROXY",
      "PATH",
      "no_proxy",
    ]);
  });

  const GIT = [...Object.keys(HARMLESS), ...ALLOWED_GIT, "PATH"];

  test("git, for the base of a plan", async () => {
    const checkout = mkdtempSync(join(tmpdir(), "programs-checkout-"));
    const work = withWorktree(
      { ...context, cwd: checkout } as never,
      checkout,
      "HEAD",
      async () => undefined,
    );
    await expect(work).rejects.toThrow("PLAN_BASE");
    expect(got("git")).toEqual([...GIT, "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "LC_ALL"].sort());
  });

  test("git, for the commit of a report", async () => {
    const checkout = mkdtempSync(join(tmpdir(), "programs-checkout-"));
    mkdirSync(join(checkout, ".git"));
    writeFileSync(join(checkout, ".git/HEAD"), "ref: refs/heads/packed\n");
    writeFileSync(join(checkout, "workspace.yaml"), "groups: {}\n");
    const { commit } = await runOrigin(resolveInvocation({ ...context, cwd: checkout } as never, {}), true);
    expect(commit).toBeUndefined();
    expect(got("git")).toEqual([...GIT, "GIT_OPTIONAL_LOCKS"].sort());
  });

  test.skipIf(!existsSync(join(ROOT, ".git")))("git, for the version", async () => {
    const checkout = mkdtempSync(join(tmpdir(), "programs-checkout-"));
    const lines: string[] = [];
    const stdout = { write: (line: string) => lines.push(line) };
    const ran = { ...context, cwd: checkout, stdout } as never;
    expect(await versionCommand.run(ran, { output: undefined } as never, [] as never)).toBe(0);
    expect(lines.join("")).toContain("from sources");
    expect(got("git")).toEqual([...GIT, "GIT_OPTIONAL_LOCKS"].sort());
  });

  test("git, for an untrusted pull request", () => {
    const from = { platform: "github", number: 1, folder: ".", sha: undefined, branch: undefined } as const;
    const ci = { ...env, GIT_DIR: undefined, CI_JOB_TOKEN: "t", RUNNER_TEMP: folder };
    expect(() => fetchUntrusted(ci, from)).toThrow("git config failed");
    expect(got("git")).toEqual(
      [...GIT, "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT", "CI_JOB_TOKEN"].sort(),
    );
  });

  test("git, for a pull request that accepts drift", async () => {
    const pulls = { find: async () => undefined } as never;
    const proposal = {
      ...{ cwd: folder, platform: "github", subject: { target: "default", folder: "." }, base: "main" },
      env: { ...env, GIT_DIR: undefined },
      ...{ token: "t", accepted: { report: "", files: ["workspace.yaml"] }, body: "" },
    };
    writeFileSync(join(folder, "workspace.yaml"), "");
    await expect(propose(pulls, proposal as never)).rejects.toThrow("git add failed");
    expect(got("git")).toEqual([...GIT].sort());
  });

  test("git, for the name of a base", () => {
    const settings = { ...readSettings({}), base: "HEAD^1", targetBranch: "main" };
    const script = `import { withMergedBase } from ${JSON.stringify(join(ROOT, "ci/lib/base.ts"))};
withMergedBase(${JSON.stringify(settings)}, process.env);`;
    const { NODE_OPTIONS: _, ...rest } = env;
    const { GIT_DIR: __, LD_PRELOAD: ___, LD_LIBRARY_PATH: ____, ...hostile } = rest;
    spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], { env: hostile });
    expect(got("git")).toEqual([...GIT].sort());
    expect(withMergedBase({ ...settings, targetBranch: undefined }, {}).base).toBe("HEAD^1");
  });

  test("a program in the checkout is not found, and one next to it is", () => {
    const checkout = join(folder, "checkout");
    for (const path of [".git", "bin", "team"]) mkdirSync(join(checkout, path), { recursive: true });
    writeFileSync(join(checkout, "bin/git"), "#!/bin/sh\n", { mode: 0o755 });
    const path = `${join(checkout, "bin")}:bin:${join(folder, "bin")}`;
    const around = { ...context, env: { PATH: path } };
    expect(findProgram(around, "git", [join(checkout, "team")])).toBe(join(folder, "bin/git"));
    expect(
      findProgram({ ...around, env: { PATH: join(checkout, "bin") } }, "git", [checkout]),
    ).toBeUndefined();
  });
});
