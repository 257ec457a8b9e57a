// Executes one change: checks that its object and its content are still those of the plan, journals and sends its requests, and records the
// result.

import { parentOf, type RemoteId } from "../../core/address.ts";
import { type Diagnostic, type Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import {
  diagnosticOf,
  failureDiagnostic,
  isConflict,
  Refused,
  rethrowBug,
  UnknownOutcome,
} from "../../core/request-failure.ts";
import { comparable, isAsPlanned } from "../../planner/diff/normalize.ts";
import {
  type Change,
  type Create,
  type Delete,
  isOfReplaced,
  type ObjectChange,
  type Replace,
  type Update,
  type Write,
} from "../../planner/model/change.ts";
import type { ChangeStatus } from "../../planner/model/plan.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isSameName } from "../../resource/names.ts";
import type { Payload, PlannedFrom } from "../../resource/operations.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { manageablePart, toNames } from "../name-index.ts";
import { updatedRecord } from "../recover/proven-values.ts";
import { carriesToken, isCertainlyCreated, isFoundByName } from "../recover/recover.ts";
import { type ApplyRun, assertNew, type ChangeResult, isStopped, newJournal, newToken } from "./apply-run.ts";
import type { JournaledWriter, NewIntent } from "./journaled-writer.ts";
import {
  previousObservations,
  type ResolvedValues,
  recordAfter,
  resolveValues,
  seenIn,
} from "./record-values.ts";

/** `nameWasTaken`: whether an object had the name before, so that one with the name afterwards may not be the created one. */
export async function create(
  run: ApplyRun,
  change: Create | Replace,
  { nameWasTaken }: { readonly nameWasTaken: boolean },
): Promise<ChangeResult> {
  const provider = run.input.registry.get(change.kind);
  // In a delete-first replacement, the old object no longer exists.
  const isStillThere =
    change.action === "replace" && run.input.lease.record(change.address)?.id === change.id;
  const replaces = isStillThere ? change.id : undefined;
  const token = newToken(run);
  run.tokens.set(change.address, token);
  return runChange(run, change, async (begin) => {
    // The replaced object is read before its replacement is created; a renamed one was read before the rename.
    if (change.action === "replace" && change.replacing === "create-first" && replaces !== undefined)
      await readUnmoved(run, change);
    const { wire, applied } = await resolveValues(run, change);
    const payload = payloadOf(run, change);
    const journal = begin(applied, {
      action: "create",
      token,
      existed: nameWasTaken,
      ...defined({ replaces }),
    });
    const task = { address: change.address, name: change.name, values: wire, token, ...payload };
    const id = await createOrFind(run, change, journal, () => provider.operations.create(journal, task));
    assertNew(run, change, id);
    await journal.done({ record: recordAfter(run, change, id, applied, {}, replaces) });
    run.names.add(change.kind, change.name, id);
    return id;
  });
}

export async function update(run: ApplyRun, change: Update): Promise<ChangeResult> {
  const provider = run.input.registry.get(change.kind);
  return runChange(run, change, async (begin) => {
    const live = await readUnmoved(run, change);
    const { wire, applied } = await resolveValues(run, change);
    const payload = payloadOf(run, change);
    const token = newToken(run);
    const { address, name, id, steps } = change;
    const journal = begin(applied, { action: "update", id, token, existed: true });
    const task = { address, name, id, live, before: live.values, steps, values: wire, token, ...payload };
    await provider.operations.update(journal, task);
    await journal.done({ record: recordAfter(run, change, id, applied, previousObservations(run, change)) });
    run.names.add(change.kind, change.name, id);
    return id;
  });
}

/** Deletes the object of a change. An object that no longer exists is only removed from the state. */
export async function remove(run: ApplyRun, change: Delete): Promise<ChangeResult> {
  return runChange(run, change, async (begin) => {
    const live = await readAsPlanned(run, change);
    await removeObject(run, change, live, begin);
    return change.id;
  });
}

/** Deletes the old object of a replacement. Its fingerprint was compared before anything was done to it. */
export async function removeReplaced(run: ApplyRun, change: Replace): Promise<ChangeResult> {
  return runChange(run, change, async (begin) => {
    const live = await readObject(run, change.kind, change.id, undefined);
    await removeObject(run, change, live, begin);
    return run.input.lease.record(change.address)?.id ?? change.id;
  });
}

async function removeObject(
  run: ApplyRun,
  change: Delete | Replace,
  live: LiveObject | undefined,
  begin: BeginJournal,
): Promise<void> {
  const { address, id } = change;
  const journal = begin({}, { action: "delete", id, token: newToken(run), existed: true });
  const name = live?.name ?? change.name;
  if (live !== undefined) {
    const observed = defined({ observed: run.liveIndex.byId(change.kind, id) });
    const { operations } = run.input.registry.get(change.kind);
    await operations.delete(journal, { address, id, name, live, ...observed });
  }
  await journal.done({ gone: { address, id } });
}

type AsIs = Extract<Change, { readonly action: "adopt" | "import" | "move" | "noop" }>;

/** Records an object that matches the spec; changes only the state. */
export async function recordAsIs(run: ApplyRun, change: AsIs): Promise<ChangeResult> {
  return runChange(run, change, async () => {
    const { applied } = await resolveValues(run, change);
    await run.input.lease.append({ type: "record", record: recordUnsent(run, change, applied) });
    return change.id;
  });
}

/** The record of an object that matches the spec. */
export function recordUnsent(run: ApplyRun, change: AsIs, applied: ResolvedValues["applied"]) {
  const live = run.liveIndex.byId(change.kind, change.id);
  const provider = run.input.registry.get(change.kind);
  const observed = live ? seenIn(provider.fields, applied, comparable(provider, live, applied)) : {};
  return recordAfter(run, change, change.id, applied, observed);
}

export async function forget(
  run: ApplyRun,
  change: Extract<Change, { readonly action: "forget" }>,
): Promise<ChangeResult> {
  return runChange(run, change, async () => {
    const { address, id } = change;
    await run.input.lease.append({ type: "gone", gone: { address, id } });
    return id;
  });
}

/** The payload that the plan was made with, and no other. */
function payloadOf(run: ApplyRun, change: Write): { readonly payload?: Payload } {
  const payload = run.input.resources.get(change.address)?.payload;
  if (change.payload === undefined) return { payload };
  if (payload?.digest === change.payload) return { payload };
  throw failureOf("PLAN_STALE", `the content for ${change.address} changed after the plan was made`, {
    address: change.address,
    hint: "plan again",
  });
}

/** Renames the old object of a replacement under a separate intent, so that the new object can have its name. */
export async function renameReplaced(run: ApplyRun, change: Replace): Promise<ChangeResult> {
  const { address, id } = change;
  const provider = run.input.registry.get(change.kind);
  return runChange(run, change, async (begin) => {
    const live = await readUnmoved(run, change);
    // A replacement that was interrupted after this step has already renamed the object.
    if (!isSameName(provider, live.name, change.name)) return id;
    if (provider.operations.rename === undefined)
      throw new Error(`${change.kind} cannot be renamed: only kinds with a verb for it are`);
    const token = newToken(run);
    const name = replacedName(provider, change.name, token);
    const record = run.input.lease.record(address);
    const wanted = record?.id === id ? recordNamed(provider, record, name).applied : {};
    const journal = begin(wanted, { action: "update", id, token, existed: true });
    await provider.operations.rename(journal, { id, live, name });
    if (record?.id === id) await journal.done({ record: recordNamed(provider, record, name) });
    else await journal.close();
    return id;
  });
}

function recordNamed<R extends StateRecord>({ nameField }: Provider, record: R, name: string): R {
  return nameField === undefined
    ? record
    : { ...record, name, applied: { ...record.applied, [nameField]: name } };
}

const SHORT_TOKEN = 6;

/** The name of a replaced object: its own, cut to the longest name of the kind, and a mark. */
function replacedName({ nameField = "", fields }: Provider, name: string, token: string): string {
  const mark = ` (replaced ${token.slice(0, SHORT_TOKEN)})`;
  const longest = fields[nameField]?.maxLength;
  return typeof longest === "number" ? `${name.slice(0, longest - mark.length)}${mark}` : `${name}${mark}`;
}

/** Returns the journal of the change, which `runChange` settles after a failure. */
type BeginJournal = (
  wanted: Values,
  intent: Pick<NewIntent, "action" | "id" | "token" | "existed" | "replaces">,
) => JournaledWriter;

async function runChange(
  run: ApplyRun,
  change: Change,
  work: (begin: BeginJournal) => Promise<RemoteId>,
): Promise<ChangeResult> {
  let journal: JournaledWriter | undefined;
  try {
    const id = await work((wanted, intent) => {
      const { address, name } = change;
      const depends_on = run.input.resources.get(address)?.dependsOn ?? change.dependsOn;
      journal = newJournal(run, change, { address, name, wanted, depends_on, ...intent });
      return journal;
    });
    return { result: "applied", id };
  } catch (failure) {
    const diagnostic = failureDiagnostic(failure);
    if (FATAL.has(diagnostic.code)) run.halted ??= diagnostic;
    const result =
      journal === undefined ? resultOf(diagnostic) : await settle(run, change, journal, failure, diagnostic);
    const at = diagnostic.address === undefined ? { ...diagnostic, address: change.address } : diagnostic;
    return { result, diagnostic: at, id: journal?.createdId };
  }
}

/** After these results, no more requests may be sent. */
const FATAL: ReadonlySet<Diagnostic["code"]> = new Set(["STATE_LOCK_LOST", "STATE_IO"]);

function resultOf({ code }: Diagnostic): ChangeStatus {
  return code === "PLAN_LIVE_MOVED" || code === "APPLY_INTERRUPTED" ? "skipped" : "failed";
}

/** Leaves the intent open if anything is uncertain or not recorded; the next run resolves it. */
async function settle(
  run: ApplyRun,
  change: Change,
  journal: JournaledWriter,
  failure: unknown,
  diagnostic: Diagnostic,
): Promise<ChangeStatus> {
  const { open, succeeded, begun } = journal.account;
  if (open > 0) return "unknown";
  if (!begun || run.halted !== undefined) return resultOf(diagnostic);
  if (succeeded === 0 && (await mayBeEarlierCopy(run, change, journal, failure))) return "unknown";
  try {
    if (succeeded === 0 || journal.createdId !== undefined) await journal.close();
    // The open intent lets recovery find what such a change may have created.
    else if (run.input.registry.get(change.kind).planning.content?.partialUploadName !== undefined)
      return resultOf(diagnostic);
    else if (change.action === "update") {
      const record = run.input.lease.record(change.address);
      // An object that is being adopted has no record yet: recovery closes such an intent, too.
      if (record?.id !== change.id) await journal.close();
      else {
        const partly = await partlyUpdated(run, change, journal, record);
        // Otherwise, the next run reads the object.
        if (partly !== undefined) await journal.done({ record: partly });
      }
    } else if (change.action === "delete") await journal.close();
  } catch (problem) {
    run.halted ??= diagnosticOf(problem);
  }
  return resultOf(diagnostic);
}

/** The record after an update of which only some requests succeeded; undefined if the object could not be read. */
async function partlyUpdated(
  run: ApplyRun,
  change: Update,
  journal: JournaledWriter,
  record: StateRecord,
): Promise<StateRecord | undefined> {
  const provider = run.input.registry.get(change.kind);
  if (isStopped(run)) return undefined;
  try {
    const live = await readObject(run, change.kind, change.id, change.after);
    const named = live && { ...live, values: toNames(provider.fields, live.values, run.names) };
    return updatedRecord(provider, record, journal.wanted, named);
  } catch (unread) {
    rethrowBug(unread);
    return undefined;
  }
}

/** If the object exists now, the next run decides whether it is managed, as after a request without an answer. */
async function mayBeEarlierCopy(
  run: ApplyRun,
  change: Change,
  journal: JournaledWriter,
  failure: unknown,
): Promise<boolean> {
  const creates = change.action === "create" || change.action === "replace";
  if (!creates || journal.existed || !(failure instanceof Refused)) return false;
  const provider = run.input.registry.get(change.kind);
  if (isConflict(failure)) return carriesToken(provider) || isFoundByName(provider);
  if (!isFoundByName(provider)) return false;
  // Some kinds have no code of their own for a name that is taken.
  if (failure.code !== "INVALID_PARAMETER_VALUE") return false;
  try {
    return (await findByName(run, change)) !== undefined;
  } catch (unread) {
    rethrowBug(unread);
    // After a read without an answer, it may exist.
    return !(unread instanceof Refused);
  }
}

/** The live object now, with IDs in `names` fields; undefined if it was deleted. */
async function readObject(
  run: ApplyRun,
  kind: string,
  id: RemoteId,
  desired: Values | undefined,
  plannedFrom?: PlannedFrom,
): Promise<LiveObject | undefined> {
  const provider = run.input.registry.get(kind);
  const liveObject = await provider.operations.read(run.input.writer, id);
  if (liveObject === undefined) return undefined;
  const live = { ...liveObject, values: manageablePart(provider.fields, liveObject.values, run.names) };
  const context = { ...run.detailsContext(kind, id), plannedFrom };
  return provider.operations.readDetails?.(run.input.writer, live, desired, context) ?? live;
}

/** The object that has the natural name of a change now, as listed. */
async function findByName(run: ApplyRun, { kind, name }: Change): Promise<LiveObject | undefined> {
  const provider = run.input.registry.get(kind);
  const parents = provider.nested === undefined ? [] : [parentOf(name)];
  const all = await provider.operations.list(run.input.writer, { parents, names: new Set([name]) });
  return all.find((liveObject) => isSameName(provider, liveObject.name, name));
}

/** The values that may have decided which details the plan read: it may have read a duplicate of a declared object as that object. */
function readingsOf(
  { input: { plan, resources } }: ApplyRun,
  change: ObjectChange,
): readonly (Values | undefined)[] {
  if ("after" in change) return [change.after];
  const { address } = change;
  const isKept =
    isOfReplaced(change) &&
    plan.changes.some((other) => other.address === address && other.action !== "delete");
  const declared = isKept ? resources.get(address)?.values : undefined;
  return declared === undefined ? [undefined] : [undefined, declared];
}

/** The object that a change rests on, which exists. Throws as `readAsPlanned` does, also if it was deleted. */
async function readUnmoved(run: ApplyRun, change: Replace | Update): Promise<LiveObject> {
  const live = await readAsPlanned(run, change);
  if (live === undefined) throw moved(change, "was deleted");
  return live;
}

/** The object that a change rests on; undefined if it was deleted. Throws Failure with PLAN_LIVE_MOVED if it differs from what the plan read. */
async function readAsPlanned(run: ApplyRun, change: ObjectChange): Promise<LiveObject | undefined> {
  // Another change of this apply may have changed what decides about the object, such as its cluster policy.
  const plannedFrom: PlannedFrom = (kind, id) => run.liveIndex.byId(kind, id)?.values;
  const provider = run.input.registry.get(change.kind);
  for (const declared of readingsOf(run, change)) {
    const live = await readObject(run, change.kind, change.id, declared, plannedFrom);
    if (live === undefined) return undefined;
    const named = { ...live, values: toNames(provider.fields, live.values, run.names) };
    if (isAsPlanned(provider, named, change, run.input.sensitive)) return live;
  }
  throw moved(change, "changed");
}

function moved(change: Change, how: string): Failure {
  return failureOf("PLAN_LIVE_MOVED", `${change.address} ${how} in the workspace after the plan was made`, {
    address: change.address,
    hint: "it was not changed; plan again to compare it with the spec",
  });
}

/** Returns the ID from `make`, or of the object that it created with an unknown outcome. Throws as `make` does. */
async function createOrFind(
  run: ApplyRun,
  change: Create | Replace,
  journal: JournaledWriter,
  make: () => Promise<RemoteId>,
): Promise<RemoteId> {
  try {
    return await make();
  } catch (failure) {
    const foundId =
      failure instanceof UnknownOutcome ? await findAfterLostAnswer(run, change, journal) : undefined;
    if (foundId === undefined) throw failure;
    return foundId;
  }
}

/** The object that the lost request created, by the rule of recovery in the next run. */
async function findAfterLostAnswer(
  run: ApplyRun,
  change: Create | Replace,
  journal: JournaledWriter,
): Promise<RemoteId | undefined> {
  const provider = run.input.registry.get(change.kind);
  // A creation of several requests may be half done.
  const { account, existed, wanted } = journal;
  const hasMoreRequests = Object.keys(wanted).some((name) => provider.fields[name]?.separateRequest === true);
  if (!isFoundByName(provider) || existed || account.succeeded > 0 || hasMoreRequests || isStopped(run))
    return undefined;
  try {
    const listed = await findByName(run, change);
    const live =
      listed === undefined ? undefined : await readObject(run, change.kind, listed.id, change.after);
    if (live === undefined) return undefined;
    const values = toNames(provider.fields, live.values, run.names);
    return isCertainlyCreated(journal, provider, { ...live, values }) ? live.id : undefined;
  } catch (unread) {
    rethrowBug(unread);
    return undefined;
  }
}
