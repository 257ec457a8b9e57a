// Live objects that this program cannot manage: never adopted, changed, or deleted.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { Kind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Resource } from "../../spec/model/spec.ts";

/** Why a resource cannot be a live object; undefined if it can. */
export function unmanageableError(
  resource: Pick<Resource, "address" | "at">,
  { singular }: Pick<Kind, "singular">,
  live: LiveObject,
): Diagnostic | undefined {
  if (live.unmanageable === undefined) return undefined;
  const { address, at } = resource;
  const message = `${address} cannot manage the ${singular} ${live.id}: ${live.unmanageable}`;
  return error("PLAN_UNMANAGEABLE", message, {
    address,
    at,
    hint: `give the resource another name, or remove it from the spec and change the ${singular} with other tools; to remove it from the state, run \`workspace state rm ${shellWord(address)}\``,
  });
}

export const isManageable = ({ unmanageable }: Pick<LiveObject, "unmanageable">): boolean =>
  unmanageable === undefined;
