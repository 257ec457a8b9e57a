// The older states beside state.json: `state.<serial>.json`, five of them.

import { GENERATIONS } from "../place.ts";
import type { FileSystem } from "../ports.ts";
import { inFolder } from "./durable.ts";

const GENERATION = /^state\.(\d{1,15})\.json$/;

export function generationFile(serial: number): string {
  return `state.${serial}.json`;
}

/** The newest first. */
export async function serialsIn(fs: FileSystem, folder: string): Promise<readonly number[]> {
  return (await fs.list(folder))
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

export async function forgetOld(fs: FileSystem, folder: string): Promise<void> {
  const serials = await serialsIn(fs, folder);
  for (const serial of serials.slice(GENERATIONS)) await fs.remove(inFolder(folder, generationFile(serial)));
}
