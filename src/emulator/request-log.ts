// Every API request in the order of arrival, for tests of clients: a request gets its number before it is read.

export interface LogEntry {
  readonly seq: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  readonly error_code?: string | number;
  readonly write: boolean;
}

/** Older entries fall out beyond this many, so that a long-lived emulator does not grow without end. */
const KEPT = 500_000;

export class RequestLog {
  #entries: LogEntry[] = [];
  #seq = 0;

  /** Notes a request when it arrives; the returned function notes how it ended. */
  arrived(
    method: string,
    path: string,
    query: string,
    write: boolean,
  ): (status: number, errorCode?: string | number) => void {
    const seq = ++this.#seq;
    const entries = this.#entries;
    entries.push({ seq, method, path, query, status: 0, write });
    if (entries.length > 2 * KEPT) this.#entries = entries.slice(-KEPT);
    return (status, errorCode) => {
      const index = seq - (this.#entries[0]?.seq ?? 0);
      const entry = this.#entries[index];
      if (entry?.seq !== seq) return;
      const code = errorCode === undefined ? {} : { error_code: errorCode };
      this.#entries[index] = { ...entry, status, ...code };
    };
  }

  since(seq: number): readonly LogEntry[] {
    const first = this.#entries[0]?.seq ?? 0;
    return this.#entries.slice(Math.max(0, seq - first + 1));
  }

  clear(): void {
    this.#entries = [];
  }
}
