// Reads the spec before a change, from a folder or a Git reference, with the options of the run. Executes nothing from it.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { ProcessContext } from "../../config/environment.ts";
import { fileStatsOf, isInFolder } from "../../config/files.ts";
import { findProgram, programEnvironment } from "../../config/programs.ts";
import { type Diagnostic, Failure, failureOf, thrownText, warning } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { LoadedSpec } from "../../spec/load-spec.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { checkSpec, type SpecReading } from "./read-spec.ts";

export interface BaseOptions {
  readonly base: string | undefined;
  readonly baseRef: string | undefined;
}

export interface BaseSpec {
  readonly name: string;
  /** `absent`: the base has no such spec. `incomparable`: it is invalid, or has another state. */
  readonly spec: Spec | "absent" | "incomparable";
  readonly notes: readonly Diagnostic[];
}

/** Undefined without a base. Throws Failure for a base that cannot be reached at all. */
export async function readBase(
  invocation: Invocation,
  { base: folder, baseRef }: BaseOptions,
  digest: SpecReading["digest"],
): Promise<BaseSpec | undefined> {
  if (folder === undefined && baseRef === undefined) return undefined;
  if (folder !== undefined && baseRef !== undefined)
    throw failureOf("CLI_USAGE", "--base and --base-ref cannot be used together");
  const file = realFile(invocation.file);
  if (baseRef !== undefined)
    return withWorktree(invocation, dirname(file), baseRef, (checkouts) =>
      readAt(invocation, { name: baseRef, file, digest, ...checkouts }),
    );
  const base = resolve(invocation.cwd, folder ?? "");
  const stats = fileStatsOf(base);
  if (stats?.isDirectory() !== true) {
    const problem = stats === undefined ? "does not exist" : "is not a folder";
    throw failureOf("PLAN_BASE", `the base folder ${folder} ${problem}`);
  }
  // Where it is says nothing in a report.
  const name = folder?.replace(/^(?:\.\.?\/)+(?=[^./])/, "") ?? "";
  return readAt(invocation, { name, file, digest, head: realpathSync(invocation.cwd), base });
}

interface BaseCheckout extends Checkouts {
  readonly name: string;
  /** The spec of the run; links of its folder resolved. */
  readonly file: string;
  readonly digest: SpecReading["digest"];
}

async function readAt(invocation: Invocation, checkout: BaseCheckout): Promise<BaseSpec> {
  const { name, digest } = checkout;
  const file = counterpart(checkout, checkout.file);
  if (file === undefined)
    throw failureOf(
      "CLI_USAGE",
      `the spec is not in ${checkout.head}, so the base has no counterpart of it`,
      {
        hint: "run the plan in the folder that --base is a copy of, or pass --base-ref",
      },
    );
  const shown = relative(checkout.base, file);
  if (!existsSync(file)) {
    const message = `the base "${name}" has no ${shown}, so every change counts as caused by this change`;
    return { name, spec: "absent", notes: [warning("PLAN_BASE", message)] };
  }
  const varFile = invocation.varFiles.flatMap((path) => varFileInBase(checkout, path));
  const cwd = counterpart(checkout, realpathSync(invocation.cwd)) ?? checkout.base;
  const ofBase = invocation.with({ file, varFile, rules: undefined }, cwd);
  const { spec, diagnostics } = await checkedBase(ofBase, { digest, mayLackSecrets: true });
  const [first] = diagnostics.filter(({ severity }) => severity === "error");
  if (spec === undefined || first !== undefined)
    return { name, spec: "incomparable", notes: [invalid(name, first)] };
  const elsewhere = otherStateOf(ofBase, invocation, checkout);
  return elsewhere === undefined
    ? { name, spec, notes: [] }
    : { name, spec: "incomparable", notes: [elsewhere] };
}

/** A folder that a link leads out of the base is one more error of the base. */
async function checkedBase(...args: Parameters<typeof checkSpec>): Promise<LoadedSpec> {
  try {
    return await checkSpec(...args);
  } catch (problem) {
    if (!(problem instanceof Failure) || problem.diagnostics[0]?.code !== "SPEC_OUTSIDE") throw problem;
    return { diagnostics: problem.diagnostics };
  }
}

/** A base with errors must not block the change that repairs it. */
function invalid(name: string, first: Diagnostic | undefined): Diagnostic {
  const place = first?.at === undefined ? "" : `${first.at.file}:${first.at.line}: `;
  return warning("PLAN_BASE", `the spec of the base "${name}" is invalid, so every change counts`, {
    cause: first && `${place}${first.message}`,
    hint: "the plan is not split until the base is valid again",
  });
}

/** The plan of the base would be that of another state. An option or the environment names one state for both. */
function otherStateOf(base: Invocation, head: Invocation, checkout: BaseCheckout): Diagnostic | undefined {
  if (head.namedStates.length > 0) return undefined;
  const [ofBase, ofHead] = [base.stateLocation(), head.stateLocation()];
  const isSame =
    ofBase.folder === undefined || ofHead.folder === undefined
      ? ofBase.text === ofHead.text
      : ofBase.folder === counterpart(checkout, ofHead.folder);
  if (isSame) return undefined;
  const [before, after] = [ofBase, ofHead].map(({ text, folder }, at) =>
    folder === undefined ? text : relative([checkout.base, checkout.head][at] ?? "", folder),
  );
  return warning(
    "PLAN_BASE",
    `the spec of the base ${checkout.name} has the state ${before}, and this one ${after}, so every change counts`,
    {
      hint: "the plan is not split; if another target has this state, an apply deletes what that target applied",
    },
  );
}

/** Variable files of the checkout are part of the change. One that the base lacks is left out. */
function varFileInBase(checkout: BaseCheckout, path: string): readonly string[] {
  const ofBase = counterpart(checkout, existsSync(path) ? realFile(path) : path);
  if (ofBase === undefined) return [path];
  return existsSync(ofBase) ? [ofBase] : [];
}

/** The path in the base of what a path in the head leads to; undefined for what is not in the head. */
function counterpart({ head, base }: Checkouts, path: string): string | undefined {
  return isInFolder(head, path) ? join(base, relative(head, path)) : undefined;
}

function realFile(path: string): string {
  return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
}

/** Takes precedence over every configuration file. */
const SAFE = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.sparseCheckout=false",
  "submodule.recurse=false",
  "safe.bareRepository=explicit",
  "advice.detachedHead=false",
];

interface GitAnswer {
  readonly ok: boolean;
  readonly output: string;
  readonly trouble: string;
}

type Git = (args: readonly string[]) => GitAnswer;

function gitIn(context: ProcessContext, folder: string): Git {
  const program = findProgram(context, "git", [context.cwd, folder]);
  if (program === undefined)
    throw failureOf("PLAN_BASE", "git is not on the PATH", {
      cause: "folders of PATH inside the checkout do not count",
      hint: "install git, or pass a folder with --base",
    });
  const env = {
    ...programEnvironment(context.env, "git"),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
  };
  const run = (settings: readonly string[], args: readonly string[]): GitAnswer => {
    const words = [...settings.flatMap((setting) => ["-c", setting]), ...args];
    const ended = spawnSync(program, words, {
      cwd: folder,
      env,
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (ended.error !== undefined)
      throw failureOf("PLAN_BASE", "git could not be run", {
        cause: ended.error.message,
        hint: "install git, or pass a folder with --base",
      });
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
    throw failureOf("PLAN_BASE", `the Git filter ${JSON.stringify(odd)} cannot be turned off`, {
      hint: "rename it without an equals sign, or pass a folder with --base",
    });
  return drivers.flatMap((name) => [
    `filter.${name}.smudge=`,
    `filter.${name}.process=`,
    `filter.${name}.required=false`,
  ]);
}

/** Two folders with the same files at two times. */
interface Checkouts {
  /** The top of the checkout that `folder` is in; links resolved. */
  readonly head: string;
  readonly base: string;
}

export async function withWorktree<T>(
  context: ProcessContext,
  folder: string,
  reference: string,
  use: (checkouts: Checkouts) => Promise<T>,
): Promise<T> {
  const git = gitIn(context, folder);
  const head = topOf(git, folder);
  const commit = commitOf(git, reference);
  const temporary = temporaryFolder();
  const base = join(temporary, "tree");
  const remove = (): void => {
    const words = ["worktree", "remove", "--force", base];
    // Another Ctrl-C reaches git as well.
    if (!git(words).ok) git(words);
    rmSync(temporary, { recursive: true, force: true });
  };
  // A signal ends the process without a way through `finally`.
  process.once("exit", remove);
  try {
    const added = git(["worktree", "add", "--quiet", "--detach", base, commit]);
    if (!added.ok) throw failureOf("PLAN_BASE", `could not check out ${reference}`, { cause: added.trouble });
    return await use({ head, base });
  } finally {
    process.removeListener("exit", remove);
    remove();
  }
}

function temporaryFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "workspace-base-")));
  } catch (problem) {
    throw failureOf("PLAN_BASE", `no temporary folder can be created in ${tmpdir()}`, {
      cause: thrownText(problem),
      hint: "set TMPDIR to a folder that this user can write to, or pass a folder with --base",
    });
  }
}

function topOf(git: Git, folder: string): string {
  const { ok, output, trouble } = git(["rev-parse", "--show-toplevel"]);
  if (ok) return realpathSync(output.replace(/\n$/, ""));
  const fix = /\bgit config --global --add safe\.directory .+$/m.exec(trouble)?.[0];
  if (fix !== undefined)
    throw failureOf("PLAN_BASE", `Git does not read ${folder}, because another user owns the checkout`, {
      hint: `if you trust the checkout, run \`${fix}\`, or pass a folder with --base`,
    });
  throw failureOf("PLAN_BASE", `${folder} is not in a Git checkout`, {
    cause: trouble,
    hint: "run the plan in a checkout, or pass a folder with --base",
  });
}

/** The full hash. A reference that looks like an option never reaches git. */
function commitOf(git: Git, reference: string): string {
  const isSafe = /^[^-\p{Cc}\p{Z}][^\p{Cc}\p{Z}]*$/u.test(reference);
  if (!isSafe)
    throw failureOf("CLI_USAGE", `${JSON.stringify(reference)} is not a valid Git reference`, {
      hint: "pass a branch, tag, or commit, such as origin/main",
    });
  const { ok, output } = git(["rev-parse", "--verify", "--quiet", `${reference}^{commit}`]);
  const hash = output.trim();
  if (ok && /^[0-9a-f]{40,64}$/.test(hash)) return hash;
  throw missing(git, reference);
}

function missing(git: Git, reference: string): Failure {
  const shallow = git(["rev-parse", "--is-shallow-repository"]).output.trim() === "true";
  const clone = shallow ? "this clone is shallow and " : "the repository ";
  return failureOf("PLAN_BASE", `${clone}does not contain ${reference}`, {
    hint: [...fetchHint(reference), "check out the whole history (fetch-depth: 0)"].join(", or "),
  });
}

/** How to fetch the reference; nothing for an expression such as `HEAD^1`, which no server resolves. */
function fetchHint(reference: string): readonly string[] {
  if (/[~^:@]|\.\./.test(reference) || reference === "HEAD") return [];
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(reference))
    return [`run \`git fetch --depth=1 origin ${reference}\``];
  const [, remote = "origin", branch = reference] = /^(origin|upstream)\/(.+)$/.exec(reference) ?? [];
  const name = `${remote}/${branch}`;
  const words = `git fetch --depth=1 ${remote} ${shellWord(`${branch}:refs/remotes/${name}`)}`;
  return [`run \`${words}\`${name === reference ? "" : ` and pass --base-ref ${shellWord(name)}`}`];
}
