// The reports that one run was asked for with `-o FORMAT[=FILE]`: one on standard output, any number in files, all from one view. None of the files
// that a run writes may be one that it reads.

import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileFailure, isInFolder, resolvedPath } from "../../config/files.ts";
import { collectedOutput, type Output } from "../../config/streams.ts";
import { symbolicLinkBelow, writeWholeFile } from "../../config/write-file.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Renderer } from "../../report/formats.ts";
import { diagnosticsText } from "../../report/text/diagnostic-text.ts";
import { printableJson } from "../../report/text/printable.ts";
import { partOptions, type RunInfo } from "../../report/text/run-info.ts";
import { type Colors, colorsFor } from "../../report/text/terminal.ts";
import type { AccessGrouping } from "../../report/view/access-view.ts";
import { type Choice, type Filter, SHOW_ALL, unknownKinds } from "../../report/view/choice.ts";
import { isStateFile, type PathObserver } from "../../spec/files/spec-folder.ts";
import type { Invocation } from "../../workflow/invocation/invocation.ts";
import type { ConsoleContext, FailureDocument, RunOrigin } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import type { OutputRequest } from "../command/option.ts";
import { colorsOf, fitted, printDiagnostics } from "./diagnostics.ts";
import { runOrigin } from "./run-origin.ts";

interface Target<F> {
  readonly format: F;
  /** As the command line names it; undefined for standard output. */
  readonly file: string | undefined;
  readonly output: Output;
  readonly colors: Colors;
  /** Of a file: what it will contain. */
  readonly pieces: readonly string[];
}

/** Facts about a run that are known once it has a plan. */
export type RunFacts = Pick<Plan, "host" | "modes" | "part"> & {
  readonly caller?: string | undefined;
  readonly origin?: RunOrigin | undefined;
  readonly savedPlan?: boolean | undefined;
};

export class Reports<F extends string> {
  readonly context: ConsoleContext;
  readonly format: F | "text";
  readonly #origin: Promise<RunOrigin>;
  #originOfSavedPlan: Promise<RunOrigin> | undefined;
  /** Whether equal changes are shown one by one. */
  readonly expand: boolean;
  /** The rows that are shown, by `--show` and `--hide`. */
  readonly choice: Choice;
  readonly accessBy: AccessGrouping;
  readonly #untrusted: boolean;
  readonly #files: WrittenFiles;
  readonly #targets: readonly Target<F | "text">[];
  /** Problems of the files, once they were written. */
  #unsaved: readonly Diagnostic[] | undefined;

  constructor(context: ConsoleContext, options: ReportOptions<F>) {
    const { output, untrusted = context.untrusted, expand = false, accessBy = "principal" } = options;
    this.context = context;
    this.#files = options.files ?? new WrittenFiles(context, options);
    this.#untrusted = untrusted;
    this.expand = expand;
    this.choice = choiceOf(options);
    this.accessBy = accessBy;
    this.#origin = runOrigin(context, !untrusted);
    // Awaited with the first report; a run that fails before reports its own error.
    this.#origin.catch(() => undefined);
    this.format = output.find(({ file }) => file === undefined)?.format ?? "text";
    const { stdout } = context;
    const colors = colorsOf(context, stdout);
    this.#targets = [
      { format: this.format, file: undefined, output: stdout, colors, pieces: [] },
      ...output.flatMap(({ format, file }) =>
        file === undefined ? [] : [fileTarget(context, format, file)],
      ),
    ];
  }

  get origin(): Promise<RunOrigin> {
    const { ofSavedPlan } = this.context.run;
    if (ofSavedPlan !== undefined) this.#originOfSavedPlan ??= runOrigin(ofSavedPlan, !this.#untrusted);
    return this.#originOfSavedPlan ?? this.#origin;
  }

  async info({ host, modes = [], part, origin, caller, savedPlan }: RunFacts): Promise<RunInfo> {
    return {
      ...(origin ?? (await this.origin)),
      host,
      modes,
      partial: part && partOptions(part),
      savedPlan,
      ...defined({ caller }),
    };
  }

  /** Renders the view once for each format that `only` lets through. `beforeLog`: what the log shows first where a report was shortened. True if standard output, or the log instead, has it as text. */
  async show<View>(
    formats: Readonly<Record<F | "text", () => Promise<Renderer<View>>>>,
    view: View,
    facts: RunFacts,
    only: (format: F | "text") => boolean = () => true,
    beforeLog: () => Promise<void> = () => Promise.resolve(),
  ): Promise<boolean> {
    const info = await this.info(facts);
    const wanted = this.#targets.filter(({ format }) => only(format));
    let cutSomewhere = false;
    for (const { format, file, output, colors } of wanted) {
      const render = await formats[format]();
      const report = render(view, info, colors, file !== undefined);
      if (file === undefined && format === "text") output.write(fitted(report.text, output));
      else await writePieces(output, report.pieces?.() ?? [report.text]);
      cutSomewhere ||= report.cut;
    }
    const isText = this.format === "text" && only("text");
    // Standard output in text has what a shortened report lacks, also if it was written before.
    if (this.format === "text" || !cutSomewhere) return isText;
    await beforeLog();
    await this.log(formats, view, facts);
    return true;
  }

  async log<View>(
    formats: { readonly text: () => Promise<Renderer<View>> },
    view: View,
    facts: RunFacts,
  ): Promise<void> {
    const { stderr } = this.context;
    const render = await formats.text();
    const { text } = render(view, await this.info(facts), colorsOf(this.context, stderr));
    stderr.write(fitted(text, stderr));
  }

  get isOnlyText(): boolean {
    return this.#targets.every(({ format }) => format === "text");
  }

  /** One line of JSON for each output with events. */
  event(json: () => Readonly<Record<string, unknown>>): void {
    for (const { format, output } of this.#targets)
      if (format === "json") output.write(`${printableJson(json())}\n`);
  }

  /** What each output gets from a run that ended before its answer; without `stdout` only the files. */
  async end(
    failureDocument: FailureDocument,
    diagnostics: readonly Diagnostic[],
    { stdout }: { readonly stdout: boolean },
  ) {
    this.#unsaved = undefined;
    for (const { format, file, output } of this.#targets) {
      if (file === undefined && !stdout) continue;
      const silent = collectedOutput(this.context.stderr.stream);
      const context = file === undefined ? this.context : { ...this.context, stdout: output, stderr: silent };
      if (file !== undefined && format === "text")
        output.write(diagnosticsText(diagnostics, colorsFor(false)));
      await failureDocument(context, format, diagnostics, await this.origin);
    }
  }

  /** Writes the files, once; what could not be written. */
  save(): readonly Diagnostic[] {
    this.#unsaved ??= this.#files.refused ? [] : this.#written();
    return this.#unsaved;
  }

  #written(): readonly Diagnostic[] {
    return this.#targets.flatMap(({ file, pieces }) => {
      if (file === undefined) return [];
      try {
        const path = resolve(this.context.cwd, file);
        const link = this.#untrusted ? symbolicLinkBelow(this.context.cwd, path) : undefined;
        if (link !== undefined)
          return [
            error("CLI_FILE", `the report cannot be written to ${file}: ${link} is a symbolic link`, {
              hint: "the folder of an untrusted spec must not choose where a report goes; pass a file outside of it",
            }),
          ];
        writeWholeFile(path, pieces, { over: true });
        return [];
      } catch (problem) {
        return fileFailure(`the report cannot be written to ${file}`, problem).diagnostics;
      }
    });
  }
}

/** Characters that may wait for a reader that is slower than this program. */
const MOST_WAITING = 1 << 20;

/** A pipe would keep the whole report in memory until its reader takes it. */
async function writePieces(output: Output, pieces: Iterable<string>): Promise<void> {
  let waiting = 0;
  for (const piece of pieces) {
    output.write(piece);
    waiting += piece.length;
    if (waiting < MOST_WAITING) continue;
    await output.flush();
    waiting = 0;
  }
}

function fileTarget<F>(context: ConsoleContext, format: F, file: string): Target<F> {
  const output = collectedOutput(context.stdout.stream);
  return { format, file, output, colors: colorsFor(false), pieces: output.pieces };
}

/** Throws Failure with CLI_USAGE for a kind that does not exist. */
function choiceOf({ show = [], hide = [] }: Pick<ReportOptions<string>, "show" | "hide">): Choice {
  if (show.length + hide.length === 0) return SHOW_ALL;
  const choice = { show, hide };
  const unknown = unknownKinds(
    choice,
    registry.kinds.map(({ kind }) => kind),
  );
  if (unknown.length > 0) throw new Failure(...unknown);
  return choice;
}

interface ReportOptions<F> extends Omit<RunFiles, "output"> {
  readonly expand?: boolean;
  readonly accessBy?: AccessGrouping;
  readonly show?: readonly Filter[];
  readonly hide?: readonly Filter[];
  /** The command reads what others wrote, although its own spec is trusted. */
  readonly untrusted?: boolean;
  readonly output: readonly OutputRequest<F>[];
  /** Those of a run that writes metrics, too. */
  readonly files?: WrittenFiles;
}

/** Runs `work` with an invocation that notices the files which it reads, then writes the files, also where it fails: what an earlier run left there is of another run. */
export async function withReports<F extends string>(
  context: ConsoleContext,
  options: ReportOptions<F>,
  failureDocument: FailureDocument,
  work: (reports: Reports<F>, invocation: Invocation) => Promise<number>,
): Promise<number> {
  const files = options.files ?? new WrittenFiles(context, options);
  const reports = new Reports(context, { ...options, files });
  let code: number;
  try {
    code = await work(reports, context.with({ onPathRead: files.onPathRead }));
  } catch (problem) {
    const diagnostics = diagnosticsOf(problem);
    await reports.end(failureDocument, diagnostics, { stdout: false });
    const unwritten = reports.save();
    throw unwritten.length === 0 ? problem : new Failure(...diagnostics, ...unwritten);
  }
  const unwritten = reports.save();
  printDiagnostics(context, unwritten);
  return unwritten.length === 0 ? code : EXIT.error;
}

/** The files that the command line names, in addition to those of the invocation. */
export interface RunFiles {
  readonly output?: readonly OutputRequest<string>[];
  readonly metrics?: string | undefined;
  readonly out?: string | undefined;
  readonly planfile?: string | undefined;
}

interface NamedFile {
  readonly what: string;
  readonly path: string;
  readonly real: string;
}

export class WrittenFiles {
  readonly #files: readonly NamedFile[];
  #refused = false;

  /** Throws CLI_USAGE for a file with two reports, for one that the command line gives to read, and for one of the state. */
  constructor(invocation: Invocation, { output = [], metrics, out, planfile }: RunFiles) {
    const { file: spec, cwd, varFiles, caFile } = invocation;
    const at = (what: string, name: string | undefined): readonly NamedFile[] => {
      const path = resolve(cwd, name ?? "");
      return name === undefined ? [] : [{ what, path, real: withoutLinks(path) }];
    };
    this.#files = [
      ...output.flatMap(({ file }) => at("a report", file)),
      ...at("the metrics", metrics),
      ...at("the plan", out),
    ];
    if (this.#files.length === 0) return;
    const read = [
      ...at("the spec", spec),
      ...at("the plan to read", planfile),
      ...varFiles.flatMap((name) => at("a variable file", name)),
      ...at("the CA file", caFile),
    ];
    const state = stateFolder(invocation);
    for (const [number, file] of this.#files.entries()) {
      const readFile = read.find(({ real }) => real === file.real);
      if (readFile !== undefined) throw refusal(file, `is ${readFile.what}`);
      if (state !== undefined && isOfState(state, file.real, withoutLinks(spec)))
        throw refusal(file, "is in the folder of the state");
      this.#assertOnly(file, this.#files.slice(0, number));
    }
  }

  /** Receives each path that the run reads. Throws CLI_USAGE for one that the run would overwrite. */
  readonly onPathRead: PathObserver = (path, patterns) => {
    if (this.#files.length === 0 || patterns !== undefined) return;
    const real = resolvedPath(path);
    const file = this.#files.find((written) => written.real === real && !isDevice(real));
    if (file === undefined) return;
    this.#refused = true;
    throw refusal(file, "the run reads");
  };

  /** Whether the run was refused, so that it writes no file, not even about its failure. */
  get refused(): boolean {
    return this.#refused;
  }

  #assertOnly(file: NamedFile, before: readonly NamedFile[]): void {
    const other = before.find(({ real }) => real === file.real);
    if (other === undefined || isDevice(file.path)) return;
    const both = file.what === other.what ? "two reports" : `${other.what} and ${file.what}`;
    throw failureOf("CLI_USAGE", `${both} cannot be written to the same file ${file.path}`);
  }
}

function refusal({ what, path }: NamedFile, why: string): Failure {
  return failureOf("CLI_USAGE", `${what} cannot be written to ${path}, which ${why}`, {
    hint: "name another file",
  });
}

/** Undefined if the state is not in a folder, or if the target is invalid, which the run reports. */
function stateFolder(invocation: Invocation): string | undefined {
  try {
    const { folder } = invocation.stateLocation();
    return folder === undefined ? undefined : withoutLinks(folder);
  } catch {
    return undefined;
  }
}

/** In a folder that contains the spec, too, only the files of the state belong to it. */
function isOfState(folder: string, real: string, spec: string): boolean {
  return isInFolder(folder, spec)
    ? dirname(real) === folder && isStateFile(basename(real))
    : isInFolder(folder, real);
}

/** Two names of one file have the same, also before the file exists. */
function withoutLinks(path: string): string {
  const real = resolvedPath(path);
  return real !== path || dirname(path) === path ? real : join(withoutLinks(dirname(path)), basename(path));
}

const isDevice = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === false;
