// `workspace version`: the version, the commit and its date, and the version of Node.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gitOutput } from "../../config/programs.ts";
import { BUILD, type Build, VERSION } from "../../config/version.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
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

/** Empty where no git answers, as in an unpacked archive of the sources. */
async function buildOfClone(context: ConsoleContext): Promise<Build> {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const folder = join(root, ".git");
  if (!existsSync(folder)) return {};
  // The repository of the program, and no repository around it.
  const ask = (...words: readonly string[]) =>
    gitOutput(context, ["-C", root, "--git-dir", folder, "--work-tree", root, ...words], [context.cwd]);
  const [commit, seconds] = await Promise.all([
    ask("describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"),
    ask("log", "-1", "--format=%ct"),
  ]);
  return { commit, date: seconds === undefined ? undefined : new Date(Number(seconds) * 1000).toISOString() };
}
