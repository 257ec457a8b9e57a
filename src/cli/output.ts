// A stream that commands write to: it remembers what is still under way, and a reader that went away stops nothing.

import type { Writable } from "node:stream";

export interface Output {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 elsewhere. */
  readonly columns: number;
  /** The stream itself, for libraries that draw on it. */
  readonly stream: Writable;
  write(text: string | Uint8Array): void;
  /** Settles when everything written has left this process. */
  flush(): Promise<void>;
}

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export function outputOf(stream: Stream): Output {
  let broken = false;
  let pending: Promise<void> = Promise.resolve();
  // `workspace plan | head`: an apply must not die of it either.
  stream.on("error", () => {
    broken = true;
  });
  return {
    stream,
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
    write(text) {
      if (broken || text.length === 0) return;
      const written = new Promise<void>((resolve) => stream.write(text, () => resolve()));
      pending = Promise.all([pending, written]).then(() => undefined);
    },
    flush: () => pending,
  };
}
