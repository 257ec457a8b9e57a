// One run in a child process: a command on one workspace, its log, and its answer as a typed result.

import type { RequestEvent } from "../../api/retry/send.ts";
import { PROGRAM } from "../../config/version.ts";
import { type Diagnostic, hasErrors, withoutSourceLines } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { count } from "../../core/sentences.ts";
import { isNameOfCredential } from "../../fleet/model/fleet.ts";
import type { FleetCommand, RequestFacts } from "../../fleet/model/result.ts";
import { driftToRecord } from "../../planner/diff/known-drift.ts";
import { touches } from "../../planner/model/change.ts";
import { type ApplyOutcome, type Drift, type Plan, wasStopped } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import { diagnosticText } from "../../report/text/diagnostic-text.ts";
import { printable } from "../../report/text/printable.ts";
import { colorsFor } from "../../report/text/terminal.ts";
import { driftItem } from "../../report/view/drift-view.ts";
import { type ApplyPresenter, prepareFreshPlan, runApply } from "../../workflow/apply/apply.ts";
import {
  type Invocation,
  type RunFigures,
  resolveInvocation,
  SILENT_OBSERVER,
  type WorkflowObserver,
} from "../../workflow/invocation/invocation.ts";
import { reviewDrift, reviewWorkspace } from "../../workflow/plan/plan-review.ts";
import { doneEntries } from "../../workflow/plan/record-entries.ts";
import { placesIn } from "../../workflow/plan/spec-places.ts";
import { lockWait } from "../../workflow/session/open-state.ts";
import { checkSpec } from "../../workflow/session/read-spec.ts";
import { withSession } from "../../workflow/session/session.ts";
import { EXIT, exitOf, exitOfOutcome, exitOfPlan } from "../command/exit-codes.ts";
import type { RunAnswer, RunMessage, RunProgress, RunRequest } from "./child-messages.ts";

/** Never rejects. */
export async function runRequest(
  request: RunRequest,
  signal: AbortSignal,
  send: (message: RunMessage) => void,
): Promise<RunAnswer> {
  const secrets = credentialsIn(request);
  const log = logTo(send, secrets);
  const facts = new RunFacts(signal, send);
  const abandoned = new AbortController();
  const { env, cwd, home, file, target, variables, host, profile, state } = request;
  const context = { env, cwd, home, abandoned: abandoned.signal, observer: observerOf(log, facts) };
  // With this option, a run reads the rules of the spec and of WORKSPACE_RULES, which drift does not need.
  const rules = request.command === "drift" ? undefined : [];
  const options = { file, target, var: variables, host, profile, state, rules, figures: facts };
  const invocation = resolveInvocation(context, options);
  // Only an apply has requests in flight that are worth finishing.
  const abandon = (): void => {
    log.end("stopped before its end");
    abandoned.abort();
  };
  if (request.command !== "apply") signal.addEventListener("abort", abandon, { once: true });
  log.line(`${request.command} of ${request.workspace} by ${PROGRAM}`);
  // A run that needs too much memory may end before the next turn of the event loop.
  log.flush();
  try {
    const answer = await COMMANDS[request.command](invocation, { request, signal, log, facts });
    log.line(`ended: ${answer.status}`);
    return { ...answer, diagnostics: secrets.maskedMessages(answer.diagnostics), ...facts.now() };
  } catch (problem) {
    const diagnostics = secrets.maskedMessages(diagnosticsOf(problem));
    log.diagnostics(diagnostics);
    const exitCode = exitOf(diagnostics);
    return { ...endedWith(exitCode), diagnostics: reported(diagnostics), ...facts.now() };
  } finally {
    // A command that was stopped may still wait for an answer.
    abandoned.abort();
    log.flush();
  }
}

function observerOf(log: RunLog, facts: RunFacts): WorkflowObserver {
  return {
    report: log.diagnostics,
    retrying({ operation, status, attempt, waitMs = 0 }) {
      const what = status === 0 ? "returned no complete response" : `answered ${status}`;
      log.line(`${operation} ${what}; retry ${attempt} in ${(waitMs / 1000).toFixed(1)} s`);
    },
    waitingForLock({ holder, timeoutMs }) {
      facts.waitForLock();
      log.line(
        `waiting up to ${Math.ceil(timeoutMs / 1000)} s for the state lock of ${holder ?? "another run"}`,
      );
    },
    begin: SILENT_OBSERVER.begin,
  };
}

/** A long-lived connection to a host sends many requests; the worker needs their number only now and then. */
const PROGRESS_MS = 1_000;

/** What a run does, for its result and for the worker while it runs. */
class RunFacts implements RunFigures {
  readonly #signal: AbortSignal;
  readonly #send: (message: RunMessage) => void;
  #requests: RequestFacts = { sent: 0, retried: 0 };
  #answered = 0;
  #wrote = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #telling: NodeJS.Timeout | undefined;
  #lockWait: { readonly since: number; readonly ms?: number } | undefined;

  constructor(signal: AbortSignal, send: (message: RunMessage) => void) {
    this.#signal = signal;
    this.#send = send;
  }

  now(): Pick<RunAnswer, "requests" | "wrote" | "memoryBytes" | "lockWaitMs"> {
    this.#endLockWait();
    clearTimeout(this.#telling);
    return {
      ...this.#progress(),
      memoryBytes: process.memoryUsage.rss(),
      lockWaitMs: this.#lockWait?.ms,
    };
  }

  waitForLock(): void {
    this.#lockWait ??= { since: performance.now() };
  }

  #endLockWait(): void {
    if (this.#lockWait !== undefined && this.#lockWait.ms === undefined)
      this.#lockWait = { ...this.#lockWait, ms: Math.round(performance.now() - this.#lockWait.since) };
  }

  requested({ status, waitMs }: RequestEvent): void {
    // A request that ends because the run was stopped says nothing about the host.
    if (status === 0 && this.#signal.aborted) return;
    const { retried } = this.#requests;
    this.#answered += 1;
    this.#requests = {
      ...this.#requests,
      retried: retried + (waitMs === undefined ? 0 : 1),
      lastStatus: status,
    };
    this.#tell();
  }

  sending(): void {
    this.#requests = { ...this.#requests, sent: this.#requests.sent + 1 };
    this.#tell();
  }

  writing(): void {
    this.#wrote = true;
    this.#tell();
  }

  #progress(): RunProgress {
    const unanswered = this.#requests.sent - this.#answered;
    const requests = unanswered > 0 ? { ...this.#requests, unanswered } : this.#requests;
    return { requests, wrote: this.#wrote || undefined };
  }

  /** At once, or soon: the worker knows of a request before it has waited for long. */
  #tell(): void {
    if (this.#telling !== undefined) return;
    const wait = Math.max(0, this.#toldAt + PROGRESS_MS - performance.now());
    const tell = (): void => {
      this.#telling = undefined;
      this.#toldAt = performance.now();
      this.#send({ type: "progress", ...this.#progress() });
    };
    if (wait === 0) tell();
    else this.#telling = setTimeout(tell, wait).unref();
  }

  planned({ host }: Plan): void {
    this.#requests = { ...this.#requests, host };
    this.#endLockWait();
  }

  applied(): void {}
}

interface Run {
  readonly request: RunRequest;
  readonly signal: AbortSignal;
  readonly log: RunLog;
  readonly facts: RunFacts;
}

type RunCommand = (invocation: Invocation, run: Run) => Promise<RunAnswer>;

const COMMANDS: Readonly<Record<FleetCommand, RunCommand>> = {
  async validate(invocation) {
    const { spec, diagnostics } = await checkSpec(invocation, { allTargets: true });
    const done = spec === undefined || hasErrors(diagnostics) ? [] : await doneEntries(invocation, spec);
    const all = [...diagnostics, ...done];
    return { ...endedWith(exitOf(all)), diagnostics: reported(all) };
  },

  plan(invocation, { request, signal, log }) {
    const requirements = { makesKey: false, secrets: "optional", signal } as const;
    return withSession(invocation, requirements, async (session) => {
      const { plan, notes } = await reviewWorkspace(session, { adopt: request.adopt });
      const all = [...notes, ...guardsFirst(plan)];
      const counts = plannedCounts(plan);
      log.line(`plan: ${countsText(counts)}`);
      log.diagnostics(guardsFirst(plan));
      return {
        ...endedWith(exitOfPlan(plan, { detailed: true })),
        counts,
        reverted: revertedBy(plan),
        ...driftOf(plan.drift),
        diagnostics: reported(all),
      };
    });
  },

  drift(invocation, { request, signal, log }) {
    const requirements = { makesKey: false, secrets: "skip", signal } as const;
    return withSession(invocation, requirements, async (session) => {
      const { findings: all, drift: read } = await reviewDrift(
        session,
        lockWait(invocation, request.lockTimeoutMs),
      );
      const drift = await read();
      const drifted = driftOf(drift);
      log.diagnostics(all);
      for (const item of drift.slice(0, LOGGED_DRIFT)) log.line(`drift: ${item.address} ${item.what}`);
      const exitCode = hasErrors(all)
        ? exitOf(all)
        : Object.keys(drifted.drift).length > 0
          ? EXIT.changes
          : EXIT.ok;
      return { ...endedWith(exitCode), ...drifted, diagnostics: reported(all) };
    });
  },

  apply(invocation, { request, signal, log, facts }) {
    const requirements = { makesKey: true, secrets: "resolve", signal } as const;
    return withSession(invocation, requirements, async (session) => {
      const watched = applyWatch(log, facts);
      const plan = { adopt: request.adopt };
      const { lockTimeoutMs: lockTimeout } = request;
      const result = await runApply(
        session,
        { lockTimeout, signal },
        prepareFreshPlan(plan),
        watched.presenter,
      );
      if (result.status !== "applied") {
        const findings = [...watched.notes(), ...guardsFirst(result.plan)];
        return { ...endedWith(exitOfPlan(result.plan)), diagnostics: reported(findings) };
      }
      const { outcome } = result;
      const failed = outcome.changes.flatMap(({ diagnostic }) => diagnostic ?? []);
      const counts = appliedCounts(outcome);
      log.line(`applied: ${countsText(counts)}`);
      const ended = endedWith(exitOfOutcome(outcome));
      const isChanged = ended.status === "ok" && Object.keys(counts).length > 0;
      const diagnostics = reported([
        ...watched.notes(),
        ...result.plan.diagnostics,
        ...outcome.diagnostics,
        ...failed,
      ]);
      return {
        ...ended,
        ...(isChanged ? { status: "changes" as const } : {}),
        counts,
        reverted: revertedBy(result.plan, outcome),
        diagnostics,
      };
    });
  },
};

/** Of a heavily drifted workspace, the log names this number. */
const LOGGED_DRIFT = 50;

function applyWatch(log: RunLog, facts: RunFacts) {
  let notes: readonly Diagnostic[] = [];
  let notStarted = 0;
  const presenter: ApplyPresenter = {
    planned(plan, diagnostics) {
      notes = diagnostics;
      log.line(`plan: ${countsText(plannedCounts(plan))}`);
      log.diagnostics(guardsFirst(plan));
      return Promise.resolve();
    },
    approve: () => Promise.resolve(true),
    changed(event) {
      if (event.type === "apply_start") {
        facts.writing();
        log.line(`${event.action} ${event.address}`);
      }
      if (!("outcome" in event)) return;
      const { address, result, diagnostic } = event.outcome;
      if (wasStopped(event.outcome)) {
        notStarted += 1;
        return;
      }
      log.line(`${result} ${address}`);
      if (diagnostic !== undefined) log.diagnostics([diagnostic]);
    },
    applied(_plan, { diagnostics }) {
      if (notStarted > 0)
        log.line(`not started, because the run was stopped: ${count(notStarted, "change")}`);
      return Promise.resolve(log.diagnostics(diagnostics));
    },
  };
  return { presenter, notes: () => notes };
}

function guardsFirst({ guards, diagnostics }: Plan): readonly Diagnostic[] {
  return [...guards.map(({ diagnostic }) => diagnostic), ...diagnostics];
}

/** How often each name occurs, in the order of the first of each. */
function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function plannedCounts(plan: Plan): Record<string, number> {
  const counts = countsOf(plan.changes.filter(touches).map(({ action }) => action));
  const record = driftToRecord(plan).length;
  return record === 0 ? counts : { ...counts, record };
}

/** Of how many resources it ends acknowledged drift: the plan, or what of it was applied. */
function revertedBy({ changes }: Plan, outcome?: ApplyOutcome): number | undefined {
  const applied = outcome?.changes.flatMap(({ address, result }) => (result === "applied" ? [address] : []));
  const reverting = changes.flatMap(({ address, reverts }) => (reverts === undefined ? [] : [address]));
  const addresses = new Set(reverting.filter((address) => applied?.includes(address) !== false));
  return addresses.size || undefined;
}

function appliedCounts({ changes }: ApplyOutcome): RunAnswer["counts"] {
  return countsOf(
    changes.flatMap(({ action, result }) => {
      if (result === "failed") return ["failed"];
      return result === "applied" && action !== "noop" ? [action] : [];
    }),
  );
}

function countsText(counts: RunAnswer["counts"]): string {
  const parts = Object.entries(counts).map(([action, number]) => `${number} ${action}`);
  return parts.length === 0 ? "no changes" : parts.join(", ");
}

/** Of a drifted workspace, a result names this number of resources. */
const NAMED_DRIFT = 5;

/** Drift that is acknowledged, or that the spec has already, does not count. */
function driftOf(all: readonly Drift[]): Pick<RunAnswer, "drift" | "drifted"> {
  const open = all.map((item) => driftItem(item, registry, placesIn(new Map()))).filter((item) => item.open);
  const drift = countsOf(open.flatMap((item) => item.open ?? []));
  const drifted = open.slice(0, NAMED_DRIFT).map(({ address }) => address);
  return drifted.length === 0 ? { drift } : { drift, drifted };
}

function endedWith(exitCode: number): Pick<RunAnswer, "status" | "exitCode" | "counts" | "drift"> {
  return { status: statusOf(exitCode), exitCode, counts: {}, drift: {} };
}

function statusOf(exitCode: number): RunAnswer["status"] {
  if (exitCode === EXIT.refused || exitCode === EXIT.stale) return "blocked";
  if (exitCode === EXIT.changes) return "changes";
  return exitCode === EXIT.ok ? "ok" : "failed";
}

/** A result is a row in a table, so further findings are left out. Errors are the last that are. */
const REPORTED_FINDINGS = 50;

function reported(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const errors = all.filter(({ severity }) => severity === "error");
  const others = all.filter(({ severity }) => severity !== "error");
  return [...errors, ...others]
    .slice(0, REPORTED_FINDINGS)
    .map(({ at, usedAt: _usedAt, rule: _rule, ...rest }) => ({
      ...rest,
      ...(at && { at: withoutSourceLines(at) }),
    }));
}

interface RunLog {
  line(text: string): void;
  diagnostics(diagnostics: readonly Diagnostic[]): void;
  flush(): void;
  /** The last line: what a run says of the requests that its stop canceled is not its cause. */
  end(text: string): void;
}

/** Lines of a moment go in one message. */
const FLUSH_MS = 200;

function logTo(send: (message: RunMessage) => void, secrets: SensitiveTexts): RunLog {
  let waiting = "";
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== "") send({ type: "log", text: waiting });
    waiting = "";
  };
  const line = (text: string): void => {
    if (isEnded) return;
    const masked = secrets.size === 0 ? text : secrets.masked(text);
    waiting += `${new Date().toISOString()} ${printable(masked)}\n`;
    timer ??= setTimeout(flush, FLUSH_MS);
  };
  return {
    line,
    diagnostics(diagnostics) {
      for (const diagnostic of diagnostics)
        for (const text of diagnosticText(diagnostic, colorsFor(false)).trimEnd().split("\n")) line(text);
    },
    flush,
    end(text) {
      line(text);
      isEnded = true;
    },
  };
}

/** Values of credentials, which no message and no log may contain, whatever a service answers. */
function credentialsIn({ env }: RunRequest): SensitiveTexts {
  const secrets = new SensitiveTexts();
  for (const [name, value = ""] of Object.entries(env)) if (isNameOfCredential(name)) secrets.add(value);
  return secrets;
}
