// Runs the vendor's legacy command line in a separate process, one command after the other, if a Python has it.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("legacy_cli.py", import.meta.url));

/** The Python that WORKSPACE_TEST_PYTHON names, or `python3`, if it can import the CLI; undefined otherwise. */
export function pythonWithCli(): string | undefined {
  const python = process.env.WORKSPACE_TEST_PYTHON ?? "python3";
  const { status } = spawnSync(python, ["-c", "import databricks_cli.cli"], { timeout: 60_000 });
  return status === 0 ? python : undefined;
}

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly cause: string;
}

export class LegacyCli {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(python: string, host: string, token: string, home: string) {
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: home,
      DATABRICKS_HOST: host,
      DATABRICKS_TOKEN: token,
      LC_ALL: "C.UTF-8",
    };
    this.#process = spawn(python, [SCRIPT], { env });
    this.#lines = createInterface(this.#process.stdout)[Symbol.asyncIterator]();
  }

  /** Throws if the command fails. */
  async run(...args: readonly string[]): Promise<string> {
    const { code, output, cause } = await this.ended(...args);
    if (code !== 0) throw new Error(`databricks ${args.join(" ")}: ${output}${cause}`);
    return output;
  }

  async ended(...args: readonly string[]): Promise<Ended> {
    this.#process.stdin.write(`${JSON.stringify(args)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the CLI's process ended");
    return JSON.parse(value) as Ended;
  }

  close(): void {
    this.#process.kill();
  }
}
