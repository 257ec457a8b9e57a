// A context for tests: a separate environment and folder, and collected output.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import type { CommandContext, ProcessEnvironment } from "../../src/config/environment.ts";
import { outputOf, Signals } from "../../src/config/streams.ts";

export interface TestContext extends CommandContext {
  readonly out: () => string;
  readonly err: () => string;
}

export function contextWith(
  env: ProcessEnvironment = {},
  cwd = mkdtempSync(join(tmpdir(), "cli-")),
  terminal = false,
): TestContext {
  const [out, err] = [new Collector(terminal), new Collector(terminal)];
  return {
    env,
    cwd,
    home: cwd,
    stdin: new PassThrough(),
    stdout: outputOf(out),
    stderr: outputOf(err),
    signals: new Signals((text) => err.write(text)),
    out: () => out.text,
    err: () => err.text,
  };
}

class Collector extends Writable {
  text = "";
  readonly isTTY: boolean;
  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString("utf8");
    done();
  }
}
