// Live objects that this program cannot manage: never adopted, changed, or deleted.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Kind } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Resource } from "../../spec/model/spec.ts";

/** Why a resource cannot be a live object; undefined if it can. */
export function unmanageableError(
  { address, at, kind }: Pick<Resource, "address" | "at" | "kind">,
  { singular }: Pick<Kind, "singular">,
  live: LiveObject,
): Diagnostic | undefined {
  if (live.unmanageable === undefined) return undefined;
  return error(
    "PLAN_UNMANAGEABLE",
    `${address} cannot manage the ${singular} ${live.id}: ${live.unmanageable}`,
    {
      address,
      at,
      hint: `remove it from the spec and change it with other tools, or give the ${singular} another name in ${kind}; if a state has it: workspace state rm ${address}`,
    },
  );
}

export const isManageable = ({ unmanageable }: LiveObject): boolean => unmanageable === undefined;
