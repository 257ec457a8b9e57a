// What the tests of the house ask of the layout: sizes of folders, and directions within a room.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { folderIn, importedFile, roomOf, type SourceFile } from "./sources.ts";

export const MOST_FILES = 20;

/** Folders of each room from the bottom up: a folder imports those before it. `.` is the room's entrance. */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  api: ["contract", "http", "auth", "retry", "dialect", "."],
  spec: [
    "model",
    "yaml",
    "format",
    "files",
    "evaluate",
    "schema",
    "variables",
    "modules",
    "resolve",
    "rules",
    "render",
    "export",
    "edit",
    "testing",
    ".",
  ],
  state: ["model", "format", "lock", "store", "backends"],
  providers: ["kit", "access", "admin", "clusters", "jobs", "."],
  planner: ["model", "order", "effective-access", "diff", "decide", "check", "mode", "."],
  engine: [".", "observe", "recover", "apply"],
  report: ["text", "view", "format", "inspect", "html", "metrics", "."],
  workflow: [
    "invocation",
    "rules",
    "session",
    "operate",
    "drift",
    "plan",
    "apply",
    "transfer",
    "convert",
    "spec-tests",
    "authoring",
  ],
  cli: ["command", "output", "fleet", "commands", "."],
  emulator: ["world", "store", "http", "notebook", "routes", "dialect", "."],
};

/** Folders of code with more files than a reader takes in at once. A folder without code holds data, of any number. */
export function foldersTooLarge(paths: readonly string[]): readonly string[] {
  const folders = Map.groupBy(paths, (path) => dirname(path));
  return [...folders]
    .filter(([, files]) => files.length > MOST_FILES && files.some((path) => path.endsWith(".ts")))
    .map(([folder, files]) => `${folder}: ${files.length} files`);
}

/** Imports within a room that go up instead of down, `model/` to anything else of its room among them. */
export function wrongDirections(sources: readonly SourceFile[]): readonly string[] {
  return sources.flatMap((source) => {
    const order = FOLDERS[roomOf(source.path)];
    if (
      order === undefined ||
      !existsSync(`src/${roomOf(source.path)}/${order.find((folder) => folder !== ".")}`)
    )
      return [];
    const at = order.indexOf(folderIn(source.path));
    if (at < 0) return [`${source.path} lies in a folder that the table does not know`];
    return source.imports.flatMap((one) => {
      const to = importedFile(source, one);
      if (to === undefined || roomOf(to) !== roomOf(source.path)) return [];
      return order.indexOf(folderIn(to)) > at ? [`${source.path} -> ${to}`] : [];
    });
  });
}
