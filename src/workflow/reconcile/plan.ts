// One look at a workspace: spec, state and live brought together into a plan. Reads only; what writes is handed a lease elsewhere.

import { principalOf } from "../../api/auth/credential.ts";
import type { Reader } from "../../api/contract/reader.ts";
import type { Settings } from "../../config/settings.ts";
import { keyedDigest } from "../../core/canonical.ts";
import type { Code } from "../../core/codes.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { identify } from "../../engine/observe/identify-caller.ts";
import { observe } from "../../engine/observe/observe.ts";
import { type Budget, budgetedReader, type LiveSnapshot } from "../../engine/observe/readers.ts";
import { type Recovered, recover } from "../../engine/recover/recover.ts";
import { auditPlan } from "../../planner/audit.ts";
import { openQuestions } from "../../planner/check/lookups.ts";
import { makePlan } from "../../planner/make-plan.ts";
import { markUntrusted, redactForUntrusted, withRecordedSecrets } from "../../planner/mode/untrusted.ts";
import { addressByObject, objectKey } from "../../planner/model/context.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { catalogs } from "../../providers/catalogs.ts";
import { registry } from "../../providers/index.ts";
import type { Progress } from "../../report/outcome/progress.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { JournalEntry } from "../../state/model/journal-entry.ts";
import type { State } from "../../state/model/record.ts";
import { listActiveRuns } from "../session/active-runs.ts";
import { addressFilter, restrictionOf } from "../session/address-filter.ts";
import { contentsOf } from "./content-texts.ts";

export interface PlanWorkspaceInput {
  readonly spec: Spec;
  readonly state: State;
  readonly reader: Reader;
  readonly host: string;
  readonly settings: Settings;
  readonly key: Uint8Array;
  readonly progress: Progress;
  readonly adopt: boolean;
  readonly allowDuplicates: boolean;
  readonly destroy: boolean;
  readonly only: readonly string[];
  /** Whether the state will be written: then who the caller is, is asked once for all later runs. */
  readonly writes: boolean;
  readonly mayLackSecrets: boolean;
  /** Set for a spec that may come from a stranger: what may be read for it. The plan then rests on what the state manages alone. */
  readonly budget?: Budget;
  /** Keeps what is read for the plan of a base. */
  readonly snapshot?: LiveSnapshot;
}

export interface WorkspacePlan {
  readonly plan: Plan;
  readonly input: PlanInput;
  readonly live: Live;
  /** What an earlier run left open, settled; its entries come before everything that an apply writes. */
  readonly recovered: Recovered;
  /** Further entries for the state: who the caller is. */
  readonly learnt: readonly JournalEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Throws Failure with STATE_OTHER_HOST before a single request is sent. */
export async function planWorkspace(from: PlanWorkspaceInput): Promise<WorkspacePlan> {
  if (from.budget === undefined) return planWithReader(from);
  const { reader, refusal } = budgetedReader(from.reader, from.budget);
  const planned = await planWithReader({ ...from, reader });
  // A kind whose reading was stopped looks unreadable; why it was stopped says more.
  const refused = refusal();
  if (refused !== undefined) throw new Failure(refused);
  return planned;
}

async function planWithReader(from: PlanWorkspaceInput): Promise<WorkspacePlan> {
  assertSameHost(from.state, from.host);
  const { spec, reader, settings, progress } = from;
  const owned = new Set(addressByObject(from.state.records).keys());
  const untrusted = from.budget !== undefined;
  const restriction = restrictionOf(from.only);
  const live = await observe({
    registry,
    reader,
    spec,
    state: from.state,
    destroy: from.destroy,
    ...(restriction === undefined ? {} : { restriction }),
    parallelism: settings.parallelism,
    onRead: (event) => progress.read(event),
    ...(untrusted ? { looksAt: (kind, { id }) => owned.has(objectKey(kind, id)) } : {}),
    ...(from.snapshot === undefined ? {} : { snapshot: from.snapshot }),
  }).finally(() => progress.stop());
  assertReadable(live);
  const recovered = recover({ registry, state: from.state, live, now: Date.now(), adopt: from.adopt });
  const only = addressFilter(from.only, [...spec.resources.keys(), ...recovered.state.records.keys()]);
  const resolved = from.mayLackSecrets
    ? withRecordedSecrets({ registry, spec, state: recovered.state })
    : spec;
  const shield = untrusted ? redactForUntrusted({ registry, spec, state: recovered.state }, live) : undefined;
  const planning = new Planning(from, {
    registry,
    host: from.host,
    spec: shield?.spec ?? resolved,
    live: shield?.live ?? live,
    state: recovered.state,
    // Lines of files, and what others have, are for those who may see them.
    ...(untrusted ? { contents: new Map(), dependents: new Map() } : {}),
    adopt: from.adopt,
    allowDuplicates: from.allowDuplicates,
    destroy: from.destroy,
    ...(only === undefined ? {} : { only }),
  });
  const found = await planning.plan();
  const plan = shield === undefined ? found : markUntrusted(found, shield.notes);
  const diagnostics = [...recovered.diagnostics, ...auditPlan(plan, planning.input)];
  return { plan, input: planning.input, live, recovered, learnt: planning.learnt, diagnostics };
}

export function assertSameHost(state: State, host: string): void {
  if (state.host === "" || state.host === host) return;
  throw new Failure(
    error("STATE_OTHER_HOST", `the state belongs to ${state.host}, not to ${host}`, {
      hint: "set the right host, or another state with --state or --target",
    }),
  );
}

/** A workspace of which nothing can be read is one problem, not one for each kind. */
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
]);

/** Plans again as long as planning asks for data that costs requests; each kind of data is fetched once. */
class Planning {
  readonly #from: PlanWorkspaceInput;
  input: PlanInput;
  learnt: readonly JournalEntry[] = [];

  constructor(from: PlanWorkspaceInput, input: PlanInput) {
    this.#from = from;
    this.input = input;
  }

  async plan(): Promise<Plan> {
    const fetched = new Set<string>();
    const { settings, state, writes } = this.#from;
    // Known without a request, or worth one now; else only a plan that turns on it asks.
    if (settings.user !== undefined || state.caller?.credential === this.#credential() || writes) {
      fetched.add("caller");
      await this.#fetchCaller();
    }
    for (;;) {
      const plan = makePlan(this.input);
      const wants = plan.wants.filter((want) => !fetched.has(want));
      if (wants.length === 0) return plan;
      for (const want of wants) {
        fetched.add(want);
        if (want === "caller") await this.#fetchCaller();
        else if (want === "runs") await this.#fetchRuns();
        else if (want === "around") await this.#fetchAround(plan);
        else if (want === "lookups") await this.#fetchLookups(plan);
        else await this.#fetchContents(plan);
      }
    }
  }

  async #fetchCaller(): Promise<void> {
    const { reader, settings, state } = this.#from;
    const credential = this.#credential();
    const given = settings.user === undefined ? {} : { given: settings.user };
    const { name, entry } = await identify({ reader, state, credential, ...given });
    if (name !== undefined) this.input = { ...this.input, caller: name };
    if (entry !== undefined) this.learnt = [entry];
  }

  /** Tells credentials apart without keeping them; undefined where the caller can change and the credential does not. */
  #credential(): string | undefined {
    const { place } = this.#from.settings;
    const { credential } = place.embedded ? {} : place;
    if (credential === undefined) return keyedDigest(this.#from.key, place.identity);
    const said = credential.method === "pat" ? credential.token : principalOf(credential);
    return said === undefined ? undefined : keyedDigest(this.#from.key, said);
  }

  async #fetchContents(plan: Plan): Promise<void> {
    const { spec, reader, settings } = this.#from;
    const { live } = this.input;
    const contents = await contentsOf({
      plan,
      spec,
      live,
      registry,
      reader,
      parallelism: settings.parallelism,
    });
    this.input = { ...this.input, contents };
  }

  /** Lists of kinds that the spec need not know, for what the plan's deletes do to others. */
  async #fetchAround(plan: Plan): Promise<void> {
    const { listDependents } = await import("../../engine/observe/list-dependents.ts");
    const { reader, settings } = this.#from;
    const around = await listDependents(registry, this.input, plan.changes, reader, settings.parallelism);
    this.input = { ...this.input, dependents: around };
  }

  /** Values that only the workspace can confirm. An untrusted spec finds out nothing about objects. */
  async #fetchLookups(plan: Plan): Promise<void> {
    const { lookUp } = await import("../../engine/observe/look-up.ts");
    const { reader, budget } = this.#from;
    const questions = openQuestions(this.input, plan.changes);
    const lookups = await lookUp({ questions, registry, catalogs, reader, objects: budget === undefined });
    this.input = { ...this.input, lookups };
  }

  async #fetchRuns(): Promise<void> {
    const found: readonly JsonObject[] = await listActiveRuns(this.#from.reader);
    this.input = { ...this.input, activeRuns: found };
  }
}
