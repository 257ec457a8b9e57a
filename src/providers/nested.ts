// Names of things that live in a scope: `etl/db-password` is the member `db-password` of the parent `etl`.

import type { LiveObject } from "../resource/provider.ts";
import type { Reader } from "../resource/verbs.ts";

export interface Place {
  readonly parent: string;
  readonly member: string;
}

/** The first slash ends the parent: scope names have none. */
export function placeOf(name: string): Place {
  const slash = name.indexOf("/");
  return { parent: name.slice(0, Math.max(0, slash)), member: name.slice(slash + 1) };
}

/** The members of all parents; the client bounds how many requests are under way. */
export async function membersOfAll(
  api: Reader,
  parents: readonly string[],
  members: (api: Reader, parent: string) => Promise<readonly LiveObject[]>,
): Promise<readonly LiveObject[]> {
  return (await Promise.all(parents.map((parent) => members(api, parent)))).flat();
}
