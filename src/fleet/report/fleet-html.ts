// The state of a fleet as an HTML page: failed workspaces first, each collapsed with its cause, its findings, and its trend.

import { count, grouped } from "../../core/sentences.ts";
import {
  anchorOf,
  closed,
  filterBar,
  findings,
  folded,
  type Html,
  html,
  itemList,
  keyHelp,
  NOTHING,
  page,
} from "../../report/html/page.ts";
import { timeText } from "../../report/text/vocabulary.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { queueLines } from "./fleet-documents.ts";
import {
  ageWords,
  causeWords,
  changeWords,
  driftedWords,
  driftWords,
  FLEET_STATES,
  type FleetRow,
  type FleetState,
  type FleetView,
  foldCauses,
  rowWord,
  stateWord,
  totalOf,
  verdict,
} from "./fleet-view.ts";

/** `results`: from the page to the JSON of the same report, for a page that loads itself again. */
export function fleetHtml(view: FleetView, results?: string): string {
  const labels = labelAttributes(view);
  const titles = Object.fromEntries([...labels].map(([name, attribute]) => [attribute, name]));
  const runs = Math.max(0, ...view.rows.map(({ trend }) => trend.length));
  const rows = FLEET_STATES.flatMap((state) => section(view, state, labels, runs));
  return page(
    verdict(view),
    [
      html`<p class="where">Fleet report of ${timeText(view.madeAt)}</p>`,
      tiles(view),
      causes(view),
      queue(view),
      days(view),
    ],
    [
      filterBar(
        view.rows.map((row) => facetsOf(row, labels)),
        titles,
        { what: "workspaces", kinds: "commands", legend: "State" },
      ),
      ...rows,
      keyHelp,
    ],
    results === undefined ? undefined : { file: results, madeAt: new Date(view.madeAt).toISOString() },
  );
}

function section(view: FleetView, state: FleetState, labels: LabelAttributes, runs: number): readonly Html[] {
  const rows = view.rows.filter((row) => row.state === state);
  if (rows.length === 0) return [];
  const failing = (view.states.failed ?? 0) + (view.states.blocked ?? 0);
  return [
    itemList(
      `${sentenceCase(stateWord(state))}: ${count(rows.length, "workspace")}`,
      rows.map((row) => rowHtml(row, labels, { isShort: failing <= OPEN, runs })),
    ),
  ];
}

function sentenceCase(word: string): string {
  return word === "ok" ? "OK" : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

const TONES: Readonly<Record<FleetState, string>> = {
  failed: "delete",
  blocked: "delete",
  drift: "update",
  changes: "update",
  never: "report",
  ok: "create",
};

/** Names of labels contain characters that attributes cannot have. */
type LabelAttributes = ReadonlyMap<string, string>;

function labelAttributes({ rows }: FleetView): LabelAttributes {
  const names = new Set(rows.flatMap(({ labels }) => Object.keys(labels)));
  return new Map([...names].sort().map((name, at) => [name, `label${at}`]));
}

function facetsOf(row: FleetRow, labels: LabelAttributes) {
  return {
    kind: row.cause?.command ?? row.last?.command ?? "no run",
    action: stateWord(row.state).replaceAll(" ", "-"),
    severity: SEVERITIES.find((severity) => (row.drift[severity] ?? 0) > 0),
    more: Object.fromEntries(
      Object.entries(row.labels).map(([name, value]) => [labels.get(name) ?? "label", value]),
    ),
  };
}

/** The words of the filter, and workspaces as the unit. */
function tiles({ states, drift }: FleetView): Html {
  const shown = FLEET_STATES.filter((state) => states[state] !== undefined);
  return html`<ul class="tiles">${shown.map(
    (state) =>
      html`<li class="${TONES[state]}"><b>${grouped(states[state] ?? 0)}</b><span>${stateWord(state)}</span></li>`,
  )}<li><b>${grouped(totalOf(drift))}</b><span>drifted resources</span></li></ul>`;
}

/** So many causes are above the list, and so many workspaces with a cause are named. */
const MOST_CAUSES = 5;
const MOST_NAMED = 5;

/** Causes of several workspaces each. A cause of a single workspace is in its row. */
function causes({ rows }: FleetView): Html {
  const shared = foldCauses(rows).filter((group) => group.rows.length > 1);
  if (shared.length === 0) return NOTHING;
  const lines = shared.slice(0, MOST_CAUSES).map(({ cause, rows: own }) => {
    const links = own
      .slice(0, MOST_NAMED)
      .map(
        ({ workspace }, at) =>
          html`${at === 0 ? "" : ", "}<a href="#${anchorOf(workspace)}">${workspace}</a>`,
      );
    const rest = own.length > MOST_NAMED ? `, and ${grouped(own.length - MOST_NAMED)} more` : "";
    return html`<div class="delete"><dt>${count(own.length, "workspace")}</dt><dd>${causeWords(cause)} (${links}${rest})</dd></div>`;
  });
  const rest = shared.length - lines.length;
  const more =
    rest === 0
      ? NOTHING
      : html`<p class="where">… and ${count(rest, "more cause")} of several workspaces</p>`;
  return html`<dl class="glance">${lines}</dl>${more}`;
}

function queue(view: FleetView): Html {
  const lines = queueLines(view);
  if (lines.length === 0) return NOTHING;
  const paragraphs = (all: readonly string[]) => all.map((line) => html`<p class="where">${line}</p>`);
  const workers = lines.filter((line) => line.startsWith("Worker: "));
  const rest = lines.filter((line) => !workers.includes(line));
  // One line for each worker would move the failed workspaces off the first screen.
  const each = workers.length === 0 ? NOTHING : closed("Each worker", paragraphs(workers));
  return html`<div class="queue">${paragraphs(rest)}${each}</div>`;
}

/** So many failed workspaces are read as a whole; of more, the list of causes comes first. */
const OPEN = 5;

interface RowLayout {
  readonly isShort: boolean;
  /** In the longest trend of the fleet. */
  readonly runs: number;
}

function rowHtml(row: FleetRow, labels: LabelAttributes, { isShort, runs }: RowLayout): Html {
  return folded({
    tone: TONES[row.state],
    open: isShort && (row.state === "failed" || row.state === "blocked"),
    facets: facetsOf(row, labels),
    id: row.workspace,
    head: [
      html`<span class="verb">${rowWord(row)}</span><span class="address">${row.workspace}</span>`,
      html`<span class="remark">${row.ageMs === undefined ? "-" : `${ageWords(row.ageMs)} ago`}</span>`,
      about(row),
      trend(row.trend, runs),
    ],
    body: [details(row), findings(row.diagnostics)],
  });
}

/** Why the row has its state. */
function about({ cause, drift, changes }: FleetRow): Html {
  if (cause !== undefined) return html`<span class="remark cause">${causeWords(cause)}</span>`;
  const remarks = [
    ...(totalOf(drift) > 0 ? [`drift: ${driftWords(drift)}`] : []),
    ...(Object.keys(changes).length > 0 ? [`changes: ${changeWords(changes)}`] : []),
  ];
  return html`${remarks.map((remark) => html`<span class="remark">${remark}</span>`)}`;
}

function details(row: FleetRow): Html {
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${value}`);
  const { last, cause } = row;
  const facts: readonly (readonly [string, string])[] = [
    ["labels", labels.join(", ") || "-"],
    [
      "last run",
      last === undefined
        ? "-"
        : `${last.command}, ${timeText(last.startedAt)}, ${(last.durationMs / 1000).toFixed(1)} s`,
    ],
    ...(cause === undefined ? [] : [["cause", causeWords(cause)] as const]),
    ["changes", changeWords(row.changes)],
    ["drift", driftWords(row.drift)],
    ...(row.drifted.length === 0 ? [] : [["drifted", driftedWords(row)] as const]),
    ["drift since", row.driftAgeMs === undefined ? "-" : `at least ${ageWords(row.driftAgeMs)}`],
    ["failures in a row", String(row.failuresInARow)],
    ...(last?.worker === undefined
      ? []
      : [["worker", `${last.worker}, workspace ${last.version ?? "?"}`] as const]),
  ];
  const stated = facts.filter(([, value]) => value !== "-");
  return html`<table class="fields">${stated.map(([name, value]) => html`<tr><td class="label">${name}</td><td>${value}</td></tr>`)}</table>`;
}

const WIDTH = 90;
const HEIGHT = 16;

/**
 * Drifted resources in the last runs, as a line; nothing for fewer than two runs, or if none had drift. The longest trend of the fleet
 * has the whole width, so the lines of all rows have one scale, and the newest run is at the right.
 */
function trend(counts: readonly number[], runs: number): Html {
  if (counts.every((drifted) => drifted === 0)) return NOTHING;
  const label = `Drift in the last ${counts.length} runs: ${counts.join(", ")}`;
  const chart = line(counts, { width: WIDTH, height: HEIGHT, label, points: runs });
  return html`${chart}<span class="remark">drift in ${count(counts.length, "run")}</span>`;
}

function days(view: FleetView): Html {
  if (view.days.length < 2) return NOTHING;
  const label = `Drift by day: ${view.days.map(({ day, drifted }) => `${day}: ${drifted}`).join(", ")}`;
  const counts = view.days.map(({ drifted }) => drifted);
  const chart = line(counts, { width: 280, height: 48, label, points: view.days.length });
  const [first, last] = [view.days[0]?.day ?? "", view.days.at(-1)?.day ?? ""];
  return html`<p class="where">Drifted resources by day (${counts.at(-1) ?? 0} on ${last})</p>
<div class="chart"><span>${grouped(scaleOf(counts))}</span>${chart}<span>0</span><p><span>${first}</span><span>${last}</span></p></div>
`;
}

/** The number at the top of a line. */
const scaleOf = (counts: readonly number[]): number => Math.max(1, ...counts);

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly label: string;
  readonly points: number;
}

function line(counts: readonly number[], { width, height, label, points }: Shape): Html {
  if (counts.length < 2) return NOTHING;
  const most = scaleOf(counts);
  const left = Math.max(0, points - counts.length);
  const path = counts.map((value, at) => {
    const x = ((at + left) / (Math.max(points, counts.length) - 1)) * width;
    return `${x.toFixed(1)},${(height - 1 - (value / most) * (height - 2)).toFixed(1)}`;
  });
  return html`<svg width="${width}" height="${height}" role="img" aria-label="${label}"><polyline points="${path.join(" ")}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>`;
}
