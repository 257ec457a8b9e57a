// Reads the spec before a change, from a folder or a Git reference, with the options of the run. Executes nothing from it.

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileStatsOf, isInFolder } from "../../config/files.ts";
import { type Diagnostic, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { checkSpec, type DigestFn, type SpecOptions } from "../session/read-spec.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";
import { specFile } from "../target/target.ts";
import { type Checkouts, withWorktree } from "./worktree.ts";

export interface BaseOptions {
  readonly base: string | undefined;
  readonly baseRef: string | undefined;
}

export interface BaseSpec {
  readonly name: string;
  /** `absent`: the base has no such spec. `invalid`: nothing can be compared with it. */
  readonly found: Spec | "absent" | "invalid";
  readonly notes: readonly Diagnostic[];
}

type Reading = SpecOptions & { readonly state?: string | undefined };

/** Undefined without a base. Throws Failure for a base that cannot be reached at all. */
export async function readBase(
  context: WorkflowContext,
  options: BaseOptions & Reading,
  keyed: DigestFn | undefined,
  untrusted: boolean,
): Promise<BaseSpec | undefined> {
  const { base: folder, baseRef } = options;
  if (folder === undefined && baseRef === undefined) return undefined;
  if (folder !== undefined && baseRef !== undefined)
    throw failureOf("CLI_USAGE", "--base and --base-ref cannot be used together");
  const file = realFile(specFile(context, options));
  if (baseRef !== undefined)
    return withWorktree(context, dirname(file), baseRef, (checkouts) =>
      readAt(context, options, { name: baseRef, file, keyed, untrusted, ...checkouts }),
    );
  const name = folder ?? "";
  const base = resolve(context.cwd, name);
  const stats = fileStatsOf(base);
  if (stats?.isDirectory() !== true) {
    const problem = stats === undefined ? "does not exist" : "is not a folder";
    throw failureOf("PLAN_BASE", `the base folder ${name} ${problem}`);
  }
  return readAt(context, options, { name, file, keyed, untrusted, head: realpathSync(context.cwd), base });
}

interface Place extends Checkouts {
  readonly name: string;
  /** The spec of the run; links of its folder resolved. */
  readonly file: string;
  readonly keyed: DigestFn | undefined;
  readonly untrusted: boolean;
}

async function readAt(context: WorkflowContext, options: Reading, place: Place): Promise<BaseSpec> {
  const { name, keyed, untrusted } = place;
  const file = counterpart(place, place.file);
  if (file === undefined)
    throw failureOf("CLI_USAGE", `the spec is not in ${place.head}, so the base has no counterpart of it`, {
      hint: "run the plan in the folder that --base is a copy of, or pass --base-ref",
    });
  const shown = relative(place.base, file);
  if (!existsSync(file)) {
    const message = `the base ${name} has no ${shown}, so every change counts as caused by this change`;
    return { name, found: "absent", notes: [warning("PLAN_BASE", message)] };
  }
  const there = { ...context, cwd: counterpart(place, realpathSync(context.cwd)) ?? place.base };
  const reading = {
    ...options,
    mayLackSecrets: true,
    rules: undefined,
    file,
    varFile: options.varFile.flatMap((path) => varFile(context, place, path)),
  };
  const { spec, diagnostics } = await checkedBase(there, reading, keyed, untrusted);
  const [first] = diagnostics.filter(({ severity }) => severity === "error");
  if (spec !== undefined && first === undefined) return { name, found: spec, notes: [] };
  return { name, found: "invalid", notes: [invalid(name, first)] };
}

/** A folder that a link leads out of the base is one more error of the base. */
async function checkedBase(...args: Parameters<typeof checkSpec>): ReturnType<typeof checkSpec> {
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
  return warning("PLAN_BASE", `the spec of the base ${name} is invalid, so every change counts`, {
    ...(first === undefined ? {} : { cause: `${place}${first.message}` }),
    hint: "the plan is not split until the base is valid again",
  });
}

/** Variable files of the checkout are part of the change. One that the base lacks is left out. */
function varFile(context: WorkflowContext, place: Place, path: string): readonly string[] {
  const given = resolve(context.cwd, path);
  const there = counterpart(place, existsSync(given) ? realFile(given) : given);
  if (there === undefined) return [given];
  return existsSync(there) ? [there] : [];
}

/** The path in the base of what a path in the head leads to; undefined for what is not in the head. */
function counterpart({ head, base }: Checkouts, path: string): string | undefined {
  return isInFolder(head, path) ? join(base, relative(head, path)) : undefined;
}

function realFile(path: string): string {
  return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
}
