// The rules folders of a run. Their rules apply in addition to those of the spec, which cannot change them.

import { readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fromEnv, type ProcessContext } from "../../config/environment.ts";
import { fileFailure } from "../../config/files.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import type { RuleFile } from "../../spec/model/spec.ts";
import { isInTreeOf, specFile, type TargetOptions } from "../invocation/target.ts";

const MOST_FILES = 500;
const FILE_BYTES = 1 << 20;

export interface RuleOptions {
  /** Folders; absent for commands that check no plan. */
  readonly rules?: readonly string[] | undefined;
  readonly seen?: PathObserver | undefined;
}

/** The files of the folders of --rules and WORKSPACE_RULES, in the order of their names. Undefined if no plan is checked. */
export function ruleFiles(
  context: ProcessContext,
  options: RuleOptions & Pick<TargetOptions, "file">,
  untrusted: boolean,
): readonly RuleFile[] | undefined {
  if (options.rules === undefined) return undefined;
  const set = fromEnv(context, "WORKSPACE_RULES");
  const given = [...(set === undefined ? [] : [set]), ...options.rules];
  const folders = [...new Set(given.map((folder) => resolve(context.cwd, folder)))];
  return folders.flatMap((folder) => {
    if (untrusted && isInTreeOf(specFile(context, options), folder))
      throw failureOf(
        "SPEC_RULE",
        `the rules folder ${shownIn(context, folder)} is inside the untrusted checkout`,
        { hint: "use a copy outside the checkout, which a pull request cannot change" },
      );
    return filesOf(context, folder, options.seen);
  });
}

function filesOf(context: ProcessContext, folder: string, seen?: PathObserver): readonly RuleFile[] {
  const names = namesIn(context, folder);
  const about = `the rules folder ${shownIn(context, folder)}`;
  if (names.length === 0)
    throw failureOf("SPEC_RULE", `${about} contains no .yaml file`, {
      hint: "check --rules and WORKSPACE_RULES",
    });
  if (names.length > MOST_FILES)
    throw failureOf("SPEC_RULE", `${about} contains more than ${MOST_FILES} files`);
  return names.map((name) => {
    const path = join(folder, name);
    const shown = shownIn(context, path);
    seen?.(path);
    try {
      return { shown, bytes: readRegularFile(path, FILE_BYTES) };
    } catch (problem) {
      throw fileFailure(`the file of rules ${shown} cannot be read`, problem);
    }
  });
}

function namesIn(context: ProcessContext, folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /(?<!\.test)\.ya?ml$/.test(name) && !name.startsWith("."))
      .sort();
  } catch (problem) {
    if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
      throw failureOf("SPEC_RULE", `the rules folder ${shownIn(context, folder)} is a file`, {
        hint: "name the folder that contains it; every .yaml file in the folder is read",
      });
    throw fileFailure(`the rules folder ${shownIn(context, folder)} cannot be read`, problem);
  }
}

/** Relative inside the current folder. */
function shownIn({ cwd }: ProcessContext, path: string): string {
  const way = relative(cwd, path);
  return way === "" || way.startsWith("..") ? path : way;
}
