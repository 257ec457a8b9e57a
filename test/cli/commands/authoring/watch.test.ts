// `workspace watch`: rounds follow the files of a spec, errors do not end it, and Ctrl-C does.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith, type TestContext } from "../../context.ts";

interface Watching {
  readonly context: TestContext;
  readonly ended: Promise<number>;
  write(path: string, content: string): void;
}

const running: Watching[] = [];
const made: string[] = [];

afterEach(async () => {
  for (const { context, ended } of running.splice(0)) {
    context.signals.receive("SIGINT");
    await ended;
  }
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const SPEC = `include: [teams/*.yaml]
pools: { shared: { node_type_id: Standard_DS3_v2, max_capacity: 5 } }
`;

function watching(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Watching {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "watch-")));
  made.push(folder);
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write("workspace.yaml", SPEC);
  write("teams/a.yaml", "groups: { a: {} }\n");
  const context = contextWith(env, folder);
  const one = { context, ended: runProgram(context, ["watch", ...argv]), write };
  running.push(one);
  return one;
}

/** Waits for a string in the output, and returns the output after it. */
async function said({ context }: Watching, text: string, times = 1): Promise<string> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const parts = context.out().split(text);
    if (parts.length > times) return parts.slice(times).join(text);
    await pause(50);
  }
  throw new Error(`${text} was not printed ${times} times:\n${context.out()}\n${context.err()}`);
}

describe("watch", { timeout: 60_000 }, () => {
  it("plans again for each change, and prints what is different", async () => {
    const one = watching(["--host", "embedded"]);
    expect(await said(one, "watching the spec")).toBeDefined();
    await said(one, "Plan: 2 to create");
    one.write("workspace.yaml", SPEC.replace("5", "7"));
    await said(one, "changed: workspace.yaml");
    expect(await said(one, "max_capacity  7")).toContain("1 entry as before");
    one.write("teams/b.yaml", "groups: { b: {} }\n");
    await said(one, "Plan: 3 to create");
    one.write("teams/a.yaml", "{}\n");
    await said(one, "no longer planned: groups.a");
    expect(one.context.out()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}watching the spec\n/);
    expect(one.context.err()).toBe("");
  });

  it("shows an error with its place, continues, and sends no request with --validate-only", async () => {
    const one = watching(["--validate-only", "--host", "https://workspace.invalid"]);
    await said(one, "Valid: 2 resources.");
    one.write("teams/a.yaml", "groups: { a: { nme: x } }\n");
    expect(await said(one, "SPEC_UNKNOWN_FIELD")).toContain("teams/a.yaml:1:16");
    await said(one, "1 error");
    one.write("teams/a.yaml", "groups: [\n");
    await said(one, "SPEC_YAML");
    one.write("teams/a.yaml", "groups: { a: {} }\n");
    await said(one, "Valid: 2 resources.", 2);
  });

  it("prints one line if nothing is different", async () => {
    const one = watching(["--validate-only"]);
    await said(one, "Valid: 2 resources.");
    one.write("workspace.yaml", `${SPEC}# a comment\n`);
    const rest = await said(one, "changed: workspace.yaml: no difference");
    expect(rest.trim()).toBe("");
  });

  it("uses the settings of a target that an included file changes", async () => {
    const one = watching(["--host", "embedded"]);
    await said(one, "Plan: 2 to create");
    const target = (host: string) => `targets: { dev: { default: true, host: "${host}" } }\n`;
    one.write("teams/b.yaml", target("https://dev.example.com"));
    await said(one, "the target dev requires the host https://dev.example.com");
    one.write("teams/b.yaml", target("embedded"));
    expect(await said(one, "changed: teams/b.yaml", 2)).not.toContain("SPEC_TARGET");
    await said(one, "Plan: 2 to create", 2);
  });

  it("follows modules, contents, variable files, and a spec that does not exist yet", async () => {
    const one = watching(["--validate-only", "--file", "later.yaml", "--var-file", "vars.yaml"]);
    await said(one, "SPEC_NOT_FOUND");
    one.write("vars.yaml", "size: 1\n");
    one.write(
      "team/workspace.yaml",
      "inputs: { n: { type: integer } }\nnotebooks: { /Shared/n: { source: n.py } }\n",
    );
    one.write("team/n.py", "print(1)\n");
    one.write(
      "later.yaml",
      "variables: { size: 2 }\nmodules: { team: { source: ./team, with: { n: '${var.size}' } } }\n",
    );
    await said(one, "Valid: 1 resource.");
    one.write("vars.yaml", "size: text\n");
    await said(one, "changed: vars.yaml");
    expect(await said(one, "SPEC_VARIABLE")).toContain("the variable size must be a number");
    one.write("vars.yaml", "size: 3\n");
    await said(one, "Valid: 1 resource.", 2);
    one.write("team/n.py", "print(2)\n");
    const rest = await said(one, "changed: team/n.py: no difference");
    expect(rest.trim()).toBe("");
  });

  it("exits with 130 after Ctrl-C", async () => {
    const one = watching(["--validate-only"]);
    await said(one, "Valid");
    one.context.signals.receive("SIGINT");
    expect(await one.ended).toBe(130);
  });

  it("reads no variable of the environment for an untrusted spec", async () => {
    const one = watching(["--validate-only", "--untrusted"], { WORKSPACE_VAR_size: "7" });
    await said(one, "Valid");
    one.write(
      "teams/a.yaml",
      "variables: { size: { type: number } }\npools: { b: { node_type_id: x, max_capacity: '${var.size}' } }\n",
    );
    expect(await said(one, "SPEC_VARIABLE")).toContain("is not read for an untrusted spec");
  });

  it("refuses options that do not go together", async () => {
    for (const argv of [
      ["--validate-only", "--only", "pools.*"],
      ["--untrusted", "--adopt"],
      ["--max-reads", "5"],
    ]) {
      const { context, ended } = watching(argv);
      expect({ argv, code: await ended }).toEqual({ argv, code: 1 });
      expect(context.err()).toContain("CLI_USAGE");
    }
  });
});
