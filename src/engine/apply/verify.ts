// The end of an apply: lists each changed kind once, records values that the service set, and writes the state.

import { parentOf } from "../../core/address.ts";
import { type Diagnostic, warning } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { failureDiagnostic } from "../../core/request-failure.ts";
import { diffResource } from "../../planner/diff/diff.ts";
import { comparable, isIgnored } from "../../planner/diff/normalize.ts";
import type { Change } from "../../planner/model/change.ts";
import type { FieldTable } from "../../resource/field-schema.ts";
import type { Provider } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import { concealedRecord } from "../../state/model/digests-in-state.ts";
import type { StateRecord } from "../../state/model/record.ts";
import { toNames } from "../name-index.ts";
import { duplicatesOf, withDeposed } from "../recover/recover.ts";
import type { ApplyRun } from "./apply-run.ts";
import { recordUnsent } from "./change-actions.ts";
import { appliedValues, leavesToServer, seenIn } from "./record-values.ts";

/** Verifies the writes. Never fails: a later run records what cannot be read now. */
export async function verify(run: ApplyRun, written: readonly Change[]): Promise<Diagnostic[]> {
  const byKind = Map.groupBy(written, ({ kind }) => kind);
  const diagnostics = await Promise.all(
    [...byKind].map(([kind, changes]) => verifyKind(run, run.input.registry.get(kind), changes)),
  );
  return diagnostics.flat();
}

async function verifyKind(
  run: ApplyRun,
  provider: Provider,
  changes: readonly Change[],
): Promise<Diagnostic[]> {
  // Members are listed again only where there is something to record: it costs a request for each parent.
  if (provider.nested !== undefined && !leavesToServer(provider.fields)) return [];
  const parentIn = ({ name }: Change): string => (provider.nested === undefined ? "" : parentOf(name));
  const byParent = Map.groupBy(changes, parentIn);
  // Each list is checked when it arrives and kept no longer.
  const ended = await Promise.allSettled(
    [...byParent].map(([parent, ones]) => verifyList(run, provider, parent, ones)),
  );
  const failed = ended.find((result) => result.status === "rejected");
  if (failed === undefined)
    return ended.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  const { code, message } = failureDiagnostic(failed.reason);
  return [
    warning("APPLY_VERIFY", `${provider.kind} could not be read again to verify the changes`, {
      cause: `${code}: ${message}`,
      hint: "the changes were sent; the next plan compares again",
    }),
  ];
}

async function verifyList(
  run: ApplyRun,
  provider: Provider,
  parent: string,
  changes: readonly Change[],
): Promise<Diagnostic[]> {
  const objects = await provider.operations.list(run.input.writer, {
    parents: provider.nested === undefined ? [] : [parent],
    names: new Set(changes.map((change) => change.name)),
    ids: new Set(changes.flatMap((change) => run.input.lease.record(change.address)?.id ?? [])),
  });
  const byId = new Map(objects.map((object) => [object.id, object]));
  const diagnostics: Diagnostic[] = [];
  for (let at = 0; at < changes.length; at += AT_ONCE) {
    const verified = changes.slice(at, at + AT_ONCE).map(async ({ address }) => {
      const record = run.input.lease.record(address);
      if (record?.status !== "ready") return [];
      const live = await withWitnesses(run, provider, record, byId.get(record.id));
      return [...madeTwice(run, provider, record, objects), ...(await checked(run, provider, record, live))];
    });
    diagnostics.push(...(await Promise.all(verified)).flat());
    // The journal is written before more entries for it come.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return diagnostics;
}

/** Changes that are verified at the same time. */
const AT_ONCE = 1_000;

/** A duplicated request created two objects under one token. Records the second, so that the next plan deletes it. */
function madeTwice(
  run: ApplyRun,
  provider: Provider,
  record: Ready,
  objects: readonly LiveObject[],
): readonly Diagnostic[] {
  const token = run.tokens.get(record.address);
  if (token === undefined) return [];
  const same = duplicatesOf(token, record, provider, { all: () => objects });
  if (same.length === 0) return [];
  const recorded = new Set([...run.input.lease.state().records.values()].map(({ id }) => id));
  const twins = same.filter((id) => !recorded.has(id));
  if (twins.length === 0) return [];
  run.input.lease.note({ type: "record", record: withDeposed(record, twins) });
  return [
    warning("APPLY_VERIFY", `${record.address} was created more than once because a request arrived twice`, {
      address: record.address,
      hint: "apply again; the next plan deletes the duplicate",
    }),
  ];
}

/** If a list does not contain the witness of a written value, reads the object itself. */
async function withWitnesses(
  run: ApplyRun,
  provider: Provider,
  record: Ready,
  listed: LiveObject | undefined,
): Promise<LiveObject | undefined> {
  if (listed === undefined || provider.operations.readDetails === undefined) return listed;
  const lacks = Object.entries(provider.fields).some(
    ([name, { witness }]) =>
      witness !== undefined && record.applied[name] !== undefined && listed.facts[witness] === undefined,
  );
  return lacks
    ? provider.operations.readDetails(
        run.input.writer,
        listed,
        record.applied,
        run.detailsContext(provider.kind, listed.id),
      )
    : listed;
}

type Ready = Extract<StateRecord, { readonly status: "ready" }>;

/** Records values that the service set, and reports differences from the written values. */
async function checked(
  run: ApplyRun,
  provider: Provider,
  record: Ready,
  raw: LiveObject | undefined,
): Promise<readonly Diagnostic[]> {
  if (raw === undefined) return [differs(record, "it does not exist")];
  const { observed, differences } = compared(run, provider, record, raw);
  if (canonicalJson(observed) !== canonicalJson(record.seen))
    run.input.lease.note({
      type: "record",
      record: { ...(run.input.lease.record(record.address) ?? record), status: "ready", seen: observed },
    });
  // A list contains less than the object itself; the next plan compares kinds with more fields.
  const { readDetails, listsAll } = provider.operations;
  if (differences.length === 0 || (readDetails !== undefined && listsAll !== true)) return [];
  // Details leave out what others decide, such as the values of a cluster policy.
  const detailed = await readDetails?.(
    run.input.writer,
    raw,
    record.applied,
    run.detailsContext(provider.kind, raw.id),
  );
  const left = detailed === undefined ? differences : compared(run, provider, record, detailed).differences;
  return left.length === 0 ? [] : [differs(record, left.map((diff) => toDottedPath(diff.path)).join(", "))];
}

function compared(run: ApplyRun, provider: Provider, record: Ready, raw: LiveObject) {
  const values = toNames(provider.fields, raw.values, run.names);
  const live = comparable(provider, { ...raw, values }, record.applied);
  const observed = seenIn(provider.fields, record.applied, live);
  const ignored = run.input.resources.get(record.address)?.lifecycle.ignore_changes ?? [];
  const recorded = { applied: record.applied, seen: observed };
  const differences = diffResource(provider.fields, record.applied, live, recorded).filter(
    (diff) => !isIgnored(diff.path, ignored) && !hasOwnRequest(provider.fields, diff),
  );
  return { observed, differences };
}

const hasOwnRequest = (fields: FieldTable, { path }: FieldDiff): boolean =>
  fields[String(path[0])]?.separateRequest === true;

function differs(record: StateRecord, what: string): Diagnostic {
  return warning("APPLY_VERIFY", `${record.address} does not match the values that were written: ${what}`, {
    address: record.address,
    hint: "plan again to compare it with the spec",
  });
}

/** Records of resources without changes whose record differs: fields that the spec added or removed. */
export function recordUnchanged(run: ApplyRun): void {
  for (const change of run.input.plan.changes) {
    if (change.action !== "noop" || change.unresolved.length > 0) continue;
    const before = run.input.lease.record(change.address);
    if (before === undefined || before.id !== change.id) continue;
    const provider = run.input.registry.get(change.kind);
    const applied = appliedValues(provider, run.input.resources.get(change.address), change.after);
    const record = recordUnsent(run, change, applied);
    const stored = run.stored(change.address) ?? before;
    if (canonicalJson(jsonOf(concealedRecord(record, run.input.sensitive))) !== canonicalJson(jsonOf(stored)))
      run.input.lease.note({ type: "record", record });
  }
}

function jsonOf(record: StateRecord) {
  const { status, address, id, name, applied, depends_on, deposed = [] } = record;
  const { prevent_destroy = false, owns = null } = record;
  const observed = record.status === "ready" ? record.seen : {};
  const rest = { prevent_destroy, owns, deposed, seen: observed };
  return { status, address, id, name, applied, depends_on: [...depends_on].sort(), ...rest };
}

/** Folds the journal into the state. A failure is reported; the journal still contains everything. */
export async function save(run: ApplyRun): Promise<Diagnostic[]> {
  try {
    await run.input.lease.publish();
    return [];
  } catch (failure) {
    return [failureDiagnostic(failure)];
  }
}
