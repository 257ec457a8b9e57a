// A saved plan: signed, bound to one host, state, spec, and time, and applied once (design 5).

import { type Address, parentOf } from "../core/address.ts";
import { type Diagnostic, error, type Location } from "../core/diagnostic.ts";
import { canonicalPieces, startDigest } from "../core/digest.ts";
import { indentedPieces, parseJson } from "../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { SensitiveValues } from "../core/sensitive/values.ts";
import { listed } from "../core/sentences.ts";
import type { PlanningRegistry } from "../resource/kind.ts";
import type { Live } from "../resource/live.ts";
import type { State } from "../state/model/record.ts";
import { withPlannedReferences } from "./decide/renamed-references.ts";
import { isAsPlanned } from "./diff/normalize.ts";
import { type Change, type Create, changeKey, removes, touches } from "./model/change.ts";
import { addressByObject, indexLive, type LiveIndex, type ObjectOwners } from "./model/context.ts";
import type { Plan } from "./model/plan.ts";

const SAVED_FORMAT = "workspace-plan/3";

/** The values that a saved plan is bound to. Times are epoch milliseconds. */
export interface Binding {
  readonly tool_version: string;
  readonly host: string;
  readonly target: string;
  readonly made_at: number;
  readonly expires_at: number;
  readonly nonce: string;
  /** `serial`: that of the state under the next lock. `records`: `recordsDigest` of what recovery made of the state. */
  readonly state: { readonly lineage: string; readonly serial: number; readonly records: string };
  /** How to load the same spec again, and a keyed digest of each of its files. */
  readonly spec: {
    readonly file: string;
    readonly files: readonly { readonly path: string; readonly digest: string }[];
    readonly vars: Readonly<Record<string, string>>;
    /** Variables whose values the plan does not contain; absent if there are none. */
    readonly hidden_vars?: readonly string[];
    readonly var_files: readonly string[];
  };
  /** With which the same plan is made again when it is applied. */
  readonly options: PlanSelection;
  /** Absent if no resource of the plan has a sensitive value. */
  readonly sensitive?: SensitiveDigests;
}

/** The options that choose what a plan contains. `only`, `exclude`: globs of addresses. */
export interface PlanSelection {
  readonly adopt?: boolean;
  readonly allowDuplicates?: boolean;
  readonly destroy?: boolean;
  readonly only?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Keyed digests of sensitive values, by address, then by the JSON Pointer of a field. */
export type SensitiveDigests = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** By address, then by the JSON Pointer of a field. */
export type SavedPlaces = Readonly<
  Record<string, { readonly at: SavedLocation; readonly fields?: Readonly<Record<string, SavedLocation>> }>
>;

type SavedLocation = Pick<Location, "file" | "line" | "column">;

/** Extra data for reports of the plan; not used for decisions. */
export interface SavedReport {
  readonly run: {
    readonly toolVersion: string;
    readonly target?: string;
    readonly commit?: string;
    readonly madeAt: string;
    readonly runUrl?: string;
    readonly actor?: string;
    readonly caller?: string;
  };
  /** Findings about the run around the plan. */
  readonly notes: readonly Diagnostic[];
  readonly places: SavedPlaces;
}

export interface SavedPlan extends Binding {
  readonly format: typeof SAVED_FORMAT;
  /** Absent from plans of earlier versions. */
  readonly report?: SavedReport;
  readonly plan: Plan;
}

/** The state's keyed digest of pieces, in their order: who lacks the key cannot make or change a plan. */
type KeyedPieces = (pieces: Iterable<string>) => string;

/** Down to each change, and to the places of each address. */
const PIECE_DEPTH = 3;

/** Characters of a piece of a file. */
const PIECE = 65_536;

/** Text of a plan file in pieces: the text of a large plan takes as much memory as the plan. */
export function* planFilePieces(
  binding: Binding,
  plan: Plan,
  keyed: KeyedPieces,
  report?: SavedReport,
): Generator<string> {
  const body: SavedPlan = { format: SAVED_FORMAT, ...binding, plan, report };
  const seal = keyed(canonicalPieces(body, PIECE_DEPTH));
  let text = "";
  for (const piece of indentedPieces({ ...body, seal }, PIECE_DEPTH)) {
    text += piece;
    if (text.length < PIECE) continue;
    yield text;
    text = "";
  }
  yield `${text}\n`;
}

/** The text of a plan file, or what it was parsed to. */
export type PlanFileSource = string | JsonObject;

export function readPlan(source: PlanFileSource, keyed: KeyedPieces): SavedPlan | Diagnostic {
  const parsed = typeof source === "string" ? parsedObject(source) : source;
  if (parsed === undefined)
    return error("PLAN_FILE", "the file is not a saved plan", {
      hint: "to create one, run `workspace plan --out FILE`",
    });
  const { seal, ...body } = parsed;
  if (body.format !== SAVED_FORMAT) {
    return error("PLAN_FILE", "the file is not a saved plan of this version", {
      hint: "to create a new one, run `workspace plan --out FILE`",
    });
  }
  if (seal !== keyed(canonicalPieces(body, PIECE_DEPTH, (part) => part as Json))) {
    return error("PLAN_FILE", "the plan file was modified, or was made with the key of another state", {
      hint: "make a new plan; plan and apply need the same state and WORKSPACE_STATE_KEY",
    });
  }
  return body as unknown as SavedPlan;
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The result of recovery: which objects are recorded, and which requests have no known outcome. Values take no part: the serial binds
 * them, and a value that equals a secret differs in a run that has the secret.
 */
export function recordsDigest({ open, ...state }: Pick<State, "records" | "open">): string {
  const records = [...state.records.values()]
    .sort((a, b) => (a.address < b.address ? -1 : 1))
    .map((record) => ({ ...record, applied: {}, seen: {} }));
  const sum = startDigest();
  for (const piece of canonicalPieces({ records, open: open.map(({ seq }) => seq) }, 2)) sum.add(piece);
  return sum.end();
}

/** Whether recovery found the same as when the plan was made. */
export function otherRecords(saved: SavedPlan, recovered: Pick<State, "records" | "open">): Diagnostic[] {
  if (saved.state.records === recordsDigest(recovered)) return [];
  const message = "recovery of an interrupted run gave a different result than when the plan was made";
  return [error("PLAN_STALE", message, { hint: "make a new plan, then apply it" })];
}

/** The current values when a saved plan is applied. */
interface ApplyConditions {
  readonly host: string;
  readonly now: number;
  readonly state: { readonly lineage: string; readonly serial: number; readonly nonces: readonly string[] };
  readonly files: readonly { readonly path: string; readonly digest: string }[];
}

/** All reasons why a saved plan is stale; an apply may write only if there are none. */
export function staleness(saved: SavedPlan, present: ApplyConditions): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = (code: "PLAN_STALE" | "PLAN_EXPIRED", message: string): unknown =>
    diagnostics.push(error(code, message, { hint: "make a new plan, then apply it" }));
  if (saved.host !== present.host)
    report("PLAN_STALE", `the plan is for ${saved.host}, not for ${present.host}`);
  if (present.now > saved.expires_at)
    report("PLAN_EXPIRED", `the plan expired at ${new Date(saved.expires_at).toISOString()}`);
  if (present.state.nonces.includes(saved.nonce))
    diagnostics.push(
      error("PLAN_EXPIRED", "an apply of the plan has already begun", {
        hint: "make a new plan, then apply it; in a pipeline, run all of its jobs again",
      }),
    );
  const [then, now] = [saved.state, present.state];
  if (then.serial !== now.serial)
    report(
      "PLAN_STALE",
      `the state changed after the plan was made (serial ${then.serial} then, ${now.serial} now)`,
    );
  else if (then.lineage !== now.lineage && now.serial > 0)
    report("PLAN_STALE", "the plan was made with another state");
  for (const path of changedFiles(saved.spec.files, present.files))
    report("PLAN_STALE", `${path} changed after the plan was made`);
  return diagnostics;
}

function changedFiles(then: SavedPlan["spec"]["files"], now: SavedPlan["spec"]["files"]): string[] {
  const before = new Map(then.map((file) => [file.path, file.digest]));
  const after = new Map(now.map((file) => [file.path, file.digest]));
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort();
}

/** Guards about what is lost. */
const LOSSES: ReadonlySet<string> = new Set(["GUARD_DATA_LOSS", "GUARD_LOCKOUT"]);

/** Harms and losses that a plan has now, and did not have when it was saved. `again`: the same plan, made now. `masked` hides sensitive values of this run. */
export function newHarms(
  saved: Plan,
  again: Plan,
  masked: (texts: readonly string[]) => readonly string[],
): Diagnostic[] {
  const shown = new Map(saved.changes.map((change) => [changeKey(change), change]));
  const harms = again.changes.flatMap((change) => {
    const before = shown.get(changeKey(change));
    if (before === undefined || !touches(before)) return [];
    // Sentences can be equal: those with a sensitive text, which is masked.
    const shownHarms = [...masked(before.harms ?? [])];
    return (change.harms ?? []).flatMap((harm) => {
      const at = shownHarms.indexOf(harm);
      if (at < 0) return [[change.address, harm] as const];
      shownHarms.splice(at, 1);
      return [];
    });
  });
  const losses = again.guards.flatMap(({ diagnostic, addresses }) => {
    const address = addresses.find((address) => saved.changes.some((change) => change.address === address));
    return LOSSES.has(diagnostic.code) && address !== undefined
      ? [[address, diagnostic.message] as const]
      : [];
  });
  return [...harms, ...losses, ...keptNow(saved, again)].map(([address, what]) =>
    error("PLAN_LIVE_MOVED", `${address} would do more than the plan showed: ${what}`, {
      address,
      hint: "make a new plan, then apply it; if this repeats, plan with the credentials of the apply",
    }),
  );
}

/** Replaced objects that the saved plan deletes and that a plan made now keeps, because they are in use. */
function keptNow(saved: Plan, again: Plan): readonly (readonly [Address, string])[] {
  const present = new Map(again.changes.map((change) => [changeKey(change), change]));
  const isKept = (change: Change): boolean => {
    const now = present.get(changeKey(change));
    if (change.action === "replace")
      return change.keepsOld !== true && now?.action === "replace" && now.keepsOld === true;
    return change.action === "delete" && change.deposed === true && now === undefined;
  };
  return saved.changes
    .filter(isKept)
    .map(({ address }) => [address, "the old object is in use now, so a new plan keeps it"] as const);
}

/** Changes whose live object differs from the plan: changed, deleted, or unexpectedly present. */
export function changedObjects(
  plan: Plan,
  live: Live,
  registry: PlanningRegistry,
  { records }: Pick<State, "records">,
  sensitive?: SensitiveValues,
): Diagnostic[] {
  const liveIndex = indexLive(withPlannedReferences(registry, live, plan.changes), registry);
  const owners = addressByObject(records);
  const leaving = new Set(plan.changes.filter(removes).map(({ kind, name }) => `${kind}.${name}`));
  const diagnostics: Diagnostic[] = [];
  for (const change of plan.changes) {
    const { nested } = registry.get(change.kind);
    // Secrets and access lists are deleted together with their scope, before the new ones are created.
    if (
      change.action === "create" &&
      nested !== undefined &&
      leaving.has(`${nested.kind}.${parentOf(change.name)}`)
    )
      continue;
    const what = movement(change, liveIndex, registry, owners, sensitive);
    if (what === undefined) continue;
    diagnostics.push(
      error("PLAN_LIVE_MOVED", `${change.address} ${what} after the plan was made`, {
        address: change.address,
        hint: "make a new plan, then apply it",
      }),
    );
  }
  return diagnostics;
}

function movement(
  change: Change,
  liveIndex: LiveIndex,
  registry: PlanningRegistry,
  owners: ObjectOwners,
  sensitive: SensitiveValues | undefined,
): string | undefined {
  const provider = registry.get(change.kind);
  switch (change.action) {
    case "create":
      if (!provider.unique) return newNamesake(change, liveIndex, owners);
      return liveIndex
        .byName(change.kind, change.name)
        .some((liveObject) => liveObject.id !== change.nameFrom?.id)
        ? "appeared in the workspace"
        : undefined;
    case "update":
    case "replace":
    case "adopt":
    case "import":
    case "move":
    case "compare":
    case "delete": {
      const live = liveIndex.byId(change.kind, change.id);
      if (live === undefined) return "disappeared from the workspace";
      return isAsPlanned(provider, live, change, sensitive) ? undefined : "changed in the workspace";
    }
    case "forget":
    case "noop":
    case "report":
      return undefined;
    default:
      return change satisfies never;
  }
}

/** Whether an unmanaged object has the name now that the plan did not know of: it may be what the plan would create. */
function newNamesake(
  { kind, name, namesakes }: Create,
  liveIndex: LiveIndex,
  owners: ObjectOwners,
): string | undefined {
  const plannedIds = new Set<string>(namesakes?.map(({ id }) => id));
  const others = liveIndex
    .byName(kind, name)
    .filter(({ id }) => !plannedIds.has(id) && !owners.has(kind, id));
  if (others.length === 0) return undefined;
  return `has a namesake (ID ${listed(others.map(({ id }) => id))}) that appeared in the workspace`;
}
