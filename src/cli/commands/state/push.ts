// `workspace state pull` and `push`: print the state as JSON, and replace it with JSON; the replaced state is kept as a version.

import { resolve } from "node:path";
import { fileFailure, type InputLimits, inputName, readCommandInput } from "../../../config/files.ts";
import { type Failure, failureOf } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { printable, printableQuoted } from "../../../report/text/printable.ts";
import { keyCheck } from "../../../state/format/encryption.ts";
import { stateFromJson, stateToJson } from "../../../state/format/snapshot.ts";
import { STATE_BYTES } from "../../../state/model/failures.ts";
import type { State } from "../../../state/model/record.ts";
import { lockWait, withState } from "../../../workflow/session/open-state.ts";
import { explicitStateLocation } from "../../../workflow/session/state-location.ts";
import { assertStateExists, exposedRecords } from "../../../workflow/session/state-warnings.ts";
import { assertFollows } from "../../../workflow/state/check-state.ts";
import { writeWholeFile } from "../../../workflow/transfer/write-file.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { outOption } from "../../command/option.ts";
import { UNENCRYPTED_OPTION } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";
import { FORCE_OPTION, refuseExposed, STATE_LOCATION_OPTIONS, STATE_WRITE_OPTIONS } from "./state-options.ts";

export const pullCommand = defineCommand({
  name: "pull",
  summary: "print the state as JSON",
  options: {
    ...STATE_LOCATION_OPTIONS,
    out: outOption("--out <file>", "write to a file that only you can read (default: stdout)"),
  },
  notes: "The output is not encrypted. It contains digests of secrets, but no secret values.",
  async run(context, options) {
    const loaded = await withState(context, options, async (store) => {
      const found = await store.read();
      assertStateExists(store, found.state, "nothing can be copied");
      return found;
    });
    printDiagnostics(context, loaded.diagnostics);
    const json = stateToJson(loaded);
    if (options.out === undefined) {
      context.stdout.write(printableQuoted(json));
      return EXIT.ok;
    }
    try {
      writeWholeFile(resolve(context.cwd, options.out), json, { over: true, mode: 0o600 });
    } catch (problem) {
      throw fileFailure(`the state cannot be written to ${options.out}`, problem);
    }
    context.stdout.write(`Wrote serial ${loaded.state.serial} to ${printable(options.out)}.\n`);
    return EXIT.ok;
  },
});

const LIMITS: InputLimits = {
  maxBytes: STATE_BYTES,
  tooLarge: "STATE_CORRUPT",
  hint: "to write one, run `workspace state pull --out FILE`",
};

export const pushCommand = defineCommand({
  name: "push",
  summary: "replace the state with a state from JSON",
  options: { ...STATE_WRITE_OPTIONS, ...UNENCRYPTED_OPTION, force: FORCE_OPTION },
  args: [{ name: "<file>", description: "file written by `state pull`; `-` is stdin" }],
  notes: "Without --force, the command refuses another lineage, another host, or an older serial.",
  async run(context, options, [file = "-"]) {
    const { state, key } = stateFromJson(
      (await readCommandInput(context, file, LIMITS)).toString("utf8"),
      inputName(file),
    );
    refuseExposed(context, exposedRecords(context, explicitStateLocation(context, options), options, state));
    const placed = await withState(context, options, async (store) => {
      const ownKey = keyCheck(await store.key({ make: false }));
      if (key !== "" && key !== ownKey && !options.force) throw otherDigests();
      const check = (present: State): void => {
        if (!options.force) assertFollows(present, state);
      };
      // Digests of another key cannot be compared, so every secret counts as changed.
      return store.replace(
        { state, key: key === ownKey ? key : "", check },
        lockWait(context, options.lockTimeout),
      );
    });
    context.stdout.write(`Pushed ${count(placed.records.size, "resource")} as serial ${placed.serial}.\n`);
    return EXIT.ok;
  },
});

function otherDigests(): Failure {
  return failureOf("STATE_KEY", "the digests of secrets were made with the key of another state", {
    hint: "to keep the key, use `state migrate`; with --force, the next apply writes every secret again",
  });
}
