// The files that a run writes: reports, metrics, and a saved plan. None of them may be a file that the run reads.

import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isInFolder, resolvedPath } from "../../config/files.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { isStateFile, type PathObserver } from "../../spec/files/spec-folder.ts";
import type { Invocation } from "../../workflow/invocation/invocation.ts";
import type { OutputRequest } from "../command/option.ts";

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
