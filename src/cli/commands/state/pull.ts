// `workspace state pull`: the whole state as JSON, to look at, to keep, or to push elsewhere. The state stays as it is.

import { resolve } from "node:path";
import { printable, printableQuoted } from "../../../report/printable.ts";
import { stateToJson } from "../../../state/exchange.ts";
import { defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { fileFailure } from "../../files.ts";
import { text } from "../../option.ts";
import { withState } from "../../state-place.ts";
import { tell } from "../../trouble.ts";
import { writeWholeFile } from "../../whole-file.ts";
import { PLACE } from "./place-options.ts";

export const pull = defineCommand({
  name: "pull",
  summary: "print the whole state as JSON",
  options: { ...PLACE, out: text("--out <file>", "write it into a file that only you can read") },
  notes: "Digests of secrets are in it, and no secret. It is not encrypted, whatever the state is.",
  async run(context, options) {
    const loaded = await withState(context, options, (store) => store.read());
    tell(context, loaded.diagnostics);
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
