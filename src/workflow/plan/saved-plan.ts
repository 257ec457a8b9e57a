// Writes and reads plan files: bound to their inputs, encrypted with the key of the state if it is set, and checked before an apply.
// Answers whether a saved plan is stale: from the basis that it is bound to (planner/plan-file), and after the workspace was read, from its
// objects. Each change of an apply then compares its own object and content again (engine/apply/change-actions).

import { isAbsolute, relative, resolve } from "node:path";
import type { ProcessContext } from "../../config/environment.ts";
import { fileFailure } from "../../config/files.ts";
import { VERSION } from "../../config/version.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";
import { JsonTooDeep, parseJson, stringifyJson } from "../../core/exact-json.ts";
import { defined, type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { fromPointer, toPointer, valueAt } from "../../core/pointer.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { visitScalars } from "../../core/scalars.ts";
import { hasDigest, ValueDigests } from "../../core/sensitive/digests.ts";
import { shellWord } from "../../core/sentences.ts";
import { otherSensitiveValue } from "../../planner/conceal-plan.ts";
import { isIgnored } from "../../planner/diff/normalize.ts";
import type { Plan } from "../../planner/model/plan.ts";
import {
  changedObjects,
  newHarms,
  otherRecords,
  type PlanFileSource,
  type PlanSelection,
  planFilePieces,
  readPlan,
  recordsDigest,
  type SavedPlan,
  type SavedReport,
  type SensitiveDigests,
  staleness,
} from "../../planner/plan-file.ts";
import { registry } from "../../providers/index.ts";
import { hasContent, secretField } from "../../resource/kind.ts";
import type { Resource, Spec } from "../../spec/model/spec.ts";
import { nameAndValue } from "../../spec/variables/variables.ts";
import { nodeRandom } from "../../state/backends/file/node-ports.ts";
import { Cipher, keyFromText } from "../../state/format/encryption.ts";
import type { State } from "../../state/model/record.ts";
import { type Loaded, randomHex } from "../../state/model/store.ts";
import type { Invocation, InvocationOptions } from "../invocation/invocation.ts";
import { requiredTarget } from "../invocation/target.ts";
import { withState } from "../session/open-state.ts";
import { preferLessMemoryForFile } from "../session/read-spec.ts";
import type { Session } from "../session/session.ts";
import type { WorkspacePlan } from "./plan.ts";
import { placesIn, savedPlaces } from "./spec-places.ts";

/** The most bytes of a plan file: a plan says of each resource what it was and what it becomes. */
const PLAN_BYTES = 128 * 1024 * 1024;

const LIFETIME_MS = 24 * 3_600_000;

/** The basis of a plan: the state, as it will be under the lock, and as recovery found it. */
export interface PlanBasis {
  readonly loaded: Pick<Loaded, "state" | "nextSerial">;
  readonly recovered: State;
  readonly options: PlanSelection;
}

/** The text of a plan file in pieces. Throws Failure with PLAN_STALE where a saved plan would never be applied. */
export function savedText(
  session: Session,
  plan: Plan,
  { loaded, recovered, options }: PlanBasis,
  about: Omit<SavedReport, "places">,
): Iterable<string> {
  if (recovered.open.length > 0) throw openWork(recovered);
  const { state, nextSerial } = loaded;
  const { invocation, spec, connection } = session;
  const now = session.clock.now();
  const nonce = randomHex(nodeRandom, 16);
  const binding = {
    tool_version: VERSION,
    host: connection.host,
    target: requiredTarget(invocation) ?? "",
    made_at: now,
    expires_at: now + LIFETIME_MS,
    nonce,
    state: { lineage: state.lineage, serial: nextSerial, records: recordsDigest(recovered) },
    spec: {
      file: relative(invocation.cwd, invocation.file),
      files: fileDigests(session),
      vars: Object.fromEntries(
        invocation.vars.map(nameAndValue).filter(([name]) => spec.sensitiveVariables?.has(name) !== true),
      ),
      ...defined({ hidden_vars: spec.sensitiveVariables && [...spec.sensitiveVariables] }),
      var_files: invocation.varFiles.map((path) => relative(invocation.cwd, path)),
    },
    options,
    ...defined({ sensitive: sensitiveDigests(session, plan, nonce) }),
  };
  return closedPlan(
    invocation,
    planFilePieces(binding, plan, (pieces) => keyedDigest(session.key, pieces), {
      ...(spec.sensitive?.maskedDeep(about) ?? about),
      places: savedPlaces(plan, placesIn(spec.resources)),
    }),
  );
}

type PlanFileReader = Pick<Invocation, "cwd" | "stateKey">;

/** A plan file, parsed once, and the options with which its spec is loaded again. `PlanFile` verifies the signature later. */
export function readPlanFile(
  invocation: PlanFileReader,
  file: string,
): { readonly source: PlanFileSource; readonly unverified: SpecOptions } {
  preferLessMemoryForFile(resolve(invocation.cwd, file));
  const source = objectIn(parsed(readFile(invocation, file), file));
  return { source, unverified: specOptionsIn(source) };
}

interface SpecOptions {
  readonly file: string | undefined;
  readonly target: string | undefined;
  readonly var: readonly string[];
  readonly varFile: readonly string[];
}

function readFile(invocation: PlanFileReader, file: string): string {
  try {
    return openedPlan(invocation, readRegularFile(resolve(invocation.cwd, file), PLAN_BYTES), file);
  } catch (problem) {
    if (problem instanceof Failure) throw problem;
    throw fileFailure(
      `the plan file ${file} cannot be read`,
      problem,
      "to create one, run `workspace plan --out FILE`",
    );
  }
}

function specOptionsIn(plan: JsonObject): SpecOptions {
  const { file, vars, var_files } = objectIn(plan.spec);
  return {
    file: textOrNothing(file),
    target: textOrNothing(plan.target),
    var: Object.entries(objectIn(vars)).map(([name, value]) => `${name}=${String(value)}`),
    varFile: listIn(var_files).map(String),
  };
}

function parsed(text: string, path: string): Json {
  try {
    return parseJson(text);
  } catch (problem) {
    throw failureOf("PLAN_FILE", "the file is not a saved plan", {
      ...(problem instanceof JsonTooDeep ? { cause: problem.message } : {}),
      hint: /\.ya?ml$/i.test(path)
        ? `to apply a spec, run \`workspace apply --file ${shellWord(path)}\``
        : "to create one, run `workspace plan --out FILE`",
    });
  }
}

function textOrNothing(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The state is read only if WORKSPACE_STATE_KEY does not fit: a migrated state has the key of its digests. */
export async function verifiedPlan(
  invocation: Invocation,
  named: Pick<InvocationOptions, "file" | "target">,
  planPath: string,
): Promise<SavedPlan> {
  const { source, unverified } = readPlanFile(invocation, planPath);
  const { stateKey } = invocation;
  if (stateKey !== undefined) {
    const key = keyFromText(stateKey);
    const saved = readPlan(source, (body) => keyedDigest(key, body));
    if (!("severity" in saved)) return saved;
  }
  if (named.file === undefined) assertSpecInWorkingFolder(invocation, unverified.file);
  const { file = unverified.file, target = unverified.target } = named;
  return withState(invocation.with({ file, target }), async (store) => {
    const key = await store.key({ make: false });
    const saved = readPlan(source, (body) => keyedDigest(key, body));
    if ("severity" in saved) throw new Failure(saved);
    return saved;
  });
}

/** The signing key is stored next to the spec: a plan from elsewhere must not supply both. */
export function assertSpecInWorkingFolder({ cwd }: ProcessContext, file: string | undefined): void {
  const path = file === undefined ? "" : relative(cwd, resolve(cwd, file));
  if (!isAbsolute(path) && path !== ".." && !/^\.\.[\\/]/.test(path)) return;
  throw failureOf("PLAN_FILE", `the plan is for a spec outside this folder: ${path}`, {
    hint: "if that is the right spec, pass it with --file",
  });
}

/** A plan file: what it was parsed to, and after `verify` the plan. */
export class PlanFile {
  #source: PlanFileSource | undefined;
  #saved: SavedPlan | undefined;

  constructor(source: PlanFileSource) {
    this.#source = source;
  }

  /** Throws Failure before anything that the file claims is believed, its spec and variable files among it. */
  verify(key: Uint8Array): void {
    if (this.#source === undefined) return;
    const saved = readPlan(this.#source, (body) => keyedDigest(key, body));
    if ("severity" in saved) throw new Failure(saved);
    // An apply has the places of its spec. Those of the file would take a third of the memory of the plan.
    const { report: _, ...withoutReport } = saved;
    this.#saved = withoutReport;
    this.#source = undefined;
  }

  get saved(): SavedPlan {
    if (this.#saved === undefined) throw new Error("the signature of the plan file is not checked yet");
    return this.#saved;
  }
}

/** Throws Failure with every difference to what the plan was made from that is found without reading the workspace. */
export function assertBasisUnchanged(session: Session, saved: SavedPlan, state: State): void {
  const present = {
    host: session.connection.host,
    now: session.clock.now(),
    state,
    files: fileDigests(session),
  };
  const diagnostics = [
    ...staleness(saved, present),
    ...movedPayloads(saved.plan, session.spec),
    ...movedSensitiveValues(session, saved),
  ];
  if (diagnostics.length > 0) throw new Failure(...diagnostics);
}

/** The same of what the workspace decides, by the same plan made again: the result of recovery, the objects that the plan changes, and its side effects. */
export function assertWorkspaceUnchanged(
  saved: SavedPlan,
  { plan, recovered: { state }, live, sensitive }: WorkspacePlan,
): void {
  const moved = [
    ...otherRecords(saved, state),
    ...changedObjects(saved.plan, live, registry, state, sensitive),
  ];
  // Objects that cannot be read now may be what the plan would destroy.
  const unread = plan.diagnostics.filter(
    ({ code, severity }) => code === "PLAN_UNREADABLE" && severity === "error",
  );
  const harms = newHarms(saved.plan, plan, (texts) => sensitive.maskedMessages(texts));
  const diagnostics = moved.length > 0 ? moved : [...unread, ...harms];
  if (diagnostics.length > 0) throw new Failure(...diagnostics);
}

function openWork({ open }: State): Failure {
  const addresses = open.map(({ address }) => address).join(", ");
  return failureOf(
    "PLAN_STALE",
    `the outcome of an interrupted run is unknown for ${addresses}, so the plan is not saved`,
    { hint: "first run `workspace apply` with the same options and no plan file" },
  );
}

/**
 * Secrets and contents are not in the plan: they come from their sources again, and must be what they were. An unchanged secret
 * too, because its new value would not be written; the digest of its file or variable is not among those of the spec's files.
 */
function movedPayloads(plan: Plan, spec: Spec): readonly Diagnostic[] {
  return plan.changes.flatMap((change) => {
    if (!("payload" in change) || change.payload === undefined) return [];
    const resource = spec.resources.get(change.address);
    if (change.action === "noop" && !writesSecret(resource)) return [];
    if (resource?.payload?.digest === change.payload) return [];
    // The apply compares a hidden digest.
    if (hasContent(registry.get(change.kind)) && hasDigest(change.payload)) return [];
    return [
      error("PLAN_STALE", `the value or content of ${change.address} changed after the plan was made`, {
        address: change.address,
        hint: "make a new plan, then apply it",
      }),
    ];
  });
}

/** Keyed, because a file can contain a sensitive value: who knows the rest of the file could test guesses with its SHA-256. */
function fileDigests({ spec, key }: Pick<Session, "key" | "spec">): SavedPlan["spec"]["files"] {
  return spec.files.map(({ path, digest }) => ({
    path,
    digest: keyedDigest(key, `file\n${path}\n${digest}`),
  }));
}

/** Of all compared sensitive fields: the value of an unchanged field is not in the plan. With `nonce`, equal values of two plans have different digests. */
function sensitiveDigests(
  { spec, key }: Pick<Session, "key" | "spec">,
  plan: Plan,
  nonce: string,
): SensitiveDigests | undefined {
  const digests: { [address: string]: { [pointer: string]: string } } = {};
  for (const { address } of plan.changes) {
    const { values, sensitive = [], lifecycle } = spec.resources.get(address) ?? {};
    for (const path of sensitive) {
      if (isIgnored(path, lifecycle?.ignore_changes ?? [])) continue;
      const pointer = toPointer(path);
      const value = stringifyJson([nonce, address, pointer, valueAt(values ?? {}, path) ?? null]);
      digests[address] = { ...digests[address], [pointer]: keyedDigest(key, `planned\n${value}`) };
    }
  }
  return Object.keys(digests).length === 0 ? undefined : digests;
}

/** A rotated value of a field that was unchanged would not be written, and nothing would say so. */
function movedSensitiveValues(session: Session, saved: SavedPlan): readonly Diagnostic[] {
  const now = sensitiveDigests(session, saved.plan, saved.nonce) ?? {};
  const then = saved.sensitive ?? {};
  const changes = new Map(saved.plan.changes.map((change) => [change.address, change]));
  return [...changes].flatMap(([address, change]) => {
    const pointers = new Set([...Object.keys(then[address] ?? {}), ...Object.keys(now[address] ?? {})]);
    // A run without the secrets does not know that an open value contains one: it plans the value in plain text, or as the digest that the state has.
    const wasOpen = (pointer: string): boolean => {
      const planned = "after" in change ? valueAt(change.after, fromPointer(pointer)) : undefined;
      const declared = valueAt(session.spec.resources.get(address)?.values ?? {}, fromPointer(pointer));
      if (then[address]?.[pointer] !== undefined) return false;
      if (planned === undefined) return !("after" in change);
      return planned === declared || isDigestOf(session.key, planned, declared);
    };
    const other = [...pointers].find(
      (pointer) => then[address]?.[pointer] !== now[address]?.[pointer] && !wasOpen(pointer),
    );
    return other === undefined
      ? []
      : [otherSensitiveValue(address, fromPointer(other), variablesToSet(session, saved))];
  });
}

/** The sensitive variables of the plan that this run does not set; if it sets all, one of them has another value. */
function variablesToSet({ invocation: { env, vars } }: Session, { spec }: SavedPlan): readonly string[] {
  const { hidden_vars: names = [] } = spec;
  const passed = new Set(vars.map(nameAndValue).map(([name]) => name));
  const lacking = names.filter((name) => env[`WORKSPACE_VAR_${name}`] === undefined && !passed.has(name));
  return lacking.length === 0 ? names : lacking;
}

function isDigestOf(key: Uint8Array, planned: Json, declared: Json | undefined): boolean {
  // The digests that it reads have their salts; it makes none.
  const digests = new ValueDigests(key, "");
  if (declared !== undefined) visitScalars(declared, [], (value) => digests.learn(value));
  return hasDigest(planned) && digests.knows(planned);
}

function writesSecret(resource: Resource | undefined): boolean {
  if (resource?.payload?.secret === undefined) return false;
  const field = secretField(registry.get(resource.kind));
  return field !== undefined && !isIgnored([field], resource.lifecycle.ignore_changes);
}

/** A plan that is not encrypted still has a signature with the state's key, so it may be read. */
function planCipher({ stateKey }: PlanFileReader): Cipher {
  return new Cipher({ random: nodeRandom, opensPlain: true, keyText: stateKey });
}

/** An encrypted plan is one piece. */
function closedPlan(invocation: PlanFileReader, pieces: Iterable<string>): Iterable<string> {
  const cipher = planCipher(invocation);
  return cipher.encrypts ? [`${cipher.encrypt("plan", "", [...pieces].join(""))}\n`] : pieces;
}

function openedPlan(invocation: PlanFileReader, bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder().decode(planCipher(invocation).decrypt("plan", "", bytes, file));
  } catch (failure) {
    const [problem] = failure instanceof Failure ? failure.diagnostics : [];
    if (problem?.code !== "STATE_CORRUPT") throw failure;
    throw failureOf("PLAN_FILE", "the plan file was modified", {
      hint: "to create a new one, run `workspace plan --out FILE`",
      cause: problem.message,
    });
  }
}
