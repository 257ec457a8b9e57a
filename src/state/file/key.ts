// The key for digests of secrets: from the environment, or a private file beside the state, made on first use.

import { digest, keyedDigest } from "../../core/canonical.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { type FileSystem, type Random, randomHex } from "../ports.ts";
import { claimFile, inFolder, ioFailure } from "./durable.ts";

export const KEY_FILE = "key";
const KEY_TEXT = /^[0-9a-f]{64}\n?$/;
const SHORTEST = 16;

/** Tells two keys apart without telling either. */
export function keyCheck(key: Uint8Array): string {
  return keyedDigest(key, "workspace state key").slice(0, 16);
}

/** The key that WORKSPACE_STATE_KEY stands for: any text of 16 characters or more. */
export function keyFromText(text: string): Uint8Array {
  if (text.length < SHORTEST) {
    throw new Failure(
      error("STATE_KEY", `WORKSPACE_STATE_KEY is shorter than ${SHORTEST} characters`, {
        hint: "use a long random text, for example the output of: openssl rand -hex 32",
      }),
    );
  }
  return bytesOf(digest(`workspace state key\n${text}`));
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** The key in the folder's key file; undefined when there is none. */
export async function keyInFolder(fs: FileSystem, folder: string): Promise<Uint8Array | undefined> {
  const bytes = await fs.read(inFolder(folder, KEY_FILE));
  if (bytes === undefined) return undefined;
  const text = new TextDecoder().decode(bytes);
  if (!KEY_TEXT.test(text)) throw new Failure(error("STATE_KEY", `the file ${KEY_FILE} holds no key`));
  return bytesOf(text.trim());
}

/** Makes the key file; another run that was faster wins. */
export async function makeKey(fs: FileSystem, folder: string, random: Random): Promise<Uint8Array> {
  try {
    await fs.makeFolder(folder);
    await claimFile(fs, folder, KEY_FILE, `${randomHex(random, 32)}\n`, randomHex(random, 8));
    await fs.syncFolder(folder);
    const key = await keyInFolder(fs, folder);
    if (key !== undefined) return key;
  } catch (failure) {
    throw ioFailure(failure, "making the state's key");
  }
  throw new Failure(error("STATE_KEY", `the file ${KEY_FILE} vanished after it was made`));
}

export function otherKey(given: boolean): Failure {
  return new Failure(
    error(
      "STATE_KEY",
      given ? "the key is not the one that this state was written with" : "the state's key is missing",
      {
        hint: `set WORKSPACE_STATE_KEY to the key of this state, or put back the file ${KEY_FILE} in its folder`,
      },
    ),
  );
}
