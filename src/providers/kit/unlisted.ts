// Recorded objects that a list does not contain: some lists are incomplete, and pages shift while they are read.

import { type RemoteId, remoteId } from "../../core/address.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { ListScope } from "../../resource/operations.ts";

/** The listed objects, and the recorded ones that only a read by ID finds. */
export async function withUnlisted(
  inList: readonly LiveObject[],
  { ids = new Set() }: ListScope,
  read: (id: RemoteId) => Promise<LiveObject | undefined>,
): Promise<readonly LiveObject[]> {
  const there = new Set<string>(inList.map((live) => live.id));
  const missing = [...ids].filter((id) => !there.has(id));
  const found = await Promise.all(missing.map((id) => read(remoteId(id))));
  return [...inList, ...found.filter((live) => live !== undefined)];
}
