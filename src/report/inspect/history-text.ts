// The recorded applies of a state, newest first, and its earlier versions.

import { type Address, kindOf } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import type { PastField, PastRun } from "../../core/past-run.ts";
import { fromPointer, toDottedPath } from "../../core/pointer.ts";
import { withoutDigests } from "../../core/sensitive-values.ts";
import { count } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import { textTable, valueText } from "../text/terminal.ts";
import { SIGNS } from "../text/vocabulary.ts";
import {
  type Choice,
  choiceJson,
  type Entry,
  hiddenSentence,
  isRunChosen,
  SHOW_ALL,
} from "../view/choice.ts";

interface HistoryView {
  readonly runs: readonly PastRun[];
  /** Runs that changed more addresses than the state keeps, so that they may have changed the address asked for. */
  readonly uncertain: number;
  readonly choice: Choice;
  /** Whether each run is shown field by field. */
  readonly diff: boolean;
  /** The runs that `--show` and `--hide` leave out of the text. */
  readonly hidden: readonly PastRun[];
}

/** Which runs to list; absent members do not limit them. */
export interface RunFilter {
  readonly address?: Address;
  /** `last`, a number (1 is the newest run), or the start of the digest of a plan. */
  readonly run?: string;
  /** The person, or the user that the service knew the run by. */
  readonly by?: string;
  /** The start of a commit. */
  readonly commit?: string;
}

export function historyView(
  history: readonly PastRun[],
  { address, ...filter }: RunFilter = {},
  choice: Choice = SHOW_ALL,
  diff = false,
): HistoryView {
  const view = runsOf(chosenRuns(history, filter), address);
  return { ...view, choice, diff, hidden: view.runs.filter((run) => !isRunChosen(choice, entriesOf(run))) };
}

function chosenRuns(history: readonly PastRun[], { run, by, commit }: RunFilter): readonly PastRun[] {
  const at =
    run === undefined ? undefined : run === "last" ? 1 : /^\d{1,3}$/.test(run) ? Number(run) : undefined;
  const numbered = at === undefined ? history : history.slice(-at, history.length - at + 1);
  const isPlan = (past: PastRun): boolean =>
    run === undefined || at !== undefined || past.plan.startsWith(run);
  return (at !== undefined && at > history.length ? [] : numbered).filter(
    (past) =>
      isPlan(past) &&
      (by === undefined || past.actor === by || past.caller === by) &&
      (commit === undefined || past.commit?.startsWith(commit) === true),
  );
}

function entriesOf({ changed, applied }: PastRun): readonly Entry[] {
  const actions = Object.keys(applied).filter((action) => (applied[action] ?? 0) > 0);
  const isDestroying = actions.some((action) => action === "delete" || action === "replace");
  const words = [...actions.map((action) => `${action}s`), ...(isDestroying ? ["destroys"] : [])];
  if (changed.length === 0) return [{ address: "", kind: "", words }];
  return changed.map((address) => ({ address, kind: kindOf(address), words }));
}

function runsOf(
  history: readonly PastRun[],
  address: Address | undefined,
): Pick<HistoryView, "runs" | "uncertain"> {
  const newest = [...history].reverse();
  if (address === undefined) return { runs: newest, uncertain: 0 };
  const runs = newest.filter(({ changed }) => changed.includes(address));
  const others = newest.filter((run) => run.more !== undefined && !run.changed.includes(address));
  return { runs, uncertain: others.length };
}

export function historyText(
  { runs, uncertain, choice, hidden, diff }: HistoryView,
  isFiltered = false,
): string {
  const left = new Set(hidden);
  const lines = runs
    .filter((run) => !left.has(run))
    .flatMap((run) => [...pastRunLines(run), ...(diff ? detailLines(run) : [])]);
  if (runs.length === 0) lines.push(isFiltered ? "No recorded apply matches." : "No apply is recorded.");
  if (uncertain > 0)
    lines.push(
      `${count(uncertain, "more apply", "more applies")} changed too many resources to list; it may be among them.`,
    );
  const parts = hidden.length === 0 ? [] : [count(hidden.length, "run")];
  const sentence = hiddenSentence(choice, parts);
  if (sentence !== undefined) lines.push(sentence);
  return `${lines.join("\n")}\n`;
}

export function pastRunLines(run: PastRun): readonly string[] {
  const facts = [
    `by ${pastRunAuthor(run)}`,
    ...(run.commit === undefined ? [] : [`commit ${run.commit.slice(0, 12)}`]),
    `plan ${run.plan.slice(0, 12)}`,
    ...(run.run_url === undefined ? [] : [run.run_url]),
  ];
  return [
    printable(`${pastRunTime(run)}  ${run.command} ${run.outcome}: ${countsText(run)}`),
    printable(`  ${facts.join(", ")}`),
  ];
}

const SIGN_OF: Readonly<Record<string, string>> = SIGNS;

/** The recorded values of a run. */
function detailLines({ details, changed, more = 0 }: PastRun): readonly string[] {
  if (details === undefined)
    return changed.length === 0 ? [] : ["    The state does not record the fields of this run."];
  const lines = details.flatMap(({ address, action, fields }) => [
    "",
    printable(`    ${SIGN_OF[action] ?? "~"} ${action.padEnd(8)} ${address}`),
    ...fieldLines(fields, action),
  ]);
  const recorded = new Set(details.map(({ address }) => address));
  const rest = changed.filter((address) => !recorded.has(address)).length + more;
  if (rest > 0)
    lines.push("", `    ${count(rest, "more resource")} changed; the state does not record the fields.`);
  return [...lines, ""];
}

function fieldLines(fields: readonly PastField[], action: string): readonly string[] {
  const rows = fields.map(({ path, before, after }) => {
    const label = printable(toDottedPath(fromPointer(path)));
    if (action === "create") return [label, valueText(after)];
    if (action === "delete") return [label, valueText(before)];
    return [label, `${valueText(before)} → ${valueText(after)}`];
  });
  return textTable(rows, { indent: "        " });
}

export function pastRunTime({ ended_at, started_at }: PastRun): string {
  return isoTime(ended_at ?? started_at);
}

/** The person, and the user that the service knew the run by. */
export function pastRunAuthor({ actor, caller }: PastRun): string {
  return caller === undefined || caller === actor ? actor : `${actor} as ${caller}`;
}

/** Of an unfinished run only what its journal shows is known. */
function countsText({ applied, left, outcome, changed, more = 0 }: PastRun): string {
  if (outcome === "unfinished") return `${count(changed.length + more, "resource")} changed before it ended`;
  const parts = Object.entries(applied).map(([action, number]) => `${action} ${number}`);
  return [...parts, ...(left === 0 ? [] : [`${left} not applied`])].join(", ");
}

export function historyJson({ runs, uncertain, choice, hidden, diff }: HistoryView): Record<string, unknown> {
  const chosen = choiceJson(choice, { hidden_runs: hidden.length });
  return { chosen, runs: runs.map((run) => runDocument(run, diff)), uncertain };
}

export function runDocument(run: PastRun, diff: boolean): Record<string, unknown> {
  const { id: _, started_at, ended_at, more, details, ...rest } = run;
  return {
    ...rest,
    started_at: isoTime(started_at),
    ended_at: ended_at === undefined ? undefined : isoTime(ended_at),
    more_changed: more ?? 0,
    details: diff ? (withoutDigests((details ?? []) as unknown as Json) as unknown) : undefined,
  };
}

/** A state that was edited by hand may hold any number. */
function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

interface StateVersion {
  readonly serial: number;
  /** Undefined if it cannot be read. */
  readonly state?: RecordedState;
  readonly diagnostics: readonly Diagnostic[];
}

interface RecordedState {
  readonly lineage: string;
  readonly host: string;
  readonly records: ReadonlyMap<Address, unknown>;
  readonly history?: readonly PastRun[];
}

export function stateVersionsText(versions: readonly StateVersion[]): string {
  if (versions.length === 0) return "No earlier version is kept.\n";
  return versions
    .map(({ serial, state, diagnostics }) => {
      const text = state === undefined ? `cannot be read: ${reason(diagnostics)}` : stateLine(state);
      return `${String(serial).padStart(6)}  ${printable(text)}\n`;
    })
    .join("");
}

export function stateVersionsJson(versions: readonly StateVersion[]): readonly Record<string, unknown>[] {
  return versions.map(({ serial, state, diagnostics }) => {
    if (state === undefined) return { serial, problem: reason(diagnostics) };
    const run = state.history?.at(-1);
    const last = run && { last_apply: pastRunTime(run), by: pastRunAuthor(run) };
    return { serial, lineage: state.lineage, host: state.host, resources: state.records.size, ...last };
  });
}

const reason = (diagnostics: readonly Diagnostic[]): string => diagnostics[0]?.message ?? "it does not exist";

function stateLine({ records, history = [] }: RecordedState): string {
  const kinds = Map.groupBy(records.keys(), kindOf);
  const parts = [...kinds].map(([kind, addresses]) => `${kind} ${addresses.length}`).sort();
  const counted = [count(records.size, "resource"), ...(parts.length === 0 ? [] : [parts.join(", ")])];
  const run = history.at(-1);
  const last = run === undefined ? "" : `; last ${run.command} ${pastRunTime(run)} by ${pastRunAuthor(run)}`;
  return `${counted.join(": ")}${last}`;
}

const SHOWN = 20;

/** Lists the addresses that only the replaced state records, because the next plan may create them again. */
export function restoredText(restored: RecordedState, replaced: RecordedState | undefined): string {
  if (replaced === undefined)
    return "The previous state could not be read, so resources recorded only there are unknown.\n";
  const lost = [...replaced.records.keys()].filter((address) => !restored.records.has(address)).sort();
  if (lost.length === 0) return "";
  const more = lost.length > SHOWN ? `, and ${lost.length - SHOWN} more` : "";
  return `No longer recorded: ${lost.slice(0, SHOWN).map(printable).join(", ")}${more}\n`;
}
