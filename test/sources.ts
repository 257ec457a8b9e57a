// The program's files with their imports and exports, read as text, for the tests of the layout.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface Import {
  readonly to: string;
  readonly typeOnly: boolean;
  /** Loaded dynamically: such a cycle is never entered while modules load. */
  readonly later: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const IMPORT = /^(?:import|export)\s+(type\s+)?([^;"']*?)\s*from\s+["']([^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
const BARE = /^import\s+["']([^"']+)["']/gm;
const DECLARED =
  /^export\s+(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+(\w+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}\s*;/gm;

export function readSource(path: string): SourceFile {
  const text = readFileSync(path, "utf8");
  const named = [...text.matchAll(IMPORT)].map(([, type, names = "", to = ""]) => ({
    to,
    typeOnly: type !== undefined || onlyTypes(names),
    later: false,
  }));
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, to = ""]) => ({ to, typeOnly: false, later: true }));
  const bare = [...text.matchAll(BARE)].map(([, to = ""]) => ({ to, typeOnly: false, later: false }));
  return { path, text, imports: [...named, ...dynamic, ...bare] };
}

function onlyTypes(names: string): boolean {
  const inside = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
  if (inside === undefined) return false;
  return inside.split(",").every((one) => one.trim() === "" || one.trim().startsWith("type "));
}

/** The file that an import names; undefined for a package. */
export function importedFile(source: SourceFile, one: Import): string | undefined {
  return one.to.startsWith(".") ? normalize(join(dirname(source.path), one.to)) : undefined;
}

export const readSources = (): readonly SourceFile[] => globSync("src/**/*.ts").sort().map(readSource);

export const roomOf = (path: string): string => path.split("/")[1] ?? "";

/** The folder of a file within its room, "." for the room's entrance; nested folders count as the first. */
export function folderIn(path: string): string {
  const inside = path.split("/").slice(2, -1);
  return inside[0] ?? ".";
}

/** Names that a file exports itself, each once. */
export function exportedNames({ text }: SourceFile): ReadonlySet<string> {
  const declared = [...text.matchAll(DECLARED)].map(([, name = ""]) => name);
  const listed = [...text.matchAll(LISTED)].flatMap(([, names = ""]) =>
    names.split(",").flatMap((one) => one.trim().split(/\s+/).at(-1) || []),
  );
  return new Set([...declared, ...listed]);
}

/** Exported names with the files that own them, where there are several. */
export function sharedNames(sources: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const source of sources)
    for (const name of exportedNames(source)) owners.set(name, [...(owners.get(name) ?? []), source.path]);
  return new Map([...owners].filter(([, files]) => files.length > 1).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Which files each file imports, type imports and late ones too. */
export function importGraph(sources: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    sources.map((source) => [source.path, source.imports.flatMap((one) => importedFile(source, one) ?? [])]),
  );
}

/** Groups of nodes that reach one another, each sorted (Tarjan's strongly connected components). */
export function circleGroups(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): void => {
    const at = index.size;
    index.set(node, at);
    low.set(node, at);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? at, low.get(next) ?? at));
    }
    if (low.get(node) !== at) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1 || edges.get(node)?.includes(node) === true) groups.push(group.sort());
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return groups.sort((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));
}
