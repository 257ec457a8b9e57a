// Places the nodes of a graph without cycles in columns: what a node needs is in a column to its left, and lines cross little.

export interface Arrow {
  /** Indexes of nodes. */
  readonly from: number;
  readonly to: number;
}

export interface Layout {
  readonly columns: number;
  /** Nodes by index. */
  readonly nodes: readonly Spot[];
  /** Each arrow as the spots that it passes, from its node to the one that it leads to. */
  readonly routes: readonly (readonly Spot[])[];
}

/** `row`: rows from the top of the highest column, in whole and half rows. */
export interface Spot {
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

/** The longest way to a node that needs nothing; undefined if there is a cycle. */
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

/**
 * Orders each column by the positions of the neighbors in the next columns, from left to right and back, and centers
 * it.
 */
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
  return rows.length === 0 ? row : rows.reduce((sum, one) => sum + one, 0) / rows.length;
}
