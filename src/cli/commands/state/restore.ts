// `workspace state restore [GENERATION]`: brings an older state back, also where the present one is damaged; without an argument lists them.

import { kindOf } from "../../../core/address.ts";
import { error, Failure } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import { pastRunAuthor, pastRunTime } from "../../../report/inspect/history-text.ts";
import { printable, printableJson } from "../../../report/text/printable.ts";
import type { State } from "../../../state/model/record.ts";
import type { Generation } from "../../../state/model/store.ts";
import { withState } from "../../../workflow/session/open-state.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { choiceOption } from "../../command/option.ts";
import { lockWait, STATE_WRITE_OPTIONS } from "./state-options.ts";

const OPTIONS = {
  ...STATE_WRITE_OPTIONS,
  output: choiceOption("-o, --output <form>", "output format of the list", ["text", "json"]),
};

export const restoreCommand = defineCommand({
  name: "restore",
  summary: "restore an earlier state version, or list versions",
  options: OPTIONS,
  args: [{ name: "[generation]", description: "serial of the version" }],
  notes: `The command changes only the state and keeps the previous one. Objects created since then are no longer recorded:
run \`workspace plan\` next, and adopt them with --adopt.`,
  async run(context, options, [generation]) {
    await withState(context, options, async (store) => {
      if (generation === undefined) return list(context, await store.generations(), options.output);
      const { state, before, aside } = await store.restore(serialOf(generation), lockWait(context, options));
      context.stdout.write(
        `Restored version ${generation} as serial ${state.serial}: ${count(state.records.size, "resource")}.\n`,
      );
      tellDifference(context, state, before);
      context.stdout.write(`The previous state is kept: ${printable(aside)}\nNext: workspace plan\n`);
    });
    return EXIT.ok;
  },
});

function serialOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure(
    error("CLI_USAGE", `${text} is not a valid state version`, {
      hint: "see the list: workspace state restore",
    }),
  );
}

function list(context: ConsoleContext, generations: readonly Generation[], form: "text" | "json"): void {
  if (form === "json") {
    context.stdout.write(`${printableJson(generations.map(brief), 2)}\n`);
    return;
  }
  if (generations.length === 0) context.stdout.write("No older state is kept.\n");
  for (const one of generations) {
    const { serial, state, diagnostics } = one;
    const what =
      state === undefined
        ? `cannot be read: ${diagnostics[0]?.message ?? "it does not exist"}`
        : `${counted(state)}${lastApply(state)}`;
    context.stdout.write(`${String(serial).padStart(6)}  ${printable(what)}\n`);
  }
}

function counted(state: State): string {
  const kinds = new Map<string, number>();
  for (const address of state.records.keys()) {
    const kind = kindOf(address);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const parts = [...kinds].sort().map(([kind, number]) => `${kind} ${number}`);
  return `${count(state.records.size, "resource")}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

/** When and by whom the workspace was last changed from this state. */
function lastApply({ history = [] }: State): string {
  const run = history.at(-1);
  return run === undefined ? "" : `; last ${run.command} ${pastRunTime(run)} by ${pastRunAuthor(run)}`;
}

function brief({ serial, state, diagnostics }: Generation): Record<string, unknown> {
  if (state === undefined) return { serial, problem: diagnostics[0]?.message ?? "it does not exist" };
  const run = state.history?.at(-1);
  const last = run === undefined ? {} : { last_apply: pastRunTime(run), by: pastRunAuthor(run) };
  return { serial, lineage: state.lineage, host: state.host, resources: state.records.size, ...last };
}

const SHOWN = 20;

/** Lists what the older state does not contain, so that the next plan does not come as a surprise. */
function tellDifference(context: ConsoleContext, state: State, before: State | undefined): void {
  if (before === undefined) {
    context.stdout.write(
      "The previous state could not be read, so resources recorded only there are unknown.\n",
    );
    return;
  }
  const gone = [...before.records.keys()].filter((address) => !state.records.has(address)).sort();
  if (gone.length === 0) return;
  const shown = gone.slice(0, SHOWN).map(printable).join(", ");
  const more = gone.length > SHOWN ? `, and ${gone.length - SHOWN} more` : "";
  context.stdout.write(`No longer recorded: ${shown}${more}\n`);
}
