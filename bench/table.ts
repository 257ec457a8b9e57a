// Tables for the terminal: a title, a head, rows; numbers to the right.

export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly against?: string;
  readonly ratio?: number;
  readonly aim?: number;
}

const HEAD = ["", "measured", "against", "ratio", "aim"] as const;

export function table(title: string, rows: readonly Row[]): string {
  const cells = [
    HEAD,
    ...rows.map((row) => [
      row.what,
      row.measured,
      row.against ?? "",
      row.ratio === undefined ? "" : row.ratio.toFixed(2),
      row.aim === undefined ? "" : `${verdict(row)} ${row.aim.toFixed(2)}`,
    ]),
  ];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  const [head = "", ...rest] = lines;
  return [title, head, "-".repeat(Math.max(...lines.map((line) => line.length))), ...rest, ""].join("\n");
}

function verdict({ ratio, aim }: Row): string {
  return ratio !== undefined && aim !== undefined && ratio > aim + 0.005 ? "over" : "within";
}

export const ms = (value: number): string =>
  value >= 10_000 ? `${(value / 1_000).toFixed(1)} s` : `${value.toFixed(0)} ms`;
export const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
