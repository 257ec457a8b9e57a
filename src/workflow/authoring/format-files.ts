// Formats the files of a spec, or files that are named. A file with problems stays unchanged.

import { join, relative, resolve, sep } from "node:path";
import { fileFailure } from "../../config/files.ts";
import { writeWholeFile } from "../../config/write-file.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { SpecFileReader } from "../../spec/files/includes.ts";
import { openSpecFolder, pathBeside, refusedWords, type SpecFolder } from "../../spec/files/spec-folder.ts";
import { formatYaml } from "../../spec/format/format-yaml.ts";
import { Findings } from "../../spec/model/findings.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import { type MapNode, member, type SpecNode, scalarText } from "../../spec/model/tree.ts";
import { MODULE_FILE } from "../../spec/modules/loading.ts";
import { BYTE_ORDER_MARK, hasByteOrderMark, sourceOf } from "../../spec/yaml/read-yaml.ts";
import type { Invocation } from "../invocation/invocation.ts";

interface UnformattedFile {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

export interface Formatting {
  readonly checked: number;
  readonly unformatted: readonly UnformattedFile[];
  readonly diagnostics: readonly Diagnostic[];
}

interface SpecFile {
  readonly tree: SpecFolder;
  readonly path: string;
}

/** `write`: replaces each file whose format differs. */
export function formatFiles(invocation: Invocation, names: readonly string[], write: boolean): Formatting {
  const findings = new Findings();
  const problems: Diagnostic[] = [];
  const unformatted: UnformattedFile[] = [];
  const places = names.length === 0 ? ofSpec(invocation, findings) : named(invocation, names, problems);
  for (const place of places) {
    const unformattedFile = formattedFile(place, findings, problems);
    if (unformattedFile === undefined) continue;
    if (!write || wasWritten(place, unformattedFile, problems)) unformatted.push(unformattedFile);
  }
  return { checked: places.length, unformatted, diagnostics: [...findings.diagnostics(), ...problems] };
}

/** Formats text, such as standard input. */
export function formatText(file: string, bytes: Uint8Array): Formatting {
  const findings = new Findings();
  const unformattedFile = formattedBytes(file, bytes, findings);
  const unformatted = unformattedFile === undefined ? [] : [{ file, ...unformattedFile }];
  return { checked: 1, unformatted, diagnostics: findings.diagnostics() };
}

function ofSpec(invocation: Invocation, findings: Findings): readonly SpecFile[] {
  const { file, cwd } = invocation;
  const opened = openSpecFolder(file, { cwd });
  if (opened === undefined) {
    findings.error("SPEC_NOT_FOUND", `${file} does not exist`, undefined, {
      hint: "pass another spec with --file, or name the files to format",
    });
    return [];
  }
  const { tree, main } = opened;
  return specFilePaths(tree, main, findings).map((path) => ({ tree, path }));
}

const YAML_FILE = /\.ya?ml$/i;

/** Files that the command line names: below the current folder, or the folder of the spec. */
function named(
  invocation: Invocation,
  names: readonly string[],
  problems: Diagnostic[],
): readonly SpecFile[] {
  const folders = [join(invocation.cwd, "workspace.yaml"), invocation.file];
  const trees = folders.flatMap((file) => {
    const opened = openSpecFolder(file, { cwd: invocation.cwd });
    return opened === undefined ? [] : [{ tree: opened.tree, folder: resolve(file, "..") }];
  });
  const places = new Map<string, SpecFile>();
  for (const name of names) {
    const path = resolve(invocation.cwd, name);
    const inside = trees.flatMap(({ tree, folder }) => {
      const below = relative(folder, path).split(sep).join("/");
      return below.startsWith("../") || below === ".." ? [] : [{ tree, path: below }];
    });
    const [place] = inside;
    if (!YAML_FILE.test(name)) problems.push(refused(name, "is not a YAML file"));
    else if (place === undefined)
      problems.push(refused(name, "is outside the current folder and the spec's folder"));
    else places.set(path, place);
  }
  return [...places.values()];
}

function refused(name: string, why: string): Diagnostic {
  return error("CLI_FILE", `${name} ${why}`, {
    hint: "name files that end in .yaml or .yml below this folder",
  });
}

function formattedFile(
  { tree, path }: SpecFile,
  findings: Findings,
  problems: Diagnostic[],
): UnformattedFile | undefined {
  const file = tree.shown(path);
  const opened = tree.read(path, LIMITS.fileBytes);
  if (!opened.ok) {
    const { code, words } = refusedWords(opened);
    problems.push(error(code, `${file} ${words}`));
    return undefined;
  }
  const texts = formattedBytes(file, opened.value, findings);
  return texts === undefined || texts.before === texts.after ? undefined : { file, ...texts };
}

function formattedBytes(
  file: string,
  bytes: Uint8Array,
  findings: Findings,
): { readonly before: string; readonly after: string } | undefined {
  const source = sourceOf(file, bytes, findings);
  const after = source === undefined ? undefined : formatYaml(source, findings);
  if (source === undefined || after === undefined) return undefined;
  const mark = hasByteOrderMark(bytes) ? BYTE_ORDER_MARK : "";
  return { before: `${mark}${source.text}`, after: `${mark}${after}` };
}

/** Resolves the path again before writing: a symbolic link that now leads out of the tree is refused. */
function wasWritten(
  { tree, path }: SpecFile,
  { file, after }: UnformattedFile,
  problems: Diagnostic[],
): boolean {
  const real = tree.realPath(path);
  try {
    if (!real.ok) throw new Error(refusedWords(real).words);
    writeWholeFile(real.value, after, { over: true });
    return true;
  } catch (problem) {
    problems.push(...fileFailure(`${file} cannot be written`, problem).diagnostics);
    return false;
  }
}

/** Paths in the folder, in the order in which they are found. A file that cannot be read is reported. */
function specFilePaths(tree: SpecFolder, main: string, findings: Findings): readonly string[] {
  const reader = new SpecFileReader(tree, findings, LIMITS);
  const files: { readonly path: string; readonly from: SpecNode | undefined }[] = [
    { path: main, from: undefined },
  ];
  const paths = new Set([main]);
  for (const { path, from } of files) {
    const root = reader.root(path, from);
    for (const source of root === undefined ? [] : moduleSources(root)) {
      const next = pathBeside(source.source.path, `${scalarText(source)}/${MODULE_FILE}`);
      if (next === undefined || paths.has(next)) continue;
      paths.add(next);
      files.push({ path: next, from: source });
    }
  }
  return reader.digests.map(({ path }) => path);
}

function moduleSources(root: MapNode): readonly SpecNode[] {
  const targets = member(root, "targets");
  const sections = [root, ...(targets === undefined ? [] : valuesIn(targets))];
  return sections.flatMap((section) => {
    const modules = member(section, "modules");
    if (modules === undefined) return [];
    return valuesIn(modules).flatMap((use) => {
      const source = member(use, "source");
      return source === undefined || scalarText(source) === undefined ? [] : [source];
    });
  });
}

function valuesIn(node: SpecNode): readonly SpecNode[] {
  return node.kind === "map" ? Array.from(node.members.values(), ({ value }) => value) : [];
}
