// Every command with hostile names in its words, in the spec, in the workspace and in what a service says; what leaks is collected.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../../src/cli/program.ts";
import { HIDDEN } from "../../report/hostile-names.ts";
import { contextWith } from "../context.ts";
import { EVIL, folderOf, HostileWorld, TOKEN } from "./hostile-world.ts";

/** Intended terminal sequences: colors, and the cursor moves of the progress board. */
const ESC = "\u001b";
const DRAWING = new RegExp(`${ESC}\\[(?:[\\d;]*m|\\d*[AGK]|\\?25[hl]|\\?202[56][hl])`, "g");

interface Around {
  readonly host?: string;
  readonly folder?: string;
  readonly terminal?: boolean;
}

class Commands {
  readonly #world: HostileWorld;
  readonly leaks: string[] = [];
  runs = 0;
  /** A line with the name, its marks escaped, which shows that the name was printed. */
  shown = "";

  constructor(world: HostileWorld) {
    this.#world = world;
  }

  async run(words: readonly string[], around: Around = {}): Promise<number> {
    const { host = this.#world.url, folder = this.#world.cwd, terminal = false } = around;
    const env = { WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, WORKSPACE_PARALLELISM: "2" };
    const context = contextWith(env, folder, terminal);
    const code = await runProgram(context, words);
    this.check(`${words.join(" ")} (stdout)`, context.out(), terminal);
    this.check(`${words.join(" ")} (stderr)`, context.err(), terminal);
    this.runs += 1;
    this.shown ||= /.*\\u202e.*/.exec(context.out())?.[0] ?? "";
    return code;
  }

  /** A run that has to end well, or nothing hostile was shown. */
  async well(words: readonly string[]): Promise<void> {
    const code = await this.run(words);
    if (code !== 0) this.leaks.push(`${words.join(" ")} ended with ${code}`);
  }

  check(at: string, text: string, terminal = false): void {
    const bare = text.replace(terminal ? DRAWING : /\n/g, "").replaceAll("\n", "");
    const hidden = HIDDEN.exec(bare);
    if (hidden !== null)
      this.leaks.push(
        `${at}: hidden ${JSON.stringify(bare.slice(Math.max(0, hidden.index - 60), hidden.index + 20))}`,
      );
    const told = /.{0,40}(::error|##\w*\[).{0,10}/.exec(text);
    if (told !== null) this.leaks.push(`${at}: command ${JSON.stringify(told[0])}`);
    if (/^ {0,4}- DELETE pools\.x/m.test(text)) this.leaks.push(`${at}: a line poses as a change`);
    if (/CLI_INTERNAL|^\s+at \S+ \(/m.test(text)) this.leaks.push(`${at}: ${text}`);
    if (
      at.includes("markdown") &&
      /(?<!`[^\n]*)(<\/details>@|@all)/.test(text.replace(/^```[\s\S]*?^```/gm, ""))
    )
      this.leaks.push(`${at}: markup`);
  }
}

const FORMS = ["text", "json", "markdown", "html", "junit"] as const;

export interface ShownPlan {
  readonly leaks: readonly string[];
  readonly runs: number;
  readonly shown: string;
}

export async function throughCommands(): Promise<ShownPlan> {
  const world = await HostileWorld.open();
  const told = new Commands(world);
  try {
    await beforeStrangers(told);
    await amongStrangers(told, world);
    await words(told);
    await changed(told, world);
    return told;
  } finally {
    await world.close();
  }
}

async function beforeStrangers(told: Commands): Promise<void> {
  await told.well(["validate"]);
  await told.run(["validate", "--output", "json"]);
  for (const form of FORMS) await told.well(["plan", "--output", form]);
  for (const form of FORMS) await told.run(["drift", "--output", form]);
  await told.well(["plan", "--untrusted"]);
  await told.well(["plan", "--offline"]);
  await told.well(["apply", "--auto-approve", "--output", "text"]);
  for (const form of ["json", "dot", "mermaid", "svg"]) await told.well(["graph", "--output", form]);
  for (const form of ["text", "json"]) await told.run(["state", "list", "--output", form]);
  await told.run(["state", "show", "groups.g"]);
  await told.run(["state", "show", `clusters.${EVIL}`]);
  await told.run(["state", "show", `clusters.${EVIL}x`]);
  await told.run(["state", "mv", `clusters.${EVIL}`, `clusters.${EVIL}9`]);
  await told.run(["state", "mv", `clusters.${EVIL}9`, `clusters.${EVIL}`]);
}

async function amongStrangers(told: Commands, world: HostileWorld): Promise<void> {
  await world.strangers();
  for (const form of FORMS) await told.run(["plan", "--output", form]);
  await told.run(["plan", "--adopt"]);
  for (const form of FORMS) await told.run(["plan", "--destroy", "--output", form]);
  await told.run(["export"]);
  await told.run(["export", "--out", "out", "--force"]);
  told.check("export's files", readFileSync(join(world.cwd, "out/workspace.yaml"), "utf8"));
  await told.run(["run", "jobs.j", "--param", `${EVIL}=${EVIL}`]);
  await told.run(["run", `jobs.${EVIL}`]);
  for (const form of ["text", "json"]) await told.run(["runs", "list", "--output", form]);
  for (const state of ["FAILED", "SUCCESS"]) {
    await world.endRuns(state);
    for (const form of ["text", "json"]) await told.run(["runs", "get", "jobs.j", "--output", form]);
    await told.run(["runs", "list"]);
    await told.run(["runs", "output", "jobs.j"]);
    await told.run(["run", "jobs.j"]);
  }
  await told.run(["runs", "get", EVIL]);
  await told.run(["clusters", "events", `clusters.${EVIL}`]);
  await told.run(["clusters", "resize", `clusters.${EVIL}`, EVIL]);
}

/** The name as a word of commands. */
async function words(told: Commands): Promise<void> {
  await told.run(["api", "clusters/list"]);
  await told.run(["api", "jobs/list"]);
  await told.run(["api", EVIL]);
  await told.run(["api", "jobs/get", `job_id=${EVIL}`]);
  await told.run(["import", `pools.${EVIL}`, EVIL]);
  await told.run(["explain", EVIL]);
  await told.run(["explain", `pools.${EVIL}`]);
  await told.run([EVIL]);
  await told.run(["plan", `--${EVIL}`]);
  await told.run(["plan", "--output", EVIL]);
  await told.run(["plan", "--file", EVIL]);
  await told.run(["plan", "--target", EVIL]);
  await told.run(["plan", "--only", EVIL]);
  await told.run(["plan", "--var", `${EVIL}=1`]);
  await told.run(["plan", "--var-file", EVIL]);
  await told.run(["plan", "--state", EVIL]);
  await told.run(["plan", "--host", EVIL]);
  await told.run(["plan", "--profile", EVIL]);
  await told.run(["apply", EVIL]);
  await told.run(["state", "unlock", EVIL]);
}

/** Contents that changed, a service that refuses everything, a terminal, and the end. */
async function changed(told: Commands, world: HostileWorld): Promise<void> {
  for (const form of FORMS) await told.run(["drift", "--output", form]);
  writeFileSync(join(world.cwd, "n.py"), `print(2)\n# ${EVIL}2\n`);
  for (const form of FORMS) await told.run(["plan", "--output", form]);
  const refused = { host: world.refusingUrl, folder: folderOf("print(1)\n") };
  for (const form of FORMS) await told.run(["plan", "--output", form], refused);
  await told.run(["apply", "--auto-approve"], refused);
  await told.run(["api", "jobs/list"], refused);
  await told.run(["export"], refused);
  await told.run(["runs", "list"], refused);
  await told.run(["apply", "--auto-approve"], { terminal: true });
  for (const form of FORMS) await told.run(["destroy", "--auto-approve", "--output", form]);
}
