// The recorded applies of a state, newest first, as a view, as text, and as JSON; and its earlier versions.

import { type Address, kindOf } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { PastChange, PastRun } from "../../core/past-run.ts";
import { fromPointer } from "../../core/pointer.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import { count, firstFew } from "../../core/sentences.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { fieldBlock } from "../format/change-text.ts";
import { printable } from "../text/printable.ts";
import type { Colors } from "../text/terminal.ts";
import { SIGNS } from "../text/vocabulary.ts";
import type { AnswerItem, AnswerSection, AnswerView, FieldsItem, LineItem } from "../view/answer-view.ts";
import { REPLACED_OBJECT } from "../view/change-view.ts";
import {
  type Choice,
  choiceJson,
  type Entry,
  hiddenSentence,
  isRunChosen,
  SHOW_ALL,
} from "../view/choice.ts";
import { diffLines } from "../view/field-lines.ts";

interface ListedRuns {
  readonly runs: readonly PastRun[];
  /** Runs that changed more addresses than the state keeps, so that they may have changed the address asked for. */
  readonly uncertain: number;
  readonly choice: Choice;
  /** Whether each run is shown field by field. */
  readonly diff: boolean;
  /** The runs that `--show` and `--hide` leave out for readers. */
  readonly hidden: readonly PastRun[];
}

export interface HistoryView extends AnswerView {
  readonly source: ListedRuns;
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
  registry: KindRegistry,
  { address, ...filter }: RunFilter = {},
  choice: Choice = SHOW_ALL,
  diff = false,
): HistoryView {
  const { runs, uncertain } = runsOf(chosenRuns(history, filter), address);
  const hidden = runs.filter((run) => !isRunChosen(choice, entriesOf(run)));
  const left = new Set(hidden);
  const shown = runs.filter((run) => !left.has(run));
  const isFiltered = [address, ...Object.values(filter)].some((value) => value !== undefined);
  const none = isFiltered ? "No recorded apply matches" : "No apply is recorded";
  const more =
    uncertain === 0
      ? undefined
      : `${count(uncertain, "more apply", "more applies")} changed too many resources to list; it may be among them.`;
  const notes = [more, hiddenSentence(choice, hidden.length === 0 ? [] : [count(hidden.length, "run")])];
  return {
    title: runs.length === 0 ? none : count(shown.length, "recorded apply", "recorded applies"),
    facts: notes.flatMap((note) => (note === undefined ? [] : [{ label: "note", values: [note] }])),
    sections: diff ? shown.map((run) => diffSection(run, address, registry)) : runList(shown),
    source: { runs, uncertain, choice, diff, hidden },
  };
}

function runList(runs: readonly PastRun[]): readonly AnswerSection[] {
  return runs.length === 0 ? [] : [{ title: "Runs", what: "run", items: runs.map(runItem) }];
}

export function runItem(run: PastRun): LineItem {
  const facts = [
    `by ${pastRunAuthor(run)}`,
    ...(run.commit === undefined ? [] : [`commit ${run.commit.slice(0, 12)}`]),
    `plan ${run.plan.slice(0, 12)}`,
    ...(run.run_url === undefined ? [] : [run.run_url]),
  ];
  return {
    line: printable(`${pastRunTime(run)}  ${run.command} ${run.outcome}: ${countsText(run)}`),
    details: [printable(facts.join(", "))],
  };
}

/** A run with its recorded values; `address`: of one resource. */
function diffSection(run: PastRun, address: Address | undefined, registry: KindRegistry): AnswerSection {
  const { line, details } = runItem(run);
  const isAsked = (changed: Address): boolean => address === undefined || changed === address;
  const changed = run.changed.filter(isAsked);
  const recorded = (run.details ?? []).filter((detail) => isAsked(detail.address));
  const described = new Set(recorded.map((detail) => detail.address)).size;
  const missing = changed.length - described + (address === undefined ? (run.more ?? 0) : 0);
  const notes =
    missing === 0
      ? []
      : recorded.length === 0
        ? ["The state does not record the fields of this run."]
        : [`${count(missing, "more resource")} changed; the state does not record the fields.`];
  return {
    title: line,
    what: "change",
    items: [
      ...details.map((detail) => ({ line: detail, details: [] })),
      ...recorded.map((detail) => changeItem(detail, registry)),
      ...notes.map((note) => ({ line: note, details: [] })),
    ],
  };
}

function changeItem({ address, action, deposed, fields }: PastChange, registry: KindRegistry): FieldsItem {
  const table = registry.find(kindOf(address))?.fields ?? {};
  const isOneSided = action === "create" || action === "delete";
  const lines = fields.flatMap(({ path, before, after }) => {
    const diff = { path: fromPointer(path), before, after, cause: "spec", replaces: false } as const;
    if (!isOneSided) return diffLines(table, diff, "spec", "other");
    const set = { ...diff, before: undefined, after: after ?? before };
    return diffLines(table, set, "spec", "other").map((line) => ({ ...line, was: undefined }));
  });
  const details = deposed === true ? [REPLACED_OBJECT] : [];
  return { change: { action, address: printable(address) }, fields: lines, details };
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
): Pick<ListedRuns, "runs" | "uncertain"> {
  const newest = [...history].reverse();
  if (address === undefined) return { runs: newest, uncertain: 0 };
  const runs = newest.filter(({ changed }) => changed.includes(address));
  const others = newest.filter((run) => run.more !== undefined && !run.changed.includes(address));
  return { runs, uncertain: others.length };
}

export function historyText({ title, facts, sections, source }: HistoryView, colors: Colors): string {
  const { runs, diff } = source;
  const lines = [
    ...(runs.length === 0 ? [`${title}.`] : []),
    ...sections.flatMap((section) => (diff ? diffText(section, colors) : section.items.flatMap(lineText))),
    ...facts.flatMap(({ values }) => values),
  ];
  return `${lines.join("\n")}\n`;
}

function lineText(item: AnswerItem): readonly string[] {
  return "line" in item ? [item.line, ...item.details.map((detail) => `  ${detail}`)] : [];
}

const SIGN_OF: Readonly<Record<string, string>> = SIGNS;

/** The line of the author is next to that of the run; an empty line is before each change and after the run. */
function diffText({ title, items }: AnswerSection, colors: Colors): readonly string[] {
  const [author, ...changes] = items.map((item) => {
    if (!("fields" in item)) return lineText(item);
    const { action, address } = item.change ?? { action: "", address: "" };
    return [
      `${SIGN_OF[action] ?? "~"} ${action.padEnd(8)} ${address}`,
      ...item.details.map((detail) => `  (${detail})`),
      ...fieldBlock(item.fields, colors).map((line) => line.slice(2)),
    ];
  });
  return [
    title,
    ...(author ?? []).map((line) => `  ${line}`),
    ...changes.flatMap((lines) => ["", ...lines.map((line) => `    ${line}`)]),
    "",
  ];
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

export function historyJson({ source }: HistoryView): Record<string, unknown> {
  const { runs, uncertain, choice, hidden, diff } = source;
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
    details: diff ? (details ?? []).map(detailDocument) : undefined,
  };
}

function detailDocument({ address, action, deposed, fields }: PastChange): Record<string, unknown> {
  return {
    address,
    action,
    deposed,
    fields: fields.map(({ path, before = null, after = null }) => ({
      path: fromPointer(path),
      before: withoutDigests(before),
      after: withoutDigests(after),
    })),
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
  return `No longer recorded: ${firstFew(lost, SHOWN, printable)}\n`;
}
