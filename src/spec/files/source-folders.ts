// Source folders of notebooks and files: an entry with `source_dir` becomes one resource for each file below that folder.

import { addressOf } from "../../core/address.ts";
import type { Code } from "../../core/codes.ts";
import { grouped, shortened } from "../../core/sentences.ts";
import { hasContent, type PlanningRegistry } from "../../resource/kind.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { WrittenResource } from "../model/spec.ts";
import {
  hasSensitive,
  type MapMember,
  mapAt,
  member,
  SHOWN_EVERYWHERE,
  type SpecNode,
  scalarAt,
  scalarText,
  withMembers,
} from "../model/tree.ts";
import { namedPath, openSourceFile } from "./contents.ts";
import { extensionOf, isNotebookKind, NOTEBOOK_EXTENSIONS } from "./notebook-format.ts";
import { filePatternProblem, type SpecFolder } from "./spec-folder.ts";

const FOLDER_FIELDS = ["source_dir", "include", "exclude"] as const;

/** Every pattern is tried on every file below a folder, also where none matches. */
const PATTERN_COST = 20;

/** The resources with every folder expanded, at most so many. An explicit resource overrides one from a folder. */
export function expandSourceFolders(
  resources: readonly WrittenResource[],
  registry: PlanningRegistry,
  tree: SpecFolder,
  findings: Findings,
  most: number,
): readonly WrittenResource[] {
  const folders = resources.filter(
    (resource) => hasContent(resource.provider) && resource.fields.members.has("source_dir"),
  );
  if (folders.length === 0) return resources;
  const expansion = new FolderExpansion(registry, tree, findings, most);
  const rest = resources.filter((resource) => !folders.includes(resource));
  const byAddress = new Map(rest.map((resource) => [resource.address, resource]));
  for (const folder of folders)
    for (const resource of expansion.members(folder)) {
      const earlier = byAddress.get(resource.address);
      if (earlier === undefined) byAddress.set(resource.address, resource);
      // Folders may be met from two sides; contents may not.
      else if (!rest.includes(earlier) && hasContent(resource.provider)) {
        const files = [resource, earlier].map((each) => scalarText(member(each.fields, "source")));
        const message = `both ${files[0]} and ${files[1]} define ${resource.address}`;
        const hint = "rename one of the files, or exclude one";
        findings.error("SPEC_DUPLICATE_NAME", message, folder.at, { address: folder.address, hint });
      }
    }
  return [...byAddress.values()];
}

class FolderExpansion {
  readonly #registry: PlanningRegistry;
  readonly #tree: SpecFolder;
  readonly #findings: Findings;
  readonly #most: number;
  /** The files that may still come: a small spec must not name a large folder many times. */
  #left: number;

  constructor(registry: PlanningRegistry, tree: SpecFolder, findings: Findings, most: number) {
    this.#registry = registry;
    this.#tree = tree;
    this.#findings = findings;
    this.#most = most;
    this.#left = most;
  }

  /** The resources of one folder. */
  members(folder: WrittenResource): readonly WrittenResource[] {
    const tree = this.#tree;
    const node = member(folder.fields, "source_dir");
    if (node === undefined || this.#isDecidedBySensitive(folder)) return [];
    const local = namedPath(folder, node, this.#findings);
    if (local === undefined) return [];
    const { address } = folder;
    const error = (code: Code, problem: string): void =>
      this.#findings.error(code, `${address}${problem}`, node, { address });
    if (folder.fields.members.has("source")) error("SPEC_COMBINATION", " has both source and source_dir");
    const there = tree.folderAt(local);
    if (!there.ok) {
      const refusal = there.refusal === "missing" ? "no folder" : there.refusal;
      openSourceFile(folder, local, node, { ok: false, refusal }, this.#findings);
      return [];
    }
    const usual = isNotebookKind(folder.provider) ? NOTEBOOKS : "**";
    const patterns = this.#patterns(folder, "include") ?? [usual];
    const except = this.#patterns(folder, "exclude") ?? [];
    if (!this.#hasRoom(PATTERN_COST * (patterns.length + except.length), folder)) return [];
    const matched = tree.glob(patterns, local, except);
    if (!this.#hasRoom(matched.length, folder)) return [];
    if (matched.length === 0 && tree.irregular(patterns, local, except).length > 0)
      error("SPEC_INCLUDE", `: only links or pipes in ${local} match, and the spec does not read those`);
    else if (matched.length === 0) error("SPEC_INCLUDE", `: no file in ${local} matches`);
    const files = matched.map((path) => fileIn(folder, path, local, node));
    return [...foldersOf(files, folder, this.#registry), ...files];
  }

  /** Reports the fields that would let a sensitive value decide which resources exist. */
  #isDecidedBySensitive({ address, fields }: WrittenResource): boolean {
    const sensitive = FOLDER_FIELDS.flatMap((field) => {
      const node = member(fields, field);
      return node !== undefined && hasSensitive(node) ? [{ field, node }] : [];
    });
    for (const { field, node } of sensitive)
      this.#findings.error("SPEC_SENSITIVE", `${address}: ${field} cannot contain a sensitive value`, node, {
        address,
        hint: SHOWN_EVERYWHERE,
      });
    return sensitive.length > 0;
  }

  /** False once the limit is exceeded, which is reported once. */
  #hasRoom(files: number, folder: WrittenResource): boolean {
    if (this.#left < 0) return false;
    this.#left -= files;
    if (this.#left >= 0) return true;
    const message = `source folders name more than ${grouped(this.#most)} files; each pattern counts as ${PATTERN_COST}`;
    this.#findings.error("SPEC_TOO_LARGE", message, folder.at, { address: folder.address });
    return false;
  }

  #patterns(folder: WrittenResource, field: "include" | "exclude"): readonly string[] | undefined {
    const node = member(folder.fields, field);
    if (node === undefined) return undefined;
    const { address } = folder;
    const items: readonly SpecNode[] = node.kind === "list" ? node.items : [node];
    return items.flatMap((item) => {
      const pattern = scalarText(item);
      if (pattern === undefined) return [];
      const problem = filePatternProblem(pattern);
      if (problem === undefined) return [pattern];
      const message = `${address}: the pattern ${JSON.stringify(shortened(pattern, 80))} ${problem.words}`;
      this.#findings.error(problem.leadsOut ? "SPEC_OUTSIDE" : "SPEC_INCLUDE", message, item, { address });
      return [];
    });
  }
}

const NOTEBOOKS = `**/*.{${NOTEBOOK_EXTENSIONS.map((text) => text.slice(1)).join(",")},R}`;

/** The resource of one file; the name of a notebook has no extension. */
function fileIn(folder: WrittenResource, path: string, local: string, at: Span): WrittenResource {
  const within = local === "." ? path : path.slice(local.length + 1);
  const shown = isNotebookKind(folder.provider)
    ? within.slice(0, within.length - extensionOf(within).length)
    : within;
  const key = `${folder.key === "/" ? "" : folder.key}/${shown}`;
  // The path is written as in the file that names the folder.
  const above = "../".repeat(at.source.path.split("/").length - 1);
  const place = { source: at.source, start: at.start, end: at.end };
  const fields = withMembers(folder.fields, {
    ...Object.fromEntries(FOLDER_FIELDS.map((field) => [field, undefined])),
    source: { key: place, value: scalarAt(place, `${above}${path}`) },
  });
  return { ...folder, key, name: key, address: addressOf(folder.provider.kind, key), fields };
}

/** Folders between the declared one and its files; imports require them to exist. */
function foldersOf(
  files: readonly WrittenResource[],
  folder: WrittenResource,
  registry: PlanningRegistry,
): readonly WrittenResource[] {
  const byAddress = new Map<string, WrittenResource>();
  for (const file of files)
    for (const need of file.provider.planning.dependencies?.(file.name, {}) ?? []) {
      const provider = registry.find(need.kind);
      if (provider === undefined || provider === file.provider) continue;
      const fields = mapAt(folder.fields, new Map<string, MapMember>());
      const bare = { ...folder, provider, fields, lifecycle: undefined };
      let { name } = need;
      while (name.startsWith(`${folder.key}/`)) {
        byAddress.set(name, { ...bare, address: addressOf(provider.kind, name), key: name, name });
        name = name.slice(0, name.lastIndexOf("/"));
      }
    }
  return [...byAddress.values()];
}
