// The time limit for all reads of one plan: planning ends, whatever the service answers, and however slowly.

import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { duration } from "../../core/duration.ts";
import { Refused } from "../../core/request-failure.ts";
import { count } from "../../core/sentences.ts";
import type { PreparedRequest } from "../http/request-body.ts";

/** A read in flight, for the message. */
interface LimitedRead {
  readonly prepared: Pick<PreparedRequest, "method" | "path">;
  readonly attempts: number;
  /** Of the last attempt that ended; 0 if it got no answer, or if none ended. */
  readonly lastStatus: number;
}

interface ReadTimeLimitOptions {
  readonly ms: number;
  /** Milliseconds since an arbitrary moment. */
  readonly elapsed: () => number;
  /** Settles early when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class ReadTimeLimit {
  readonly #options: ReadTimeLimitOptions;
  readonly #reads = new Map<LimitedRead, (failure: Refused) => void>();
  #leftMs: number;
  #answered = 0;
  #isPlanning = false;
  #isOver = false;
  /** Why planning ended; absent as long as no read was ended early. */
  #failure: Diagnostic | undefined;

  constructor(options: ReadTimeLimitOptions) {
    this.#options = options;
    this.#leftMs = options.ms;
  }

  /**
   * Runs one part of the planning. Time between parts, such as a wait for the lock or an approval, does not count.
   * Throws Failure (API_TIMEOUT) if a read was ended early, also if `work` does without it.
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isPlanning) return work();
    const { elapsed, sleep } = this.#options;
    const begin = elapsed();
    const end = new AbortController();
    this.#isPlanning = true;
    void sleep(this.#leftMs, end.signal).then(() => {
      if (!end.signal.aborted) this.#endReads();
    });
    const [ended] = await Promise.allSettled([work()]);
    end.abort();
    this.#isPlanning = false;
    this.#leftMs -= elapsed() - begin;
    if (this.#failure !== undefined) throw new Failure(this.#failure);
    if (ended.status === "rejected") throw ended.reason;
    return ended.value;
  }

  /** Ends as `send` does, or with Refused when time is over. No read is ended after planning, so a lock in the workspace can be released. */
  read<T>(read: LimitedRead, send: () => Promise<T>): Promise<T> {
    if (this.#isOver && this.#isPlanning) return Promise.reject(this.#refusal(read));
    return new Promise<T>((resolve, reject) => {
      this.#reads.set(read, reject);
      const answered = (answer: T): void => {
        this.#answered += 1;
        resolve(answer);
      };
      void send()
        .then(answered, reject)
        .finally(() => this.#reads.delete(read));
    });
  }

  #endReads(): void {
    this.#isOver = true;
    // The read with the most attempts is the one that most likely held up the plan.
    const reads = [...this.#reads].sort(([a], [b]) => b.attempts - a.attempts);
    for (const [read, reject] of reads) reject(this.#refusal(read));
  }

  #refusal(read: LimitedRead): Refused {
    this.#failure ??= this.#describe(read);
    return new Refused(0, "", this.#failure);
  }

  #describe({ prepared, attempts, lastStatus }: LimitedRead): Diagnostic {
    const request = `${prepared.method} ${prepared.path.split("?", 1)[0]}`;
    const status = lastStatus === 0 ? "no answer" : `last status ${lastStatus}`;
    const course = attempts === 0 ? "not sent" : `${count(attempts, "attempt")}, ${status}`;
    return error(
      "API_TIMEOUT",
      `the workspace was not read within ${duration(this.#options.ms)}: ${request} (${course})`,
      {
        hint: "try again later, or allow more time with --read-timeout",
        cause: `${count(this.#answered, "earlier read")} ${this.#answered === 1 ? "was" : "were"} answered`,
      },
    );
  }
}
