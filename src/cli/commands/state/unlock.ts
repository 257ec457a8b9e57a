// `workspace state unlock [NONCE]`: takes the lock away from a run that is dead, or frees one that cannot be read.

import { error, Failure } from "../../../core/diagnostic.ts";
import { withState } from "../../../workflow/session/open-state.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { STATE_LOCATION_OPTIONS } from "./state-options.ts";

export const unlockCommand = defineCommand({
  name: "unlock",
  summary: "take the lock away from a run that is dead",
  options: {
    ...STATE_LOCATION_OPTIONS,
    force: flagOption("--force", "free a lock whose holder cannot be read"),
  },
  args: [{ name: "[nonce]", description: "the holder's, as the message about the lock names it" }],
  async run(context, { force, ...options }, [nonce]) {
    if (force && nonce !== undefined)
      throw new Failure(
        error("CLI_USAGE", "--force and a nonce exclude each other", {
          hint: "a holder that can be read is named by its nonce",
        }),
      );
    const done = await withState(context, options, (store) =>
      store.unlock({ force, ...(nonce === undefined ? {} : { nonce }) }),
    );
    const free = nonce === undefined ? "" : ", so its nonce was not looked at";
    context.stdout.write(done === "unlocked" ? "Unlocked.\n" : `Nobody holds the lock${free}.\n`);
    return EXIT.ok;
  },
});
