// Reads one object by ID or name before a write. A changed object is not written, and one lookup resolves a creation without an answer.

import { parentOf, type RemoteId } from "../../core/address.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { UnknownOutcome } from "../../core/request-failure.ts";
import { comparable, isAsPlanned } from "../../planner/diff/fingerprint.ts";
import type { Change, Create, Replace } from "../../planner/model/change.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isSameName } from "../../resource/names.ts";
import type { Provider } from "../../resource/provider.ts";
import { failureDiagnostic } from "../failures.ts";
import { manageablePart, toNames } from "../name-index.ts";
import { isFoundByName, matchesRequest } from "../recover/match-object.ts";
import { type ApplyRun, isStopped } from "./apply-run.ts";
import type { JournaledWriter } from "./journaled-writer.ts";

type Existing = Extract<Change, { readonly fingerprint: string }>;

/** The live object now, with IDs in `names` fields; undefined if it was deleted. */
export async function readObject(
  run: ApplyRun,
  kind: string,
  id: RemoteId,
  desired: Values | undefined,
): Promise<LiveObject | undefined> {
  const provider = run.input.registry.get(kind);
  const found = await provider.operations.read(run.writer, id);
  if (found === undefined) return undefined;
  const live = { ...found, values: manageablePart(provider.fields, found.values, run.names) };
  return provider.operations.readDetails?.(run.writer, live, desired) ?? live;
}

/** The object that has the natural name of a change now, as listed. */
export async function findByName(run: ApplyRun, { kind, name }: Change): Promise<LiveObject | undefined> {
  const provider = run.input.registry.get(kind);
  const parents = provider.nested === undefined ? [] : [parentOf(name)];
  const all = await provider.operations.list(run.writer, { parents, names: new Set([name]) });
  return all.find((one) => isSameName(provider, one.name, name));
}

/** The object that a change rests on. Throws Failure with PLAN_LIVE_MOVED when it is another one than the plan saw. */
export async function readUnmoved(run: ApplyRun, change: Existing): Promise<LiveObject | undefined> {
  const after = "after" in change ? change.after : undefined;
  const live = await readObject(run, change.kind, change.id, after);
  if (live === undefined) {
    if (change.action === "delete") return undefined;
    throw moved(change, "was deleted");
  }
  const provider = run.input.registry.get(change.kind);
  const values = {
    ...toNames(provider.fields, live.values, run.names),
    ...nameBefore(provider, change, live),
  };
  const named = { ...live, values };
  if (!isAsPlanned(provider, comparable(provider, named), change, run.input.sensitive))
    throw moved(change, "changed");
  return live;
}

/** The name that the plan saw, where this run has given the object its temporary name since. */
function nameBefore({ nameField }: Provider, change: Existing, live: LiveObject): Values {
  const renamed = "temporaryName" in change && live.name === change.temporaryName;
  const name = nameField === undefined || !renamed ? undefined : change.before[nameField];
  return nameField === undefined || name === undefined ? {} : { [nameField]: name };
}

function moved(change: Change, how: string): Failure {
  return failureOf("PLAN_LIVE_MOVED", `${change.address} ${how} in the workspace after the plan was made`, {
    address: change.address,
    hint: "it was not changed; plan again to compare it with the spec",
  });
}

/** Returns the ID from `make`, or of the object that it created with an unknown outcome. Throws as `make` does. */
export async function createOrFind(
  run: ApplyRun,
  change: Create | Replace,
  journal: JournaledWriter,
  make: () => Promise<RemoteId>,
): Promise<RemoteId> {
  try {
    return await make();
  } catch (failure) {
    const found = failure instanceof UnknownOutcome ? await foundAgain(run, change, journal) : undefined;
    if (found === undefined) throw failure;
    return found;
  }
}

/** Recovery rule: no object had the name before, and the object that has it now matches the request. */
async function foundAgain(
  run: ApplyRun,
  change: Create | Replace,
  journal: JournaledWriter,
): Promise<RemoteId | undefined> {
  const provider = run.input.registry.get(change.kind);
  // A creation of several requests may be half done.
  if (!isFoundByName(provider) || journal.existed || journal.account.succeeded > 0 || isStopped(run))
    return undefined;
  try {
    const listed = await findByName(run, change);
    const live =
      listed === undefined ? undefined : await readObject(run, change.kind, listed.id, change.after);
    if (live === undefined) return undefined;
    const values = toNames(provider.fields, live.values, run.names);
    return matchesRequest(provider, journal.wanted, { ...live, values }) ? live.id : undefined;
  } catch (unread) {
    failureDiagnostic(unread);
    return undefined;
  }
}
