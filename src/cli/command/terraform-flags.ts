// Flags and commands that users of Terraform type: long options with one dash work if they mean the same; other options and commands get a hint.

import { type Diagnostic, error } from "../../core/diagnostic.ts";

const RECREATE =
  "to create it and its dependents again, run `workspace destroy --only ADDRESS`, then `workspace apply`";

const COMMANDS: Readonly<Record<string, string>> = {
  diff: "run `workspace plan`",
  down: "run `workspace destroy`",
  "force-unlock": "run `workspace state unlock`",
  get: "list the files of a spec under `include`; nothing is downloaded",
  output: "a spec has no outputs; to see an attribute, run `workspace state show ADDRESS`",
  providers: "to list the kinds, run `workspace explain`",
  refresh: "to compare the workspace with the state, run `workspace drift`",
  taint: RECREATE,
  untaint: "no resource is marked; to see what an apply would change, run `workspace plan`",
  up: "run `workspace apply`",
  workspace: "choose a target of the spec with `--target NAME`",
};

const OPTIONS: Readonly<Record<string, string>> = {
  backend: "choose the state with `--state LOCATION`",
  "backend-config": "choose the state with `--state LOCATION`",
  chdir: "choose the spec with `--file DIR/workspace.yaml`",
  force: "to skip the approval prompt, pass `--auto-approve`",
  input: "to disable prompts, pass `--no-input`",
  json: "pass `--output json`",
  lock: "the state is always locked; to wait for another run, pass `--lock-timeout 5m`",
  "no-color": "set NO_COLOR=1",
  reconfigure: "to move a state, run `workspace state migrate`",
  refresh: "to plan without reading the workspace, run `workspace plan --offline`",
  "refresh-only": "run `workspace drift`",
  replace: RECREATE,
  upgrade: "nothing is downloaded; omit the option",
  version: "run `workspace --version`",
};

const TARGET = "to restrict a run, pass `--only ADDRESS`; `--target NAME` chooses a target of the spec";

/** The hint for an unknown command that users of other tools type; undefined for any other. */
export function commandHint(name: string): string | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

interface TranslatedFlags {
  readonly words: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/** Reads `-out FILE` as `--out FILE`; an option that only Terraform has is a problem. */
export function translateTerraformFlags(
  flags: readonly string[],
  argv: readonly string[],
  commands: ReadonlySet<string>,
): TranslatedFlags {
  const names = new Set(flags.flatMap((flag) => /--([\w-]+)/.exec(flag)?.[1] ?? []));
  const valued = new Set(
    flags.filter((flag) => flag.includes("<")).flatMap((flag) => flag.match(/-[\w-]+/g) ?? []),
  );
  const words: string[] = [];
  const problems: Diagnostic[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (word === "--" || commands.has(word)) return { words: [...words, ...argv.slice(at)], problems };
    const long = longForm(word, names);
    if (typeof long !== "string") problems.push(long);
    else {
      words.push(long);
      if (valued.has(long) && at + 1 < argv.length) words.push(argv[++at] ?? "");
    }
  }
  return { words, problems };
}

/** `--target` with two dashes is an option here, and with one dash it means another. */
function longForm(word: string, names: ReadonlySet<string>): string | Diagnostic {
  const [, dashes = "", name = ""] = /^(--?)([a-z][a-z-]+)(?:=|$)/.exec(word) ?? [];
  if (dashes === "-" && name === "target") return unknown(word, TARGET);
  if (dashes === "-" && names.has(name)) return `-${word}`;
  const hint = names.has(name) || !Object.hasOwn(OPTIONS, name) ? undefined : OPTIONS[name];
  return hint === undefined ? word : unknown(word, hint);
}

function unknown(word: string, hint: string): Diagnostic {
  return error("CLI_USAGE", `unknown option '${word.replace(/=.*$/s, "")}'`, { hint });
}
