// `workspace state migrate TO`: moves the state to another place. The old place keeps its generations and a note of where it went.

import { canonicalJson } from "../../../core/canonical.ts";
import { error, Failure } from "../../../core/diagnostic.ts";
import type { JsonObject } from "../../../core/json.ts";
import { printable } from "../../../report/printable.ts";
import { count } from "../../../report/words.ts";
import type { State } from "../../../state/record.ts";
import type { Incoming, Lease, LockOptions, StateStore } from "../../../state/store.ts";
import { defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { assertFollows } from "../../state-order.ts";
import { openStateAt, withState } from "../../state-place.ts";
import { FORCE, WRITING, waiting } from "./place-options.ts";

export const migrate = defineCommand({
  name: "migrate",
  summary: "move the state to another place",
  options: { ...WRITING, force: FORCE },
  args: [{ name: "<to>", description: "a folder, postgres://user@host/database, or workspace:/folder" }],
  async run(context, options, [to]) {
    const target = openStateAt(context, options, to);
    try {
      const placed = await withState(context, options, (source) =>
        move(source, target, options.force, waiting(context, options)),
      );
      context.stdout.write(
        `Moved ${count(placed.records.size, "resource")} to ${printable(target.place)}, serial ${placed.serial}.\n` +
          "From now on name that place: --state, or WORKSPACE_STATE.\n",
      );
      return EXIT.ok;
    } finally {
      await target.close();
    }
  },
});

async function move(
  source: StateStore,
  target: StateStore,
  force: boolean,
  wait: LockOptions,
): Promise<State> {
  if (source.place === target.place)
    throw new Failure(error("CLI_USAGE", `the state is at ${source.place} already`));
  const lease = await source.lock(wait);
  try {
    const placed = await target.replace(await outgoing(source, lease, force), wait);
    await assertArrived(target, lease.state());
    await lease.retire(target.place);
    return placed;
  } finally {
    await lease.release();
  }
}

async function outgoing(source: StateStore, lease: Lease, force: boolean): Promise<Incoming> {
  const state = lease.state();
  const { key } = await source.read();
  const digestKey = key === "" ? {} : { digestKey: await source.key({ make: false }) };
  const check = (present: State): void => {
    if (!force) assertFollows(present, state);
  };
  return { state, key, ...digestKey, check };
}

/** The old place is given up only for one that holds everything. */
async function assertArrived(target: StateStore, wanted: State): Promise<void> {
  const { state } = await target.read();
  if (essence(state) === essence(wanted)) return;
  throw new Failure(
    error("APPLY_VERIFY", `what arrived at ${target.place} is not what was sent`, {
      hint: "the state is where it was; run the command again",
    }),
  );
}

function essence({ lineage, host, records, sweeps, open, nonces }: State): string {
  const all = { lineage, host, records: [...records.values()], sweeps, open, nonces };
  return canonicalJson(all as unknown as JsonObject);
}
