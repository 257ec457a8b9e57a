// `workspace state unlock [NONCE]`: removes the lock of a run that has ended, or a lock that cannot be read.

import { failureOf } from "../../../core/diagnostic.ts";
import { withState } from "../../../workflow/session/open-state.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { STATE_LOCATION_OPTIONS } from "./state-options.ts";

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
        hint: "a readable holder is unlocked by its lock ID",
      });
    const done = await withState(context, options, (store) =>
      store.unlock({ force, ...(nonce === undefined ? {} : { nonce }) }),
    );
    const free = nonce === undefined ? "" : ", so its lock ID was not checked";
    context.stdout.write(done === "unlocked" ? "Unlocked.\n" : `The lock is free${free}.\n`);
    return EXIT.ok;
  },
});
