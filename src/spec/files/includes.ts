// Reads the main file and its includes within limits, and merges them. A key in two files is an error.

import type { Code } from "../../core/codes.ts";
import { digest } from "../../core/digest.ts";
import { grouped, shortened } from "../../core/sentences.ts";
import type { Finding, Findings } from "../model/findings.ts";
import { type FileLimits, LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import {
  describeNode,
  isNull,
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  type SpecNode,
  scalarText,
  withMembers,
} from "../model/tree.ts";
import { readYamlFile } from "../yaml/read-yaml.ts";
import {
  filePatternProblem,
  isGlob,
  pathBeside,
  type RefusedFile,
  refusedWords,
  type SpecFolder,
} from "./spec-folder.ts";

interface Included {
  readonly root: MapNode;
  /** Reads further files of the spec: those of modules. */
  readonly files: SpecFileReader;
}

/** Problems of one include that do not affect the other files. */
const MISSING: readonly Code[] = ["SPEC_NOT_FOUND", "SPEC_INCLUDE", "SPEC_OUTSIDE"];
/** Problems of one rule, which is left out. Nothing refers to rules. */
const OF_RULES: readonly Code[] = ["SPEC_RULE"];
/** Problems that may only be caused by a missing part. */
const UNCERTAIN: readonly Code[] = [
  "SPEC_REFERENCE",
  "SPEC_VARIABLE",
  "SPEC_EXPRESSION",
  "SPEC_TARGET",
  "SPEC_EMPTY",
];

interface ReadOptions {
  /** The spec, where it is a part of the main file. */
  readonly root?: MapNode | undefined;
  /** A file for which it is false counts towards the limits, and its YAML is not read. */
  readonly isNeeded?: (bytes: Uint8Array) => boolean;
  /** Called before the YAML of each file is read, with the bytes of all files up to it. */
  readonly onYaml?: ((bytes: number) => void) | undefined;
}

export function readAll(
  tree: SpecFolder,
  main: string,
  findings: Findings,
  limits: FileLimits = LIMITS,
  { root: node, ...options }: ReadOptions = {},
): Included | undefined {
  const files = new SpecFileReader(tree, findings, limits, options);
  const root = node === undefined ? files.root(main, undefined) : files.rootOf(main, node);
  if (root === undefined || !findings.onlyOf([...MISSING, ...OF_RULES])) return undefined;
  if (!findings.onlyOf(OF_RULES)) findings.ignore(UNCERTAIN);
  return { root, files };
}

/** Reads the main file, and the file of each module, with what they include. All count towards the same limits. */
export class SpecFileReader {
  readonly #tree: SpecFolder;
  readonly #findings: Findings;
  readonly #limits: FileLimits;
  readonly #options: Pick<ReadOptions, "isNeeded" | "onYaml">;
  readonly #digests = new Map<string, string>();
  #roots: MapNode[] = [];
  #readPaths = new Set<string>();
  #count = 0;
  #bytes = 0;

  constructor(
    tree: SpecFolder,
    findings: Findings,
    limits: FileLimits,
    options: Pick<ReadOptions, "isNeeded" | "onYaml"> = {},
  ) {
    this.#limits = limits;
    this.#options = options;
    this.#tree = tree;
    this.#findings = findings;
  }

  get digests(): readonly { readonly path: string; readonly digest: string }[] {
    return Array.from(this.#digests, ([path, digest]) => ({ path, digest }));
  }

  /** A file merged with its includes; undefined after reporting an error. */
  root(path: string, from: Span | undefined): MapNode | undefined {
    return this.#joined(() => this.#file(path, from));
  }

  /** A spec inside a file, merged with its includes. */
  rootOf(path: string, root: MapNode): MapNode | undefined {
    return this.#joined(() => {
      this.#readPaths.add(path);
      this.#take(path, root);
    });
  }

  #joined(read: () => void): MapNode | undefined {
    this.#roots = [];
    this.#readPaths = new Set();
    read();
    return joinFiles(this.#roots, this.#findings);
  }

  #file(path: string, from: Span | undefined): void {
    if (this.#readPaths.has(path)) return;
    this.#readPaths.add(path);
    if (!this.#counts(from)) return;
    const opened = this.#tree.read(path, this.#limits.fileBytes);
    if (opened.ok) this.#read(path, opened.value, from);
    else this.#refused(path, opened, from);
  }

  /** A pattern counts like a file: the whole tree is searched for it. */
  #counts(from: Span | undefined): boolean {
    this.#count += 1;
    const { files } = this.#limits;
    if (this.#count > files)
      this.#tooMuch(`the spec has more than ${files} files and patterns of files`, from);
    return this.#count <= files;
  }

  #read(path: string, bytes: Uint8Array, from: Span | undefined): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.allBytes) {
      const { allBytes } = this.#limits;
      this.#tooMuch(`the files of the spec exceed ${grouped(allBytes)} bytes in total`, from);
      return;
    }
    const { isNeeded, onYaml } = this.#options;
    if (isNeeded?.(bytes) === false) return;
    this.#digests.set(path, digest(bytes));
    onYaml?.(this.#bytes);
    const root = readYamlFile(this.#tree.shown(path), bytes, this.#findings, { path });
    if (root === undefined) return;
    if (root.kind === "map") this.#take(path, root);
    else if (isNull(root)) this.#take(path, mapAt(root, new Map()));
    else this.#findings.wrongType("a spec", "a map of sections", root);
  }

  #tooMuch(message: string, from: Span | undefined): void {
    this.#findings.error("SPEC_TOO_LARGE", message, from);
  }

  #take(path: string, root: MapNode): void {
    this.#roots.push(withNamedRules(root, this.#findings));
    const include = member(root, "include");
    if (include === undefined || isNull(include)) return;
    for (const pattern of include.kind === "list" ? include.items : [include]) this.#include(path, pattern);
  }

  #include(path: string, node: SpecNode): void {
    const pattern = scalarText(node) ?? "";
    const refused = includeRefused(path, pattern, node);
    if (refused !== undefined) this.#findings.add({ severity: "error", at: node, ...refused });
    else if (isGlob(pattern)) this.#glob(path, pattern, node);
    else this.#file(pathBeside(path, pattern) ?? pattern, node);
  }

  #glob(path: string, pattern: string, node: SpecNode): void {
    if (!this.#counts(node)) return;
    const paths = this.#tree.glob([pattern], pathBeside(path, ".") ?? ".");
    for (const matched of paths) this.#file(matched, node);
    if (paths.length > 0) return;
    const [link] = this.#tree.irregular([pattern], pathBeside(path, ".") ?? ".");
    const told = `the include ${JSON.stringify(pattern)} matches`;
    if (link === undefined) this.#findings.error("SPEC_INCLUDE", `${told} no file`, node);
    else
      this.#findings.error("SPEC_INCLUDE", `${told} only links or pipes, which are not read`, node, {
        hint: `replace ${this.#tree.shown(link)} with a regular file, or include the file that it points to`,
      });
  }

  #refused(path: string, refused: RefusedFile, from: Span | undefined): void {
    const { code, words } = refusedWords(refused);
    const shown = this.#tree.shown(path);
    const main =
      code === "SPEC_TOO_LARGE"
        ? "split it into files, and list them under include"
        : "pass another spec with --file, or run `workspace init` to create one";
    this.#findings.error(code, `${shown} ${words}`, from, { hint: from === undefined ? main : undefined });
  }
}

type Refusal = Pick<Finding, "code" | "message" | "hint">;

function includeRefused(path: string, pattern: string, node: SpecNode): Refusal | undefined {
  if (pattern === "")
    return { code: "SPEC_TYPE", message: `include must be a list of paths, not ${describeNode(node)}` };
  if (pattern.includes("${")) {
    const message = "an include cannot contain a variable, because files are read before variables";
    return { code: "SPEC_INCLUDE", message };
  }
  const told = JSON.stringify(shortened(pattern, 80));
  const problem = isGlob(pattern) ? filePatternProblem(pattern) : undefined;
  if (problem?.leadsOut === false)
    return { code: "SPEC_INCLUDE", message: `the include ${told} ${problem.words}` };
  if (problem === undefined && (isGlob(pattern) || pathBeside(path, pattern) !== undefined)) return undefined;
  const hint = "use a path below the folder of the including file";
  return { code: "SPEC_OUTSIDE", message: `the include ${told} points outside the spec's folder`, hint };
}

/** How deep the members of a section are shared between files: only one file may declare `pools.shared`. */
const SHARED_DEPTH: Readonly<Record<string, number>> = { targets: 3 };

/** Lists of entries that do not depend on their order. */
const JOINED_LISTS: ReadonlySet<string> = new Set(["moved", "removed", "import"]);

const isJoinedList = (key: string, level: number): boolean => level === 1 && JOINED_LISTS.has(key);

/** The maps of files as one; undefined without any. */
export function joinFiles(roots: readonly MapNode[], findings: Findings): MapNode | undefined {
  const [first, ...others] = roots;
  return first && others.reduce((root, node) => joined(root, node, 1, undefined, findings), first);
}

/** Maps are shared down to the level of resources; below, a key belongs to one file. */
function joined(
  a: MapNode,
  b: MapNode,
  level: number,
  section: string | undefined,
  findings: Findings,
): MapNode {
  const members = new Map(a.members);
  for (const [key, right] of b.members) {
    if (level === 1 && key === "include") continue;
    const left = members.get(key);
    const within = section ?? key;
    if (left === undefined || isNull(left.value)) members.set(key, right);
    else if (isNull(right.value) && level === 1) continue;
    else if (isJoinedList(key, level) && left.value.kind === "list" && right.value.kind === "list")
      members.set(key, {
        key: left.key,
        value: listAt(left.value, [...left.value.items, ...right.value.items]),
      });
    else if (level <= (SHARED_DEPTH[within] ?? 1) && left.value.kind === "map" && right.value.kind === "map")
      members.set(key, {
        key: left.key,
        value: joined(left.value, right.value, level + 1, within, findings),
      });
    else collision(section, key, left, right, findings);
  }
  return mapAt(a, members);
}

function collision(
  section: string | undefined,
  key: string,
  left: MapMember,
  right: MapMember,
  findings: Findings,
): void {
  const { file } = left.key.source;
  const line = left.key.source.lineOf(left.key.start) + 1;
  const name = section === undefined ? key : `${section}.${key}`;
  findings.error("SPEC_DUPLICATE_KEY", `${name} is defined in two files`, right.key, {
    hint: `it is first defined in ${file}:${line}`,
  });
}

/** A file of a spec with the rules of the spec, and of its targets, by name. */
export function withNamedRules(root: MapNode, findings: Findings): MapNode {
  const own = named(root, findings);
  const targets = member(own, "targets");
  if (targets?.kind !== "map") return own;
  const members = new Map<string, MapMember>();
  for (const [name, { key, value }] of targets.members)
    members.set(name, { key, value: value.kind === "map" ? named(value, findings) : value });
  const key = own.members.get("targets")?.key ?? targets;
  return withMembers(own, { targets: { key, value: mapAt(targets, members) } });
}

function named(sections: MapNode, findings: Findings): MapNode {
  const mapMember = sections.members.get("rules");
  if (mapMember === undefined || isNull(mapMember.value)) return sections;
  const { key, value } = mapMember;
  return withMembers(sections, { rules: { key, value: rulesByName(value, findings) } });
}

function rulesByName(node: SpecNode, findings: Findings): MapNode {
  const rules = new Map<string, MapMember>();
  if (node.kind !== "list") {
    findings.error("SPEC_RULE", `rules must be a list of rules, not ${describeNode(node)}`, node, {
      hint: "write each rule as an entry: - name: …",
    });
    return mapAt(node, rules);
  }
  for (const item of node.items) {
    const at = member(item, "name");
    const name = scalarText(at);
    if (at === undefined || name === undefined || name === "")
      findings.error("SPEC_RULE", "a rule requires a name, which is a string", at ?? item);
    else if (rules.has(name)) findings.error("SPEC_RULE", `two rules have the name ${name}`, at);
    else rules.set(name, { key: at, value: item });
  }
  return mapAt(node, rules);
}
