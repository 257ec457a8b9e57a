// Finds the recorded object of an address, for commands that operate managed objects.

import { isMissing } from "../../api/contract/refusals.ts";
import type { HostOptions } from "../../config/settings.ts";
import { type Address, kindOf, parseAddress, type RemoteId } from "../../core/address.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { registry } from "../../providers/index.ts";
import type { State, StateRecord } from "../../state/model/record.ts";
import type { StateOptions } from "../invocation/state-location.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import { assertSameHost } from "../plan/plan.ts";
import { type Connection, withConnection } from "../session/connect.ts";
import { withState } from "../session/open-state.ts";

export interface RecordedObject {
  readonly connection: Connection;
  readonly record: StateRecord;
  readonly id: RemoteId;
  readonly address: Address;
}

/** Connects, with the id of an address of this kind. Throws Failure with CLI_UNKNOWN_ADDRESS. */
export async function withRecordedObject<T>(
  context: WorkflowContext,
  options: HostOptions & StateOptions,
  kind: string,
  address: string,
  work: (recorded: RecordedObject) => Promise<T>,
): Promise<T> {
  const { state, diagnostics } = await withState(context, options, (store) => store.read());
  context.observer.found(diagnostics);
  const record = recordOf(state, kind, address);
  return withConnection(context, options, (connection) => {
    assertSameHost(state, connection.host);
    return work({ connection, record, id: record.id, address: record.address }).catch((failure: unknown) => {
      throw isMissing(failure) ? gone(record) : failure;
    });
  });
}

/** `jobs.nightly`, or `nightly` where the kind goes without saying. */
function recordOf(state: State, kind: string, text: string): StateRecord {
  const other = text.slice(0, Math.max(0, text.indexOf(".")));
  const isOther = other !== kind && registry.find(other) !== undefined;
  if (isOther)
    throw failureOf("CLI_UNKNOWN_ADDRESS", `${text} is not the address of a ${registry.get(kind).singular}`);
  const address = parseAddress(other === kind ? text : `${kind}.${text}`);
  const record = address === undefined ? undefined : state.records.get(address);
  if (record !== undefined) return record;
  const known = [...state.records.keys()].filter((one) => kindOf(one) === kind);
  const otherwise =
    known.length === 0
      ? `no ${kind} are recorded; run \`workspace apply\` first`
      : `recorded ${kind}: ${known.join(", ")}`;
  const hint = nearestHint(address ?? text, known, otherwise);
  throw failureOf("CLI_UNKNOWN_ADDRESS", `the state does not contain ${address ?? text}`, { hint });
}

function gone({ address, id }: StateRecord): Failure {
  return failureOf("CLI_NO_OBJECT", `${address} (ID ${id}) no longer exists in the workspace`, {
    address,
    hint: "to see other changes, run `workspace drift`",
  });
}

/** An ID in the type of the API: a number if it is numeric. */
export function numberId(id: string): number | bigint {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : BigInt(id);
}
