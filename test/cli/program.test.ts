// Arguments find their command; what does not fit, or goes wrong, becomes a diagnostic and an exit code.

import { describe, expect, test } from "vitest";
import { type Command, type CommandEntry, defineCommand } from "../../src/cli/command/command.ts";
import { helpText } from "../../src/cli/command/help.ts";
import {
  choiceOption,
  durationOption,
  flagOption,
  integerOption,
  optionValues,
  textOption,
  textsOption,
  valuesOption,
} from "../../src/cli/command/option.ts";
import { buildProgram, parseArguments } from "../../src/cli/command/parser.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runProgram } from "../../src/cli/program.ts";
import { type Diagnostic, error } from "../../src/core/diagnostic.ts";
import { parseDuration } from "../../src/core/duration.ts";
import { contextWith } from "./context.ts";

const command = defineCommand({
  name: "try",
  summary: "try options",
  options: {
    file: textOption("-f, --file <path>", "a path"),
    var: textsOption("--var <name=value>", "a variable"),
    form: choiceOption("--form <form>", "a form", ["text", "json"]),
    number: integerOption("--number <n>", "a number", 1, 5),
    wait: durationOption("--wait <time>", "a time"),
    noInput: flagOption("--no-input", "never ask"),
    param: valuesOption("--param <value>", "a value"),
  },
  args: [{ name: "[what]", description: "a word" }],
  run: async () => 0,
});
async function parsed(...argv: string[]) {
  const called = await parseArguments(buildProgram([entryOf(command)]), argv);
  const { values, problems } = optionValues(command.options, called.root, called.own);
  return { options: values, args: called.args, problems: [...called.problems, ...problems] };
}
const entryOf = (of: Command): CommandEntry => ({ ...of, group: "", load: async () => of });
const messages = (found: readonly Diagnostic[]) => found.map((one) => one.message);

describe("arguments", () => {
  test.each(["--file", "--var", "--number", "--wait", "--form"])("an empty %s is refused", async (option) => {
    const refused = [`${option} is empty`];
    expect(messages((await parsed("try", option, "")).problems)).toEqual(refused);
    expect(messages((await parsed("try", `${option}=`)).problems)).toEqual(refused);
  });

  test("an empty value is a value", async () => {
    expect(await parsed("try", "--param", "", "--param=x")).toMatchObject({
      options: { param: ["", "x"] },
      problems: [],
    });
  });

  test("options have their types, and their defaults if they are absent", async () => {
    expect(await parsed("try")).toEqual({
      options: {
        file: undefined,
        var: [],
        form: "text",
        number: undefined,
        wait: undefined,
        noInput: false,
        param: [],
      },
      args: [],
      problems: [],
    });
    const line = "try -f a.yaml --var a=1 --var=b=2 --form json --number 3 --wait 2m --no-input word";
    expect(await parsed(...line.split(" "))).toEqual({
      options: {
        file: "a.yaml",
        var: ["a=1", "b=2"],
        form: "json",
        number: 3,
        wait: 120_000,
        noInput: true,
        param: [],
      },
      args: ["word"],
      problems: [],
    });
  });

  test.each([
    [["--fil", "x"], "unknown option '--fil'", "did you mean --file?"],
    [["--number", "9"], '--number cannot be "9": use an integer from 1 to 5', undefined],
    [["--form", "xml"], '--form cannot be "xml": use one of text, json', undefined],
    [["--wait", "soon"], '--wait cannot be "soon": use a duration such as 30s, 5m, or 250ms', undefined],
    [["a", "b"], 'unexpected argument "b"', undefined],
    [["--file"], "--file needs a value", undefined],
  ])("%j is refused with what would be right", async (argv, message, hint) => {
    const { problems } = await parsed("try", ...argv);
    expect(problems).toEqual([error("CLI_USAGE", message, hint === undefined ? {} : { hint })]);
  });

  test("every wrong value and every unknown option is refused at once", async () => {
    const { problems } = await parsed(
      "try",
      "--number",
      "9",
      "--nope",
      "x",
      "--wait=soon",
      "-zz",
      "--form=a",
    );
    expect(messages(problems)).toEqual([
      "unknown option '--nope'",
      "unknown option '-zz'",
      '--form cannot be "a": use one of text, json',
      '--number cannot be "9": use an integer from 1 to 5',
      '--wait cannot be "soon": use a duration such as 30s, 5m, or 250ms',
    ]);
  });

  test("a command that reads a spec accepts every pipeline option, and lists the ones that it uses", async () => {
    const common =
      "-f a -t b --var c=1 --var-file d --host embedded --profile e --parallelism 2 --state f --lock-timeout 1s --no-input --auto-approve";
    for (const name of ["validate", "plan", "drift", "apply", "destroy", "graph", "export"])
      expect((await parseArguments(buildProgram(COMMANDS), [name, ...common.split(" ")])).problems).toEqual(
        [],
      );
    const { parser } = await parseArguments(buildProgram(COMMANDS), ["validate"]);
    expect(helpText(parser, 80)).not.toContain("--lock-timeout");
    const { problems } = await parseArguments(buildProgram(COMMANDS), ["validate", "--only", "jobs.*"]);
    expect(messages(problems)).toEqual(["unknown option '--only'"]);
  });

  test("options may be given before the command, and those after it take precedence", async () => {
    const line = "-f plan --var a=1 --no-input try --var a=2 --file x what";
    expect(await parsed(...line.split(" "))).toMatchObject({
      options: { file: "x", var: ["a=1", "a=2"], noInput: true },
      args: ["what"],
      problems: [],
    });
    expect((await parsed("-f", "try", "try")).options.file).toBe("try");
  });

  test.each([
    [["--only", "jobs.*", "try"], ["unknown option '--only'"]],
    [["--version", "try"], ["unknown option '--version'"]],
    [["--nope", "try"], ["unknown option '--nope'"]],
    [["tri"], ['unknown command "tri"']],
    [["tri", "--nope"], ['unknown command "tri"']],
  ])("%j is refused", async (argv, problems) => {
    expect(messages((await parsed(...argv)).problems)).toEqual(problems);
  });

  test("a command below another one inherits the options before it", async () => {
    const called = await parseArguments(buildProgram(COMMANDS), [
      "-f",
      "a",
      "state",
      "-t",
      "b",
      "rm",
      "pools.x",
    ]);
    expect([called.parser.title, called.root, called.args]).toEqual([
      "workspace state rm",
      { file: ["a"], target: ["b"] },
      ["pools.x"],
    ]);
    const drift = await parseArguments(buildProgram(COMMANDS), ["drift", "acknowledge", "pools.x"]);
    expect([drift.parser.title, drift.args, drift.problems]).toEqual([
      "workspace drift acknowledge",
      ["pools.x"],
      [],
    ]);
  });

  test("times are seconds unless they say otherwise", () => {
    expect([
      parseDuration("5"),
      parseDuration("1.5s"),
      parseDuration("250ms"),
      parseDuration("2h"),
      parseDuration("x"),
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
    expect(summary.length).toBeLessThanOrEqual(60);
  });

  test("without a command the overview is printed", async () => {
    const context = contextWith();
    expect(await runProgram(context, [])).toBe(0);
    for (const { name } of COMMANDS) expect(context.out()).toContain(`  ${name} `);
  });

  test("an unexpected error becomes CLI_INTERNAL without a stack trace", async () => {
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
