// Ctrl-C, SIGTERM, and a closed terminal: outside an apply, they end the run; in an apply, the first asks it to stop, the second ends it.

export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export type SignalName = (typeof SIGNALS)[number];

export const SIGNAL_EXIT: Readonly<Record<SignalName, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

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
