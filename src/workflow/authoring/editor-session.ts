// What an editor shows of the specs in its folders: findings, definitions, descriptions, and names to complete. Reads files and
// unsaved text, and sends no request.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { DEFAULT_FILE, fileStatsOf, isInFolder, resolvedPath } from "../../config/files.ts";
import type { Diagnostic, Location } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import type { Registry } from "../../resource/kind.ts";
import { Findings } from "../../spec/model/findings.ts";
import { SourceText, type Span } from "../../spec/model/source.ts";
import { type MapNode, member, type SpecNode, scalarText } from "../../spec/model/tree.ts";
import { readYaml } from "../../spec/yaml/read-yaml.ts";
import { resolveInvocation, type WorkflowContext } from "../invocation/invocation.ts";
import { checkSpec } from "../session/read-spec.ts";

export interface EditorPlace {
  readonly file: string;
  readonly range: EditorRange;
}

export interface EditorFinding {
  readonly severity: Diagnostic["severity"];
  readonly code: string;
  readonly message: string;
  readonly range: EditorRange;
  /** The places that use a value of a module. */
  readonly usedAt: readonly EditorPlace[];
}

export interface Completion {
  readonly name: string;
  /** What the name replaces. */
  readonly range: EditorRange;
}

/** Describes a kind, a field, or a section; undefined if there is none. */
type Explain = (path: readonly string[]) => string | undefined;

/** A larger file has findings, and nothing else. */
const MOST_BYTES = 1024 * 1024;

export class EditorSession {
  readonly #context: WorkflowContext;
  readonly #registry: Registry;
  readonly #explain: Explain;
  readonly #folders: readonly string[];
  readonly #texts = new Map<string, string>();
  /** The files that the last check of a spec read. */
  readonly #files = new Map<string, ReadonlySet<string>>();
  /** The files of a spec that have findings. */
  readonly #reported = new Map<string, readonly string[]>();
  readonly #outlines = new Map<string, { readonly text: string; readonly outline: SpecOutline }>();

  /** `folders`: those that the editor has open; specs outside are found, too. */
  constructor(context: WorkflowContext, { registry, explain, folders }: EditorParts) {
    this.#context = context;
    this.#registry = registry;
    this.#explain = explain;
    this.#folders = folders.map(resolvedPath);
  }

  /** The text of an open file. Undefined: the file was closed, so that the one on the disk counts. */
  edit(file: string, text: string | undefined): void {
    if (text === undefined) this.#texts.delete(resolvedPath(file));
    else this.#texts.set(resolvedPath(file), text);
  }

  /** The main file of the spec that a file belongs to: the outermost `workspace.yaml` in a folder above it that the editor has open. */
  mainFile(file: string): string | undefined {
    const path = resolvedPath(file);
    const top = this.#folders.find((folder) => isInFolder(folder, path));
    let main: string | undefined;
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const candidate = join(folder, DEFAULT_FILE);
      if (existsSync(candidate) || this.#texts.has(candidate)) main = candidate;
      const isDone = top === undefined ? main !== undefined : folder === top;
      if (isDone || folder === dirname(folder)) return main;
    }
  }

  /** The findings of `validate` by file, with unsaved text; a file without any has an empty list. States are not read. */
  async check(main: string): Promise<ReadonlyMap<string, readonly EditorFinding[]>> {
    const folder = dirname(main);
    const files = new Set([main]);
    const onPathRead = (path: string): unknown => /\.ya?ml$/.test(path) && files.add(path);
    const invocation = resolveInvocation(
      { ...this.#context, cwd: folder },
      { file: main, rules: [], onPathRead },
    );
    const encoder = new TextEncoder();
    const edited = new Map(
      [...this.#texts]
        .filter(([path]) => isInFolder(folder, path))
        .map(([path, text]) => [relative(folder, path).split(sep).join("/"), encoder.encode(text)]),
    );
    const { diagnostics } = await checkSpec(invocation, { allTargets: true, edited }).catch(
      (problem: unknown) => ({ diagnostics: diagnosticsOf(problem) }),
    );
    this.#files.set(main, files);
    const byFile = new Map<string, EditorFinding[]>();
    for (const path of [...files, ...(this.#reported.get(main) ?? [])]) byFile.set(path, []);
    for (const diagnostic of diagnostics) {
      const path = diagnostic.at === undefined ? main : resolve(folder, diagnostic.at.file);
      byFile.set(path, [...(byFile.get(path) ?? []), findingOf(diagnostic, folder)]);
    }
    this.#reported.set(
      main,
      [...byFile].flatMap(([path, { length }]) => (length > 0 ? [path] : [])),
    );
    return byFile;
  }

  /** Where the name or the file at a place is declared. */
  definition(file: string, position: EditorPosition): EditorPlace | undefined {
    const path = resolvedPath(file);
    const named = this.#declared(path, position);
    if (named !== undefined) return { file: named.file, range: named.declaration.range };
    const text = this.#outline(path)?.at(position)?.text;
    const target = text === undefined ? undefined : this.#fileAt(path, text);
    return target === undefined ? undefined : { file: target, range: START };
  }

  /** A description of the key, or of what the name at a place refers to. */
  hover(
    file: string,
    position: EditorPosition,
  ): { readonly text: string; readonly range: EditorRange } | undefined {
    const path = resolvedPath(file);
    const named = this.#declared(path, position);
    if (named !== undefined) {
      const { declaration, attribute, range } = named;
      const line = `${relative(dirname(path), named.file)}:${declaration.range.start.line + 1}`;
      const about = declaration.kind && this.#explained([declaration.kind, ...attribute]);
      return {
        text: [`${declaration.name} is declared at ${line}`, ...(about ? [about] : [])].join("\n\n"),
        range,
      };
    }
    const place = this.#outline(path)?.at(position);
    const text = place && this.#explained(this.#fieldPath(place.path));
    return text === undefined ? undefined : { text, range: place?.range ?? START };
  }

  /** Names that can follow at a place inside `${…}`. */
  completions(file: string, position: EditorPosition): readonly Completion[] {
    const path = resolvedPath(file);
    const before = this.#line(path, position.line).slice(0, position.character);
    const [, inside] = /\$\{([^}]*)$/.exec(before) ?? [];
    if (inside === undefined) return [];
    const [word = ""] = /[\w./@-]*$/.exec(inside) ?? [];
    const start = { line: position.line, character: position.character - word.length };
    const names = this.#near(path).flatMap((other) => this.#outline(other)?.declarations ?? []);
    const all = new Set(names.map(({ name, kind }) => this.#withAttribute(name, kind)));
    return [...all].sort().map((name) => ({ name, range: { start, end: position } }));
  }

  /** A resource is referred to by its ID most often. */
  #withAttribute(name: string, kind: string | undefined): string {
    const provider = kind === undefined ? undefined : this.#registry.find(kind);
    return provider === undefined ? name : `${name}.${provider.idAttribute}`;
  }

  #declared(path: string, position: EditorPosition): DeclaredName | undefined {
    const word = wordAt(this.#line(path, position.line), position);
    if (word === undefined) return undefined;
    const parts = word.text.split(".");
    for (let length = parts.length; length >= 2; length -= 1) {
      const name = parts.slice(0, length).join(".");
      for (const file of this.#near(path)) {
        const declaration = this.#outline(file)?.declarations.find((other) => other.name === name);
        if (declaration !== undefined)
          return { file, declaration, attribute: parts.slice(length), range: word.range };
      }
    }
    return undefined;
  }

  /** The file, and the other files of its spec or module: a module sees its own names only. */
  #near(path: string): readonly string[] {
    const files = this.#files.get(this.mainFile(path) ?? "") ?? new Set();
    const scope = moduleFolder(path, files);
    return [path, ...[...files].filter((file) => file !== path && moduleFolder(file, files) === scope)];
  }

  #fileAt(path: string, text: string): string | undefined {
    const target = resolve(dirname(path), text);
    const main = this.mainFile(path);
    if (text === "" || main === undefined || !isInFolder(dirname(main), target)) return undefined;
    const file = fileStatsOf(target)?.isDirectory() === true ? join(target, DEFAULT_FILE) : target;
    return fileStatsOf(file)?.isFile() === true ? file : undefined;
  }

  /** `pools.shared.max_capacity` is `pools.max_capacity` for a description. Positions of lists are left out. */
  #fieldPath(path: readonly string[]): readonly string[] {
    const [section = "", , ...inside] = path;
    if (this.#registry.find(section) === undefined) return path.filter(isName);
    const fields: string[] = [section];
    let kind = section;
    for (let at = 0; at < inside.length; at += 1) {
      const name = inside[at] ?? "";
      if (isName(name)) fields.push(name);
      const child = this.#registry.kinds.find(({ nested }) => nested?.kind === kind && nested.under === name);
      if (child === undefined) continue;
      kind = child.kind;
      at += 1;
    }
    return fields;
  }

  #explained(path: readonly string[]): string | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const text = this.#explain(path.slice(0, length));
      if (text !== undefined) return text;
    }
    return undefined;
  }

  #line(path: string, line: number): string {
    return this.#text(path)?.split("\n")[line]?.replace(/\r$/, "") ?? "";
  }

  #text(path: string): string | undefined {
    const text = this.#texts.get(path);
    if (text !== undefined) return text;
    const stats = fileStatsOf(path);
    return stats?.isFile() === true && stats.size <= MOST_BYTES ? readFileSync(path, "utf8") : undefined;
  }

  /** While a file is not valid YAML, its last outline counts. */
  #outline(path: string): SpecOutline | undefined {
    const text = this.#text(path);
    const last = this.#outlines.get(path);
    if (text === undefined || last?.text === text) return last?.outline;
    const outline = outlineOf(text, this.#registry) ?? last?.outline;
    if (outline !== undefined) this.#outlines.set(path, { text, outline });
    return outline;
  }
}

interface EditorParts {
  readonly registry: Registry;
  readonly explain: Explain;
  readonly folders: readonly string[];
}

interface DeclaredName {
  readonly file: string;
  readonly declaration: Declaration;
  readonly attribute: readonly string[];
  readonly range: EditorRange;
}

const START: EditorRange = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

/** The nearest folder above a file that has a `workspace.yaml` of the spec. */
function moduleFolder(file: string, files: ReadonlySet<string>): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (files.has(join(folder, DEFAULT_FILE))) return folder;
  return undefined;
}

const isName = (part: string): boolean => !/^\d+$/.test(part);

/** The word with dots around a place, as addresses and variables are written. */
function wordAt(
  line: string,
  { line: number, character }: EditorPosition,
): { readonly text: string; readonly range: EditorRange } | undefined {
  for (const match of line.matchAll(/[\w/@-]+(?:\.[\w/@-]+)+/g)) {
    const [text] = match;
    if (match.index > character || character > match.index + text.length) continue;
    const start = { line: number, character: match.index };
    return { text, range: { start, end: { line: number, character: match.index + text.length } } };
  }
  return undefined;
}

function findingOf(diagnostic: Diagnostic, folder: string): EditorFinding {
  const { severity, code, message, cause, hint, at, usedAt = [] } = diagnostic;
  const lines = [
    message,
    ...(cause === undefined ? [] : [cause]),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
  return {
    severity,
    code,
    message: lines.join("\n"),
    range: at === undefined ? START : rangeAt(at),
    usedAt: usedAt.map((place) => ({ file: resolve(folder, place.file), range: rangeAt(place) })),
  };
}

/** As long as the carets that `validate` draws. */
function rangeAt({ line, column, frame = "" }: Location): EditorRange {
  const [, carets = "^"] = /^ +\| +(\^+)$/m.exec(frame) ?? [];
  const start = { line: line - 1, character: column - 1 };
  return { start, end: { line: line - 1, character: column - 1 + carets.length } };
}

/** Lines and characters count from 0, characters in UTF-16 code units, as editors count them. */
interface EditorPosition {
  readonly line: number;
  readonly character: number;
}

interface EditorRange {
  readonly start: EditorPosition;
  readonly end: EditorPosition;
}

interface Declaration {
  /** As an expression refers to it: `pools.shared`, `var.env`, `modules.team`. */
  readonly name: string;
  /** The kind of a resource. */
  readonly kind?: string;
  readonly range: EditorRange;
}

interface PlaceInSpec {
  readonly path: readonly string[];
  /** The string at the place, unless it is a key. */
  readonly text?: string;
  readonly range: EditorRange;
}

/** Sections whose entries have names of their own, and what expressions call them. */
const NAMED_SECTIONS: Readonly<Record<string, string>> = {
  variables: "var",
  locals: "local",
  inputs: "input",
  modules: "modules",
};

interface SpecOutline {
  readonly declarations: readonly Declaration[];
  at(position: EditorPosition): PlaceInSpec | undefined;
}

/** Undefined if the text is not YAML with a map at its top. */
function outlineOf(text: string, registry: Registry): SpecOutline | undefined {
  const source = new SourceText("", text);
  const root = readYaml(source, new Findings());
  if (root?.kind !== "map") return undefined;
  return {
    declarations: [...declarationsIn(root, registry)],
    at: ({ line, character }) => placeAt(root, source.startOf(line) + character),
  };
}

function* declarationsIn(root: MapNode, registry: Registry): Generator<Declaration> {
  for (const [section, { value }] of root.members) {
    const prefix = NAMED_SECTIONS[section];
    if (value.kind !== "map") continue;
    if (prefix !== undefined)
      for (const [name, { key }] of value.members) yield { name: `${prefix}.${name}`, range: rangeOf(key) };
    else if (registry.find(section) !== undefined) yield* resourcesIn(section, value, registry);
  }
}

function* resourcesIn(kind: string, section: MapNode, registry: Registry): Generator<Declaration> {
  const nested = registry.kinds.filter((provider) => provider.nested?.kind === kind);
  for (const [name, { key, value }] of section.members) {
    yield { name: `${kind}.${name}`, kind, range: rangeOf(key) };
    for (const inner of nested) {
      const members = member(value, inner.nested?.under ?? "");
      if (members?.kind !== "map") continue;
      for (const [child, { key: at }] of members.members)
        yield { name: `${inner.kind}.${name}/${child}`, kind: inner.kind, range: rangeOf(at) };
    }
  }
}

function placeAt(root: SpecNode, offset: number): PlaceInSpec | undefined {
  const path: string[] = [];
  for (let node = root; ; ) {
    if (node.kind === "scalar")
      return isInside(node, offset) ? { path, text: scalarText(node), range: rangeOf(node) } : undefined;
    const entries =
      node.kind === "map"
        ? [...node.members].map(([name, { key, value }]) => ({ name, key, value }))
        : node.items.map((value, at) => ({ name: String(at), key: undefined, value }));
    const inKey = entries.find(({ key }) => key !== undefined && isInside(key, offset));
    if (inKey?.key !== undefined) return { path: [...path, inKey.name], range: rangeOf(inKey.key) };
    const next = entries.find(({ value }) => isInside(value, offset));
    if (next === undefined) return undefined;
    path.push(next.name);
    node = next.value;
  }
}

const isInside = ({ start, end }: Span, offset: number): boolean => start <= offset && offset <= end;

function rangeOf({ source, start, end }: Span): EditorRange {
  const at = (offset: number): EditorPosition => {
    const line = source.lineOf(offset);
    return { line, character: offset - source.startOf(line) };
  };
  return { start: at(start), end: at(end) };
}
