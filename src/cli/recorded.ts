// The remote id of what an address stands for: from the state, for commands that operate what is declared.

import { kindOf, parseAddress, type RemoteId } from "../core/address.ts";
import { error, Failure } from "../core/diagnostic.ts";
import type { State } from "../state/record.ts";
import type { HostOptions } from "./config.ts";
import { type Connection, withConnection } from "./connection.ts";
import type { Context } from "./context.ts";
import { nearest } from "./nearest.ts";
import { assertSameHost } from "./session.ts";
import { openState, type StateOptions } from "./state-place.ts";
import { tell } from "./trouble.ts";

export interface Recorded {
  readonly connection: Connection;
  readonly id: RemoteId;
  readonly address: string;
}

/** Connects, with the id of an address of this kind. Throws Failure with CLI_UNKNOWN_ADDRESS. */
export async function withRecorded<T>(
  context: Context,
  options: HostOptions & StateOptions,
  kind: string,
  address: string,
  work: (recorded: Recorded) => Promise<T>,
): Promise<T> {
  const { state, diagnostics } = await openState(context, options).read();
  tell(context, diagnostics);
  const id = recordedId(state, kind, address);
  return withConnection(context, options, (connection) => {
    assertSameHost(state, connection.host);
    return work({ connection, id, address });
  });
}

/** `jobs.nightly`, or `nightly` where the kind goes without saying. */
export function recordedId(state: State, kind: string, text: string): RemoteId {
  const address = parseAddress(text.startsWith(`${kind}.`) ? text : `${kind}.${text}`);
  const record = address === undefined ? undefined : state.records.get(address);
  if (record !== undefined) return record.id;
  const known = [...state.records.keys()].filter((one) => kindOf(one) === kind);
  const near = nearest(text, known);
  const hint =
    near === undefined
      ? `recorded ${kind}: ${known.join(", ") || "none; apply first"}`
      : `did you mean "${near}"?`;
  throw new Failure(error("CLI_UNKNOWN_ADDRESS", `the state has no ${address ?? text}`, { hint }));
}

/** An id as the service takes it: a number where it is one. */
export function numberId(id: string): number | bigint {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : BigInt(id);
}
