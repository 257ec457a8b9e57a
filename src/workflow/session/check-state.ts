// Checks what a command may do to a state: the record that an address names, its new address, and whether another state may take its place.

import { type Address, kindOf, nameOf, parseAddress } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import { nearestHint } from "../../core/suggest.ts";
import { recordFitsAddress } from "../../planner/model/context.ts";
import { registry } from "../../providers/index.ts";
import type { State, StateRecord } from "../../state/model/record.ts";

/** Throws Failure with CLI_UNKNOWN_ADDRESS. */
export function recordAt(state: State, text: string | undefined): StateRecord {
  const address = parseAddress(text ?? "");
  const record = address === undefined ? undefined : state.records.get(address);
  if (record !== undefined) return record;
  const hint = nearestHint(
    text ?? "",
    [...state.records.keys()],
    state.records.size === 0
      ? "check --state, WORKSPACE_STATE, and --target; the state is empty"
      : "to list addresses, run `workspace state list`",
  );
  throw failureOf("CLI_UNKNOWN_ADDRESS", `the state does not contain ${text}`, { hint });
}

/** Throws Failure with STATE_FORMAT for an address of a kind that only a newer version has. */
export function assertKnownKinds(addresses: Iterable<Address>): void {
  for (const address of addresses) {
    const kind = kindOf(address);
    if (registry.find(kind) !== undefined) continue;
    throw failureOf("STATE_FORMAT", `the state records ${address}, and this version has no kind "${kind}"`, {
      hint: `use a newer version of workspace; to stop managing it, run \`workspace state rm ${shellWord(address)}\``,
    });
  }
}

/** Throws Failure with CLI_UNKNOWN_ADDRESS or CLI_NO_OBJECT. */
export function renamedAddress(state: State, record: StateRecord, to: string): Address {
  assertKnownKinds([record.address]);
  const address = freeAddress(state, record.address, to);
  const provider = registry.of(address);
  if (recordFitsAddress(provider, record, address)) return address;
  const { singular } = provider;
  throw failureOf(
    "CLI_NO_OBJECT",
    `${address} can only be the ${singular} ${nameOf(address)}, not ${record.name}`,
    {
      hint: `the key in the spec is the name of the object, so an apply creates a new object and deletes the old one; to keep the old one, first run \`workspace state rm ${shellWord(record.address)}\``,
    },
  );
}

function freeAddress(state: State, from: string, to: string): Address {
  const address = parseAddress(to);
  if (address === undefined || kindOf(address) !== from.slice(0, from.indexOf(".")))
    throw failureOf("CLI_UNKNOWN_ADDRESS", `${from} cannot be moved to ${to}`, {
      hint: `pass an address of the same kind, such as ${from.slice(0, from.indexOf("."))}.NAME`,
    });
  if (state.records.has(address))
    throw failureOf("CLI_UNKNOWN_ADDRESS", `the state already records ${to}`, {
      hint: `to remove that record first, run \`workspace state rm ${shellWord(to)}\``,
    });
  return address;
}

/** `from`: where the incoming state is; what was moved there before is newer by the marks of that move alone. */
export function assertFollows(present: State, incoming: State, from?: string): void {
  if (present.serial === 0 && present.records.size === 0 && present.open.length === 0) return;
  const diagnostics = [...otherState(present, incoming, from), ...otherHost(present, incoming)];
  if (diagnostics.length > 0) throw new Failure(...diagnostics);
}

const HINT =
  "compare both states first; to replace the current one, pass --force (it is kept as an earlier version)";

function gaveWay({ moved, movingAbove }: State, to: string | undefined): boolean {
  return moved !== undefined && moved === to && movingAbove === undefined;
}

function otherState(present: State, incoming: State, from: string | undefined): Diagnostic[] {
  if (present.lineage !== incoming.lineage)
    return [
      error("STATE_LINEAGE", "the location already contains a state of another lineage", {
        hint: HINT,
        cause: `it records ${present.records.size} resources, the new one ${incoming.records.size}`,
      }),
    ];
  if (incoming.serial < present.serial && !gaveWay(present, from))
    return [
      error(
        "STATE_LINEAGE",
        `the state at the location is newer: serial ${present.serial}, not ${incoming.serial}`,
        { hint: HINT },
      ),
    ];
  return [];
}

function otherHost(present: State, incoming: State): Diagnostic[] {
  if (present.host === "" || incoming.host === "" || present.host === incoming.host) return [];
  return [
    error(
      "STATE_OTHER_HOST",
      `the state at the location belongs to ${present.host}, not to ${incoming.host}`,
      { hint: HINT },
    ),
  ];
}
