// `workspace state rekey`: encrypts the state and its earlier versions with WORKSPACE_STATE_KEY.

import { fromEnv } from "../../../config/environment.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { defined } from "../../../core/json.ts";
import type { Loaded } from "../../../state/model/store.ts";
import { lockWait, openStateAt } from "../../../workflow/session/open-state.ts";
import { explicitStateLocation, type StateOptions } from "../../../workflow/session/state-location.ts";
import { exposedRecords } from "../../../workflow/session/state-warnings.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption } from "../../command/option.ts";
import { UNENCRYPTED_OPTION } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { refuseExposed, STATE_WRITE_OPTIONS } from "./state-options.ts";

export const rekeyCommand = defineCommand({
  name: "rekey",
  summary: "encrypt the state with WORKSPACE_STATE_KEY",
  options: {
    ...STATE_WRITE_OPTIONS,
    ...UNENCRYPTED_OPTION,
    decrypt: flagOption("--decrypt", "stop encrypting; WORKSPACE_STATE_KEY must not be set"),
  },
  notes: `WORKSPACE_STATE_KEY is the new key, WORKSPACE_STATE_KEY_OLD the previous one, if the state is encrypted. If the command is
interrupted, run it again with both keys. Saved plans must be created again.`,
  async run(context, options) {
    const keyText = fromEnv(context, "WORKSPACE_STATE_KEY");
    const oldKeyText = fromEnv(context, "WORKSPACE_STATE_KEY_OLD");
    assertKeys(keyText, oldKeyText, options.decrypt);
    const place = explicitStateLocation(context, options);
    if (oldKeyText !== undefined && options.decrypt) {
      const { state } = await readWith(context, options, oldKeyText);
      refuseExposed(context, exposedRecords(context, place, options, state));
    }
    const store = openStateAt(context, options, place, defined({ keyText, oldKeyText }));
    try {
      const { state, diagnostics } = await store.rekey(lockWait(context, options.lockTimeout));
      printDiagnostics(context, diagnostics);
      const how = keyText === undefined ? "is no longer encrypted" : "is encrypted under WORKSPACE_STATE_KEY";
      context.stdout.write(`The state ${how}, serial ${state.serial}.\n`);
      return EXIT.ok;
    } finally {
      await store.close();
    }
  },
});

async function readWith(context: ConsoleContext, options: StateOptions, keyText: string): Promise<Loaded> {
  const store = openStateAt(context, options, explicitStateLocation(context, options), { keyText });
  try {
    return await store.read();
  } finally {
    await store.close();
  }
}

function assertKeys(keyText: string | undefined, oldKeyText: string | undefined, decrypt: boolean): void {
  if (decrypt && keyText !== undefined)
    throw failureOf("CLI_USAGE", "--decrypt and WORKSPACE_STATE_KEY cannot be used together", {
      hint: "move the key to WORKSPACE_STATE_KEY_OLD and unset WORKSPACE_STATE_KEY",
    });
  if (decrypt && oldKeyText === undefined)
    throw failureOf("CLI_USAGE", "--decrypt requires the previous key", {
      hint: "set WORKSPACE_STATE_KEY_OLD",
    });
  if (!decrypt && keyText === undefined)
    throw failureOf("STATE_KEY", "WORKSPACE_STATE_KEY is not set", {
      hint: "set it to the new key, for example the output of `openssl rand -hex 32`, and WORKSPACE_STATE_KEY_OLD to the previous one",
    });
}
