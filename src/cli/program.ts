// Parses the arguments once, runs the command, and converts failures to diagnostics and an exit code.

import type { CommandContext } from "../config/environment.ts";
import { VERSION } from "../config/version.ts";
import { type Diagnostic, error, Failure } from "../core/diagnostic.ts";
import { diagnosticsOf } from "../core/request-failure.ts";
import type { InvocationOptions } from "../workflow/invocation/invocation.ts";
import type { Command, ConsoleContext } from "./command/command.ts";
import { EXIT } from "./command/exit-codes.ts";
import { type OutputRequest, optionValues } from "./command/option.ts";
import { buildProgram, type ParsedCommand, parseArguments } from "./command/parser.ts";
import { COMMANDS } from "./commands.ts";
import { reportFailure, workflowObserver } from "./output/diagnostics.ts";

/** Runs to the end, or to the moment a signal ends it; the exit code. Never throws. */
export async function runProgram(context: CommandContext, argv: readonly string[]): Promise<number> {
  const work = dispatch(context, argv).catch((problem: unknown) => reportFailure(context, problem));
  const code = await Promise.race([work, context.signals.ended]);
  return context.signals.exitCode ?? code;
}

async function dispatch(context: CommandContext, argv: readonly string[]): Promise<number> {
  const called = await parseArguments(buildProgram(COMMANDS), argv);
  const { command, own, root } = called;
  const asksHelp = root.help !== undefined || own.help !== undefined;
  if (command !== undefined && !("commands" in command))
    return asksHelp ? showHelp(context, called) : runCommand(context, command, called);
  if (called.args.length > 0) throw new Failure(...withAdvice(called, called.problems));
  if (asksHelp || argv.length === 0) return showHelp(context, called);
  if (own.version !== undefined) {
    context.stdout.write(`${VERSION}\n`);
    return EXIT.ok;
  }
  if (command === undefined || called.problems.length > 0 || Object.keys({ ...root, ...own }).length > 0)
    throw new Failure(
      ...withAdvice(called, [...called.problems, error("CLI_USAGE", "no command specified")]),
    );
  await showHelp({ ...context, stdout: context.stderr }, called);
  return EXIT.error;
}

async function showHelp(context: CommandContext, { command, parser, args }: ParsedCommand): Promise<number> {
  if (command !== undefined && "moreHelp" in command && args.length > 0)
    context.stdout.write(`${await command.moreHelp?.(args)}\n`);
  const { helpText } = await import("./command/help.ts");
  context.stdout.write(helpText(parser, context.stdout.columns));
  return EXIT.ok;
}

async function runCommand(process: CommandContext, command: Command, called: ParsedCommand): Promise<number> {
  const { values, problems } = optionValues(command.options, called.root, called.own);
  // Help needs neither settings nor the reader of specs.
  const { resolveInvocation } = await import("../workflow/invocation/invocation.ts");
  const observed = { ...process, observer: workflowObserver(process) };
  // Options of the same names have the same types in every command.
  const context = { ...observed, ...resolveInvocation(observed, values as InvocationOptions) };
  const wrong = [...called.problems, ...problems];
  try {
    if (wrong.length > 0) throw await refusal(context, command, withAdvice(called, wrong), values);
    return await command.run(context, values, called.args);
  } catch (problem) {
    await command.failureDocument?.(
      context,
      reportsIn(values).find(({ file }) => file === undefined)?.format ?? "",
      diagnosticsOf(problem),
    );
    throw problem;
  }
}

/** Writes the report files, too: what an earlier run left there is about that run. */
async function refusal(
  context: ConsoleContext,
  { failureDocument }: Command,
  diagnostics: readonly Diagnostic[],
  values: Readonly<Record<string, unknown>>,
): Promise<Failure> {
  if (failureDocument === undefined) return new Failure(...diagnostics);
  const { Reports, WrittenFiles } = await import("./output/reports.ts");
  // An untrusted run does not start git, because the repository's options may be wrong.
  const files = new WrittenFiles(context, values);
  const reports = new Reports(context, { output: reportsIn(values), untrusted: true, files });
  await reports.end(failureDocument, diagnostics, { stdout: false });
  return new Failure(...diagnostics, ...reports.save());
}

function reportsIn({ output }: Readonly<Record<string, unknown>>): readonly OutputRequest<string>[] {
  return Array.isArray(output) ? output : [];
}

/** The last problem without a hint refers to the help. */
function withAdvice({ parser }: ParsedCommand, problems: readonly Diagnostic[]): readonly Diagnostic[] {
  const last = problems.findLast(({ hint }) => hint === undefined);
  const hint = `run \`${parser.title} --help\``;
  return problems.map((diagnostic) => (diagnostic === last ? { ...diagnostic, hint } : diagnostic));
}
