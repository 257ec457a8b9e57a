// `workspace drift acknowledge ADDRESS[.field]` accepts drift until a date.

import type { Address } from "../../../core/address.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { pendingMoves, recordedAddress } from "../../../planner/diff/known-drift.ts";
import { printable } from "../../../report/text/printable.ts";
import { timeText } from "../../../report/text/vocabulary.ts";
import { thisProcess } from "../../../state/backends/file/node-ports.ts";
import type { Acknowledgement, State } from "../../../state/model/record.ts";
import { concealedEntry } from "../../../state/model/sensitive-state.ts";
import {
  acknowledgedAt,
  acknowledgedPlace,
  acknowledgedReason,
  acknowledgedSubject,
  acknowledgedUntil,
  driftAt,
} from "../../../workflow/drift/drift.ts";
import { planWorkspace } from "../../../workflow/plan/plan.ts";
import { lockWait, withState, writeEntries } from "../../../workflow/session/open-state.ts";
import { withSession } from "../../../workflow/session/session.ts";
import { defineCommand } from "../../command/command.ts";
import { flagOption, textOption } from "../../command/option.ts";
import {
  HOST_OPTIONS,
  READ_TIMEOUT_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../../command/shared-options.ts";

export const acknowledgeCommand = defineCommand({
  name: "acknowledge",
  summary: "accept drift until a date",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...READ_TIMEOUT_OPTION,
    ...STATE_OPTIONS,
    until: textOption("--until <date>", "last day in UTC, such as 2026-12-31, or a time"),
    reason: textOption("--reason <text>", "reason, shown in each report"),
    list: flagOption("--list", "list the acknowledged drift"),
    remove: flagOption("--remove", "remove the acknowledgement of this address"),
  },
  args: [{ name: "[address]", description: "ADDRESS or ADDRESS.field", takes: "address" }],
  notes:
    "The acknowledgement ends on its date, or earlier: if an apply reverts the drift, or if the value changes again.",
  async run(context, options, [place]) {
    if (options.list)
      return withState(context, async (store) => {
        const { state } = await store.read();
        context.stdout.write(listText(state.acknowledged ?? [], Date.now()));
      });
    if (place === undefined)
      throw failureOf("CLI_USAGE", "an address is missing", { hint: "name an address, or pass --list" });
    const wait = lockWait(context, options.lockTimeout);
    if (options.remove)
      return withState(context, async (store) => {
        const subject = (state: State) =>
          acknowledgedSubject(acknowledgedAt(state.acknowledged ?? [], place));
        subject((await store.read()).state);
        await writeEntries(store, wait, (lease) => [{ type: "unacknowledged", ...subject(lease.state()) }]);
        context.stdout.write(`Removed the acknowledgement of ${printable(place)}.\n`);
      });
    const now = Date.now();
    const until = acknowledgedUntil(options.until, now);
    const reason = acknowledgedReason(options.reason);
    return withSession(context, { makesKey: true, secrets: "skip" }, async (session) => {
      // Under the lock: an apply that this command waited for may have reverted the drift.
      await writeEntries(session.store, wait, async (lease) => {
        const state = lease.state();
        const { plan, input, recovered, callerEntries, sensitive } = await planWorkspace(session, state, {
          writes: true,
        });
        const isAddress = (text: string): boolean =>
          session.spec.resources.has(text as Address) || input.state.records.has(text as Address);
        const drift = driftAt(plan.drift, place, session.secretDigest, isAddress);
        const address = recordedAddress(state, pendingMoves(recovered.entries), drift.address);
        const by = input.caller ?? thisProcess().user;
        const acknowledgement: Acknowledgement = { ...drift, address, until, reason, by, at: now };
        const expired = (state.acknowledged ?? []).filter((accepted) => accepted.until <= now);
        return [
          ...callerEntries,
          ...expired.map(
            (accepted) => ({ type: "unacknowledged", ...acknowledgedSubject(accepted) }) as const,
          ),
          concealedEntry({ type: "acknowledged", acknowledgement }, sensitive),
        ];
      });
      context.stdout.write(`Acknowledged ${printable(place)} until ${timeText(until)}.\n`);
    });
  },
});

function listText(all: readonly Acknowledgement[], now: number): string {
  if (all.length === 0) return "Nothing is acknowledged.\n";
  return all
    .map((acknowledgement) => {
      const ending = acknowledgement.until <= now ? "expired" : "until";
      return printable(
        `${acknowledgedPlace(acknowledgement)}  ${ending} ${timeText(acknowledgement.until)} by ${acknowledgement.by}: ${acknowledgement.reason}`,
      );
    })
    .join("\n")
    .concat("\n");
}
