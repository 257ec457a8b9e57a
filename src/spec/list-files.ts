// Lists the YAML files of a spec: the main file, modules for all targets, and their includes. Works for invalid specs.

import { SpecFileReader } from "./files/includes.ts";
import { pathBeside, type SpecFolder } from "./files/spec-folder.ts";
import type { Findings } from "./model/findings.ts";
import { LIMITS } from "./model/limits.ts";
import { type MapNode, member, type SpecNode, scalarText } from "./model/tree.ts";
import { MODULE_FILE } from "./modules/definition.ts";

/** Paths in the folder, in the order in which they are found. A file that cannot be read is reported. */
export function specFilePaths(tree: SpecFolder, main: string, findings: Findings): readonly string[] {
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
