// Presses TAB and ENTER in a real interactive shell: zsh's zpty gives bash, zsh and fish a terminal.

import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Shell } from "../../../src/cli/commands/completion.ts";

export function isInstalled(shell: string): boolean {
  return spawnSync(shell, ["-c", "true"]).status === 0;
}

/** Puts the text on the command line, presses TAB, then ENTER. */
export interface Pressing {
  readonly typed: string;
  /** What `workspace state list` prints. */
  readonly addresses?: string;
  /** The spec in the folder. */
  readonly spec?: string;
}

export interface Pressed {
  /** The arguments that the command got at ENTER; undefined where it did not run. */
  readonly args: readonly string[] | undefined;
  /** What else appeared in the folder. */
  readonly appeared: readonly string[];
}

const START: Readonly<Record<Shell, (script: string) => string>> = {
  bash: (script) => `bash --noprofile --norc -i; source ${script}`,
  zsh: (script) => `zsh -f -i; autoload -U compinit && compinit -D -u && source ${script}`,
  fish: (script) => `fish --no-config -i; source ${script}`,
};

/** One shell for all of them. */
export async function pressTab(
  shell: Shell,
  script: string,
  all: readonly Pressing[],
): Promise<readonly Pressed[]> {
  const home = mkdtempSync(join(tmpdir(), "completion-"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(home, "script"), script);
  writeFileSync(join(bin, "workspace"), COMMAND, { mode: 0o755 });
  all.forEach(({ typed, addresses = "", spec = "" }, at) => {
    const folder = join(home, String(at));
    mkdirSync(folder);
    writeFileSync(join(folder, "workspace.yaml"), spec);
    writeFileSync(join(folder, "addresses"), addresses);
    writeFileSync(join(home, `typed.${at}`), typed);
  });
  const [start, load] = START[shell](join(home, "script")).split("; ");
  await promisify(execFile)(
    "zsh",
    ["-f", "-c", DRIVER, "driver", home, String(all.length), start ?? "", load ?? ""],
    {
      env: { PATH: `${bin}:${process.env.PATH}`, HOME: home, TERM: "dumb", LC_ALL: "C.UTF-8" },
      timeout: 30_000,
    },
  );
  return all.map((_, at) => pressedIn(join(home, String(at))));
}

function pressedIn(folder: string): Pressed {
  const names = readdirSync(folder);
  const args = names.includes("args")
    ? readFileSync(join(folder, "args"), "utf8").split("\0").slice(0, -1)
    : undefined;
  const own = new Set(["workspace.yaml", "addresses", "args"]);
  return { args, appeared: names.filter((name) => !own.has(name)) };
}

const COMMAND = `#!/bin/sh
if [ "$*" = "state list" ]; then cat addresses; else printf '%s\\0' "$@" > args.new && mv args.new args; fi
`;

/** Waits for each file that proves a step, for at most 5 s, and ends with the first that does not appear. Reads what the shell prints, or the shell would wait. */
const DRIVER = `
zmodload zsh/zpty zsh/zselect
drain() { local out; while zpty -rt shell out; do print -rn -- "$out" >> $1/screen; done }
await() { local -i left=250; while [[ ! -e $2 ]] && (( left-- )); do drain $1; zselect -t 2; done; drain $1; true }
home=$1; cd $home
zpty -b shell $3
zpty -w shell $4
zpty -w shell "touch $home/ready"
await $home $home/ready
for (( at = 0; at < $2; at++ )); do
  zpty -w shell "cd $home/$at; touch $home/there.$at"
  await $home $home/there.$at
  zpty -w -n shell "$(<$home/typed.$at)"$'\\t'
  zselect -t 15
  zpty -w -n shell $'\\r'
  await $home $home/$at/args
  [[ -e $home/$at/args ]] || break
done
zpty -d shell
`;
