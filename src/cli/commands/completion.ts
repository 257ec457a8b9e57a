// `workspace completion SHELL`: prints a completion script, generated from the declarations of commands and options.

import { failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { type Command, type CommandEntry, commandsBelow, defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { longOf } from "../command/option.ts";
import { type CompletionWord, SCRIPTS, SHELLS } from "../completion/scripts.ts";

export const completionOf = (entries: readonly CommandEntry[]): Command =>
  defineCommand({
    name: "completion",
    summary: "print a completion script for a shell",
    options: {},
    args: [{ name: "<shell>", description: "bash, zsh, or fish", takes: SHELLS }],
    notes: 'To use it in bash, run `eval "$(workspace completion bash)"`.',
    async run(context, _options, [shell]) {
      const known = SHELLS.find((one) => one === shell);
      if (known === undefined) {
        const hint = nearestHint(shell ?? "", SHELLS, "use bash, zsh, or fish", "words");
        throw failureOf("CLI_USAGE", `shell "${shell}" is not supported`, { hint });
      }
      context.stdout.write(SCRIPTS[known](await wordsOf(entries)));
      return EXIT.ok;
    },
  });

async function wordsOf(entries: readonly CommandEntry[]): Promise<readonly CompletionWord[]> {
  const found: CompletionWord[] = [];
  for (const { load } of entries) {
    const loaded = await load();
    const own = "commands" in loaded ? { options: {}, args: [] } : loaded;
    const inner = commandsBelow(loaded).map((one) => wordOf(one.name, one.summary, one, []));
    found.push(wordOf(loaded.name, loaded.summary, own, inner));
  }
  return found;
}

function wordOf(
  name: string,
  summary: string,
  { options, args }: Pick<Command, "options" | "args">,
  inner: readonly CompletionWord[],
): CompletionWord {
  const takes = args.find((one) => one.takes !== undefined)?.takes ?? [];
  return { name, summary, options: optionsOf(options), takes, inner };
}

function optionsOf(options: Command["options"]): CompletionWord["options"] {
  return Object.values(options).map((spec) => ({
    short: /^-\w/.exec(spec.flags)?.[0] ?? "",
    long: longOf(spec),
    description: spec.description,
    choices: spec.choices ?? [],
    path: /<(path|file|folder)>/.test(spec.flags),
  }));
}
