// `workspace state rm`, `mv`, and `unlock`: edits of the state that do not change the workspace.

import { failureOf } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { printable } from "../../../report/text/printable.ts";
import type { JournalEntry, State } from "../../../state/model/record.ts";
import { lockWait, withState, writeEntries } from "../../../workflow/session/open-state.ts";
import type { StateOptions } from "../../../workflow/session/state-location.ts";
import { recordAt, renamedAddress } from "../../../workflow/state/check-state.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { STATE_LOCATION_OPTIONS, STATE_WRITE_OPTIONS } from "./state-options.ts";

export const removeRecordsCommand = defineCommand({
  name: "rm",
  summary: "remove resources from the state without deleting them",
  options: STATE_WRITE_OPTIONS,
  args: [{ name: "<address...>", description: "addresses to remove", takes: "address" }],
  async run(context, options, addresses) {
    await edit(context, options, (state) =>
      addresses.map((text) => ({ type: "gone", gone: { address: recordAt(state, text).address } })),
    );
    context.stdout.write(`Removed ${count(addresses.length, "resource")} from the state.\n`);
    return EXIT.ok;
  },
});

export const moveRecordCommand = defineCommand({
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
        from: recordAt(state, from).address,
        to: renamedAddress(state, recordAt(state, from), to ?? ""),
      },
    ]);
    context.stdout.write(`Moved ${printable(from ?? "")} to ${printable(to ?? "")}.\n`);
    return EXIT.ok;
  },
});

async function edit(
  context: ConsoleContext,
  options: StateOptions & { readonly lockTimeout: number | undefined },
  entries: (state: State) => readonly JournalEntry[],
): Promise<void> {
  await withState(context, options, (store) =>
    writeEntries(store, lockWait(context, options.lockTimeout), (lease) => {
      printDiagnostics(context, lease.diagnostics);
      return entries(lease.state());
    }),
  );
}

export const unlockCommand = defineCommand({
  name: "unlock",
  summary: "release the lock of a crashed run",
  options: {
    ...STATE_LOCATION_OPTIONS,
    force: flagOption("--force", "release a lock that cannot be read"),
  },
  args: [{ name: "[lock-id]", description: "lock ID from the message about the lock" }],
  async run(context, { force, ...options }, [nonce]) {
    if (force && nonce !== undefined)
      throw failureOf("CLI_USAGE", "--force and a lock ID cannot be used together", {
        hint: "--force is for a lock that cannot be read; otherwise, pass only the lock ID",
      });
    const done = await withState(context, options, (store) =>
      store.unlock({ force, ...(nonce === undefined ? {} : { nonce }) }),
    );
    const free = nonce === undefined ? "" : ", so the lock ID was not checked";
    context.stdout.write(done === "unlocked" ? "Unlocked.\n" : `The state is not locked${free}.\n`);
    return EXIT.ok;
  },
});
