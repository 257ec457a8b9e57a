// `workspace completion SHELL`: a script that completes commands and options, made from the same declarations that parse them.

import { error, Failure } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { type Command, defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { COMMANDS } from "../commands.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { type CompletionWord, SHELLS, type Shell } from "../completion/words.ts";
import { zshScript } from "../completion/zsh.ts";

export const completion = defineCommand({
  name: "completion",
  summary: "print a completion script for a shell",
  options: {},
  args: [{ name: "<shell>", description: "bash, zsh or fish", takes: SHELLS }],
  notes: 'For bash: eval "$(workspace completion bash)"',
  async run(context, _options, [shell]) {
    const known = SHELLS.find((one) => one === shell);
    if (known === undefined) {
      const hint = nearestHint(shell ?? "", SHELLS, `known: ${SHELLS.join(", ")}`);
      throw new Failure(error("CLI_USAGE", `there is no completion for "${shell}"`, { hint }));
    }
    context.stdout.write(SCRIPTS[known](await words()));
    return EXIT.ok;
  },
});

const SCRIPTS: Readonly<Record<Shell, (words: readonly CompletionWord[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

async function words(): Promise<readonly CompletionWord[]> {
  const found: CompletionWord[] = [];
  for (const listed of COMMANDS) {
    const loaded = await listed.load();
    const options = "commands" in loaded ? [] : optionsOf(loaded);
    const inner =
      "commands" in loaded
        ? loaded.commands.map((one) => ({
            name: one.name,
            summary: one.summary,
            options: optionsOf(one),
            takes: takenBy(one),
            inner: [],
          }))
        : [];
    const takes = "commands" in loaded ? [] : takenBy(loaded);
    found.push({ name: listed.name, summary: listed.summary, options, takes, inner });
  }
  return found;
}

function optionsOf(command: Command): CompletionWord["options"] {
  return Object.values(command.options).map((spec) => ({
    short: /^-\w/.exec(spec.flags)?.[0] ?? "",
    long: /--[\w-]+/.exec(spec.flags)?.[0] ?? "",
    description: spec.description,
    choices: spec.choices ?? [],
    path: /<(path|file|folder)>/.test(spec.flags),
  }));
}

function takenBy({ args }: Command): CompletionWord["takes"] {
  return args.find(({ takes }) => takes !== undefined)?.takes ?? [];
}
