// Replaces a file so that a crash leaves either the old or the new content.

import type { FileSystem } from "../../model/ports.ts";

/** The caller syncs the folder once after all files. `check` throws right before the rename if the lock was lost. */
export async function replaceFile(
  fs: FileSystem,
  folder: string,
  name: string,
  text: Iterable<string>,
  mark: string,
  check: () => Promise<void> = async () => {},
): Promise<void> {
  const temporary = `${folder}/${name}.${mark}.new`;
  await writeDurably(fs, temporary, text);
  try {
    await check();
    await fs.rename(temporary, `${folder}/${name}`);
  } catch (failure) {
    await check();
    throw failure;
  }
}

/** Creates a file only if none exists; false if one exists. */
export async function claimFile(
  fs: FileSystem,
  folder: string,
  name: string,
  text: string,
  mark: string,
): Promise<boolean> {
  const temporary = `${folder}/${name}.${mark}.new`;
  try {
    await writeDurably(fs, temporary, [text]);
    return await fs.link(temporary, `${folder}/${name}`);
  } finally {
    await fs.remove(temporary);
  }
}

async function writeDurably(fs: FileSystem, path: string, text: Iterable<string>): Promise<void> {
  const file = await fs.open(path, "fresh");
  try {
    for (const piece of text) await file.write(new TextEncoder().encode(piece));
    await file.sync();
  } finally {
    await file.close();
  }
}
