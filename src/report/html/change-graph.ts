// What the changes of a plan need of one another: a drawing of a small graph, and a list of any.

import { count, grouped } from "../../core/sentences.ts";
import type { ChangeView } from "../plan/change-view.ts";
import { printable } from "../text/printable.ts";
import { type Arrow, type Layout, layeredLayout, type Spot } from "./layered-layout.ts";
import { type Html, html, NOTHING } from "./page.ts";
import { folded } from "./parts.ts";

/** More are a knot on a screen: they are listed. */
const MOST_NODES = 80;
const MOST_PLACES = 400;
/** The list is truncated here; each change below lists all its dependencies. */
const MOST_LISTED = 500;

export interface LinkedChange {
  readonly view: ChangeView;
  /** Of its element in the page. */
  readonly id: string;
}

/** Empty where no change depends on another. */
export function changeGraph(changes: readonly LinkedChange[]): Html {
  const byAddress = new Map<string, LinkedChange>();
  for (const one of changes) if (!byAddress.has(one.view.address)) byAddress.set(one.view.address, one);
  const edges = [...byAddress.values()].flatMap((one) =>
    neededBy(one.view).flatMap((address) => {
      const need = byAddress.get(address);
      return need === undefined || need === one ? [] : [[one, need] as const];
    }),
  );
  if (edges.length === 0) return NOTHING;
  const nodes = [...new Set(edges.flat())];
  const told = `${count(nodes.length, "change")}, ${grouped(edges.length)} ${edges.length === 1 ? "dependency" : "dependencies"}`;
  const drawn = drawing(nodes, edges, told);
  return html`<section><h2>Dependencies: ${told}</h2>
${drawn}${folded({ tone: "graph-list", open: false, head: [html`<span class="remark">${drawn === NOTHING ? "Too many to draw; list of dependencies" : "The same as a list"}</span>`], body: list(edges) })}</section>
`;
}

export function neededBy(view: ChangeView): readonly string[] {
  return [...new Set(view.source.dependsOn)];
}

type Edge = readonly [from: LinkedChange, to: LinkedChange];

function list(edges: readonly Edge[]): readonly Html[] {
  const shown = edges
    .slice(0, MOST_LISTED)
    .map(([from, to]) => html`<li>${link(from)} depends on ${link(to)}</li>`);
  const rest = edges.length - shown.length;
  return [
    html`<ul>${shown}</ul>`,
    rest === 0
      ? NOTHING
      : html`<p class="remark">… and ${grouped(rest)} more; each change lists its own dependencies.</p>`,
  ];
}

function link({ view, id }: LinkedChange): Html {
  return html`<a href="#${id}"><code>${view.address}</code></a>`;
}

function drawing(nodes: readonly LinkedChange[], edges: readonly Edge[], told: string): Html {
  if (nodes.length > MOST_NODES) return NOTHING;
  const places = new Map(nodes.map((node, at) => [node, at]));
  const arrows = edges.map(([from, to]): Arrow => ({ from: places.get(from) ?? 0, to: places.get(to) ?? 0 }));
  const layout = layeredLayout(nodes.length, arrows, MOST_PLACES);
  return layout === undefined ? NOTHING : svg(nodes, layout, told);
}

const [ROW, HEIGHT, GAP, EDGE, LETTER] = [36, 26, 64, 4, 7.3];
const MOST_LETTERS = 36;

function svg(nodes: readonly LinkedChange[], layout: Layout, told: string): Html {
  const labels = nodes.map(({ view }) => shortened(printable(view.address)));
  const widths = Array.from({ length: layout.columns }, (_, column) =>
    Math.max(
      0,
      ...labels.map((label, at) =>
        layout.nodes[at]?.column === column ? Math.ceil([...label].length * LETTER) + 18 : 0,
      ),
    ),
  );
  const lefts = widths.map((_, column) =>
    widths.slice(0, column).reduce((sum, one) => sum + one + GAP, EDGE),
  );
  const left = ({ column }: Spot) => lefts[column] ?? 0;
  const right = (spot: Spot) => left(spot) + (widths[spot.column] ?? 0);
  const middle = ({ row }: Spot) => EDGE + row * ROW + HEIGHT / 2;
  const width = (lefts.at(-1) ?? 0) + (widths.at(-1) ?? 0) + EDGE;
  const height =
    Math.max(...[...layout.nodes, ...layout.routes.flat()].map(({ row }) => row)) * ROW + HEIGHT + 2 * EDGE;
  const curve = (route: readonly Spot[]) =>
    route
      .slice(1)
      .map((to, at) => {
        const from = route[at] ?? to;
        const [x1, x2] = [left(from), right(to) + (at === route.length - 2 ? 5 : 0)];
        const through = at === route.length - 2 ? "" : ` H${left(to)}`;
        const bend = (x1 + x2) / 2;
        return `C${bend} ${middle(from)} ${bend} ${middle(to)} ${x2} ${middle(to)}${through}`;
      })
      .join(" ");
  const paths = layout.routes.map(
    (route) =>
      html`<path d="${`M${left(route[0] as Spot)} ${middle(route[0] as Spot)} ${curve(route)}`}" marker-end="url(#arrow)"/>`,
  );
  const boxes = nodes.map(({ view, id }, at) => {
    const spot = layout.nodes[at] as Spot;
    const label = labels[at] ?? "";
    // The visible label is part of the accessible name, so that voice control finds it.
    const spoken = `${label.includes("…") ? `${label}, ` : ""}${view.verb} ${view.address}`;
    return html`<a href="#${id}" class="${view.action}" aria-label="${spoken}"><title>${`${view.verb} ${view.address}`}</title><rect x="${left(spot)}" y="${middle(spot) - HEIGHT / 2}" width="${widths[spot.column] ?? 0}" height="${HEIGHT}" rx="5"/><text x="${left(spot) + 9}" y="${middle(spot) + 4}">${label}</text></a>`;
  });
  return html`<div class="graph"><svg role="group" aria-label="${`Dependencies: ${told}. An arrow points from a change to its dependency.`}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>${paths}${boxes}</svg></div>
`;
}

/** Keeps the end, where names differ most. */
function shortened(label: string): string {
  const letters = [...label];
  if (letters.length <= MOST_LETTERS) return label;
  return `${letters.slice(0, 12).join("")}…${letters.slice(13 - MOST_LETTERS).join("")}`;
}
