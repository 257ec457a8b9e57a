// Every API request in the order of arrival, for tests of clients: a request gets its number before it is read.

interface LogEntry {
  readonly seq: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** 0 when the connection was closed without an answer. */
  status: number;
  error_code?: string | number;
  readonly write: boolean;
}

/** Older entries fall out beyond this many, so that a long-lived emulator does not grow without end. */
const KEPT = 500_000;

export class RequestLog {
  #entries: LogEntry[] = [];
  #seq = 0;

  /** Notes a request when it arrives; the caller notes how it ended. */
  arrived(request: Pick<LogEntry, "method" | "path" | "query" | "write">): LogEntry {
    const { write, ...rest } = request;
    const entry: LogEntry = { seq: ++this.#seq, ...rest, status: 0, write };
    this.#entries.push(entry);
    if (this.#entries.length > 2 * KEPT) this.#entries = this.#entries.slice(-KEPT);
    return entry;
  }

  since(seq: number): readonly LogEntry[] {
    const first = this.#entries[0]?.seq ?? 0;
    return this.#entries.slice(Math.max(0, seq - first + 1));
  }

  clear(): void {
    this.#entries = [];
  }
}
