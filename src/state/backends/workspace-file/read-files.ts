// Reads a state's files in the workspace: the current journal, and its segments in order.

import type { StoredText } from "../../model/backend.ts";
import { corrupt } from "../../model/failures.ts";
import {
  type JournalName,
  journalFolder,
  journalsIn,
  NO_STATE,
  segmentsIn,
  stateFile,
  statesIn,
} from "./file-names.ts";
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
