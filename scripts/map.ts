// `npm run map`: draws the rooms of src/ and who imports whom, from the imports, into docs/images/rooms.svg.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { instance } from "@viz-js/viz";
import { importedFile, readSources, roomOf, type SourceFile } from "../test/sources.ts";

const ROOT = join(import.meta.dirname, "..");
export const ROOMS_PICTURE = "docs/images/rooms.svg";

/** Whether a room imports values of another one; false for types alone. */
type Arrows = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

function arrowsOf(sources: readonly SourceFile[]): Arrows {
  const arrows = new Map<string, Map<string, boolean>>();
  for (const source of sources) {
    const from = roomOf(source.path).replace(/\.ts$/, "");
    const to = arrows.get(from) ?? new Map<string, boolean>();
    arrows.set(from, to);
    for (const imported of source.imports) {
      const file = importedFile(source, imported);
      const room = file?.startsWith("src/") === true ? roomOf(file).replace(/\.ts$/, "") : from;
      if (room !== from) to.set(room, to.get(room) === true || !imported.typeOnly);
    }
  }
  return arrows;
}

/** Without an arrow that a longer way implies, so that the layers are visible. Types alone count as arrows, too. */
function reduced(arrows: Arrows): Arrows {
  const reaches = (from: string, to: string): boolean =>
    [...(arrows.get(from)?.keys() ?? [])].some((next) => next === to || reaches(next, to));
  return new Map(
    [...arrows].map(([from, to]) => {
      const kept = [...to].filter(
        ([room]) => ![...to.keys()].some((other) => other !== room && reaches(other, room)),
      );
      return [from, new Map(kept)];
    }),
  );
}

function dotOf(arrows: Arrows): string {
  const lines = [...reduced(arrows)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([from, to]) => [
      `  ${from};`,
      ...[...to].map(([room, isValue]) => `  ${from} -> ${room}${isValue ? "" : " [style=dashed]"};`),
    ]);
  const node =
    'node [shape=box style="rounded,filled" fillcolor="#f6f8fa" color="#57606a" fontname="sans-serif" margin="0.22,0.1"]';
  return `digraph rooms {\n  rankdir=TB; bgcolor=white;\n  ${node};\n  edge [color="#57606a"];\n${lines.join("\n")}\n}\n`;
}

/** The picture as SVG: an arrow points to what a room imports; a dashed one means types alone. */
export async function roomsPicture(): Promise<string> {
  const viz = await instance();
  return `${viz.renderString(dotOf(arrowsOf(readSources())), { format: "svg" }).replace(/^[\s\S]*?(?=<svg)/, "")}`;
}

if (import.meta.main) writeFileSync(join(ROOT, ROOMS_PICTURE), await roomsPicture());
