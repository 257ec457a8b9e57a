// Checks out a Git reference into a temporary folder, which is always deleted afterwards.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";
import { type Git, gitIn } from "./git.ts";

/** Two folders with the same files at two times. */
export interface Checkouts {
  /** The top of the checkout that `folder` is in; links resolved. */
  readonly head: string;
  readonly base: string;
}

/** Checks a reference out for as long as `use` takes. Throws Failure with PLAN_BASE where that is not possible. */
export async function withWorktree<T>(
  context: WorkflowContext,
  folder: string,
  reference: string,
  use: (checkouts: Checkouts) => Promise<T>,
): Promise<T> {
  const git = gitIn(context, folder);
  const head = topOf(git, folder);
  const commit = commitOf(git, reference);
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "workspace-base-")));
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
    if (!added.ok)
      throw new Failure(error("PLAN_BASE", `could not check out ${reference}`, { cause: added.trouble }));
    return await use({ head, base });
  } finally {
    process.removeListener("exit", remove);
    remove();
  }
}

function topOf(git: Git, folder: string): string {
  const { ok, output, trouble } = git(["rev-parse", "--show-toplevel"]);
  if (ok) return realpathSync(output.replace(/\n$/, ""));
  throw new Failure(
    error("PLAN_BASE", `${folder} is not in a Git checkout`, {
      cause: trouble,
      hint: "run the plan in a checkout, or pass a folder with --base",
    }),
  );
}

/** The full hash. A reference that looks like an option never reaches git. */
function commitOf(git: Git, reference: string): string {
  const isSafe = /^[^-\p{Cc}\p{Z}][^\p{Cc}\p{Z}]*$/u.test(reference);
  if (!isSafe)
    throw new Failure(
      error("CLI_USAGE", `${JSON.stringify(reference)} is not a valid Git reference`, {
        hint: "pass a branch, tag, or commit, such as origin/main",
      }),
    );
  const { ok, output } = git(["rev-parse", "--verify", "--quiet", `${reference}^{commit}`]);
  const hash = output.trim();
  if (ok && /^[0-9a-f]{40,64}$/.test(hash)) return hash;
  throw new Failure(missing(git, reference));
}

function missing(git: Git, reference: string): Diagnostic {
  const shallow = git(["rev-parse", "--is-shallow-repository"]).output.trim() === "true";
  const [, remote, branch] = /^(origin|upstream)\/(.+)$/.exec(reference) ?? [];
  const fetched =
    remote === undefined || branch === undefined
      ? `git fetch --depth=1 origin ${shellWord(reference)}`
      : `git fetch --depth=1 ${remote} ${shellWord(`${branch}:refs/remotes/${reference}`)}`;
  const clone = shallow ? "this clone is shallow and " : "the repository ";
  return error("PLAN_BASE", `${clone}does not contain ${reference}`, {
    hint: `run \`${fetched}\`, or check out the whole history (fetch-depth: 0)`,
  });
}
