// Runs one step of a test, and compares its results with its expectations. The spec of a step or of a world is a file below
// the folder of the run, or a part of the test file.

import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { DEFAULT_FILE } from "../../config/files.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { stateExists } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import { type LoadedSpec, loadSpec } from "../../spec/load-spec.ts";
import { locationOf, type Span } from "../../spec/model/source.ts";
import type { RuleFile, Spec } from "../../spec/model/spec.ts";
import {
  type NamedPath,
  type SpecSource,
  type SpecTest,
  type SpecTestFile,
  stepFieldsOf,
  type TestSetup,
  type TestStep,
} from "../../spec/testing/read-tests.ts";
import { emptyState } from "../../state/format/fold.ts";
import { planWorkspace } from "../plan/plan.ts";
import { entriesDoneIn } from "../plan/record-entries.ts";
import { openSensitive } from "../plan/sensitive.ts";
import { ruleFiles } from "../rules/rule-folders.ts";
import type { Session } from "../session/session.ts";
import {
  compareDiagnostics,
  compareDrift,
  compareGuards,
  comparePlan,
  compareRules,
  type StepComparison,
} from "./expectations.ts";
import {
  addressIn,
  applyUnattended,
  changedSpec,
  compareLive,
  deleteObject,
  idsIn,
  type LiveObjects,
  makeObjects,
  objectAt,
  readLiveObjects,
} from "./live-objects.ts";
import type { Sandbox } from "./sandbox.ts";

export interface RunningTest {
  readonly sandbox: Sandbox;
  readonly test: SpecTest;
  readonly files: TestFiles;
  /** The IDs of the world's objects by those that the spec imports. */
  readonly ids: ReadonlyMap<string, string>;
  /** What every new workspace has, as `kind id`. */
  readonly initial: ReadonlySet<string>;
  /** Of each spec that was read. */
  readonly sensitive: SensitiveValues[];
  /** The sensitive fields of objects, as `kind id`, that any spec declared: an object can have another address than in that spec. */
  readonly sensitiveFields: Map<string, readonly Path[]>;
}

type Starting = Omit<RunningTest, "ids" | "initial">;

/** Throws Failure if the step cannot run at all. */
export async function runStep(running: RunningTest, step: TestStep): Promise<readonly StepComparison[]> {
  switch (step.name) {
    case "validate":
      return validateStep(running, step);
    case "plan":
      return planStep(running, step);
    case "apply":
      return applyStep(running, step);
    case "drift":
      return driftStep(running, step);
    case "live":
      return [compareLive(step.value, await liveObjects(running))];
    default:
      await outOfBandStep(running, step);
      return [];
  }
}

interface StepResult {
  readonly plan?: Plan;
  readonly diagnostics: readonly Diagnostic[];
}

async function validateStep(running: RunningTest, step: TestStep): Promise<readonly StepComparison[]> {
  const { spec, diagnostics } = await loadedForStep(running, step, "skip");
  const { state } = await running.sandbox.state.read();
  const done = spec === undefined || !stateExists(state) ? [] : entriesDoneIn(spec, state);
  return [compareDiagnostics(stepFieldsOf(step), [...diagnostics, ...done])];
}

async function planStep(running: RunningTest, step: TestStep): Promise<readonly StepComparison[]> {
  const fields = stepFieldsOf(step);
  const options = planOptions(fields);
  const planned = await inSession(running, step, options.destroy ? "skip" : "optional", async (session) => {
    const { state, diagnostics } = await session.readState();
    const mayLackSecrets = !options.destroy;
    const planned = await planWorkspace(session, state, { ...options, mayLackSecrets, checksRules: true });
    return { plan: planned.plan, diagnostics: [...diagnostics, ...planned.diagnostics] };
  });
  return comparedPlan(fields, planned);
}

async function applyStep(running: RunningTest, step: TestStep): Promise<readonly StepComparison[]> {
  const fields = stepFieldsOf(step);
  const options = planOptions(fields);
  const applied = await inSession(running, step, options.destroy ? "skip" : "resolve", async (session) => {
    const { plan, notes, failed } = await applyUnattended(session, options, running.sandbox.signal);
    const { state } = await session.readState();
    noteSensitiveFields(running, session.spec, idsIn(state));
    return { plan, diagnostics: [...notes, ...failed] };
  });
  return comparedPlan(fields, applied);
}

function comparedPlan(fields: JsonObject, { plan, diagnostics }: StepResult): readonly StepComparison[] {
  const stepComparison = compareDiagnostics(fields, [...diagnostics, ...(plan?.diagnostics ?? [])]);
  // Without a plan, the unexpected error is enough.
  if (plan === undefined && fields.diagnostics === undefined) return [stepComparison];
  const { guards = [], changes = [] } = plan ?? {};
  return [
    stepComparison,
    compareGuards(fields, guards),
    compareRules(fields, { guards, diagnostics: plan?.diagnostics ?? [] }),
    ...comparePlan(fields, changes),
  ];
}

async function driftStep(running: RunningTest, step: TestStep): Promise<readonly StepComparison[]> {
  const fields = stepFieldsOf(step);
  const drifted = await inSession(running, step, "skip", async (session) => {
    const { state } = await session.readState();
    if (!stateExists(state))
      throw failureOf("STATE_NOT_FOUND", "nothing was applied in this test, so drift cannot be detected", {
        hint: "add an apply step before this one",
      });
    const { plan, recovered } = await planWorkspace(session, state);
    const unread = plan.diagnostics.filter(({ code }) => code === "PLAN_UNREADABLE");
    return { plan, diagnostics: [...recovered.diagnostics, ...unread] };
  });
  return [compareDiagnostics(fields, drifted.diagnostics), compareDrift(fields, drifted.plan?.drift ?? [])];
}

async function liveObjects(running: RunningTest): Promise<LiveObjects> {
  const { sandbox, initial, sensitive, sensitiveFields } = running;
  const { state } = await sandbox.state.read();
  const objects = await readLiveObjects(sandbox, state, initial);
  for (const [address, { provider, live }] of objects) {
    const paths = sensitiveFields.get(`${provider.kind} ${live.id}`);
    if (paths !== undefined) for (const values of sensitive) values.alsoSensitive(address, paths);
  }
  return objects;
}

function noteSensitiveFields(
  { sensitiveFields }: Pick<RunningTest, "sensitiveFields">,
  { resources }: Spec,
  ids: ReadonlyMap<Address, string>,
): void {
  for (const { address, kind, sensitive } of resources.values()) {
    const id = ids.get(address);
    if (id === undefined || sensitive === undefined) continue;
    const object = `${kind} ${id}`;
    sensitiveFields.set(object, [...(sensitiveFields.get(object) ?? []), ...sensitive]);
  }
}

async function outOfBandStep(running: RunningTest, { name, node }: TestStep): Promise<void> {
  const { sandbox } = running;
  if (name === "create" && node.kind === "map") {
    await makeDeclared(running, { root: node, at: node });
    return;
  }
  if (name === "delete" && node.kind === "list")
    for (const item of node.items) {
      const address = item.kind === "scalar" ? String(item.value) : "";
      await deleteObject(sandbox, objectAt(await liveObjects(running), address, item));
    }
  if (name === "change" && node.kind === "map")
    for (const [address, { key, value }] of node.members) {
      const objects = await liveObjects(running);
      const object = objectAt(objects, address, key);
      const root = changedSpec(object, objects, value);
      await makeDeclared(running, { root, at: value }, [addressIn(object)]);
    }
}

/** The objects of the world: their IDs by address. Throws Failure. */
export async function makeWorld(running: Starting): Promise<ReadonlyMap<Address, string>> {
  const { world } = running.test.setup;
  if (world === undefined) return new Map();
  if ("root" in world && world.root.members.size === 0) return new Map();
  return makeDeclared(running, world);
}

/** Throws Failure. */
async function makeDeclared(
  running: Starting,
  source: SpecSource,
  only?: readonly Address[],
): Promise<ReadonlyMap<Address, string>> {
  const { spec, diagnostics } = await loaded(running, { source, secrets: "resolve" });
  if (spec === undefined) throw new Failure(...diagnostics);
  const ids = await makeObjects(running.sandbox, spec, only);
  noteSensitiveFields(running, spec, ids);
  return ids;
}

/** The spec if it has no errors, with what was found. */
async function loaded({ sandbox, test, files, sensitive }: Starting, what: LoadSpecOfTest) {
  const { spec, diagnostics } = await loadSpecOfTest(sandbox, test.setup, files, what);
  if (spec === undefined || hasErrors(diagnostics)) return { diagnostics };
  sensitive.push(openSensitive({ spec, states: [emptyState("")], key: new Uint8Array() }));
  return { spec, diagnostics };
}

async function loadedForStep(
  running: RunningTest,
  { choice: { spec: source, ...chosen } }: TestStep,
  secrets: LoadSpecOfTest["secrets"],
) {
  const { spec, diagnostics } = await loaded(running, { source, ...chosen, secrets, withRules: true });
  return { spec: spec && withLiveIds(spec, running.ids), diagnostics };
}

function planOptions({ adopt, destroy, only }: JsonObject) {
  return {
    adopt: adopt === true,
    destroy: destroy === true,
    only: Array.isArray(only) ? only.map(String) : [],
  };
}

/** The findings of a run, after those of its spec. Failures of the run are findings of its step. */
async function inSession(
  running: RunningTest,
  step: TestStep,
  secrets: LoadSpecOfTest["secrets"],
  work: (session: Session) => Promise<StepResult>,
): Promise<StepResult> {
  const { spec, diagnostics } = await loadedForStep(running, step, secrets);
  if (spec === undefined) return { diagnostics };
  const { test, files, sandbox } = running;
  const prices = test.setup.prices && pathInside(test.setup.prices, files);
  if (typeof prices === "object") return { diagnostics: [...diagnostics, prices] };
  try {
    const stepResult = await work(await sandbox.session(spec, { prices }));
    return { ...stepResult, diagnostics: [...diagnostics, ...stepResult.diagnostics] };
  } catch (problem) {
    return { diagnostics: [...diagnostics, ...failureDiagnostics(problem)] };
  }
}

/** A bug ends one test, not the others. */
export const failureDiagnostics = (problem: unknown): readonly Diagnostic[] =>
  diagnosticsOf(problem, "with the test file and the spec");

/** Where test files are: specs outside of `boundary` are not read. All absolute. */
export interface TestFiles {
  readonly cwd: string;
  readonly boundary: string;
  readonly file: Pick<SpecTestFile, "path">;
  readonly onPathRead?: PathObserver;
}

interface LoadSpecOfTest {
  readonly source: SpecSource;
  readonly target?: string;
  readonly variables?: readonly string[];
  /** `optional`: a secret without a value is a warning. */
  readonly secrets: "resolve" | "optional" | "skip";
  readonly withRules?: boolean;
}

function loadSpecOfTest(
  sandbox: Sandbox,
  setup: TestSetup,
  files: TestFiles,
  { source, target, variables = [], secrets, withRules = false }: LoadSpecOfTest,
): Promise<LoadedSpec> {
  const file = fileOf(source, files);
  const rules = withRules ? rulesOf(setup, files) : undefined;
  if (typeof file !== "string") return Promise.resolve({ diagnostics: [file] });
  if (rules !== undefined && "code" in rules) return Promise.resolve({ diagnostics: [rules] });
  return loadSpec({
    file: file,
    ...("root" in source ? { root: source.root } : {}),
    cwd: files.cwd,
    vars: variables,
    ...defined({ target, rules, onPathRead: files.onPathRead }),
    env: setup.env,
    registry: sandbox.registry,
    secrets: secrets === "skip" ? "skip" : "resolve",
    mayLackSecrets: secrets === "optional",
    keyed: (value) => sandbox.keyed(value),
    yieldToEventLoop: () => sandbox.yieldToEventLoop(),
  });
}

function withLiveIds(spec: Spec, ids: ReadonlyMap<string, string>): Spec {
  const { stateEntries } = spec;
  if (stateEntries === undefined || ids.size === 0) return spec;
  const imports = stateEntries.imports.map((entry) => ({ ...entry, id: ids.get(entry.id) ?? entry.id }));
  return { ...spec, stateEntries: { ...stateEntries, imports } };
}

function fileOf(source: SpecSource, files: TestFiles): string | Diagnostic {
  if ("root" in source) return files.file.path;
  const path = pathInside(source, files);
  if (typeof path !== "string") return path;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const spec = isFolder ? join(path, DEFAULT_FILE) : path;
  if (existsSync(spec)) return spec;
  return error("SPEC_NOT_FOUND", `the spec ${source.path} does not exist`, {
    at: locationOf(source.at),
    hint: "a path starts from the folder of the test file",
  });
}

/** The files of the folder of rules; undefined without such a folder. */
function rulesOf({ rules }: TestSetup, files: TestFiles): readonly RuleFile[] | Diagnostic {
  if (rules === undefined) return [];
  const folder = pathInside(rules, files);
  if (typeof folder !== "string") return folder;
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const names = isFolder ? readdirSync(folder) : [];
  const escaping = names.find((name) => !isInside(files.boundary, join(folder, name)));
  if (escaping !== undefined) return outside(`${rules.path}/${escaping}`, rules.at);
  try {
    const { cwd, file } = files;
    const folders = { cwd, file: file.path, ruleFolders: [folder], untrusted: false, onPathRead: undefined };
    return ruleFiles(folders) ?? [];
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    const [{ message, hint } = { message: "the rules cannot be read" }] = problem.diagnostics;
    return error("SPEC_RULE", message, { at: locationOf(rules.at), hint });
  }
}

/** Throws nothing: a path that leads elsewhere, or to a hidden file such as `.git/config`, is a finding. */
function pathInside(named: NamedPath, files: TestFiles): string | Diagnostic {
  const path = resolve(dirname(files.file.path), named.path.replaceAll("\0", ""));
  return isInside(files.boundary, path) ? path : outside(named.path, named.at);
}

function outside(path: string, at: Span): Diagnostic {
  return error("SPEC_OUTSIDE", `${path} is hidden, or outside the folder of the run`, {
    at: locationOf(at),
    hint: "name a spec below the folder in which `workspace test` runs",
  });
}

/** Links are followed. The path may be missing. */
function isInside(boundary: string, path: string): boolean {
  if (!isVisibleBelow(boundary, path)) return false;
  return !existsSync(path) || isVisibleBelow(realpathSync(boundary), realpathSync(path));
}

function isVisibleBelow(folder: string, path: string): boolean {
  return relative(folder, path)
    .split(sep)
    .every((part) => !part.startsWith("."));
}
