// Draws figures against the number of resources as an SVG file, on two logarithmic scales.

export interface Series {
  readonly name: string;
  readonly color: string;
  readonly dashed?: boolean;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [760, 360, 72, 48, 40, 200];
/** The least distance between the names of two lines. */
const APART = 16;

export function picture(title: string, unit: string, series: readonly Series[]): string {
  const all = series.flatMap(({ points }) => points);
  const across = scale(
    all.map(({ x }) => x),
    LEFT,
    WIDTH - RIGHT,
    (exponent) => exponent,
  );
  const up = scale(
    all.map(({ y }) => y),
    HEIGHT - BOTTOM,
    TOP,
    Math.ceil,
  );
  const ends = apart(series.map(({ points }) => up.at(points.at(-1)?.y ?? 1)));
  const lines = series.flatMap(({ name, color, points, dashed = false }, at) => [
    `<polyline fill="none" stroke="${color}" stroke-width="2"${dashed ? ' stroke-dasharray="6 4"' : ""} points="${points.map(({ x, y }) => `${across.at(x)},${up.at(y)}`).join(" ")}"/>`,
    ...points.map(({ x, y }) => `<circle cx="${across.at(x)}" cy="${up.at(y)}" r="3" fill="${color}"/>`),
    `<text x="${WIDTH - RIGHT + 10}" y="${(ends[at] ?? 0) + 4}" fill="${color}">${name}</text>`,
  ]);
  const grid = [
    ...across.marks.map(
      (mark) =>
        `<line x1="${across.at(mark)}" x2="${across.at(mark)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#ddd"/><text x="${across.at(mark)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${mark.toLocaleString("en")}</text>`,
    ),
    ...up.marks.map(
      (mark) =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up.at(mark)}" y2="${up.at(mark)}" stroke="#ddd"/><text x="${LEFT - 8}" y="${up.at(mark) + 4}" text-anchor="end">${mark.toLocaleString("en")} ${unit}</text>`,
    ),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/><text x="${LEFT}" y="24" font-size="14">${title}</text>`,
    ...grid,
    ...lines,
    `<text x="${(WIDTH - RIGHT + LEFT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">resources</text>`,
    "</svg>",
    "",
  ].join("\n");
}

/** The heights, moved down or up until no two are closer than names can be. */
function apart(heights: readonly number[]): readonly number[] {
  const order = heights.map((height, at) => ({ height, at })).sort((a, b) => a.height - b.height);
  const placed: number[] = [];
  let lowest = Number.NEGATIVE_INFINITY;
  for (const { height, at } of order) {
    lowest = Math.max(height, lowest + APART);
    placed[at] = lowest;
  }
  return placed;
}

/** From the power of ten below the smallest value to the largest, or to the power of ten above it. */
function scale(
  values: readonly number[],
  from: number,
  to: number,
  end: (exponent: number) => number,
): { readonly marks: readonly number[]; at(value: number): number } {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, end(Math.log10(Math.max(...values))));
  return {
    marks: Array.from({ length: Math.floor(high) - low + 1 }, (_, n) => 10 ** (low + n)),
    at: (value) => Math.round(from + ((Math.log10(value) - low) / (high - low)) * (to - from)),
  };
}
