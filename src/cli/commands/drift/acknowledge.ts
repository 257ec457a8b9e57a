// `workspace drift acknowledge ADDRESS[.field]`: accepts drift until a date. Reports still show it, but it does not affect the exit code.

import { fromEnv } from "../../../config/environment.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { printable } from "../../../report/text/printable.ts";
import { timeText } from "../../../report/text/vocabulary.ts";
import { thisProcess } from "../../../state/backends/file/node-ports.ts";
import type { Acknowledgement } from "../../../state/model/record.ts";
import {
  acknowledgedAt,
  acknowledgedPlace,
  acknowledgedReason,
  acknowledgedSubject,
  acknowledgedUntil,
  driftAt,
} from "../../../workflow/drift/drift.ts";
import { lockWait, withState, writeEntries } from "../../../workflow/session/open-state.ts";
import { keyedBy, planSession, withSession } from "../../../workflow/session/session.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
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
      return withState(context, options, async (store) => {
        const { state } = await store.read();
        context.stdout.write(listText(state.acknowledged ?? [], Date.now()));
        return EXIT.ok;
      });
    if (place === undefined)
      throw failureOf("CLI_USAGE", "an address is missing", { hint: "name an address, or pass --list" });
    const wait = lockWait(context, options.lockTimeout);
    if (options.remove)
      return withState(context, options, async (store) => {
        const { state } = await store.read();
        const entry = {
          type: "unacknowledged",
          ...acknowledgedSubject(acknowledgedAt(state.acknowledged ?? [], place)),
        } as const;
        await writeEntries(store, wait, () => [entry]);
        context.stdout.write(`Removed the acknowledgement of ${printable(place)}.\n`);
        return EXIT.ok;
      });
    const now = Date.now();
    const until = acknowledgedUntil(options.until, now);
    const reason = acknowledgedReason(options.reason);
    return withSession(context, options, { makesKey: true, secrets: "skip" }, async (session) => {
      const { state } = await session.loaded();
      const { plan } = await planSession(session, state);
      const by = fromEnv(context, "WORKSPACE_USER") ?? state.caller?.name ?? thisProcess().user;
      const accepted = { ...driftAt(plan.drift, place, keyedBy(session)), until, reason, by, at: now };
      const expired = (state.acknowledged ?? []).filter((one) => one.until <= now);
      await writeEntries(session.store, wait, () => [
        ...expired.map((one) => ({ type: "unacknowledged", ...acknowledgedSubject(one) }) as const),
        { type: "acknowledged", acknowledgement: accepted },
      ]);
      context.stdout.write(`Acknowledged ${printable(place)} until ${timeText(until)}.\n`);
      return EXIT.ok;
    });
  },
});

function listText(all: readonly Acknowledgement[], now: number): string {
  if (all.length === 0) return "Nothing is acknowledged.\n";
  return all
    .map((one) => {
      const ending = one.until <= now ? "expired" : "until";
      return printable(
        `${acknowledgedPlace(one)}  ${ending} ${timeText(one.until)} by ${one.by}: ${one.reason}`,
      );
    })
    .join("\n")
    .concat("\n");
}
