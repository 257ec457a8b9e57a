// Checks a state before a command uses it: the record that an address names, whether another state may take its place, and warnings about its location.

import { isCi } from "../../config/environment.ts";
import { type Address, kindOf, nameOf, parseAddress } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { firstFew, shellWord } from "../../core/sentences.ts";
import { nearestHint } from "../../core/suggest.ts";
import { recordFitsAddress } from "../../planner/model/context.ts";
import { stateExists } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { secretField } from "../../resource/kind.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { stateNotFound } from "../../state/model/backend.ts";
import { hasSensitiveDigests } from "../../state/model/digests-in-state.ts";
import type { State, StateRecord } from "../../state/model/record.ts";
import type { StateStore } from "../../state/model/store.ts";
import { isInTreeOf } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { isInWorkspace } from "../invocation/target.ts";

/** Throws Failure with CLI_UNKNOWN_ADDRESS. */
export function recordAt(state: State, text: string | undefined): StateRecord {
  const address = parseAddress(text ?? "");
  const record = address === undefined ? undefined : state.records.get(address);
  if (record !== undefined) return record;
  const hint = nearestHint(
    text ?? "",
    [...state.records.keys()],
    state.records.size === 0
      ? "check --state, WORKSPACE_STATE, and --target; the state is empty"
      : "to list addresses, run `workspace state list`",
  );
  throw failureOf("CLI_UNKNOWN_ADDRESS", `the state does not contain ${text}`, { hint });
}

/** Throws Failure with STATE_FORMAT for an address of a kind that only a newer version has. */
export function assertKnownKinds(addresses: Iterable<Address>): void {
  for (const address of addresses) {
    const kind = kindOf(address);
    if (registry.find(kind) !== undefined) continue;
    throw failureOf("STATE_FORMAT", `the state records ${address}, and this version has no kind "${kind}"`, {
      hint: `use a newer version of workspace; to stop managing it, run \`workspace state rm ${shellWord(address)}\``,
    });
  }
}

/** Throws Failure with CLI_UNKNOWN_ADDRESS or CLI_NO_OBJECT. */
export function renamedAddress(state: State, record: StateRecord, to: string): Address {
  assertKnownKinds([record.address]);
  const address = freeAddress(state, record.address, to);
  const provider = registry.of(address);
  if (recordFitsAddress(provider, record, address)) return address;
  const { singular } = provider;
  throw failureOf(
    "CLI_NO_OBJECT",
    `${address} can only be the ${singular} ${nameOf(address)}, not ${record.name}`,
    {
      hint: `the key in the spec is the name of the object, so an apply creates a new object and deletes the old one; to keep the old one, first run \`workspace state rm ${shellWord(record.address)}\``,
    },
  );
}

function freeAddress(state: State, from: string, to: string): Address {
  const address = parseAddress(to);
  if (address === undefined || kindOf(address) !== from.slice(0, from.indexOf(".")))
    throw failureOf("CLI_UNKNOWN_ADDRESS", `${from} cannot be moved to ${to}`, {
      hint: `pass an address of the same kind, such as ${from.slice(0, from.indexOf("."))}.NAME`,
    });
  if (state.records.has(address))
    throw failureOf("CLI_UNKNOWN_ADDRESS", `the state already records ${to}`, {
      hint: `to remove that record first, run \`workspace state rm ${shellWord(to)}\``,
    });
  return address;
}

/** `from`: where the incoming state is; what was moved there before is newer by the marks of that move alone. */
export function assertFollows(present: State, incoming: State, from?: string): void {
  if (present.serial === 0 && present.records.size === 0 && present.open.length === 0) return;
  const diagnostics = [...otherState(present, incoming, from), ...otherHost(present, incoming)];
  if (diagnostics.length > 0) throw new Failure(...diagnostics);
}

const HINT =
  "compare both states first; to replace the current one, pass --force (it is kept as an earlier version)";

function otherState(present: State, incoming: State, from: string | undefined): Diagnostic[] {
  if (present.lineage !== incoming.lineage)
    return [
      error("STATE_LINEAGE", "the location already contains a state of another lineage", {
        hint: HINT,
        cause: `it records ${present.records.size} resources, the new one ${incoming.records.size}`,
      }),
    ];
  const { moved, movingAbove } = present;
  const gaveWay = moved !== undefined && moved === from && movingAbove === undefined;
  if (incoming.serial < present.serial && !gaveWay)
    return [
      error(
        "STATE_LINEAGE",
        `the state at the location is newer: serial ${present.serial}, not ${incoming.serial}`,
        { hint: HINT },
      ),
    ];
  return [];
}

function otherHost(present: State, incoming: State): Diagnostic[] {
  if (present.host === "" || incoming.host === "" || present.host === incoming.host) return [];
  return [
    error(
      "STATE_OTHER_HOST",
      `the state at the location belongs to ${present.host}, not to ${incoming.host}`,
      { hint: HINT },
    ),
  ];
}

/** Throws Failure with STATE_NOT_FOUND. `so`: what is then not possible. */
export function assertStateExists(
  { location }: Pick<StateStore, "location">,
  state: State,
  so: string,
): void {
  if (!stateExists(state)) throw stateNotFound(location, so);
}

/** Throws Failure with STATE_OTHER_HOST. */
export function assertSameHost(state: State, host: string): void {
  if (state.host === "" || state.host === host) return;
  throw failureOf("STATE_OTHER_HOST", `the state belongs to ${state.host}, not to ${host}`, {
    hint: "set the right host, or another state with --state or --target",
  });
}

/** A state in a workspace must be of that workspace, or no host can use it. Throws Failure with STATE_OTHER_HOST. */
export function assertStateHost(invocation: Invocation, location: string, state: State): void {
  if (!isInWorkspace(location)) return;
  const { endpoint } = invocation.settings();
  assertSameHost(state, endpoint.embedded ? "embedded" : endpoint.identity);
}

/** Warns that a state in a folder of a CI runner may not last, while none exists. `state`: before this run. */
export function stateInRunnerFolder(
  invocation: Invocation,
  isEmbedded: boolean,
  state: State,
): readonly Diagnostic[] {
  const { folder } = invocation.stateLocation();
  if (folder === undefined || isEmbedded || stateExists(state) || !isCi(invocation)) return [];
  return [
    warning("STATE_EPHEMERAL", `no state exists in ${folder}, and a CI runner may delete that folder`, {
      hint: "keep the state in the workspace, which needs no other service (`--state workspace:/FOLDER`), or in PostgreSQL (`--state postgres://USER@HOST/DATABASE`)",
    }),
  ];
}

/** Without a state, the plan is about to adopt what another state may manage: the first question is where that state is. */
export function unrecordedObjects(
  { location }: Pick<StateStore, "location">,
  state: State,
  { resources }: Pick<Spec, "resources">,
  { diagnostics, changes }: Pick<Plan, "diagnostics" | "changes">,
): readonly Diagnostic[] {
  if (stateExists(state)) return [];
  const existing = new Set([
    ...diagnostics.flatMap(({ code, address }) => (code === "PLAN_ALREADY_EXISTS" ? [address] : [])),
    ...changes.flatMap((change) => ("namesakes" in change ? [change.address] : [])),
  ]);
  // Otherwise, only a few objects of a new spec existed before it.
  if (existing.size * 2 <= resources.size) return [];
  const message = `no state exists at ${location}, but the workspace has ${existing.size} of the ${resources.size} declared resources`;
  return [
    warning("STATE_NOT_FOUND", message, {
      hint: "check --state, WORKSPACE_STATE, and --target first, or restore the lost state; adopt these objects only if no other state has them",
    }),
  ];
}

const OTHER_TARGET_HINT =
  "give each target its own state (--state or WORKSPACE_STATE), unless the target was renamed";

/** One location for the states of two targets: each of them undoes what the other applied. */
export function otherTarget(spec: Pick<Spec, "target">, state: State): readonly Diagnostic[] {
  const before = appliedTarget(spec, state);
  if (before === undefined) return [];
  const message = `the state was last applied with the target ${before}, not with ${spec.target?.name}`;
  return [warning("STATE_OTHER_TARGET", message, { hint: OTHER_TARGET_HINT })];
}

/** The target that the state was last applied with, if the spec has another one. */
function appliedTarget({ target }: Pick<Spec, "target">, { history }: State): string | undefined {
  const before = history?.findLast((run) => run.target !== undefined)?.target;
  return target === undefined || before === target.name ? undefined : before;
}

export function deletionsOfOtherTarget(
  spec: Pick<Spec, "target">,
  state: State,
  { changes }: Pick<Plan, "changes">,
): readonly Diagnostic[] {
  const before = appliedTarget(spec, state);
  const deleted = changes.filter(({ action }) => action === "delete").map(({ address }) => address);
  if (before === undefined || deleted.length === 0) return [];
  const message = `the plan deletes what the target ${before} applied: ${firstFew(deleted, MOST_DELETED)}`;
  return [
    error("STATE_OTHER_TARGET", message, {
      hint: `${OTHER_TARGET_HINT}; then first apply it without deletions, such as with --exclude`,
    }),
  ];
}

const MOST_DELETED = 5;

/** Readers of a state in the workspace can test guesses of secrets and sensitive values, unless WORKSPACE_STATE_KEY is set. */
export function exposedState(
  invocation: Invocation,
  spec: Spec,
  { writesDigests }: { readonly writesDigests: boolean },
): readonly Diagnostic[] {
  const resources = [...spec.resources.values()];
  const secrets = resources.some(({ kind }) => holdsSecret(kind));
  const sensitive = resources.some((resource) => resource.sensitive !== undefined);
  const { text } = invocation.stateLocation();
  return exposed(invocation, text, { holder: "the spec", secrets, sensitive, isAllowed: !writesDigests });
}

/** The same of a state that is written without a spec: its records have the digests. */
export function exposedRecords(
  invocation: Invocation,
  state: State,
  location = invocation.stateLocation().text,
): readonly Diagnostic[] {
  const addresses = [...state.records.keys(), ...state.open.map((intent) => intent.address)];
  const secrets = addresses.some((address) => holdsSecret(kindOf(address)));
  const sensitive = hasSensitiveDigests(state);
  return exposed(invocation, location, { holder: "the state", secrets, sensitive, isAllowed: false });
}

function holdsSecret(kind: string): boolean {
  const provider = registry.find(kind);
  return provider !== undefined && secretField(provider) !== undefined;
}

interface HeldValues {
  readonly holder: "the spec" | "the state";
  readonly secrets: boolean;
  readonly sensitive: boolean;
  /** Whether the digests of the values may be in a state that is not encrypted. */
  readonly isAllowed: boolean;
}

function exposed(
  { stateKey, allowsUnencryptedState }: Invocation,
  location: string | undefined,
  { holder, secrets, sensitive, isAllowed }: HeldValues,
): readonly Diagnostic[] {
  if (location === undefined || !isInWorkspace(location) || stateKey !== undefined) return [];
  const setKey =
    "set WORKSPACE_STATE_KEY to the output of `openssl rand -hex 32`; to encrypt an existing state, then run `workspace state rekey`";
  if (!secrets && !sensitive) {
    const message = `everyone who can read ${location} can read the state, which is not encrypted`;
    return [warning("STATE_UNENCRYPTED", message, { hint: setKey })];
  }
  const values = [...(secrets ? ["secrets"] : []), ...(sensitive ? ["sensitive values"] : [])].join(" and ");
  const message = `${holder} has ${values}, and readers of ${location} can test guesses of them, because the state is not encrypted`;
  if (isAllowed || allowsUnencryptedState) return [warning("STATE_UNENCRYPTED", message, { hint: setKey })];
  return [
    error("STATE_UNENCRYPTED", message, {
      hint: `${setKey}; if every such value is long and random, pass --allow-unencrypted-state`,
    }),
  ];
}

/** Throws Failure with STATE_UNTRUSTED if a state in the tree of the spec is not encrypted; a key opens no other. */
export function untrustedState(invocation: Invocation, state: State): readonly Diagnostic[] {
  const { folder } = invocation.stateLocation();
  if (folder === undefined || invocation.stateKey !== undefined) return [];
  if (!isInTreeOf(invocation.file, folder)) return [];
  const hint =
    "pass --state with a location outside the checkout, or encrypt the state with WORKSPACE_STATE_KEY (`workspace state rekey`)";
  if (stateExists(state))
    throw failureOf(
      "STATE_UNTRUSTED",
      `the state at ${folder} is inside the untrusted checkout and is not encrypted`,
      { hint },
    );
  return [
    warning("PLAN_MODE", "the state is stored next to the untrusted spec, so it is untrusted too", { hint }),
  ];
}
