// The state of a fleet as an HTML page: each workspace collapsed, with its findings and its trend.

import { count, grouped } from "../../core/sentences.ts";
import {
  chunked,
  filterBar,
  findings,
  folded,
  type Html,
  html,
  keyHelp,
  NOTHING,
  page,
} from "../../report/html/page.ts";
import { timeText } from "../../report/text/vocabulary.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import {
  ageWords,
  changeWords,
  driftWords,
  type FleetRow,
  type FleetView,
  STATUS_WORDS,
  totalOf,
  verdict,
} from "./fleet-view.ts";

export function fleetHtml(view: FleetView): string {
  const title = verdict(view);
  const made = html`<p class="where">Fleet report of ${timeText(view.madeAt)}</p>`;
  return page(
    title,
    [made, tiles(view), days(view)],
    [
      filterBar(view.rows.map(facetsOf)),
      html`<section class="list"><h2>Workspaces: ${count(view.rows.length, "workspace")}</h2>${chunked(view.rows.map(rowHtml))}</section>
`,
      keyHelp,
    ],
  );
}

const TONES: Readonly<Record<FleetRow["status"], string>> = {
  ok: "create",
  changes: "update",
  blocked: "delete",
  failed: "delete",
  timeout: "delete",
  interrupted: "update",
  never: "report",
};

function facetsOf(row: FleetRow) {
  const severity = SEVERITIES.find((one) => (row.drift[one] ?? 0) > 0);
  return {
    kind: Object.entries(row.labels).map(([name, value]) => `${name}=${value}`)[0] ?? "no label",
    action: STATUS_WORDS[row.status].replaceAll(" ", "-"),
    severity,
  };
}

function tiles({ statuses, drift }: FleetView): Html {
  const shown = Object.entries(statuses) as [FleetRow["status"], number][];
  return html`<ul class="tiles">${shown.map(
    ([status, number]) =>
      html`<li class="${TONES[status]}"><b>${grouped(number)}</b><span>${STATUS_WORDS[status]}</span></li>`,
  )}<li><b>${grouped(totalOf(drift))}</b><span>drifted</span></li></ul>`;
}

function rowHtml(row: FleetRow): Html {
  return folded({
    tone: TONES[row.status],
    open: row.status === "failed" || row.status === "timeout" || row.status === "blocked",
    facets: facetsOf(row),
    head: [
      html`<span class="verb">${STATUS_WORDS[row.status]}</span><span class="address">${row.workspace}</span>`,
      html`<span class="remark">${ageWords(row.ageMs)}</span><span class="remark">drift: ${driftWords(row.drift)}</span>`,
      trend(row.trend),
    ],
    body: [details(row), findings("Findings", row.diagnostics)],
  });
}

function details(row: FleetRow): Html {
  const lines: readonly (readonly [string, string])[] = [
    [
      "labels",
      Object.entries(row.labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(", ") || "-",
    ],
    [
      "last run",
      row.last === undefined
        ? "-"
        : `${row.last.command}, ${timeText(row.last.startedAt)}, ${(row.last.durationMs / 1000).toFixed(1)} s`,
    ],
    ["changes", changeWords(row.changes)],
    ["drift", driftWords(row.drift)],
    ["drift since", row.driftAgeMs === undefined ? "-" : `at least ${ageWords(row.driftAgeMs)}`],
    ["failures in a row", String(row.failuresInARow)],
  ];
  return html`<table class="fields">${lines.map(([name, value]) => html`<tr><td class="label">${name}</td><td>${value}</td></tr>`)}</table>`;
}

const WIDTH = 90;
const HEIGHT = 16;

/** Drifted resources in the last runs, as a line; nothing for fewer than two runs. */
function trend(counts: readonly number[]): Html {
  const label = `Drift in the last ${counts.length} runs: ${counts.join(", ")}`;
  return line(counts, { width: WIDTH, height: HEIGHT, label });
}

function days(view: FleetView): Html {
  if (view.days.length < 2) return NOTHING;
  const label = `Drift by day: ${view.days.map(({ day, drifted }) => `${day}: ${drifted}`).join(", ")}`;
  const [first, last] = [view.days[0], view.days.at(-1)];
  const chart = line(
    view.days.map(({ drifted }) => drifted),
    { width: 280, height: 48, label },
  );
  return html`<p class="where">Drifted resources by day: ${first?.drifted ?? 0} on ${first?.day ?? ""}, ${last?.drifted ?? 0} on ${last?.day ?? ""}</p><p class="where">${chart}</p>`;
}

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly label: string;
}

function line(counts: readonly number[], { width, height, label }: Shape): Html {
  if (counts.length < 2) return NOTHING;
  const most = Math.max(1, ...counts);
  const points = counts.map(
    (value, at) =>
      `${((at / (counts.length - 1)) * width).toFixed(1)},${(height - 1 - (value / most) * (height - 2)).toFixed(1)}`,
  );
  return html`<svg width="${width}" height="${height}" role="img" aria-label="${label}"><polyline points="${points.join(" ")}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>`;
}
