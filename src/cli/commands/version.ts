// `workspace version`: the version, the commit and its date, and the version of Node.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram, programEnvironment } from "../../config/programs.ts";
import { BUILD, type Build, VERSION } from "../../config/version.ts";
import { defineCommand } from "../command/command.ts";
import { FORM_OPTION } from "../command/shared-options.ts";
import { printResult } from "../output/diagnostics.ts";

export const versionCommand = defineCommand({
  jsonSchema: "version",
  options: { ...FORM_OPTION },
  notes: "In a clone, git answers with the commit. `workspace --version` prints the version alone.",
  async run(context, { output }) {
    const build = BUILD ?? (await buildOfClone(context));
    const facts = {
      version: VERSION,
      ...build,
      sources: BUILD === undefined ? true : undefined,
      node: process.version,
    };
    printResult(
      context,
      output,
      facts,
      () => `workspace ${VERSION} (${buildWords(build)}node ${process.version})\n`,
    );
  },
});

function buildWords({ commit, date }: Build): string {
  const from = BUILD === undefined ? "from sources, " : "";
  if (commit === undefined) return from;
  return `${from}commit ${commit}${date === undefined ? "" : ` of ${date.slice(0, 10)}`}, `;
}

const GIT_MS = 5_000;

/** Empty where no git answers, as in an unpacked archive of the sources. */
async function buildOfClone(context: Parameters<typeof findProgram>[0]): Promise<Build> {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const folder = join(root, ".git");
  const git = existsSync(folder) ? findProgram(context, "git", [context.cwd]) : undefined;
  if (git === undefined) return {};
  const ask = (...words: readonly string[]): Promise<string | undefined> =>
    new Promise((resolve) => {
      execFile(
        git,
        // The repository of the program, and no repository around it.
        ["-c", "core.fsmonitor=false", "--git-dir", folder, "--work-tree", root, ...words],
        {
          cwd: root,
          env: { ...programEnvironment(context.env, "git"), GIT_OPTIONAL_LOCKS: "0" },
          timeout: GIT_MS,
        },
        (failed, output) => resolve(failed === null ? output.trim() || undefined : undefined),
      );
    });
  const [commit, seconds] = await Promise.all([
    ask("describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"),
    ask("log", "-1", "--format=%ct"),
  ]);
  return { commit, date: seconds === undefined ? undefined : new Date(Number(seconds) * 1000).toISOString() };
}
