// Selects workspaces of a fleet, and runs one command on them, with bounded parallelism, a limit on failures, and waves.

import { Cron } from "croner";
import { error, Failure, failureOf } from "../core/diagnostic.ts";
import { ownMember } from "../core/json.ts";
import { nearestHint } from "../core/suggest.ts";
import { type FleetWorkspace, limitGroups, type RunLimit } from "./model/fleet.ts";
import { isAnswer, type WorkspaceResult } from "./model/result.ts";

/** Runs the command on one workspace. Never throws: a problem is a result with status `failed`. */
export type Execute = (
  workspace: FleetWorkspace,
  signal: AbortSignal | undefined,
) => Promise<WorkspaceResult>;

export interface FleetRunOptions {
  readonly parallelism: number;
  /** The run starts nothing more after this many workspaces failed; undefined: no limit. */
  readonly maxFailures?: number;
  readonly waves?: readonly Wave[];
  readonly limits?: readonly RunLimit[];
  /** Stops the run: running workspaces are aborted, no other one starts. */
  readonly signal?: AbortSignal;
}

interface FleetRunObserver {
  waveStarted?(name: string, workspaces: readonly FleetWorkspace[]): void;
  started?(workspace: FleetWorkspace): void;
  finished(result: WorkspaceResult): void;
}

export interface FleetRun {
  readonly results: readonly WorkspaceResult[];
  readonly skipped: readonly string[];
  readonly stopped?: { readonly reason: "wave" | "failures" | "interrupted"; readonly wave?: string };
}

/** A wave stops the run if one of its workspaces fails. Results of `execute` are passed on as they arrive. */
export async function runFleet(
  workspaces: readonly FleetWorkspace[],
  execute: Execute,
  options: FleetRunOptions,
  observer: FleetRunObserver,
): Promise<FleetRun> {
  const { waves, maxFailures = Number.POSITIVE_INFINITY, parallelism, limits = [], signal } = options;
  const results: WorkspaceResult[] = [];
  const begun = new Set<string>();
  let failures = 0;
  const mayStart = (): boolean => signal?.aborted !== true && failures < maxFailures;
  const parts = waves === undefined ? [{ name: "", items: workspaces }] : splitIntoWaves(workspaces, waves);
  let stopped: FleetRun["stopped"];
  for (const { name, items } of parts) {
    if (waves !== undefined) observer.waveStarted?.(name, items);
    const before = failures;
    const waiting = new LimitedList(items, limits);
    const work = async (): Promise<void> => {
      for (let next = await waiting.take(); next !== undefined; next = await waiting.take()) {
        if (!mayStart()) return waiting.end();
        begun.add(next.name);
        observer.started?.(next);
        const result = await execute(next, signal);
        waiting.done(next);
        results.push(result);
        if (!isAnswer(result)) failures++;
        observer.finished(result);
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallelism, items.length) }, work));
    if (signal?.aborted === true) stopped = { reason: "interrupted" };
    else if (failures >= maxFailures) stopped = { reason: "failures" };
    else if (waves !== undefined && failures > before) stopped = { reason: "wave", wave: name };
    if (stopped !== undefined) break;
  }
  const skipped = workspaces.flatMap(({ name }) => (begun.has(name) ? [] : [name]));
  return { results, skipped, ...(stopped === undefined || skipped.length === 0 ? {} : { stopped }) };
}

/** Workspaces in their order, each once its group has room. */
class LimitedList {
  readonly #waiting: FleetWorkspace[];
  readonly #limits: readonly RunLimit[];
  readonly #running = new Map<string, number>();
  #wake = Promise.withResolvers<void>();

  constructor(items: readonly FleetWorkspace[], limits: readonly RunLimit[]) {
    this.#waiting = [...items];
    this.#limits = limits;
  }

  /** Undefined when nothing is left. */
  async take(): Promise<FleetWorkspace | undefined> {
    while (this.#waiting.length > 0) {
      const at = this.#waiting.findIndex((workspace) => this.#hasRoom(workspace));
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) await this.#wake.promise;
      else {
        this.#count(next, 1);
        return next;
      }
    }
    return undefined;
  }

  done(workspace: FleetWorkspace): void {
    this.#count(workspace, -1);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  end(): void {
    this.#waiting.length = 0;
    this.#wake.resolve();
  }

  #hasRoom(workspace: FleetWorkspace): boolean {
    return limitGroups(workspace, this.#limits).every(({ id, runs }) => (this.#running.get(id) ?? 0) < runs);
  }

  #count(workspace: FleetWorkspace, by: number): void {
    for (const { id } of limitGroups(workspace, this.#limits))
      this.#running.set(id, (this.#running.get(id) ?? 0) + by);
  }
}

/** One wave: a number of workspaces, a percentage of all, those with a label, or all that are left. */
export interface Wave {
  readonly name: string;
  readonly size:
    | { readonly count: number }
    | { readonly percent: number }
    | { readonly select: string }
    | "rest";
}

const WAVE = /^(?:([a-z][a-z0-9-]*)\s*:\s*)?(?:(\d+)(%?)|rest)$/i;
const LABEL_WAVE = /^(?:([a-z][a-z0-9-]*)\s*:\s*)?(.*(?:=|\s(?:not)?in\s).*)$/i;

/** Parses `canary: 1, env=dev, then 10%, then rest`. The last wave always takes the rest. Throws Failure CLI_USAGE. */
export function parseWaves(text: string): readonly Wave[] {
  const parts = splitOutsideParentheses(text).flatMap((part) =>
    part
      .trim()
      .replace(/^then\s+/, "")
      .split(/\s+then\s+/),
  );
  const waves = parts.map((part, at) => parseWave(part, at, text));
  const rest = waves.findIndex(({ size }) => size === "rest");
  if (rest >= 0 && rest < waves.length - 1) throw invalid(text, "`rest` must be the last wave");
  return rest < 0 ? [...waves, { name: "rest", size: "rest" }] : waves;
}

function parseWave(part: string, at: number, text: string): Wave {
  const [, labelName, select] = LABEL_WAVE.exec(part) ?? [];
  if (select !== undefined) {
    parseSelector(select);
    return { name: labelName ?? select, size: { select } };
  }
  const match = WAVE.exec(part);
  if (match === null)
    throw invalid(text, "a wave is a number, a percentage, a label such as `env=dev`, or `rest`");
  const [, name, digits, percent] = match;
  if (digits === undefined) return { name: name ?? "rest", size: "rest" };
  const number = Number(digits);
  if (number < 1 || (percent === "%" && number > 100))
    throw invalid(text, "a wave has at least 1 workspace and at most 100%");
  return { name: name ?? `wave ${at + 1}`, size: percent === "%" ? { percent: number } : { count: number } };
}

/** Splits a list into waves; a percentage is of the whole list, rounded up. Empty waves are left out. */
export function splitIntoWaves<T extends Pick<FleetWorkspace, "labels">>(
  items: readonly T[],
  waves: readonly Wave[],
): readonly { readonly name: string; readonly items: readonly T[] }[] {
  let left = items;
  return waves.flatMap(({ name, size }) => {
    const wave = left.filter(memberOf(size, items.length));
    const members = new Set(wave);
    left = left.filter((item) => !members.has(item));
    return wave.length === 0 ? [] : [{ name, items: wave }];
  });
}

function memberOf(
  size: Wave["size"],
  all: number,
): (item: Pick<FleetWorkspace, "labels">, at: number) => boolean {
  if (size === "rest") return () => true;
  if ("count" in size) return (_item, at) => at < size.count;
  if ("percent" in size) return (_item, at) => at < Math.ceil((all * size.percent) / 100);
  const requirements = parseSelector(size.select);
  return ({ labels }) => requirements.every((requirement) => requirement(labels));
}

function invalid(text: string, hint: string): Failure {
  return failureOf("CLI_USAGE", `"${text}" is not a valid list of waves`, {
    hint: `${hint}; for example: \`canary: 1, then env=test, then 10%, then rest\``,
  });
}

type Requirement = (labels: FleetWorkspace["labels"]) => boolean;

const NAME = "[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?";
const VALUE = new RegExp(`^${NAME}$`);
const EQUALS = new RegExp(`^(${NAME})\\s*(==?|!=)\\s*(${NAME})$`);
const IN = new RegExp(`^(${NAME})\\s+(in|notin)\\s+\\(([^()]*)\\)$`);
const EXISTS = new RegExp(`^(!?)\\s*(${NAME})$`);

/** The workspaces with one of the names, if there are any, that match every selector. Throws Failure CLI_USAGE. */
export function selectWorkspaces(
  workspaces: readonly FleetWorkspace[],
  names: readonly string[],
  selectors: readonly string[],
): readonly FleetWorkspace[] {
  const declaredNames = workspaces.map(({ name }) => name);
  const unknown = names.filter((name) => !declaredNames.includes(name));
  if (unknown.length > 0)
    throw new Failure(
      ...unknown.map((name) =>
        error("CLI_USAGE", `the fleet has no workspace "${name}"`, {
          hint: nearestHint(name, declaredNames, "to list the workspaces, run `workspace fleet list`"),
        }),
      ),
    );
  const requirements = selectors.flatMap(parseSelector);
  const selected = workspaces.filter(
    ({ name, labels }) =>
      (names.length === 0 || names.includes(name)) &&
      requirements.every((requirement) => requirement(labels)),
  );
  if (selected.length === 0)
    throw failureOf("CLI_USAGE", "no workspace of the fleet matches the selection", {
      hint: "to list the workspaces with their labels, run `workspace fleet list`",
    });
  return selected;
}

/** Parses `env=prod,team in (ads, web),!legacy`. Throws Failure CLI_USAGE. */
function parseSelector(text: string): readonly Requirement[] {
  return splitOutsideParentheses(text).map((part) => parseRequirement(part.trim(), text));
}

function parseRequirement(part: string, selector: string): Requirement {
  const equals = EQUALS.exec(part);
  if (equals !== null) {
    const [, label = "", operator, value] = equals;
    return operator === "!="
      ? (labels) => ownMember(labels, label) !== value
      : (labels) => ownMember(labels, label) === value;
  }
  const within = IN.exec(part);
  if (within !== null) {
    const [, label = "", operator, list = ""] = within;
    const values = list.split(",").map((value) => value.trim());
    if (!values.every((value) => VALUE.test(value))) throw invalidSelector(selector);
    const isIn: Requirement = (labels) => values.includes(ownMember(labels, label) ?? "");
    return operator === "in" ? isIn : (labels) => !isIn(labels);
  }
  const exists = EXISTS.exec(part);
  if (exists !== null) {
    const [, not, label = ""] = exists;
    const hasLabel: Requirement = (labels) => ownMember(labels, label) !== undefined;
    return not === "!" ? (labels) => !hasLabel(labels) : hasLabel;
  }
  throw invalidSelector(selector);
}

function invalidSelector(selector: string): Failure {
  return failureOf("CLI_USAGE", `"${selector}" is not a valid label selector`, {
    hint: "write `env=prod`, `env!=prod`, `env in (prod, test)`, `env`, or `!env`, joined by commas",
  });
}

function splitOutsideParentheses(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/);
}

/** A workspace with a schedule whose last check did not end, or that was never checked, is due. `results`: of each workspace, newest first. */
export function dueWorkspaces(
  workspaces: readonly FleetWorkspace[],
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
  now: number,
): readonly FleetWorkspace[] {
  return workspaces.filter(({ name, schedule }) => {
    if (schedule === undefined) return false;
    const last = results.get(name)?.find(({ command }) => command === "drift");
    // A result from the future is of a clock that was wrong.
    if (last === undefined || last.status === "interrupted" || last.startedAt > now) return true;
    const { cron, timezone } = schedule;
    const next = new Cron(cron, { timezone }).nextRun(new Date(last.startedAt));
    return next !== null && next.getTime() <= now;
  });
}
