// The dependencies of a plan's changes: a drawing in columns, of a large graph by kind and module, and a list.

import { count, grouped } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import type { ChangeView } from "../view/change-view.ts";
import { groupedGraph } from "../view/graph-groups.ts";
import { anchorOf, closed, type Html, html, NOTHING } from "./page.ts";

/** More are a knot on a screen: they are drawn as groups. */
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
  for (const linkedChange of changes)
    if (!byAddress.has(linkedChange.view.address)) byAddress.set(linkedChange.view.address, linkedChange);
  const edges = [...byAddress.values()].flatMap((linkedChange) =>
    neededBy(linkedChange.view).flatMap((address) => {
      const need = byAddress.get(address);
      return need === undefined || need === linkedChange ? [] : [[linkedChange, need] as const];
    }),
  );
  if (edges.length === 0) return NOTHING;
  const nodes = [...new Set(edges.flat())];
  const title = `${count(nodes.length, "change")}, ${grouped(edges.length)} ${edges.length === 1 ? "dependency" : "dependencies"}`;
  const drawn = drawing(nodes, edges, title);
  const shown = drawn === NOTHING ? groupDrawing(nodes, edges) : drawn;
  return html`<section><h2>Dependencies: ${title}</h2>
${shown}${closed(drawn === NOTHING ? "List of dependencies" : "The same as a list", list(edges))}</section>
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
  return html`<a href="#${anchorOf(id)}"><code>${view.address}</code></a>`;
}

function drawing(nodes: readonly LinkedChange[], edges: readonly Edge[], text: string): Html {
  if (nodes.length > MOST_NODES) return NOTHING;
  const places = new Map(nodes.map((node, at) => [node, at]));
  const arrows = edges.map(([from, to]): Arrow => ({ from: places.get(from) ?? 0, to: places.get(to) ?? 0 }));
  const layout = layeredLayout(nodes.length, arrows, MOST_PLACES);
  if (layout === undefined) return NOTHING;
  const boxes = nodes.map(({ view, id }): Box => {
    const label = shortened(printable(view.address));
    // The visible label is part of the accessible name, so that voice control finds it.
    const spoken = `${label.includes("…") ? `${label}, ` : ""}${view.verb} ${view.address}`;
    return {
      ...{ label, spoken },
      tone: view.action,
      title: `${view.verb} ${view.address}`,
      href: anchorOf(id),
    };
  });
  return svg(boxes, layout, {
    text: `Dependencies: ${text}. An arrow points from a change to its dependency.`,
  });
}

/** A box for the changes of each kind and module, which leads to the filtered list, with the dependencies at each arrow. */
function groupDrawing(nodes: readonly LinkedChange[], edges: readonly Edge[]): Html {
  const modules = new Map(nodes.map(({ view }) => [view.source.address, view.module]));
  const addressOf = ({ view }: LinkedChange) => view.source.address;
  const { groups, edges: arrows } = groupedGraph(
    nodes.map(addressOf),
    edges.map(([from, to]) => [addressOf(from), addressOf(to)] as const),
    (address) => modules.get(address),
    MOST_NODES,
  );
  const layout = layeredLayout(groups.length, arrows, MOST_PLACES);
  if (layout === undefined) return NOTHING;
  const boxes = groups.map(({ label, kind, module }): Box => {
    const filters = new URLSearchParams(module === undefined ? { kind } : { kind, search: `${module}/` });
    const text = printable(label);
    return { label: shortened(text), spoken: text, tone: "", title: text, href: `?${filters}` };
  });
  return svg(boxes, layout, {
    text: "Dependencies by kind and module. An arrow points from changes to their dependencies.",
    counts: arrows.map((arrow) => arrow.count),
  });
}

const [ROW, HEIGHT, GAP, EDGE, LETTER] = [36, 26, 64, 4, 7.3];
const MOST_LETTERS = 36;

interface Box {
  readonly label: string;
  readonly spoken: string;
  readonly tone: string;
  readonly title: string;
  /** After the `#`. */
  readonly href: string;
}

interface DrawingText {
  readonly text: string;
  /** A number at the start of each arrow. */
  readonly counts?: readonly number[];
}

function svg(nodes: readonly Box[], layout: Layout, { text, counts = [] }: DrawingText): Html {
  const labels = nodes.map(({ label }) => label);
  const widths = Array.from({ length: layout.columns }, (_, column) =>
    Math.max(
      0,
      ...labels.map((label, at) =>
        layout.nodes[at]?.column === column ? Math.ceil([...label].length * LETTER) + 18 : 0,
      ),
    ),
  );
  const lefts = widths.map((_, column) =>
    widths.slice(0, column).reduce((sum, columnWidth) => sum + columnWidth + GAP, EDGE),
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
  const numbers = counts.map((number, at) => {
    const start = layout.routes[at]?.[0] as Spot;
    const end = layout.routes[at]?.[1] as Spot;
    const y = (3 * middle(start) + middle(end)) / 4;
    return html`<text class="count" x="${left(start) - GAP / 3}" y="${y - 3}">${grouped(number)}</text>`;
  });
  const boxes = nodes.map(({ spoken, tone, title, href }, at) => {
    const spot = layout.nodes[at] as Spot;
    return html`<a href="#${href}" class="${tone}" aria-label="${spoken}"><title>${title}</title><rect x="${left(spot)}" y="${middle(spot) - HEIGHT / 2}" width="${widths[spot.column] ?? 0}" height="${HEIGHT}" rx="5"/><text x="${left(spot) + 9}" y="${middle(spot) + 4}">${labels[at] ?? ""}</text></a>`;
  });
  return html`<div class="graph"><svg role="group" aria-label="${text}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>${paths}${numbers}${boxes}</svg></div>
`;
}

/** Keeps the end, where names differ most. */
function shortened(label: string): string {
  const letters = [...label];
  if (letters.length <= MOST_LETTERS) return label;
  return `${letters.slice(0, 12).join("")}…${letters.slice(13 - MOST_LETTERS).join("")}`;
}

interface Arrow {
  readonly from: number;
  readonly to: number;
}

interface Layout {
  readonly columns: number;
  readonly nodes: readonly Spot[];
  /** Each arrow as the spots that it passes, from its node to the one that it leads to. */
  readonly routes: readonly (readonly Spot[])[];
}

/** `row`: rows from the top of the highest column, in whole and half rows. */
interface Spot {
  readonly column: number;
  readonly row: number;
}

/** A node, or a point where an arrow passes a column. */
interface Cell {
  readonly column: number;
  readonly near: Cell[];
  row: number;
}

const SWEEPS = 6;

/** Undefined for a graph with a cycle, or for one whose drawing needs more than `most` places. */
export function layeredLayout(size: number, arrows: readonly Arrow[], most: number): Layout | undefined {
  const columns = columnsOf(size, arrows);
  if (columns === undefined) return undefined;
  const passed = (arrow: Arrow) => (columns[arrow.from] ?? 0) - (columns[arrow.to] ?? 0) - 1;
  if (arrows.reduce((sum, arrow) => sum + passed(arrow), size) > most) return undefined;
  const nodes: readonly Cell[] = columns.map((column) => ({ column, near: [], row: 0 }));
  const routes = arrows.map((arrow) => routeOf(arrow, nodes));
  const layers: Cell[][] = Array.from({ length: Math.max(0, ...columns) + 1 }, () => []);
  for (const cell of new Set([...nodes, ...routes.flat()])) layers[cell.column]?.push(cell);
  settle(layers);
  return { columns: layers.length, nodes, routes };
}

/** The longest path to a node without dependencies; undefined if there is a cycle. */
function columnsOf(size: number, arrows: readonly Arrow[]): number[] | undefined {
  const columns = new Array<number>(size).fill(0);
  for (let round = 0; round <= size; round++) {
    let moved = false;
    for (const { from, to } of arrows) {
      const least = (columns[to] ?? 0) + 1;
      if ((columns[from] ?? 0) >= least) continue;
      columns[from] = least;
      moved = true;
    }
    if (!moved) return columns;
  }
  return undefined;
}

function routeOf({ from, to }: Arrow, nodes: readonly Cell[]): readonly Cell[] {
  const [start, end] = [nodes[from], nodes[to]];
  if (start === undefined || end === undefined) return [];
  const route = [start];
  for (let column = start.column - 1; column > end.column; column--) route.push({ column, near: [], row: 0 });
  route.push(end);
  route.slice(1).forEach((cell, at) => {
    route[at]?.near.push(cell);
    cell.near.push(route[at] as Cell);
  });
  return route;
}

/** Orders each column by the positions of the neighbors in the next columns, back and forth, and centers it. */
function settle(layers: readonly Cell[][]): void {
  const place = (layer: readonly Cell[]) => {
    layer.forEach((cell, at) => {
      cell.row = at - (layer.length - 1) / 2;
    });
  };
  layers.forEach(place);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const side = sweep % 2 === 0 ? -1 : 1;
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const wish = new Map(layer.map((cell) => [cell, wished(cell, side)]));
      layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
      place(layer);
    }
  }
  const highest = Math.max(...layers.map((layer) => layer.length));
  for (const cell of layers.flat()) cell.row += (highest - 1) / 2;
}

function wished({ column, near, row }: Cell, side: number): number {
  const rows = near.filter((cell) => cell.column === column + side).map((cell) => cell.row);
  return rows.length === 0 ? row : rows.reduce((sum, neighborRow) => sum + neighborRow, 0) / rows.length;
}
