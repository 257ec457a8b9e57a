// `workspace state …`: commands that inspect and repair the state; `list` and `show` print its records. None changes the workspace.

import { Failure } from "../../../core/diagnostic.ts";
import { registry } from "../../../providers/index.ts";
import { jsonDocument, printable } from "../../../report/text/printable.ts";
import { maskedValues } from "../../../resource/masked.ts";
import { type State, type StateRecord, sortedRecords } from "../../../state/model/record.ts";
import { requiredTarget } from "../../../workflow/invocation/target.ts";
import { assertKnownKinds, recordAt } from "../../../workflow/session/check-state.ts";
import { withState } from "../../../workflow/session/open-state.ts";
import { checkSpec } from "../../../workflow/session/read-spec.ts";
import {
  type CommandGroup,
  type ConsoleContext,
  defineCommand,
  type Untitled,
} from "../../command/command.ts";
import { FORM_OPTION, STATE_LOCATION_OPTIONS } from "../../command/shared-options.ts";
import { noteMissingState, printDiagnostics, printResult } from "../../output/diagnostics.ts";
import {
  migrateCommand,
  moveRecordCommand,
  pullCommand,
  pushCommand,
  rekeyCommand,
  removeRecordsCommand,
  restoreCommand,
  unlockCommand,
} from "./writes.ts";

const listRecordsCommand = defineCommand({
  name: "list",
  summary: "list the recorded resources",
  jsonSchema: "state-list",
  options: { ...STATE_LOCATION_OPTIONS, ...FORM_OPTION },
  async run(context, options) {
    const records = sortedRecords(await read(context));
    printResult(context, options.output, { resources: records.map(brief) }, () =>
      records.map(recordLine).join(""),
    );
  },
});

function brief({ address, id, name, status }: StateRecord): Record<string, unknown> {
  return { address, id, name, status };
}

function recordLine({ address, status }: StateRecord): string {
  return `${printable(address)}${status === "ready" ? "" : `  (${status})`}\n`;
}

const showRecordCommand = defineCommand({
  name: "show",
  summary: "show one record as JSON",
  jsonSchema: "state-show",
  options: STATE_LOCATION_OPTIONS,
  args: [{ name: "<address>", description: "address, such as pools.shared", takes: "address" }],
  async run(context, _options, [text]) {
    const state = await read(context);
    const record = recordAt(state, text);
    assertKnownKinds([record.address]);
    const { fields } = registry.of(record.address);
    const seen = record.status === "ready" ? { seen: maskedValues(fields, record.seen) } : {};
    const shown = { ...record, applied: maskedValues(fields, record.applied), ...seen };
    context.stdout.write(jsonDocument(shown, 2));
  },
});

async function read(context: ConsoleContext): Promise<State> {
  return withState(context, async (store) => {
    const { state, diagnostics } = await store.read();
    printDiagnostics(context, diagnostics);
    if (state.records.size === 0) await assertTarget(context);
    noteMissingState(context, store.location, state);
    return state;
  });
}

/** Nothing is recorded: because nothing was applied yet, or because the spec has no such target. */
async function assertTarget(context: ConsoleContext): Promise<void> {
  if (requiredTarget(context) === undefined) return;
  const { diagnostics } = await checkSpec(context);
  const unknown = diagnostics.filter(({ code }) => code === "SPEC_TARGET");
  if (unknown.length > 0) throw new Failure(...unknown);
}

export const stateCommand: Untitled<CommandGroup> = {
  commands: [
    listRecordsCommand,
    showRecordCommand,
    removeRecordsCommand,
    moveRecordCommand,
    unlockCommand,
    pullCommand,
    pushCommand,
    migrateCommand,
    restoreCommand,
    rekeyCommand,
  ],
};
