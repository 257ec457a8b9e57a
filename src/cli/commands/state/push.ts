// `workspace state push FILE`: puts a state from JSON in place of the present one, which stays as a generation.

import { resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { error, Failure } from "../../../core/diagnostic.ts";
import { count } from "../../../core/words.ts";
import { stateFromJson } from "../../../state/exchange.ts";
import { readRegularFile } from "../../../state/file/regular-file.ts";
import { keyCheck } from "../../../state/key.ts";
import type { State } from "../../../state/record.ts";
import { defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { fileFailure } from "../../files.ts";
import { assertFollows } from "../../state-order.ts";
import { withState } from "../../state-place.ts";
import { FORCE, WRITING, waiting } from "./place-options.ts";

export const push = defineCommand({
  name: "push",
  summary: "put a state from JSON in place of the present one",
  options: { ...WRITING, force: FORCE },
  args: [{ name: "<file>", description: "as `state pull` wrote it; - for stdin" }],
  notes: "Another lineage, another host or an older serial is refused without --force.",
  async run(context, options, [file = "-"]) {
    const { state, key } = stateFromJson(await read(context, file), file === "-" ? "stdin" : file);
    const placed = await withState(context, options, async (store) => {
      const ours = keyCheck(await store.key({ make: false }));
      if (key !== "" && key !== ours && !options.force) throw new Failure(otherDigests());
      const check = (present: State): void => {
        if (!options.force) assertFollows(present, state);
      };
      // Digests of another key tell nothing here: every secret counts as changed.
      return store.replace({ state, key: key === ours ? key : "", check }, waiting(context, options));
    });
    context.stdout.write(`Pushed ${count(placed.records.size, "resource")} as serial ${placed.serial}.\n`);
    return EXIT.ok;
  },
});

function otherDigests() {
  return error("STATE_KEY", "its digests of secrets were made with another key than the one of this state", {
    hint: "`state migrate` takes the key along; with --force every secret is written again by the next apply",
  });
}

async function read(context: Context, file: string): Promise<string> {
  if (file === "-") return textOf(context.stdin);
  try {
    return readRegularFile(resolve(context.cwd, file)).toString("utf8");
  } catch (problem) {
    throw fileFailure(`${file} cannot be read`, problem, "write one with: workspace state pull --out FILE");
  }
}
