// The output streams of a command, which track pending and lost writes, and the signals that end it.

import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";

export interface Output {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 elsewhere. */
  readonly columns: number;
  readonly stream: Writable;
  /** The reason for lost output, such as a full disk. A closed reader does not count. */
  readonly lost: Error | undefined;
  write(text: string | Uint8Array): void;
  /** Settles when everything written has left this process. */
  flush(): Promise<void>;
}

export function collectedOutput(
  stream: Writable,
): Output & { readonly text: () => string; readonly pieces: readonly string[] } {
  const pieces: string[] = [];
  return {
    stream,
    isTerminal: false,
    columns: 80,
    lost: undefined,
    write: (text) => pieces.push(typeof text === "string" ? text : new TextDecoder().decode(text)),
    flush: () => Promise.resolve(),
    pieces,
    text: () => pieces.join(""),
  };
}

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** `file`: the stream's descriptor where that is a file: Node's own stream takes what a disk had room for as the whole. */
export function outputOf(stream: Stream, file?: number): Output {
  let broken: unknown;
  let pending: Promise<void> = Promise.resolve();
  const breaks = (problem: unknown): void => {
    broken ??= problem;
  };
  // `workspace plan | head`: an apply must not die of it either.
  stream.on("error", breaks);
  return {
    stream,
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
    get lost() {
      return broken instanceof Error && !isGone(broken) ? broken : undefined;
    },
    write(text) {
      if (broken !== undefined || text.length === 0) return;
      if (file !== undefined) {
        try {
          writeWhole(file, text);
        } catch (problem) {
          breaks(problem);
        }
        return;
      }
      const written = new Promise<void>((resolve) => stream.write(text, () => resolve()));
      pending = Promise.all([pending, written]).then(() => undefined);
    },
    flush: () => pending,
  };
}

function isGone(problem: Error): boolean {
  return "code" in problem && (problem.code === "EPIPE" || problem.code === "ERR_STREAM_DESTROYED");
}

function writeWhole(file: number, text: string | Uint8Array): void {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

export function standardOutput(stream: Stream & { readonly fd: number }): Output {
  return outputOf(stream, stream.isTTY !== true && isFile(stream.fd) ? stream.fd : undefined);
}

function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    return false;
  }
}

export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export type SignalName = (typeof SIGNALS)[number];

const SIGNAL_EXIT: Readonly<Record<SignalName, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

const STOPPING = "Stopping after requests in flight. Press Ctrl-C again to exit immediately.\n";

export class Signals {
  readonly #ended = Promise.withResolvers<number>();
  #stopping: AbortController | undefined;
  #first: SignalName | undefined;
  #last: SignalName | undefined;
  #words = STOPPING;
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Settles with an exit code when the run has to end at once. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** The exit code of a run that was asked to stop. */
  get exitCode(): number | undefined {
    return this.#first === undefined ? undefined : SIGNAL_EXIT[this.#first];
  }

  get last(): SignalName | undefined {
    return this.#last;
  }

  receive(name: SignalName): void {
    const again = this.#first !== undefined;
    this.#last = name;
    this.#first ??= name;
    if (this.#stopping === undefined || again) {
      this.#ended.resolve(SIGNAL_EXIT[name]);
      return;
    }
    this.#say(this.#words);
    this.#stopping.abort();
  }

  /** While `work` runs, the first signal aborts what it is given, and `words` are said; the work decides how to end. */
  async during<T>(work: (signal: AbortSignal) => Promise<T>, words = STOPPING): Promise<T> {
    this.#words = words;
    const stopping = new AbortController();
    this.#stopping = stopping;
    try {
      return await work(stopping.signal);
    } finally {
      this.#stopping = undefined;
    }
  }
}
