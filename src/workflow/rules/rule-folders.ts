// The rules folders of a run. Their rules apply in addition to those of the spec, which cannot change them.

import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { ProcessContext } from "../../config/environment.ts";
import { fileFailure } from "../../config/files.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import type { RuleFile } from "../../spec/model/spec.ts";
import { isInTreeOf } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";

const MOST_FILES = 500;
const FILE_BYTES = 1 << 20;

/** The files of the folders of --rules and WORKSPACE_RULES, in the order of their names. Undefined if no plan is checked. */
export function ruleFiles(
  invocation: Pick<Invocation, "cwd" | "file" | "ruleFolders" | "untrusted" | "onPathRead">,
): readonly RuleFile[] | undefined {
  const { file, ruleFolders, untrusted, onPathRead } = invocation;
  return (
    ruleFolders &&
    [...new Set(ruleFolders)].flatMap((folder) => {
      if (untrusted && isInTreeOf(file, folder))
        throw failureOf(
          "SPEC_RULE",
          `the rules folder ${shownIn(invocation, folder)} is inside the untrusted checkout`,
          { hint: "use a copy outside the checkout, which a pull request cannot change" },
        );
      return filesOf(invocation, folder, onPathRead);
    })
  );
}

function filesOf(
  context: Pick<ProcessContext, "cwd">,
  folder: string,
  onPathRead?: PathObserver,
): readonly RuleFile[] {
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
    onPathRead?.(path);
    try {
      return { shown, bytes: readRegularFile(path, FILE_BYTES) };
    } catch (problem) {
      throw fileFailure(`the file of rules ${shown} cannot be read`, problem);
    }
  });
}

function namesIn(context: Pick<ProcessContext, "cwd">, folder: string): readonly string[] {
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
function shownIn({ cwd }: Pick<ProcessContext, "cwd">, path: string): string {
  const fromCwd = relative(cwd, path);
  return fromCwd === "" || fromCwd.startsWith("..") ? path : fromCwd;
}
