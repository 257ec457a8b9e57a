// The rules folders of a run. Their rules apply in addition to those of the spec, which cannot change them.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileFailure } from "../../config/files.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import type { RuleFile } from "../../spec/model/spec.ts";
import { assertNotInTree, shownPath } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";

const MOST_FILES = 500;
const FILE_BYTES = 1 << 20;

type RulesInvocation = Pick<Invocation, "cwd" | "file" | "ruleFolders" | "untrusted" | "onPathRead">;

/** The files of the folders of --rules and WORKSPACE_RULES, in the order of their names. Undefined if no plan is checked. */
export function ruleFiles(invocation: RulesInvocation): readonly RuleFile[] | undefined {
  const { ruleFolders } = invocation;
  return ruleFolders && [...new Set(ruleFolders)].flatMap((folder) => filesOf(invocation, folder));
}

function filesOf(invocation: RulesInvocation, folder: string): readonly RuleFile[] {
  const { cwd, onPathRead } = invocation;
  assertNotInTree(invocation, folder, "SPEC_RULE", "rules folder");
  const about = `the rules folder ${shownPath(cwd, folder)}`;
  const names = namesIn(folder, about);
  if (names.length === 0)
    throw failureOf("SPEC_RULE", `${about} contains no .yaml file`, {
      hint: "check --rules and WORKSPACE_RULES",
    });
  if (names.length > MOST_FILES)
    throw failureOf("SPEC_RULE", `${about} contains more than ${MOST_FILES} files`);
  return names.map((name) => {
    const path = join(folder, name);
    const shown = shownPath(cwd, path);
    onPathRead?.(path);
    try {
      return { shown, bytes: readRegularFile(path, FILE_BYTES) };
    } catch (problem) {
      throw fileFailure(`the file of rules ${shown} cannot be read`, problem);
    }
  });
}

function namesIn(folder: string, about: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /(?<!\.test)\.ya?ml$/.test(name) && !name.startsWith("."))
      .sort();
  } catch (problem) {
    if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
      throw failureOf("SPEC_RULE", `${about} is a file`, {
        hint: "name the folder that contains it; every .yaml file in the folder is read",
      });
    throw fileFailure(`${about} cannot be read`, problem);
  }
}
