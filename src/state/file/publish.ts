// Puts a new state.json and a fresh journal in place, and keeps the generations before it.

import { FORMAT_VERSION } from "../format.ts";
import { beginLine, type Line } from "../lines.ts";
import type { FileSystem } from "../ports.ts";
import { type Snapshot, snapshotText } from "../snapshot.ts";
import { inFolder, replaceFile } from "./durable.ts";
import { JOURNAL_FILE, STATE_FILE } from "./load.ts";

const GENERATIONS = 5;
const GENERATION = /^state\.(\d{1,15})\.json$/;

/** Writes state.json; the one before it stays as `state.<serial>.json`. Returns the digest in the new file. */
export async function putState(
  fs: FileSystem,
  folder: string,
  next: Omit<Snapshot, "digest">,
  before: Snapshot | undefined,
  mark: string,
): Promise<string> {
  const { text, digest } = snapshotText(next);
  if (before !== undefined)
    await fs.link(inFolder(folder, STATE_FILE), inFolder(folder, `state.${before.state.serial}.json`));
  await replaceFile(fs, folder, STATE_FILE, text, mark);
  await fs.syncFolder(folder);
  await forgetOld(fs, folder);
  return digest;
}

async function forgetOld(fs: FileSystem, folder: string): Promise<void> {
  const serials = (await fs.list(folder))
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
  for (const serial of serials.slice(GENERATIONS)) await fs.remove(inFolder(folder, `state.${serial}.json`));
}

export interface Continuing {
  readonly lineage: string;
  readonly serial: number;
  /** Digest of the state that the journal goes on from; empty before there is one. */
  readonly state: string;
  readonly fence: number;
  readonly seq: number;
}

/** Puts an empty journal in place. Whoever still has the old one open writes into a file without a name. */
export async function putJournal(
  fs: FileSystem,
  folder: string,
  from: Continuing,
  mark: string,
): Promise<Line> {
  const line = beginLine({ format_version: FORMAT_VERSION, ...from });
  await replaceFile(fs, folder, JOURNAL_FILE, line.text, mark);
  await fs.syncFolder(folder);
  return line;
}
