// Runs git so that nothing of a repository is executed: no hooks, no file system monitor, no filters, no submodules.

import { spawnSync } from "node:child_process";
import { error, Failure } from "../../core/diagnostic.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";

/**
 * Variables that git and its configuration need. They exclude tokens, secrets, and what a hook sets to name its own
 * repository.
 */
const PASSED =
  /^(PATH|HOME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|SYSTEMROOT|TMPDIR|TEMP|TMP|XDG_CONFIG_HOME|SSH_AUTH_SOCK|GIT_SSH|GIT_SSH_COMMAND|GIT_CEILING_DIRECTORIES|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/i;

/** Takes precedence over every configuration file. */
const SAFE = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.sparseCheckout=false",
  "submodule.recurse=false",
  "safe.bareRepository=explicit",
  "advice.detachedHead=false",
];

export interface GitAnswer {
  readonly ok: boolean;
  readonly output: string;
  /** What git wrote about its failure. */
  readonly trouble: string;
}

export type Git = (args: readonly string[]) => GitAnswer;

/** Git in a folder. Throws Failure where git cannot be run. */
export function gitIn(context: WorkflowContext, folder: string): Git {
  const passed = Object.entries(context.env).filter(([name]) => PASSED.test(name));
  const env = {
    ...Object.fromEntries(passed),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
  };
  const run = (settings: readonly string[], args: readonly string[]): GitAnswer => {
    const words = [...settings.flatMap((setting) => ["-c", setting]), ...args];
    const ended = spawnSync("git", words, {
      cwd: folder,
      env,
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (ended.error !== undefined)
      throw new Failure(
        error("PLAN_BASE", "git could not be run", {
          cause: ended.error.message,
          hint: "install git, or pass a folder with --base",
        }),
      );
    return { ok: ended.status === 0, output: ended.stdout, trouble: ended.stderr.trim() };
  };
  let filters: readonly string[] | undefined;
  return (args) => {
    filters ??= withoutFilters(run(SAFE, ["config", "-z", "--name-only", "--get-regexp", "^filter\\."]));
    return run([...SAFE, ...filters], args);
  };
}

/** A filter is a command that the configuration has and that a file of the tree chooses. */
function withoutFilters({ output }: GitAnswer): readonly string[] {
  const names = output.split("\0").flatMap((key) => /^filter\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []);
  const drivers = [...new Set(names)];
  const odd = drivers.find((name) => name.includes("="));
  if (odd !== undefined)
    throw new Failure(
      error("PLAN_BASE", `the Git filter ${JSON.stringify(odd)} cannot be turned off`, {
        hint: "rename it without an equals sign, or pass a folder with --base",
      }),
    );
  return drivers.flatMap((name) => [
    `filter.${name}.smudge=`,
    `filter.${name}.process=`,
    `filter.${name}.required=false`,
  ]);
}
