// Rewrites a state and its versions under another key, or with or without encryption. After an interruption, run it again.

import { Failure } from "../../core/diagnostic.ts";
import { fromHex, keptKey, keyCheck, keyFromText, otherKey } from "../format/key.ts";
import type { Snapshot } from "../format/snapshot.ts";
import { snapshotText } from "../format/snapshot-text.ts";
import type { LockClaim } from "../model/backend.ts";
import { stateNotFound } from "../model/failures.ts";
import { toHex } from "../model/ports.ts";
import type { LockOptions, Rekeyed } from "../model/store.ts";
import type { DigestKey } from "./lease.ts";
import { loadFrom, snapshotIn } from "./load.ts";
import { claimLock, openLeaseWith, type StoreContext, withClaim } from "./store-context.ts";

/** `kept.cipher` decrypts with either key. Digests of secrets keep their key, so that no plan shows them as changed. */
export async function rekey(
  kept: StoreContext,
  keyTexts: readonly string[],
  options: LockOptions,
): Promise<Rekeyed> {
  const { backend, cipher } = kept;
  const load = () => loadFrom(backend, cipher);
  const claim = await claimLock(kept, options, load);
  return withClaim(backend, claim, async () => {
    const found = await load();
    if (found === undefined) throw stateNotFound(backend.names.place, "there is nothing to encrypt");
    const key = await digestKeyFor(kept, keyTexts, found.snapshot);
    if (!cipher.encrypts && key?.hex !== undefined) await backend.putKey(claim, `${key.hex}\n`);
    const written: DigestKey = cipher.encrypts ? (key ?? { check: "" }) : { check: key?.check ?? "" };
    const opening = { ...kept, claim, found, digestKey: () => written };
    const lease = await openLeaseWith(opening, found.state, found.seq);
    try {
      await againForAll(kept, claim, written);
      if (cipher.encrypts) await backend.putKey(claim, undefined);
      return { state: lease.state(), diagnostics: found.diagnostics };
    } finally {
      await lease.release();
    }
  });
}

/** The key that made the digests in a state, wherever it is; undefined where there are none. */
async function digestKeyFor(
  { backend }: StoreContext,
  keyTexts: readonly string[],
  snapshot: Snapshot | undefined,
): Promise<Required<DigestKey> | undefined> {
  const check = snapshot?.key ?? "";
  if (check === "") return undefined;
  const beside = await backend.key();
  const known = [
    ...(snapshot?.digestKey === undefined ? [] : [fromHex(snapshot.digestKey)]),
    ...keyTexts.map(keyFromText),
    ...(beside === undefined ? [] : [keptKey(beside, backend.names.key)]),
  ];
  const found = known.find((key) => keyCheck(key) === check);
  if (found === undefined) throw otherKey(known.length > 0, backend.names.key);
  return { check, hex: toHex(found) };
}

async function againForAll(
  { backend, cipher }: StoreContext,
  claim: LockClaim,
  key: DigestKey,
): Promise<void> {
  for (const serial of await backend.generations()) {
    const piece = await backend.generation(serial);
    const snapshot = piece === undefined ? undefined : readable(() => snapshotIn(piece, cipher));
    if (snapshot === undefined) continue;
    const { digestKey: _, ...rest } = snapshot;
    const carried = key.hex !== undefined && key.check === snapshot.key ? { digestKey: key.hex } : {};
    const { text } = snapshotText({ ...rest, ...carried });
    await backend.putGeneration(claim, serial, cipher.encryptPieces(text));
  }
}

/** An unreadable version is kept unchanged. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (failure) {
    if (failure instanceof Failure) return undefined;
    throw failure;
  }
}
