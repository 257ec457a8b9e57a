// A state's files in the workspace: their names, the current journal, and its segments in order. No name is ever reused for other content, except a holder's own claim.

import type { StoredText } from "../../model/backend.ts";
import { corrupt } from "../../model/failures.ts";
import type { Files } from "./files.ts";

export async function namesIn(files: Files, folder: string): Promise<readonly string[]> {
  return (await files.list(folder)).map((entry) => entry.name);
}

export async function readStoredText(files: Files, path: string): Promise<StoredText | undefined> {
  const bytes = await files.read(path);
  return bytes === undefined ? undefined : { name: path, bytes };
}

export interface FoundJournal {
  readonly name: JournalName;
  readonly piece: StoredText;
}

/** The current journal: the last one of the greatest fencing token. One whose creation was interrupted is empty. */
export async function findJournal(
  files: Files,
  folder: string,
  names: readonly string[],
): Promise<FoundJournal | undefined> {
  for (const name of journalsIn(names)) {
    const path = `${folder}/${journalFolder(name)}`;
    const segments = segmentsIn(await namesIn(files, path));
    if (segments.length === 0) continue;
    return { name, piece: { name: path, bytes: await together(files, path, segments) } };
  }
  return undefined;
}

async function together(files: Files, folder: string, segments: readonly number[]): Promise<Uint8Array> {
  const pieces = await Promise.all(segments.map((n) => files.read(`${folder}/${n}`)));
  let offset = 0;
  segments.forEach((n, at) => {
    if (n !== at || pieces[at] === undefined) throw corrupt(folder, offset, `its segment ${at} is missing`);
    offset += pieces[at].length;
  });
  return new Uint8Array(Buffer.concat(pieces.flatMap((piece) => piece ?? [])));
}

/** Copies state and journal unchanged, damaged or not, into a folder next to them. */
export async function copyAside(
  files: Files,
  folder: string,
  names: readonly string[],
  aside: string,
): Promise<void> {
  const copy = async (from: string, to: string): Promise<void> => {
    const bytes = await files.read(`${folder}/${from}`);
    if (bytes !== undefined) await files.put(`${aside}/${to}`, bytes);
  };
  await files.makeFolder(aside);
  const [journal] = journalsIn(names);
  const base = journal?.base ?? statesIn(names)[0] ?? NO_STATE;
  await copy(stateFile(base), stateFile(base));
  if (journal === undefined) return;
  const from = journalFolder(journal);
  for (const n of segmentsIn(await namesIn(files, `${folder}/${from}`)))
    await copy(`${from}/${n}`, `journal.${n}`);
}

/** A state file: its serial, and the fencing token of its writer. `0.0` means no state. */
export interface StateName {
  readonly serial: number;
  readonly fence: number;
}

/** A journal is a folder of segments: begun under a fence, as its holder's `epoch`-th, going on from a state. */
export interface JournalName {
  readonly fence: number;
  readonly epoch: number;
  readonly base: StateName;
}

export const NO_STATE: StateName = { serial: 0, fence: 0 };

const NUMBER = "(\\d{1,15})";
const STATE = new RegExp(`^state\\.${NUMBER}\\.${NUMBER}$`);
const JOURNAL = new RegExp(`^journal\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}$`);
const SEGMENT = /^\d{1,15}$/;

export const stateFile = ({ serial, fence }: StateName): string => `state.${serial}.${fence}`;
export const journalFolder = ({ fence, epoch, base }: JournalName): string =>
  `journal.${fence}.${epoch}.${base.serial}.${base.fence}`;

export function statesIn(names: readonly string[]): readonly StateName[] {
  return names
    .flatMap((name) => {
      const [, serial, fence] = STATE.exec(name) ?? [];
      return serial === undefined ? [] : [{ serial: Number(serial), fence: Number(fence) }];
    })
    .sort((a, b) => b.serial - a.serial || b.fence - a.fence);
}

/** The one that counts first. */
export function journalsIn(names: readonly string[]): readonly JournalName[] {
  return names
    .flatMap((name) => {
      const [, fence, epoch, serial, of] = JOURNAL.exec(name) ?? [];
      if (fence === undefined) return [];
      return [
        { fence: Number(fence), epoch: Number(epoch), base: { serial: Number(serial), fence: Number(of) } },
      ];
    })
    .sort((a, b) => b.fence - a.fence || b.epoch - a.epoch);
}

export function segmentsIn(names: readonly string[]): readonly number[] {
  return names
    .filter((name) => SEGMENT.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

export function sameState(a: StateName, b: StateName): boolean {
  return a.serial === b.serial && a.fence === b.fence;
}
