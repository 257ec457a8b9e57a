// `workspace drift acknowledge ADDRESS[.field]`: accepts drift for a time. It stays in every report, and exits with 2 no more.

import { fromEnv } from "../../../config/settings.ts";
import { error, Failure } from "../../../core/diagnostic.ts";
import { toDottedPath } from "../../../core/pointer.ts";
import { nearestHint } from "../../../core/suggest.ts";
import { driftDigests } from "../../../planner/diff/known-drift.ts";
import type { Drift } from "../../../planner/model/plan.ts";
import { registry } from "../../../providers/index.ts";
import { printable } from "../../../report/text/printable.ts";
import { timeText } from "../../../report/text/vocabulary.ts";
import { thisProcess } from "../../../state/backends/file/node-ports.ts";
import type { Acknowledgement } from "../../../state/model/record.ts";
import { writeEntries } from "../../../workflow/reconcile/remember-drift.ts";
import { withState } from "../../../workflow/session/open-state.ts";
import { planSession, withSession } from "../../../workflow/session/session.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, textOption } from "../../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../../command/shared-options.ts";
import { lockWait } from "../state/state-options.ts";

const MOST_REASON = 500;

export const acknowledgeCommand = defineCommand({
  name: "acknowledge",
  summary: "accept drift until a date",
  options: {
    ...SPEC_OPTIONS,
    ...HOST_OPTIONS,
    ...STATE_OPTIONS,
    until: textOption("--until <date>", "last day in UTC, such as 2026-12-31, or a time"),
    reason: textOption("--reason <text>", "reason, shown in each report"),
    list: flagOption("--list", "list the acknowledged drift"),
    remove: flagOption("--remove", "remove the acknowledgement of this address"),
  },
  args: [{ name: "[address]", description: "ADDRESS or ADDRESS.field", takes: "address" }],
  notes: "The acknowledgement ends on its date, or earlier if the value changes again.",
  async run(context, options, [place]) {
    if (options.list)
      return withState(context, options, async (store) => {
        const { state } = await store.read();
        context.stdout.write(listText(state.acknowledged ?? [], Date.now()));
        return EXIT.ok;
      });
    if (place === undefined) throw usage("an address is missing", "name an address, or pass --list");
    const wait = lockWait(context, options);
    if (options.remove)
      return withState(context, options, async (store) => {
        const { state } = await store.read();
        const entry = {
          type: "unacknowledged",
          ...subjectOf(among(state.acknowledged ?? [], place)),
        } as const;
        await writeEntries(store, [entry], wait);
        context.stdout.write(`Removed the acknowledgement of ${printable(place)}.\n`);
        return EXIT.ok;
      });
    const now = Date.now();
    const until = untilOf(options.until, now);
    const reason = reasonOf(options.reason);
    return withSession(context, options, { makesKey: false, secrets: "skip" }, async (session) => {
      const { state } = await session.loaded();
      const { plan } = await planSession(session, state);
      const by = fromEnv(context, "WORKSPACE_USER") ?? state.caller?.name ?? thisProcess().user;
      const accepted = { ...chosen(plan.drift, place), until, reason, by, at: now };
      const expired = (state.acknowledged ?? []).filter((one) => one.until <= now);
      await writeEntries(
        session.store,
        [
          ...expired.map((one) => ({ type: "unacknowledged", ...subjectOf(one) }) as const),
          { type: "acknowledged", acknowledgement: accepted },
        ],
        wait,
      );
      context.stdout.write(`Acknowledged ${printable(place)} until ${timeText(until)}.\n`);
      return EXIT.ok;
    });
  },
});

const usage = (message: string, hint: string): Failure => new Failure(error("CLI_USAGE", message, { hint }));

function untilOf(given: string | undefined, now: number): number {
  const hint = "pass a day that is not over, such as --until 2026-12-31";
  if (given === undefined) throw usage("--until is missing", hint);
  const day = /^\d{4}-\d{2}-\d{2}$/.test(given);
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z$/.test(given);
  const at = Date.parse(day ? `${given}T23:59:59Z` : given);
  if ((!day && !time) || Number.isNaN(at)) throw usage(`--until ${given} is not a date`, hint);
  if (at <= now) throw usage(`--until ${given} is in the past`, hint);
  return at;
}

function reasonOf(given: string | undefined): string {
  if (given === undefined || given.trim() === "")
    throw usage("--reason is missing", "say why the drift is accepted, for those who read the report");
  if (given.length > MOST_REASON)
    throw usage(`--reason has ${given.length} characters; allowed are ${MOST_REASON}`, "shorten it");
  return given;
}

/** The differences that a place means. An address may hold dots, so a whole address outweighs a field. */
function chosen(
  drift: readonly Drift[],
  place: string,
): Pick<Acknowledgement, "address" | "field" | "differences"> {
  for (const one of drift) {
    const digests = driftDigests(one, registry.of(one.address).fields);
    if (one.address === place) return { address: one.address, differences: digests };
  }
  for (const one of drift) {
    const field = place.startsWith(`${one.address}.`) ? place.slice(one.address.length + 1) : undefined;
    if (field === undefined) continue;
    const digests = driftDigests(one, registry.of(one.address).fields);
    const differences = digests.filter((_, at) => {
      const path = toDottedPath(one.diffs[at]?.path ?? []);
      return path === field || path.startsWith(`${field}.`);
    });
    if (differences.length > 0) return { address: one.address, field, differences };
  }
  const known = drift.flatMap((one) => [
    one.address,
    ...one.diffs.map((diff) => `${one.address}.${toDottedPath(diff.path)}`),
  ]);
  throw new Failure(
    error("CLI_UNKNOWN_ADDRESS", `no drift exists at ${place}`, {
      hint: nearestHint(place, known, "to list drift, run `workspace drift`"),
    }),
  );
}

function subjectOf({ address, field }: Acknowledgement): Pick<Acknowledgement, "address" | "field"> {
  return field === undefined ? { address } : { address, field };
}

const placeText = ({ address, field }: Acknowledgement): string =>
  field === undefined ? address : `${address}.${field}`;

function among(all: readonly Acknowledgement[], place: string): Acknowledgement {
  const found = all.find((one) => placeText(one) === place);
  if (found !== undefined) return found;
  throw new Failure(
    error("CLI_UNKNOWN_ADDRESS", `${place} is not acknowledged`, {
      hint: nearestHint(place, all.map(placeText), "to list them, run `workspace drift acknowledge --list`"),
    }),
  );
}

function listText(all: readonly Acknowledgement[], now: number): string {
  if (all.length === 0) return "Nothing is acknowledged.\n";
  return all
    .map((one) => {
      const ending = one.until <= now ? "expired" : "until";
      return printable(`${placeText(one)}  ${ending} ${timeText(one.until)} by ${one.by}: ${one.reason}`);
    })
    .join("\n")
    .concat("\n");
}
