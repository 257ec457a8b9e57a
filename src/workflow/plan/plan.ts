// Makes a plan from spec, state, and live objects. Read-only.

import type { Reader } from "../../api/contract/reader.ts";
import type { Settings } from "../../config/settings.ts";
import type { Code } from "../../core/codes.ts";
import { type Diagnostic, Failure } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import type { SensitiveValues } from "../../core/sensitive-values.ts";
import { observe } from "../../engine/observe/observe.ts";
import { type Budget, budgetedReader, type LiveSnapshot } from "../../engine/observe/readers.ts";
import { moveRecords, type Recovered, recover } from "../../engine/recover/recover.ts";
import { auditPlan } from "../../planner/audit.ts";
import { draftPlan, finishPlan } from "../../planner/make-plan.ts";
import { markUntrusted, withRecordedSecrets, withSaltedDigests } from "../../planner/mode/untrusted.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { concealedPlan } from "../../planner/sensitive-plan.ts";
import { registry } from "../../providers/index.ts";
import { planningRegistryIn } from "../../resource/dialect-view.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { JournalEntry, State } from "../../state/model/record.ts";
import { concealedEntry, concealedState } from "../../state/model/sensitive-state.ts";
import type { Activity } from "../invocation/workflow-context.ts";
import { assertKnownKinds } from "../session/check-state.ts";
import { assertSameHost } from "../session/state-warnings.ts";
import { addressFilter, restrictionOf } from "./address-filter.ts";
import { gatherFacts, knownCallerFacts } from "./gather-facts.ts";
import { importNotes, withImports, withoutImports } from "./record-entries.ts";
import { openSensitive, type Redaction, redaction, revealed, sensitivePlaces } from "./sensitive.ts";

export interface PlanWorkspaceInput {
  readonly spec: Spec;
  readonly state: State;
  readonly reader: Reader;
  readonly host: string;
  readonly settings: Settings;
  readonly key: Uint8Array;
  readonly progress: Activity;
  readonly adopt: boolean;
  readonly allowDuplicates: boolean;
  readonly destroy: boolean;
  readonly only: readonly string[];
  /** Whether the state will be written; if so, the caller is identified once and recorded for later runs. */
  readonly writes: boolean;
  readonly mayLackSecrets: boolean;
  /** Set for an untrusted spec: the read limits. The plan then uses managed resources only. */
  readonly budget?: Budget;
  readonly snapshot?: LiveSnapshot;
  /** The spec of a base: what it declares as sensitive is sensitive. */
  readonly base?: Spec | undefined;
}

export interface WorkspacePlan {
  /** Without sensitive values, as `recovered`. */
  readonly plan: Plan;
  /** The input of the plan, in the clear. */
  readonly input: PlanInput & PlanFacts;
  readonly live: Live;
  readonly sensitive: SensitiveValues;
  /** Of an untrusted spec. */
  readonly redact?: Redaction;
  /** What an earlier run left open, settled; its entries come before everything that an apply writes. */
  readonly recovered: Recovered;
  readonly learnt: readonly JournalEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Throws Failure with STATE_OTHER_HOST or STATE_FORMAT before a single request is sent. */
export async function planWorkspace(from: PlanWorkspaceInput): Promise<WorkspacePlan> {
  return concealed(await planInTheClear(from));
}

/** Nothing that leaves the planning has a sensitive value. */
export function concealed(planned: WorkspacePlan): WorkspacePlan {
  const { plan, recovered, diagnostics, sensitive } = planned;
  if (sensitive.isEmpty) return planned;
  return {
    ...planned,
    plan: concealedPlan(plan, sensitive),
    recovered: {
      state: concealedState(recovered.state, sensitive),
      entries: recovered.entries.map((entry) => concealedEntry(entry, sensitive)),
      diagnostics: sensitive.masked(recovered.diagnostics),
    },
    diagnostics: sensitive.masked(diagnostics),
  };
}

/** The plan before `concealed`: only for what compares it with another one. */
export async function planInTheClear(from: PlanWorkspaceInput): Promise<WorkspacePlan> {
  if (from.budget === undefined) return planWithReader(from);
  const { reader, refusal } = budgetedReader(from.reader, from.budget);
  const planned = await planWithReader({ ...from, reader });
  // A kind whose read was stopped looks unreadable; the reason of the stop is more useful.
  const refused = refusal();
  if (refused !== undefined) throw new Failure(refused);
  return planned;
}

async function planWithReader(from: PlanWorkspaceInput): Promise<WorkspacePlan> {
  assertSameHost(from.state, from.host);
  assertKnownKinds(from.state.records.keys());
  const { reader, settings, progress } = from;
  const kinds = planningRegistryIn(registry, settings.spoken);
  const spec = from.budget === undefined ? from.spec : withoutImports(from.spec);
  const untrusted = from.budget !== undefined;
  const owned = untrusted ? addressByObject(from.state.records) : undefined;
  const restriction = restrictionOf(from.only);
  const knowing = knownCallerFacts(from);
  // Reported after problems of reading.
  knowing.catch(() => undefined);
  const withMoves = (recovered: Recovered) =>
    moveRecords(spec.stateEntries?.moved ?? [], recovered, { registry, declared: spec.resources });
  const recorded = withMoves({ state: from.state, entries: [], diagnostics: [] }).state;
  const { key } = from;
  const sensitive = openSensitive({ spec, base: from.base, states: [from.state, recorded], key, untrusted });
  const observing = observe({
    registry,
    reader,
    spec,
    state: withImports(recorded, spec.stateEntries),
    destroy: from.destroy,
    restriction,
    snapshot: from.snapshot,
    parallelism: settings.parallelism,
    onRead: (event) => progress.read(event),
    ...(owned === undefined ? {} : { looksAt: (kind, { id }) => owned.has(kind, id) }),
  }).finally(() => progress.stop());
  const live = await observing;
  assertReadable(live);
  const state = revealed(sensitive, { spec, state: from.state, moved: recorded, live, key, untrusted });
  const { moved, ...recovered } = withMoves(
    recover({ registry, state, live, now: Date.now(), adopt: from.adopt }),
  );
  const only =
    restriction === undefined
      ? undefined
      : addressFilter(from.only, [...spec.resources.keys(), ...recovered.state.records.keys()]);
  const resolved = from.mayLackSecrets
    ? withRecordedSecrets({ registry, spec, state: recovered.state })
    : spec;
  const redact = untrusted ? redaction(kinds, { state: recorded, before: from.state, live, key }) : undefined;
  const shield = redact?.(spec, recovered.state, live);
  const { facts: known, learnt: learntBefore } = await knowing;
  const draft = draftPlan({
    ...known,
    registry: kinds,
    host: from.host,
    spec: shield?.spec ?? resolved,
    live: shield?.live ?? live,
    state: shield?.state ?? withSaltedDigests({ registry, spec, state: recovered.state }),
    ...defined({ moved, only }),
    ...sensitivePlaces(sensitive),
    adopt: from.adopt,
    allowDuplicates: from.allowDuplicates,
    destroy: from.destroy,
  });
  // Not shown for untrusted specs: lines of files, and objects of others.
  const given = untrusted ? { contents: new Map(), dependents: new Map() } : {};
  const { facts, learnt } = await gatherFacts(
    draft,
    { facts: { ...known, ...given }, learnt: learntBefore },
    from,
  );
  const found = finishPlan(draft, facts);
  const plan =
    shield === undefined
      ? found
      : markUntrusted(found, [...shield.notes, ...importNotes(from.spec, recovered.state)]);
  const input = { ...draft.context.input, ...facts };
  const diagnostics = [...recovered.diagnostics, ...auditPlan(plan, input, draft.context.liveIndex)];
  return { plan, input, live, sensitive, redact, recovered, learnt, diagnostics };
}

/** A workspace that cannot be read at all is reported once, not for each kind. */
function assertReadable(live: Live): void {
  const kinds = [...live.values()];
  const [first] = kinds;
  if (first === undefined || first.readable || kinds.some((kind) => kind.readable)) return;
  if (WHOLLY.has(first.diagnostic.code)) throw new Failure(first.diagnostic);
}

const WHOLLY: ReadonlySet<Code> = new Set([
  "API_UNREACHABLE",
  "API_UNAUTHENTICATED",
  "API_PROTOCOL",
  "API_REDIRECT",
  "API_TIMEOUT",
  "CLI_FILE",
]);
