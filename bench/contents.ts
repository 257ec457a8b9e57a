// The measured folders, notebooks and files: where they go, and what is in them.

import type { Sizes } from "./sizes.ts";

/** The most that one request of the file system API carries (contract A 8). */
export const MIB = 2 ** 20;

export interface Content {
  /** Absolute path in the workspace. */
  readonly path: string;
  /** Path in the spec's folder. */
  readonly source: string;
  bytes(): Uint8Array;
}

export interface File extends Content {
  readonly size: number;
}

export interface Contents {
  readonly directories: readonly string[];
  readonly notebooks: readonly Content[];
  readonly files: readonly File[];
}

const ROOT = "/Shared/bench";

export function contentsOf({ directories, notebooks, files }: Sizes): Contents {
  const folders = range(directories).map((n) => (n === 0 ? ROOT : `${ROOT}/folder-${n}`));
  return {
    directories: folders,
    notebooks: range(notebooks).map((n) => ({
      path: `${folders[n % directories]}/notebook-${n}`,
      source: `notebooks/notebook-${n}.py`,
      bytes: () => notebook(n),
    })),
    files: range(files).map((n) => {
      // Every fifth goes up in blocks.
      const size = n % 5 === 0 ? 2.5 * MIB : 20_000;
      return { path: `/bench/file-${n}`, source: `files/file-${n}.bin`, size, bytes: () => pattern(n, size) };
    }),
  };
}

/** One list for each folder that holds something managed, one export for each notebook, one read for each MiB of file. */
export function leastContentReads(sizes: Sizes): number {
  const { directories, notebooks, files } = contentsOf(sizes);
  if (directories.length === 0) return 0;
  const folders = new Set(["/Shared", ...directories]);
  return (
    folders.size + notebooks.length + 1 + files.reduce((sum, { size }) => sum + Math.ceil(size / MIB), 0)
  );
}

/** About 4 KB of Python. */
function notebook(n: number): Uint8Array {
  const cells = range(20).map(
    (cell) =>
      `total_${cell} = sum(range(${n * 20 + cell}))\nprint("cell ${cell}", total_${cell})\n${"# ".repeat(60)}`,
  );
  return new TextEncoder().encode(`${cells.join("\n\n# COMMAND ----------\n\n")}\n`);
}

/** Bytes of all values, cheap to generate, because the program is measured and not the generator. */
function pattern(n: number, length: number): Uint8Array {
  const period = Uint8Array.from({ length: 251 }, (_, at) => (at * (n + 3)) & 0xff);
  return Buffer.alloc(length, period);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
