// Arguments find their command; what does not fit, or goes wrong, becomes a diagnostic and an exit code.

import { describe, expect, test } from "vitest";
import { type Command, defineCommand } from "../../src/cli/command/command.ts";
import {
  choice,
  flag,
  milliseconds,
  text,
  texts,
  time,
  values,
  whole,
} from "../../src/cli/command/option.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { diagnosticsOf } from "../../src/cli/output/diagnostics.ts";
import { parse, runProgram, splitCommand } from "../../src/cli/program.ts";
import { contextWith } from "./context.ts";

const command = defineCommand({
  name: "try",
  summary: "try options",
  options: {
    file: text("-f, --file <path>", "a path"),
    var: texts("--var <name=value>", "a variable"),
    form: choice("--form <form>", "a form", ["text", "json"]),
    number: whole("--number <n>", "a number", 1, 5),
    wait: time("--wait <time>", "a time"),
    noInput: flag("--no-input", "never ask"),
  },
  args: [{ name: "[what]", description: "a word" }],
  run: async () => 0,
});
function parseOptions(of: Command, argv: readonly string[]): Readonly<Record<string, unknown>> {
  const found = parse(of, `workspace ${of.name}`, argv, 80);
  return "options" in found ? found.options : {};
}
const parsed = (...argv: string[]) => parse(command, "workspace try", argv, 80);

describe("arguments", () => {
  test("an empty value is refused, save where values are handed on as they are", () => {
    const handed = defineCommand({
      name: "try",
      summary: "hand on",
      options: { param: values("--param <value>", "a value") },
      run: async () => 0,
    });
    expect(parseOptions(handed, ["--param", "", "--param=x"])).toEqual({ param: ["", "x"] });
    for (const option of ["--file", "--var", "--form", "--number", "--wait"])
      expect(() => parsed(option, "")).toThrow(/CLI_USAGE.*It is empty/);
    expect(() => parsed("--file=")).toThrow(/CLI_USAGE.*It is empty/);
  });

  test("options have their types, and their defaults where they are absent", () => {
    expect(parsed()).toEqual({
      options: { file: undefined, var: [], form: "text", number: undefined, wait: undefined, noInput: false },
      args: [],
    });
    expect(
      parsed(
        "-f",
        "a.yaml",
        "--var",
        "a=1",
        "--var=b=2",
        "--form",
        "json",
        "--number",
        "3",
        "--wait",
        "2m",
        "--no-input",
        "word",
      ),
    ).toEqual({
      options: { file: "a.yaml", var: ["a=1", "b=2"], form: "json", number: 3, wait: 120_000, noInput: true },
      args: ["word"],
    });
  });

  test.each([
    [["--fil", "x"], "--file"],
    [["--number", "9"], "from 1 to 5"],
    [["--form", "xml"], "text, json"],
    [["--wait", "soon"], "30s"],
    [["a", "b"], "too many arguments"],
    [["--file"], "argument missing"],
  ])("%j is refused with what would be right", (argv, words) => {
    let problem: unknown;
    try {
      parsed(...argv);
    } catch (thrown) {
      problem = thrown;
    }
    const [found] = diagnosticsOf(problem);
    expect(found?.code).toBe("CLI_USAGE");
    expect(`${found?.message} ${found?.hint}`).toContain(words);
  });

  test("a command that reads a spec accepts every common option that narrows nothing, and lists what it heeds", async () => {
    const common =
      "-f a -t b --var c=1 --var-file d --host embedded --profile e --parallelism 2 --state f --lock-timeout 1s --no-input --auto-approve";
    for (const name of ["validate", "plan", "drift", "apply", "destroy", "graph", "export"]) {
      const found = await COMMANDS.find((one) => one.name === name)?.load();
      if (found === undefined || "commands" in found) throw new Error(`${name} is no command`);
      const { options } = found;
      expect(Object.keys(parseOptions(found, common.split(" "))).sort()).toEqual(Object.keys(options).sort());
    }
    const validate = await COMMANDS.find((one) => one.name === "validate")?.load();
    if (validate === undefined || "commands" in validate) throw new Error("validate is no command");
    const shown = parse(validate, "workspace validate", ["--help"], 80);
    expect("help" in shown && shown.help).not.toContain("--lock-timeout");
    expect(() => parse(validate, "workspace validate", ["--only", "jobs.*"], 80)).toThrow();
  });

  test("options may stand before the command", () => {
    expect(splitCommand(["-f", "plan", "--no-input", "plan", "x"])).toEqual({
      name: "plan",
      rest: ["x", "-f", "plan", "--no-input"],
    });
    expect(splitCommand(["--help"])).toEqual({ name: undefined, rest: ["--help"] });
  });

  test("times are seconds unless they say otherwise", () => {
    expect([
      milliseconds("5"),
      milliseconds("1.5s"),
      milliseconds("250ms"),
      milliseconds("2h"),
      milliseconds("x"),
    ]).toEqual([5000, 1500, 250, 7_200_000, undefined]);
  });
});

describe("the program", () => {
  test("every listed command loads under its own name, and shows its help", async () => {
    for (const listed of COMMANDS) {
      const loaded = await listed.load();
      expect(loaded.name).toBe(listed.name);
      const context = contextWith();
      expect(await runProgram(context, [listed.name, "--help"])).toBe(0);
      expect(context.out()).toContain(`Usage: workspace ${listed.name}`);
    }
  });

  test("no two commands have the same name", () => {
    expect(new Set(COMMANDS.map((one) => one.name)).size).toBe(COMMANDS.length);
  });

  test.each(COMMANDS)("the overview says of $name what its own help says, in one line", async (listed) => {
    const { name, summary } = await listed.load();
    expect([listed.name, listed.summary]).toEqual([name, summary]);
    expect(summary.length).toBeLessThanOrEqual(66);
  });

  test("without a command the overview is printed", async () => {
    const context = contextWith();
    expect(await runProgram(context, [])).toBe(0);
    for (const { name } of COMMANDS) expect(context.out()).toContain(`  ${name} `);
  });

  test("what nobody foresaw becomes CLI_INTERNAL without a stack trace", async () => {
    const context = contextWith();
    Object.defineProperty(context, "cwd", {
      get: () => {
        throw new TypeError("surprise");
      },
    });
    expect(await runProgram(context, ["validate"])).toBe(1);
    expect(context.err()).toContain("error CLI_INTERNAL");
    expect(context.err()).toContain("TypeError: surprise");
    expect(context.err()).not.toMatch(/^\s+at /m);
  });

  test("a signal before anything is written ends the run at once", async () => {
    const context = contextWith();
    context.signals.receive("SIGTERM");
    expect(await runProgram(context, ["version"])).toBe(143);
  });
});
