// `workspace state migrate TO`: moves the state to another location. The old location keeps its versions and a reference to the new one.

import { failureOf } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { printable } from "../../../report/text/printable.ts";
import type { State } from "../../../state/model/record.ts";
import { migrate as move } from "../../../state/store/migrate.ts";
import { lockWait, openStateAt, withState } from "../../../workflow/session/open-state.ts";
import { assertStateExists, exposedRecords } from "../../../workflow/session/state-warnings.ts";
import { assertFollows } from "../../../workflow/state/check-state.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { UNENCRYPTED_OPTION } from "../../command/shared-options.ts";
import { FORCE_OPTION, refuseExposed, STATE_WRITE_OPTIONS } from "./state-options.ts";

export const migrateCommand = defineCommand({
  name: "migrate",
  summary: "move the state to another backend",
  options: { ...STATE_WRITE_OPTIONS, ...UNENCRYPTED_OPTION, force: FORCE_OPTION },
  args: [{ name: "<to>", description: "folder, postgres://user@host/database, or workspace:/folder" }],
  notes: "If the command is interrupted, run it again. Until then, the old location cannot be used.",
  async run(context, options, [to]) {
    const target = openStateAt(context, options, to);
    try {
      const placed = await withState(context, options, (source) => {
        if (source.place === target.place)
          throw failureOf("CLI_USAGE", `the state is already at ${source.place}`);
        const check = (present: State, incoming: State): void => {
          assertStateExists(source, incoming, "nothing can be moved");
          if (!options.force) assertFollows(present, incoming, source.place);
          refuseExposed(context, exposedRecords(context, to, options, incoming));
        };
        return move(source, target, check, lockWait(context, options.lockTimeout));
      });
      const where = printable(target.place);
      context.stdout.write(
        placed === undefined
          ? `The state was already moved to ${where}.\n`
          : `Moved ${count(placed.records.size, "resource")} to ${where}, serial ${placed.serial}.\n`,
      );
      context.stdout.write("Set --state or WORKSPACE_STATE to the new location.\n");
      return EXIT.ok;
    } finally {
      await target.close();
    }
  },
});
