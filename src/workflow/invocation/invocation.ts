// What an invocation works on, resolved once from its options and the environment: spec, target, state, workspace, trust, and limits.

import { dirname, join, resolve } from "node:path";
import type { RequestEvent } from "../../api/retry/send.ts";
import type { SpokenDialect } from "../../config/dialect.ts";
import { fromEnv, type ProcessContext } from "../../config/environment.ts";
import { DEFAULT_FILE } from "../../config/files.ts";
import { caFileOf } from "../../config/network.ts";
import {
  dialectFrom,
  type HostOptions,
  readTimeoutOf,
  type Settings,
  settingsOf,
} from "../../config/settings.ts";
import { type Diagnostic, Failure, hasErrors } from "../../core/diagnostic.ts";
import { lazily } from "../../core/lazily.ts";
import type { ApplyEvent, ApplyOutcome, Plan, ReadEvent } from "../../planner/model/plan.ts";
import type { PathObserver } from "../../spec/files/spec-folder.ts";
import { readTargets, type TargetSelection } from "../../spec/variables/targets.ts";
import type { State } from "../../state/model/record.ts";
import type { LockWait } from "../../state/model/store.ts";
import { assertExpectedHost, locateState, type SelectedSpec, type StateLocation } from "./target.ts";

/** What the command line names. A command without an option leaves it undefined. */
export interface InvocationOptions extends Partial<Omit<HostOptions, "specProfile">> {
  readonly file?: string | undefined;
  readonly target?: string | undefined;
  readonly var?: readonly string[] | undefined;
  readonly varFile?: readonly string[] | undefined;
  /** Undefined for commands that check no plan. */
  readonly rules?: readonly string[] | undefined;
  readonly prices?: string | undefined;
  readonly cost?: boolean | undefined;
  readonly state?: string | undefined;
  readonly allowUnencryptedState?: boolean | undefined;
  readonly onPathRead?: PathObserver | undefined;
  readonly figures?: RunFigures | undefined;
}

/** Paths are absolute. The members that are functions read the spec or the profiles: on the first call, once, and with Failures of their own. */
export interface Invocation extends WorkflowContext, SelectedSpec {
  readonly vars: readonly string[];
  readonly varFiles: readonly string[];
  /** The folders of --rules and WORKSPACE_RULES; undefined for commands that check no plan. */
  readonly ruleFolders: readonly string[] | undefined;
  /** The list of prices of --prices or WORKSPACE_PRICES. */
  readonly pricesFile: string | undefined;
  /** Whether a plan shows cores and memory of what changes. */
  readonly showsCapacity: boolean;
  /** The workspace that --host or WORKSPACE_HOST names; a profile may name another. */
  readonly namedHost: string | undefined;
  /** The user that WORKSPACE_USER names: the caller, if the service names none. */
  readonly user: string | undefined;
  readonly caFile: string | undefined;
  /** The states that --state and WORKSPACE_STATE name, for every target; the first one is used. */
  readonly namedStates: readonly string[];
  readonly stateKey: string | undefined;
  readonly allowsUnencryptedState: boolean;
  /** The data of the embedded workspace. */
  readonly embeddedFolder: string;
  /** Receives the paths that the run reads. */
  readonly onPathRead: PathObserver | undefined;
  readonly figures: RunFigures | undefined;
  /** The same object in all that `with` made of one invocation. */
  readonly run: RunSelection;

  readonly stateLocation: () => StateLocation;
  /** The host, its credential, and limits of requests. Throws SPEC_TARGET if the target is for another host. */
  readonly settings: () => Settings;
  /** The dialect that decides what a spec may contain; known without a host. */
  readonly dialect: () => SpokenDialect;
  /** How long all reads of a plan may take, in milliseconds. */
  readonly readTimeoutMs: () => number;
  /** The invocation with other options, such as those that a saved plan contains. */
  readonly with: (changes: InvocationOptions, cwd?: string) => Invocation;
}

interface RunSelection {
  /** What a run works on in place of what its options say, once it has read a saved plan, which names its spec and target. */
  ofSavedPlan?: Invocation;
}

export function resolveInvocation(context: WorkflowContext, options: InvocationOptions): Invocation {
  return invocationOf(context, options, { run: {} });
}

function invocationOf(
  context: WorkflowContext,
  options: InvocationOptions,
  before: {
    readonly run: RunSelection;
    readonly read?: {
      readonly file: string;
      readonly untrusted: boolean;
      readonly targets: () => TargetSelection;
    };
  },
): Invocation {
  const { env, cwd, home, abandoned, observer } = context;
  const absolute = (path: string): string => resolve(cwd, path);
  const file = absolute(options.file ?? fromEnv(context, "WORKSPACE_FILE") ?? DEFAULT_FILE);
  const untrusted = options.untrusted === true;
  const { onPathRead } = options;
  const targets =
    before.read?.file === file && before.read.untrusted === untrusted
      ? before.read.targets
      : lazily(() => readTargets({ file, cwd, untrusted, onPathRead }));
  const invocation: Invocation = {
    ...{ env, cwd, home, abandoned, observer },
    file,
    targetName: options.target ?? fromEnv(context, "WORKSPACE_TARGET"),
    vars: options.var ?? [],
    varFiles: (options.varFile ?? []).map(absolute),
    ruleFolders: ruleFolders(context, options.rules)?.map(absolute),
    pricesFile: [options.prices ?? fromEnv(context, "WORKSPACE_PRICES")]
      .flatMap((file) => file ?? [])
      .map(absolute)[0],
    showsCapacity: options.cost === true,
    untrusted,
    namedHost: options.host ?? fromEnv(context, "WORKSPACE_HOST"),
    user: fromEnv(context, "WORKSPACE_USER"),
    caFile: caFileOf(context, options.caFile),
    namedStates: [options.state, fromEnv(context, "WORKSPACE_STATE")].filter((state) => state !== undefined),
    stateKey: fromEnv(context, "WORKSPACE_STATE_KEY"),
    allowsUnencryptedState: options.allowUnencryptedState === true,
    embeddedFolder: join(dirname(file), ".workspace", "embedded"),
    onPathRead,
    figures: options.figures,
    run: before.run,
    target: lazily(() => targets()(invocation.targetName)),
    stateLocation: lazily(() => locateState(invocation, invocation.namedStates[0], cwd)),
    settings: lazily(() => settingsForTarget(invocation, options)),
    dialect: lazily(() => dialectFrom(context, withProfile(invocation, options))),
    readTimeoutMs: lazily(() => readTimeoutOf(context, options)),
    with: (changes, folder = cwd) =>
      invocationOf(
        { ...context, cwd: folder },
        { ...options, ...changes },
        {
          run: before.run,
          read: { file, untrusted, targets },
        },
      ),
  };
  return invocation;
}

function ruleFolders(
  context: ProcessContext,
  rules: readonly string[] | undefined,
): readonly string[] | undefined {
  if (rules === undefined) return undefined;
  const named = fromEnv(context, "WORKSPACE_RULES");
  return named === undefined ? rules : [named, ...rules];
}

function settingsForTarget(invocation: Invocation, options: InvocationOptions): Settings {
  const settings = settingsOf(invocation, withProfile(invocation, options));
  assertExpectedHost(invocation.target().settings, settings.endpoint.identity);
  return settings;
}

/** The options with the profile of the target, unless the spec is untrusted. */
function withProfile(
  { untrusted, target }: SelectedSpec,
  { host, profile, parallelism, ...options }: InvocationOptions,
): HostOptions {
  const specProfile = untrusted ? undefined : target().settings?.profile;
  return { ...options, host, profile, parallelism, specProfile };
}

/** One phase of a run, such as the reading of the workspace. */
interface Activity {
  read(event: ReadEvent): void;
  apply(event: ApplyEvent): void;
  stop(): Promise<void>;
}

export interface WorkflowObserver {
  /** Receives findings in the order in which they are found. */
  report(diagnostics: readonly Diagnostic[]): void;
  /** Receives an attempt after which a request waits to be sent again. */
  retrying(event: RequestEvent): void;
  waitingForLock(wait: LockWait): void;
  begin(): Promise<Activity>;
}

const nothing = (): void => undefined;
const NO_ACTIVITY: Activity = { read: nothing, apply: nothing, stop: () => Promise.resolve() };

/** Shows nothing. */
export const SILENT_OBSERVER: WorkflowObserver = {
  report: nothing,
  retrying: nothing,
  waitingForLock: nothing,
  begin: () => Promise.resolve(NO_ACTIVITY),
};

/** Throws Failure with the findings if one of them is an error. */
export function reportOrThrow(observer: WorkflowObserver, findings: readonly Diagnostic[]): void {
  if (hasErrors(findings)) throw new Failure(...findings);
  observer.report(findings);
}

export interface WorkflowContext extends ProcessContext {
  readonly observer: WorkflowObserver;
}

/** Collects figures of a run for metrics and webhooks. */
export interface RunFigures {
  /** A request leaves; `requested` when its answer is there. */
  sending?(): void;
  requested(event: RequestEvent): void;
  planned(plan: Plan, state: Pick<State, "records">, planMs: number): void;
  /** The plan is that of the file where a saved one was applied. */
  applied(plan: Plan, state: Pick<State, "records">, outcome: ApplyOutcome): void;
  /** Posts the result before the end of the run, for what depends on it; false if it was not accepted. */
  deliver?(exitCode: number): Promise<boolean>;
}
