// `workspace import ADDRESS ID`: records a live object under an address of the spec. Does not change the workspace.

import { parseAddress } from "../../core/address.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { recordBeforeWrites } from "../../engine/recover/recover.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { planJson } from "../../report/format/plan-json.ts";
import type { PlanFormat } from "../../report/formats.ts";
import { jsonDocument, printable } from "../../report/text/printable.ts";
import type { Resource, Spec } from "../../spec/model/spec.ts";
import type { StateRecord } from "../../state/model/record.ts";
import type { Lease } from "../../state/model/store.ts";
import { reportOrThrow } from "../../workflow/invocation/invocation.ts";
import { placesIn } from "../../workflow/plan/spec-places.ts";
import { lockWait, withLock } from "../../workflow/session/open-state.ts";
import { type Session, withSession } from "../../workflow/session/session.ts";
import { assertFree, planImport } from "../../workflow/transfer/import.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
import { exitOf } from "../command/exit-codes.ts";
import { FORM_OPTION, LIVE_OPTIONS, STATE_OPTIONS, UNENCRYPTED_OPTION } from "../command/shared-options.ts";
import { Reports } from "../output/reports.ts";
import { showPlan, viewOf } from "../output/review.ts";

export const importCommand = defineCommand({
  jsonSchema: "import",
  options: {
    ...LIVE_OPTIONS,
    lockTimeout: STATE_OPTIONS.lockTimeout,
    ...UNENCRYPTED_OPTION,
    ...FORM_OPTION,
  },
  args: [
    { name: "<address>", description: "address in the spec, such as pools.shared", takes: "address" },
    { name: "<id>", description: "ID of the object in the workspace" },
  ],
  notes: "The command changes only the state, then shows the next plan.",
  async run(context, options, [text = "", id = ""]) {
    return context.signals.during((signal) =>
      withSession(context, { makesKey: true, secrets: "skip", signal }, (session) => {
        const resource = declared(session.spec, text);
        const wait = { ...lockWait(context, options.lockTimeout), signal };
        return withLock(session.store, wait, (lease) =>
          importInto(context, session, lease, resource, id, options.output),
        );
      }),
    );
  },
});

async function importInto(
  context: ConsoleContext,
  session: Session,
  lease: Lease,
  resource: Resource,
  id: string,
  form: "text" | "json",
): Promise<number> {
  assertFree(lease.state(), resource, id);
  const { record, plan, planned } = await planImport(session, lease.state(), resource, id);
  const diagnostics = [...lease.diagnostics, ...planned.recovered.diagnostics];
  reportOrThrow(context.observer, diagnostics);
  await recordBeforeWrites(lease, [...planned.recovered.entries, ...planned.callerEntries]);
  if (lease.state().host === "") await lease.append({ type: "host", host: session.connection.host });
  await lease.append({ type: "record", record });
  await lease.publish();
  await show(context, session, record, plan, form);
  return exitOf(plan.diagnostics.filter(({ code }) => code === "PLAN_UNREADABLE"));
}

async function show(
  context: ConsoleContext,
  { spec }: Session,
  { address, id, name }: StateRecord,
  plan: Plan,
  form: "text" | "json",
): Promise<void> {
  const reports = new Reports<PlanFormat>(context, { output: [] });
  const shown = { plan, places: placesIn(spec.resources), notes: [] };
  if (form === "json") {
    const info = await reports.info(plan);
    const document = { imported: { address, id, name }, plan: planJson(viewOf(shown, reports), info) };
    context.stdout.write(jsonDocument(document, 2));
    return;
  }
  context.stdout.write(`Imported ${printable(address)} (id ${printable(id)}). The next plan:\n\n`);
  await showPlan(reports, shown);
}

function declared(spec: Spec, text: string): Resource {
  const address = parseAddress(text);
  const resource = address === undefined ? undefined : spec.resources.get(address);
  if (resource !== undefined) return resource;
  const hint = nearestHint(text, [...spec.resources.keys()], "declare the resource in the spec first");
  throw failureOf("CLI_UNKNOWN_ADDRESS", `the spec does not declare ${text}`, { hint });
}
