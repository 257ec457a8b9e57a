// Runs a page of the documentation: its files are written, its commands run in bash, and its outputs are replaced by the real ones.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stable as stableAt } from "../acceptance/stable.ts";

const ROOT = join(import.meta.dirname, "../..");

export interface PlayedPage {
  /** The page with the outputs of this run where they differ in more than IDs and times. */
  readonly text: string;
  /** One line for each command block that ended with another exit code than the page says. */
  readonly failures: readonly string[];
}

/** What differs from run to run, such as IDs and times, is no difference. */
const stable = (text: string): string => stableAt(text, "~/project", "http://workspace.test");

const BLOCK = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;

/**
 * Plays `page`. A block ```` ```yaml file=PATH ```` is written to PATH. A block ```` ```sh ```` runs in one folder, with the variables
 * and the current folder of the block before it; a last line `# exit N` names an exit code other than 0. A block ```` ```text ````
 * directly after it is its output.
 */
export function playPage(page: string): PlayedPage {
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const shell = new Shell(folder);
  const failures: string[] = [];
  let output: string | undefined;
  try {
    const text = page.replaceAll(BLOCK, (written, language: string, info: string, body: string) => {
      const before = output;
      output = undefined;
      const path = /^ file=(\S+)$/.exec(info)?.[1];
      if (path !== undefined) shell.write(path, body);
      else if (language === "sh") {
        const done = shell.run(body);
        output = done.output;
        const expected = Number(/^# exit (\d+)$/m.exec(body)?.[1] ?? 0);
        if (done.status !== expected)
          failures.push(`exit ${done.status}, not ${expected}: ${body}${done.output}`);
      } else if (language === "text" && before !== undefined && stable(before) !== stable(body))
        return `\`\`\`text\n${before}\`\`\``;
      return written;
    });
    return { text, failures };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Shell {
  readonly #folder: string;
  readonly #home: string;

  constructor(folder: string) {
    this.#folder = join(folder, "project");
    this.#home = join(folder, "home");
    mkdirSync(this.#folder);
    mkdirSync(join(this.#home, "bin"), { recursive: true });
    const command = join(this.#home, "bin/workspace");
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/workspace.js" "$@"\n`);
    chmodSync(command, 0o755);
    writeFileSync(join(this.#home, "variables"), "");
  }

  write(path: string, text: string): void {
    const file = join(this.#folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  run(commands: string): { readonly status: number | null; readonly output: string } {
    const kept = join(this.#home, "variables");
    const script = `. "${kept}"\nexec 2>&1\ntrap 'code=$?; { export -p; printf "cd %q\\n" "$PWD"; } >"${kept}"; exit $code' EXIT\nset -e\n${commands}`;
    const { status, stdout } = spawnSync("bash", ["-c", script], {
      cwd: this.#folder,
      env: {
        PATH: `${join(this.#home, "bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: this.#home,
        LANG: "C.UTF-8",
        WORKSPACE_PARALLELISM: "1",
      },
      encoding: "utf8",
      timeout: 300_000,
    });
    return { status, output: stdout.replaceAll(this.#folder, "~/project") };
  }
}
