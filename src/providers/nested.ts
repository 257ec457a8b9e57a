// Names of things that live in a scope: `etl/db-password` is the member `db-password` of the parent `etl`.

import { memberOf, parentOf } from "../core/address.ts";
import type { LiveObject } from "../resource/provider.ts";
import type { Reader } from "../resource/verbs.ts";

export interface Place {
  readonly parent: string;
  readonly member: string;
}

export function placeOf(name: string): Place {
  return { parent: parentOf(name), member: memberOf(name) };
}

/** The members of all parents; the client bounds how many requests are under way. */
export async function membersOfAll(
  api: Reader,
  parents: readonly string[],
  members: (api: Reader, parent: string) => Promise<readonly LiveObject[]>,
): Promise<readonly LiveObject[]> {
  return (await Promise.all(parents.map((parent) => members(api, parent)))).flat();
}
