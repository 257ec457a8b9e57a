// Answers who can do what: in the live workspace, in the spec alone, or after a plan.

import { type Address, kindOf } from "../../core/address.ts";
import { Failure, failureOf } from "../../core/diagnostic.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { nearestHint } from "../../core/suggest.ts";
import { type ListKindsInput, listKinds } from "../../engine/observe/list-kinds.ts";
import { FOLDERS, isInTree } from "../../planner/effective-access/access-state.ts";
import {
  accessOfObject,
  accessOfPrincipal,
  namesOfState,
  type ObjectAccess,
  type PrincipalAccess,
  principalsNamed,
  targetNamed,
  targetOfAddress,
} from "../../planner/effective-access/held-rights.ts";
import {
  accessAfter,
  accessOfLive,
  type IsAsked,
  type WorkspaceAccess,
} from "../../planner/effective-access/plan-access.ts";
import { makePlan } from "../../planner/make-plan.ts";
import { addressByObject, createContext, indexLive } from "../../planner/model/context.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import { registry as everyKind } from "../../providers/index.ts";
import { PRINCIPAL_KINDS } from "../../resource/access.ts";
import { planningRegistryIn, registryIn } from "../../resource/dialect-view.ts";
import type { FieldDialect } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import { foldersAbove, isSameName } from "../../resource/names.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { emptyState } from "../../state/format/fold.ts";
import { markRecorded } from "../../state/model/digests-in-state.ts";
import type { State } from "../../state/model/record.ts";
import type { Invocation } from "../invocation/invocation.ts";
import type { Connection } from "../session/connect.ts";
import { sensitiveValuesOf } from "../session/open-state.ts";
import type { Session } from "../session/session.ts";
import { WITHOUT_WAITING, withSettledState } from "../session/settled-state.ts";
import { planWorkspace } from "./plan.ts";
import { hideLive, openSensitive, sensitivePlaces } from "./sensitive.ts";
import type { PlanOptions } from "./sources.ts";

export type AccessAnswer = (PrincipalAccess | ObjectAccess) & Pick<WorkspaceAccess, "notRead">;

/** A question about a principal or an object, by its name. */
export interface AccessQuestion {
  readonly name: string;
  /** The kinds whose objects are asked about; all if there are none. */
  readonly kinds: ReadonlySet<string>;
}

type Reading = Pick<ListKindsInput, "parallelism" | "onRead">;

/** What the state says about sensitive values, which the live workspace does not. */
interface RecordedAccess {
  readonly state: State;
  readonly key: Uint8Array;
}

/** Throws Failure with CLI_UNKNOWN_ADDRESS, as the others here. */
export async function accessInWorkspace(
  connection: Connection,
  dialect: FieldDialect,
  question: AccessQuestion,
  reading: Reading,
  recorded: RecordedAccess,
): Promise<AccessAnswer> {
  const registry = planningRegistryIn(everyKind, dialect);
  const live = await readAccess(connection, dialect, question, reading, recorded.state);
  const { state, key } = recorded;
  const sensitive = sensitiveValuesOf({ key, lineage: state.lineage });
  markRecorded(state, sensitive);
  hideLive(sensitive, state, live);
  const context = {
    input: { registry, live, ...sensitivePlaces(sensitive) },
    liveIndex: indexLive(live, registry),
    owners: addressByObject(state.records),
  };
  return answer(accessOfLive(context, isAsked(registry, question)), { registry, sensitive }, question);
}

/** The rights that the spec declares. Principals that it names and does not declare count as existing. */
export function accessInSpec(invocation: Invocation, spec: Spec, question: AccessQuestion): AccessAnswer {
  const registry = planningRegistryIn(everyKind, invocation.dialect());
  const nothing: Live = new Map(
    registry.kinds.map(({ kind }) => [kind, { readable: true, objects: [], unreadableParents: new Map() }]),
  );
  const state = emptyState("");
  const input: PlanInput = { registry, host: "", spec, live: nothing, state };
  const sensitive = openSensitive({ spec, states: [state], key: new Uint8Array() });
  const { changes, diagnostics } = makePlan(input);
  const refused = diagnostics.filter(
    ({ severity, address }) => severity === "error" && address === undefined,
  );
  if (refused.length > 0) throw new Failure(...refused);
  const unread = new Map([...nothing].filter(([kind]) => !(kind in PRINCIPAL_KINDS)));
  const context = createContext({ ...input, ...sensitivePlaces(sensitive), live: unread }, new Map());
  const named = inSpec(spec, question);
  const access = accessAfter(context, {}, changes, isAsked(registry, named));
  return answer({ ...access, notRead: [] }, { registry, sensitive }, named);
}

export async function accessInPlan(
  session: Session,
  question: AccessQuestion,
  options: Pick<PlanOptions, "only" | "exclude" | "adopt" | "allowDuplicates">,
  reading: Reading,
) {
  const { connection, settings, spec, readLimit, invocation } = session;
  const settled = await withSettledState(session, WITHOUT_WAITING, ({ state }) =>
    planWorkspace(session, state, { ...options, mayLackSecrets: true }),
  );
  const { read: planned, unsettled } = settled;
  const { state, diagnostics } = settled.loaded;
  invocation.observer.report([...diagnostics, ...unsettled, ...planned.diagnostics]);
  const refused = planned.plan.diagnostics.filter(({ severity }) => severity === "error");
  if (refused.length > 0) throw new Failure(...refused);
  const named = inSpec(spec, question);
  const read = await readLimit.during(() => readAccess(connection, settings.dialect, named, reading, state));
  const { input, sensitive } = planned;
  const live = new Map([...input.live, ...read]);
  hideLive(sensitive, planned.recovered.state, live);
  const context = createContext({ ...input, live }, new Map());
  const access = accessAfter(context, input, planned.plan.changes, isAsked(input.registry, named));
  const { registry } = input;
  return { answer: answer(access, { registry, sensitive }, named), plan: planned.plan };
}

/** The list of every principal, and of every object that the question is about, with its access list. */
function readAccess(
  { reader }: Connection,
  dialect: FieldDialect,
  question: AccessQuestion,
  reading: Reading,
  { records }: State,
): Promise<Live> {
  const registry = registryIn(everyKind, dialect);
  const named = objectIn(registry, question.name);
  const planningRegistry = planningRegistryIn(everyKind, dialect);
  const isInFolders = named !== undefined && isInTree(planningRegistry, named.kind);
  const kinds = registry.kinds.filter(({ kind, nested }) => {
    if (planningRegistry.get(kind).planning.access === undefined) return false;
    if (kind in PRINCIPAL_KINDS) return true;
    const own = nested?.kind ?? kind;
    if (named !== undefined) return own === named.kind || (isInFolders && kind === FOLDERS);
    return question.kinds.size === 0 || question.kinds.has(own);
  });
  const asked = isAsked(registry, question);
  return listKinds({
    ...reading,
    registry,
    reader,
    kinds: new Set(kinds.map(({ kind }) => kind)),
    access: {
      isWanted: (kind, { name }) => asked(kind, name),
      ids: (kind) => idsOf(kind, records),
      ...(isInFolders ? { names: new Set([named.name, ...foldersAbove(named.name)]) } : {}),
    },
  });
}

/** Managed principals count also if they are inactive: whether one is can be sensitive. */
const idsOf = (kind: string, records: State["records"]): ReadonlySet<string> =>
  new Set(
    kind in PRINCIPAL_KINDS
      ? [...records.values()].flatMap(({ address, id }) => (kindOf(address) === kind ? [id] : []))
      : [],
  );

/** An object and the folders around it; for a principal, every object. */
function isAsked(registry: Pick<PlanningRegistry, "find">, { name, kinds }: AccessQuestion): IsAsked {
  const named = objectIn(registry, name);
  if (named === undefined) return (kind) => kinds.size === 0 || kinds.has(kind);
  const provider = registry.find(named.kind);
  const folders = new Set(isInTree(registry, named.kind) ? foldersAbove(named.name) : []);
  return (kind, other) =>
    (kind === named.kind && provider !== undefined && isSameName(provider, other, named.name)) ||
    (kind === FOLDERS && folders.has(other));
}

/** Undefined for the name of a principal, which may contain a dot, and for an entitlement. */
function objectIn(registry: Pick<PlanningRegistry, "find">, text: string) {
  const target = targetOfAddress(text);
  const levels = target && registry.find(target.kind)?.planning.access?.levels;
  return levels === undefined || levels.length === 0 ? undefined : target;
}

/** The question with the name of the object, if it has the address of a resource. */
function inSpec({ resources }: Spec, question: AccessQuestion): AccessQuestion {
  const resource = resources.get(question.name as Address);
  return resource === undefined ? question : { ...question, name: `${resource.kind}.${resource.name}` };
}

interface Answering {
  readonly registry: PlanInput["registry"];
  readonly sensitive: SensitiveValues;
}

/** The one place that makes answers, so that none has a sensitive value. */
function answer(
  { state, targets, notRead }: WorkspaceAccess,
  { registry, sensitive }: Answering,
  { name }: AccessQuestion,
): AccessAnswer {
  const [principal, ...others] = principalsNamed(state, name);
  if (others.length > 0)
    throw failureOf("CLI_USAGE", `${name} is a user and a group`, {
      hint: `write user:${name}, group:${name}, or sp:${name}`,
    });
  if (principal !== undefined) return sensitive.masked({ ...accessOfPrincipal(state, principal), notRead });
  const target = targetNamed([...state.objects.values(), ...targets], registry, name);
  if (target !== undefined) return sensitive.masked({ ...accessOfObject(state, target), notRead });
  const names = [...namesOfState(state), ...targets.map((object) => `${object.kind}.${object.name}`)];
  throw failureOf("CLI_UNKNOWN_ADDRESS", `no principal and no object is named ${JSON.stringify(name)}`, {
    hint: nearestHint(
      name,
      names.filter((other) => !sensitive.texts.isIn(other)),
      "write an object as KIND.NAME, such as scopes.etl, and a principal as ada@example.com, data-eng, or sp:NAME",
    ),
  });
}
