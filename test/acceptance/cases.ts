// The scenarios below a folder, each under its name: the name of its file without folder and extension.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

interface Case {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Its first line. */
  readonly title: string;
}

export function casesIn(folder: "cases" | "databricks"): readonly Case[] {
  const cases = globSync(join(import.meta.dirname, folder, "**/*.txt")).map((path) => {
    const text = readFileSync(path, "utf8");
    return {
      name: basename(path, ".txt"),
      path,
      text,
      title: (text.split("\n")[0] ?? "").replace(/^# /, ""),
    };
  });
  return cases.sort((a, b) => (a.name < b.name ? -1 : 1));
}
