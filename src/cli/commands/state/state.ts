// `workspace state …`: looks at what is recorded, and mends it. None of these commands touches the workspace.

import { type Address, kindOf, nameOf, parseAddress } from "../../../core/address.ts";
import { error, Failure } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { nearestHint } from "../../../core/suggest.ts";
import { recordFitsAddress } from "../../../planner/decide/invalid-records.ts";
import { registry } from "../../../providers/index.ts";
import { maskedValues } from "../../../report/text/masked.ts";
import { printable, printableJson } from "../../../report/text/printable.ts";
import type { JournalEntry } from "../../../state/model/journal-entry.ts";
import type { State, StateRecord } from "../../../state/model/record.ts";
import { type StateOptions, withState } from "../../../workflow/session/open-state.ts";
import { checkSpec } from "../../../workflow/session/read-spec.ts";
import { targetOf } from "../../../workflow/target/target.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { type CommandGroup, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { migrateCommand } from "./migrate.ts";
import { rekeyCommand } from "./rekey.ts";
import { restoreCommand } from "./restore.ts";
import { lockWait, STATE_LOCATION_OPTIONS, STATE_WRITE_OPTIONS } from "./state-options.ts";
import { pullCommand, pushCommand } from "./transfer.ts";
import { unlockCommand } from "./unlock.ts";

const list = defineCommand({
  name: "list",
  summary: "list the recorded resources",
  options: { ...STATE_LOCATION_OPTIONS, ...FORM_OPTION },
  async run(context, options) {
    const records = sorted(await read(context, options));
    if (options.output === "json") context.stdout.write(`${printableJson(records.map(brief), 2)}\n`);
    else
      for (const one of records)
        context.stdout.write(
          `${printable(one.address)}${one.status === "ready" ? "" : `  (${one.status})`}\n`,
        );
    return EXIT.ok;
  },
});

function brief(one: StateRecord): Record<string, unknown> {
  return { address: one.address, id: one.id, name: one.name, status: one.status };
}

const show = defineCommand({
  name: "show",
  summary: "show one record as JSON",
  options: STATE_LOCATION_OPTIONS,
  args: [{ name: "<address>", description: "address, such as pools.shared", takes: "address" }],
  async run(context, options, [text]) {
    const state = await read(context, options);
    const record = recordOf(state, text);
    const { fields } = registry.of(record.address);
    const seen = record.status === "ready" ? { seen: maskedValues(fields, record.seen) } : {};
    const shown = { ...record, applied: maskedValues(fields, record.applied), ...seen };
    context.stdout.write(`${printableJson(shown, 2)}\n`);
    return EXIT.ok;
  },
});

const rm = defineCommand({
  name: "rm",
  summary: "remove resources from the state without deleting them",
  options: STATE_WRITE_OPTIONS,
  args: [{ name: "<address...>", description: "addresses to remove", takes: "address" }],
  async run(context, options, addresses) {
    await edit(context, options, (state) =>
      addresses.map((text) => ({ type: "gone", gone: { address: recordOf(state, text).address } })),
    );
    context.stdout.write(`Forgot ${count(addresses.length, "resource")}.\n`);
    return EXIT.ok;
  },
});

const mv = defineCommand({
  name: "mv",
  summary: "change the address of a recorded resource",
  options: STATE_WRITE_OPTIONS,
  args: [
    { name: "<from>", description: "current address", takes: "address" },
    { name: "<to>", description: "new address of the same kind" },
  ],
  async run(context, options, [from, to]) {
    await edit(context, options, (state) => [
      {
        type: "moved",
        from: recordOf(state, from).address,
        to: placeFor(state, recordOf(state, from), to ?? ""),
      },
    ]);
    context.stdout.write(`Moved ${printable(from ?? "")} to ${printable(to ?? "")}.\n`);
    return EXIT.ok;
  },
});

export const stateCommand: CommandGroup = {
  name: "state",
  summary: "inspect, repair, and move the state",
  commands: [
    list,
    show,
    rm,
    mv,
    unlockCommand,
    pullCommand,
    pushCommand,
    migrateCommand,
    restoreCommand,
    rekeyCommand,
  ],
};

async function read(context: ConsoleContext, options: StateOptions): Promise<State> {
  const loaded = await withState(context, options, (store) => store.read());
  printDiagnostics(context, loaded.diagnostics);
  if (loaded.state.records.size === 0) await assertTarget(context, options);
  return loaded.state;
}

/** Nothing is recorded: because nothing was applied yet, or because the spec has no such target. */
async function assertTarget(context: ConsoleContext, { file, target }: StateOptions): Promise<void> {
  if (targetOf(context, { file, target }) === undefined) return;
  const { diagnostics } = await checkSpec(context, { file, target, var: [], varFile: [] }, undefined);
  const unknown = diagnostics.filter(({ code }) => code === "SPEC_TARGET");
  if (unknown.length > 0) throw new Failure(...unknown);
}

function sorted(state: State): readonly StateRecord[] {
  return [...state.records.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}

function recordOf(state: State, text: string | undefined): StateRecord {
  const address = parseAddress(text ?? "");
  const record = address === undefined ? undefined : state.records.get(address);
  if (record !== undefined) return record;
  const hint = nearestHint(
    text ?? "",
    [...state.records.keys()],
    "to list addresses, run `workspace state list`",
  );
  throw new Failure(error("CLI_UNKNOWN_ADDRESS", `the state has no ${text}`, { hint }));
}

function placeFor(state: State, record: StateRecord, to: string): Address {
  const address = freeAddress(state, record.address, to);
  const provider = registry.of(address);
  if (recordFitsAddress(provider, record, address)) return address;
  const { singular } = provider;
  throw new Failure(
    error("CLI_NO_OBJECT", `${address} can only be the ${singular} ${nameOf(address)}, not ${record.name}`, {
      hint: `its key in a spec is its name: an apply makes the new one and deletes the old; to keep the old one, forget it first: workspace state rm ${record.address}`,
    }),
  );
}

function freeAddress(state: State, from: string, to: string): Address {
  const address = parseAddress(to);
  if (address === undefined || kindOf(address) !== from.slice(0, from.indexOf(".")))
    throw new Failure(
      error("CLI_UNKNOWN_ADDRESS", `${to} is not an address of the same kind as ${from}`, {
        hint: "an address is KIND.NAME",
      }),
    );
  if (state.records.has(address))
    throw new Failure(
      error("CLI_UNKNOWN_ADDRESS", `the state has a ${to} already`, {
        hint: `forget it first: workspace state rm ${to}`,
      }),
    );
  return address;
}

async function edit(
  context: ConsoleContext,
  options: StateOptions & { readonly lockTimeout: number | undefined },
  entries: (state: State) => readonly JournalEntry[],
): Promise<void> {
  await withState(context, options, async (store) => {
    const lease = await store.lock(lockWait(context, options));
    try {
      printDiagnostics(context, lease.diagnostics);
      for (const entry of entries(lease.state())) await lease.append(entry);
      await lease.publish();
    } finally {
      await lease.release();
    }
  });
}
