// Migrates, restores, and rekeys a state. The old location is marked first, so that no run continues there and an interrupted migration can be completed.

import { type Diagnostic, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import { joinedHistories } from "../../core/past-run.ts";
import { count, listed } from "../../core/sentences.ts";
import { fromHex, keptKey, keyCheck, keyFromText, otherKey } from "../format/encryption.ts";
import { emptyState } from "../format/fold.ts";
import { type Snapshot, snapshotText } from "../format/snapshot.ts";
import { type LockClaim, stateNotFound } from "../model/backend.ts";
import { type State, sortedRecords } from "../model/record.ts";
import {
  type Incoming,
  type Lease,
  type LockOptions,
  type Rekeyed,
  type Restored,
  type StateStore,
  toHex,
} from "../model/store.ts";
import { claimLock, type DigestKey, openLeaseWith, type StoreContext, withClaim } from "./lease.ts";
import { type LoadedState, loadFrom, snapshotIn } from "./load.ts";

/** `check` sees what is at the new place and what comes; it may throw. Gives the state at its new place; undefined where it went there before. */
export async function migrate(
  source: StateStore,
  target: StateStore,
  check: (present: State, incoming: State) => void,
  wait: LockOptions,
): Promise<State | undefined> {
  const to = target.location;
  const lease = await source.lock({ ...wait, to });
  try {
    const state = lease.state();
    if (state.moved !== undefined && state.movingAbove === undefined) return undefined;
    const placed = (await arrived(target, state)) ?? (await putState(source, lease, target, check, wait));
    await lease.retire(to);
    return placed;
  } finally {
    await lease.release();
  }
}

/** The state that an earlier attempt wrote before it crashed, and its later versions. It may have left that place before. */
async function arrived(target: StateStore, { lineage, movingAbove }: State): Promise<State | undefined> {
  if (movingAbove === undefined) return undefined;
  const { state } = await target.read({ evenIfMoved: true });
  return state.lineage === lineage && state.serial > movingAbove ? state : undefined;
}

async function putState(
  source: StateStore,
  lease: Lease,
  target: StateStore,
  check: (present: State, incoming: State) => void,
  wait: LockOptions,
): Promise<State> {
  const { moved: _, movingAbove: __, ...state } = lease.state();
  const { key } = await source.read({ to: target.location });
  const incoming: Incoming = {
    state,
    key,
    ...(key === "" ? {} : { digestKey: await source.key({ make: false }) }),
    check: (present) => check(present, state),
    ready: (present) => lease.retire(target.location, Math.max(present.serial, state.serial)),
  };
  const placed = await target.replace(incoming, wait);
  await assertArrived(target, placed);
  return placed;
}

/** The old location is abandoned only if the new one contains the complete state. */
async function assertArrived(target: StateStore, wanted: State): Promise<void> {
  const { state } = await target.read();
  if (comparableState(state) === comparableState(wanted)) return;
  throw failureOf(
    "APPLY_VERIFY",
    `the state at ${target.location} does not match the state that was written`,
    { hint: "the state is still at its old location; to use it there again, run `workspace state restore`" },
  );
}

function comparableState(state: State): string {
  const { lineage, host, sweeps, open, nonces, reported = [], acknowledged = [], history = [] } = state;
  const records = sortedRecords(state);
  const all = { lineage, host, records, sweeps, open, nonces, reported, acknowledged, history };
  return canonicalJson(all as unknown as JsonObject);
}

/** `to`: a location that it may have been migrated to, or is being migrated to. */
export function assertNotMoved(state: State, to?: string): void {
  if (state.moved === undefined || state.moved === to) return;
  if (state.movingAbove !== undefined)
    throw failureOf("STATE_MOVED", `the migration of this state to ${state.moved} is incomplete`, {
      hint: "to complete it, run the same `workspace state migrate` again; to keep the state here, run `workspace state restore`",
    });
  throw failureOf("STATE_MOVED", `this state was migrated to ${state.moved}`, {
    hint: `set --state to that location; to move it back, run \`workspace state migrate\` or \`workspace state restore\``,
  });
}

/** Acknowledgements of drift are not reverted with the records. */
function knownDrift({ reported = [], acknowledged = [] }: State): Partial<State> {
  return { reported, acknowledged };
}

/** An earlier version that keeps the marks of applied plans and the unresolved requests. */
export function mergeRestored(old: State, present: State | undefined): State {
  const { moved: _, movingAbove: __, ...state } = old;
  if (present === undefined || present.lineage !== old.lineage) {
    // It is unknown which of its acknowledgements ended since.
    const { acknowledged: _, ...rest } = state;
    return rest;
  }
  const sweeps = new Map([...old.sweeps, ...present.sweeps].map((sweep) => [sweep.token, sweep]));
  const open = new Map([...old.open, ...present.open].map((intent) => [intent.seq, intent]));
  const history = joinedHistories(old.history, present.history);
  return {
    ...state,
    ...knownDrift(present),
    ...(history.length === 0 ? {} : { history }),
    nonces: [...new Set([...old.nonces, ...present.nonces])],
    sweeps: [...sweeps.values()],
    open: [...open.values()].sort((a, b) => a.seq - b.seq),
  };
}

/** `ownKey`: verifies the key at this location. */
export async function restore(
  storeContext: StoreContext,
  serial: number,
  ownKey: string,
  options: LockOptions,
  check: (older: State) => void,
): Promise<Restored> {
  const { backend, cipher } = storeContext;
  const readable = (): Promise<LoadedState | undefined> => unlessDamaged(() => loadFrom(backend, cipher));
  const claim = await claimLock(storeContext, options, readable);
  return withClaim(backend, claim, async () => {
    const piece = await backend.generation(serial);
    if (piece === undefined) throw unknownGeneration(serial, await backend.generations());
    const old = snapshotIn(piece, cipher);
    check(old.state);
    const present = await readable();
    const copyName = await backend.keepAside(claim);
    const state = mergeRestored(old.state, present?.state);
    const loadedState = present ?? (await damaged(storeContext, old));
    const hex =
      old.digestKey ?? (present?.snapshot?.key === old.key ? present.snapshot.digestKey : undefined);
    // Another state stood here, and its key replaced the one of these digests: none of them can be compared.
    const keepsDigests = old.key === "" || hex !== undefined || old.key === ownKey;
    const digestKey = keepsDigests ? { check: old.key, hex } : { check: "" };
    const standing = present === undefined ? await backend.serial() : undefined;
    const requirements = {
      ...storeContext,
      claim,
      loaded: loadedState,
      digestKey: () => digestKey,
      ...defined({ standing }),
    };
    const lease = await openLeaseWith(requirements, state, old.seq);
    await lease.release();
    return { state: lease.state(), before: present?.state, copyName, keepsDigests };
  });
}

/** A location without a state and one with an unreadable state are treated alike: neither can be continued. */
async function unlessDamaged(load: () => Promise<LoadedState | undefined>): Promise<LoadedState | undefined> {
  try {
    return await load();
  } catch (failure) {
    if (failure instanceof Failure && failure.diagnostics.every(({ code }) => DAMAGE.has(code)))
      return undefined;
    throw failure;
  }
}

const DAMAGE: ReadonlySet<string> = new Set(["STATE_CORRUPT", "STATE_LINEAGE"]);

/** The serial of an unreadable state was above every kept one; the new state must be above that. */
async function damaged({ backend }: StoreContext, old: Snapshot): Promise<LoadedState> {
  const above =
    Math.max(old.state.serial, (await backend.serial()) ?? 0, ...(await backend.generations())) + 1;
  return {
    state: { ...emptyState(old.state.lineage), serial: above },
    snapshot: undefined,
    seq: old.seq,
    head: "",
    fence: 0,
    unfolded: false,
    diagnostics: [],
  };
}

const NO_VERSIONS =
  "no earlier version is kept; if the state is damaged, move it away and run `workspace apply --adopt`, which records existing objects again";

function unknownGeneration(serial: number, serials: readonly number[]): Failure {
  const keptVersions = serials.length === 1 ? "the only kept version is" : "the kept versions are";
  const hint = serials.length === 0 ? NO_VERSIONS : `${keptVersions} ${serials.join(", ")}`;
  return failureOf("STATE_GENERATION", `version ${serial} of this state does not exist`, { hint });
}

/** `kept.cipher` decrypts with either key. Digests of secrets keep their key, so that no plan shows them as changed. */
export async function rekey(
  storeContext: StoreContext,
  keyTexts: readonly string[],
  options: LockOptions,
  check: (state: State) => void,
): Promise<Rekeyed> {
  const { backend, cipher } = storeContext;
  const load = () => loadFrom(backend, cipher);
  const claim = await claimLock(storeContext, options, load);
  return withClaim(backend, claim, async () => {
    const loadedState = await load();
    if (loadedState === undefined) throw stateNotFound(backend.names.location, "there is nothing to encrypt");
    check(loadedState.state);
    const key = await digestKeyFor(storeContext, keyTexts, loadedState.snapshot);
    if (!cipher.encrypts && key?.hex !== undefined) await backend.putKey(claim, `${key.hex}\n`);
    const written: DigestKey = cipher.encrypts ? (key ?? { check: "" }) : { check: key?.check ?? "" };
    const requirements = { ...storeContext, claim, loaded: loadedState, digestKey: () => written };
    const lease = await openLeaseWith(requirements, loadedState.state, loadedState.seq);
    try {
      await againForAll(storeContext, claim, written);
      if (cipher.encrypts) await backend.putKey(claim, undefined);
      const diagnostics = [...loadedState.diagnostics, ...copiesLeft(await backend.copies())];
      return { state: lease.state(), diagnostics };
    } finally {
      await lease.release();
    }
  });
}

/** Copies of damaged states cannot be read, so none is encrypted again. */
function copiesLeft(names: readonly string[]): readonly Diagnostic[] {
  if (names.length === 0) return [];
  return [
    warning(
      "STATE_UNENCRYPTED",
      `${count(names.length, "copy", "copies")} that \`state restore\` kept ${names.length === 1 ? "is" : "are"} not encrypted again: ${listed(names)}`,
      { hint: "check the restored state, then delete them" },
    ),
  ];
}

/** The key that made the digests in a state, wherever it is; undefined where there are none. */
async function digestKeyFor(
  { backend }: StoreContext,
  keyTexts: readonly string[],
  snapshot: Snapshot | undefined,
): Promise<Required<DigestKey> | undefined> {
  const check = snapshot?.key ?? "";
  if (check === "") return undefined;
  const beside = await backend.key();
  const byteses = [
    ...(snapshot?.digestKey === undefined ? [] : [fromHex(snapshot.digestKey)]),
    ...keyTexts.map(keyFromText),
    ...(beside === undefined ? [] : [keptKey(beside, backend.names.key)]),
  ];
  const bytes = byteses.find((key) => keyCheck(key) === check);
  if (bytes === undefined) throw otherKey(byteses.length > 0, backend.names.key);
  return { check, hex: toHex(bytes) };
}

async function againForAll(
  { backend, cipher }: StoreContext,
  claim: LockClaim,
  key: DigestKey,
): Promise<void> {
  for (const serial of await backend.generations()) {
    const piece = await backend.generation(serial);
    const snapshot = piece === undefined ? undefined : readable(() => snapshotIn(piece, cipher));
    if (snapshot === undefined) continue;
    const { digestKey: _, ...rest } = snapshot;
    const carried = key.hex !== undefined && key.check === snapshot.key ? { digestKey: key.hex } : {};
    const { text } = snapshotText({ ...rest, ...carried });
    await backend.putGeneration(claim, serial, cipher.encryptPieces(text));
  }
}

/** An unreadable version is kept unchanged. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (failure) {
    if (failure instanceof Failure) return undefined;
    throw failure;
  }
}
