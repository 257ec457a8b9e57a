// Runs a page of the documentation: its files are written, its commands run in bash, and its outputs are replaced by the real ones.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stable as stableAt } from "../acceptance/stable.ts";
import { COMPILE_CACHE } from "../built-program.ts";
import { BIN } from "../cli/program.ts";

export interface PlayedPage {
  /** The page with the outputs of this run where they differ in more than IDs and times. */
  readonly text: string;
  /** One line for each command block that ended with another exit code than the page says. */
  readonly failures: readonly string[];
  /** The output of each command block. */
  readonly outputs: readonly string[];
}

/** Values that differ from run to run, such as IDs and times, do not count as differences. */
export const stable = (text: string): string =>
  stableAt(
    text.replace(/http:\/\/127\.0\.0\.1:\d+/g, "http://workspace.test"),
    "~/project",
    "http://workspace.test",
  );

const BLOCK = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;

/**
 * Plays `page`. A block ```` ```yaml file=PATH ```` is written to PATH. A block ```` ```sh ```` runs in one folder, with the variables
 * and the current folder of the block before it; a last line `# exit N` names an exit code other than 0. A block ```` ```text ````
 * directly after it is its output. `env` adds variables.
 */
export async function playPage(page: string, env: NodeJS.ProcessEnv = {}): Promise<PlayedPage> {
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const shell = new Shell(folder, env);
  const failures: string[] = [];
  const outputs: string[] = [];
  let output: string | undefined;
  let text = "";
  let end = 0;
  try {
    for (const block of page.matchAll(BLOCK)) {
      const [written, language = "", info = "", body = ""] = block;
      const before = output;
      output = undefined;
      let shown = written;
      const path = /^ file=(\S+)$/.exec(info)?.[1];
      if (path !== undefined) shell.write(path, body);
      else if (language === "sh") {
        const done = await shell.run(body);
        output = done.output;
        outputs.push(output);
        const expected = Number(/^# exit (\d+)$/m.exec(body)?.[1] ?? 0);
        if (done.status !== expected)
          failures.push(`exit ${done.status}, not ${expected}: ${body}${done.output}`);
      } else if (language === "text" && before !== undefined && stable(before) !== stable(body))
        shown = `\`\`\`text\n${before}\`\`\``;
      text += page.slice(end, block.index) + shown;
      end = block.index + written.length;
    }
    return { text: text + page.slice(end), failures, outputs };
  } finally {
    shell.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Shell {
  readonly #folder: string;
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;
  /** One group of processes for each block. */
  readonly #groups: number[] = [];

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#folder = join(folder, "project");
    this.#home = join(folder, "home");
    mkdirSync(this.#folder);
    mkdirSync(join(this.#home, "bin"), { recursive: true });
    const command = join(this.#home, "bin/workspace");
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
    chmodSync(command, 0o755);
    writeFileSync(join(this.#home, "variables"), "");
  }

  write(path: string, text: string): void {
    const file = join(this.#folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Ends what blocks left running in the background. */
  stop(): void {
    for (const group of this.#groups)
      try {
        process.kill(-group, "SIGTERM");
      } catch {
        // The group has ended.
      }
  }

  async run(commands: string): Promise<{ readonly status: number | null; readonly output: string }> {
    const kept = join(this.#home, "variables");
    const script = `. "${kept}"\nexec 2>&1\ntrap 'code=$?; { export -p; printf "cd %q\\n" "$PWD"; } >"${kept}"; exit $code' EXIT\nset -e\n${commands}`;
    const child = spawn("bash", ["-c", script], {
      cwd: this.#folder,
      env: {
        PATH: `${join(this.#home, "bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: this.#home,
        LANG: "C.UTF-8",
        WORKSPACE_PARALLELISM: "1",
        ...COMPILE_CACHE,
        ...this.#env,
      },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 300_000,
      detached: true,
    });
    if (child.pid !== undefined) this.#groups.push(child.pid);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const output = Buffer.concat(chunks).toString("utf8");
    return { status, output: output.replaceAll(this.#folder, "~/project") };
  }
}
